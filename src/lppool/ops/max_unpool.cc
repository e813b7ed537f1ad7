// MaxUnpool: puts pooled elements back where MaxPool's Indices say, zeros elsewhere.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/window.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "X:T1 I:T2 output_shape?:T2", "output:T1", "kernel_shape!:ints pads:ints strides:ints", "T1=floats; T2=int64"},
    {11, "X:T1 I:T2 output_shape?:T2", "output:T1", "kernel_shape!:ints pads:ints strides:ints", "T1=floats; T2=int64"},
    {22, "X:T1 I:T2 output_shape?:T2", "output:T1", "kernel_shape!:ints pads:ints strides:ints",
     "T1=floats|bfloat16; T2=int64"},
};

// The size that pooling with this window would have made `size` elements of.
Dim unpooled(const LpWindow::Axis& axis, const Dim& size) {
  return Dim(axis.stride) * (size - Dim(1)) + Dim(axis.kernel) - Dim(axis.pad_begin) - Dim(axis.pad_end);
}

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  const std::vector<Dim>* x = context.shape(0);
  if (x == nullptr) return;
  const Window window = read_window(context.attributes, spatial_rank(x->size()));
  std::vector<Dim> dims(x->size());
  if (context.has_input(2)) {
    const std::vector<Dim>* wanted = context.elements(2);
    if (wanted != nullptr && wanted->size() != x->size()) {
      fail(ErrorKind::kRuntime, "output_shape has {} elements, expected {}", wanted->size(), x->size());
    }
    if (wanted != nullptr) dims = *wanted;
  } else {
    dims[0] = (*x)[0];
    dims[1] = (*x)[1];
    for (std::size_t a = 0; a < window.axes.size(); ++a) {
      const LpWindow::Axis& axis = window.axes[a];
      const Dim& size = (*x)[a + 2];
      dims[a + 2] = unpooled(axis, size);
      if (context.explaining) context.explain(0, a + 2, fmt::format("{}*({} - 1) + {} - {} - {}", axis.stride, term(size), axis.kernel, axis.pad_begin, axis.pad_end));
    }
  }
  context.set_output(0, dtype, std::move(dims));
}

// The shape that the indices count in.
Shape unpooled_shape(const Window& window, const Shape& x) {
  Shape shape{x[0], x[1]};
  for (std::size_t a = 0; a < window.axes.size(); ++a) {
    const auto size = unpooled(window.axes[a], Dim(x[a + 2])).value();
    if (!size) fail(ErrorKind::kLimit, "the size of axis {} leaves 63 bits", a + 2);
    if (*size < 0) fail(ErrorKind::kRuntime, "axis {} would have size {}", a + 2, *size);
    shape.push_back(*size);
  }
  return shape;
}

// The position in `to` of the element at flat position `index` in `from`, which lies in its first corner.
std::int64_t reposition(std::int64_t index, const Shape& from, const std::vector<std::int64_t>& to_strides) {
  std::int64_t result = 0;
  for (std::size_t a = from.rank(); a-- > 0;) {
    result += index % from[a] * to_strides[a];
    index /= from[a];
  }
  return result;
}

template <typename Bits>
void scatter(const Tensor& x, const Tensor& indices, const Shape& counted, Tensor& y) {
  const auto from = x.data<Bits>();
  const auto at = indices.data<std::int64_t>();
  const auto to = y.mutable_data<Bits>();
  const std::int64_t limit = counted.elements();
  const std::vector<std::int64_t> strides = y.shape().strides();
  const bool moved = counted != y.shape();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (at[i] < 0 || at[i] >= limit) {
      fail(ErrorKind::kRuntime, "index {} is {}, expected 0 to {}", i, at[i], limit - 1);
    }
    to[static_cast<std::size_t>(moved ? reposition(at[i], counted, strides) : at[i])] = from[i];
  }
}

void run(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  if (indices.shape() != x.shape()) {
    fail(ErrorKind::kRuntime, "the indices have shape {}, expected {}", to_string(indices.shape()), to_string(x.shape()));
  }
  const Window window = read_window(context.attributes, spatial_rank(x.rank()));
  const Shape counted = unpooled_shape(window, x.shape());
  Shape shape = counted;
  if (context.has_input(2)) {
    shape = Shape(read_integers(context.input(2), "output_shape"));
    bool fits = shape.rank() == counted.rank();
    for (std::size_t a = 0; fits && a < shape.rank(); ++a) fits = shape[a] >= counted[a];
    if (!fits) {
      fail(ErrorKind::kRuntime, "output_shape is {}, expected at least {}", to_string(shape), to_string(counted));
    }
  }
  Tensor& y = context.output(0, x.dtype(), shape);
  std::fill_n(y.mutable_raw(), y.bytes(), std::byte{0});
  switch (element_size(x.dtype())) {
    case 2: return scatter<std::uint16_t>(x, indices, counted, y);
    case 4: return scatter<std::uint32_t>(x, indices, counted, y);
    default: return scatter<std::uint64_t>(x, indices, counted, y);
  }
}

}  // namespace

extern const OpDef kMaxUnpool;
const OpDef kMaxUnpool = {
    .domain = "",
    .type = "MaxUnpool",
    .summary = "Puts the elements of X back where the indices of MaxPool say they came from; everything else is zero. "
               "output_shape may name a larger tensor, whose first corner then holds the result.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check_window,
};

}  // namespace lppool
