// ConvTranspose: every input element adds its multiple of the weights to the output. Computed as a matrix product that gives
// all contributions, which are then added up in place (kernels::scatter_columns).
//
// Output size per axis, with span = (kernel - 1)*dilation + 1 and full = stride*(in - 1) + output_padding + span:
//   pads (or none)                 full - begin - end
//   output_shape                   as given; total = full - output_shape is split over the ends
//   auto_pad SAME_*                in*stride; total = full - in*stride is split likewise
// Where total is negative nothing is cut and the output is longer than what is added to it. An odd total leaves one more at
// the beginning, but for SAME_UPPER at the end; the text of version 1 has the two exchanged for output_shape.
#include <fmt/format.h>

#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/conv_common.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/product.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints output_padding:ints output_shape:ints pads:ints "
     "strides:ints",
     "T=floats"},
    {11, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints output_padding:ints output_shape:ints pads:ints "
     "strides:ints",
     "T=floats"},
    {22, "X:T W:T B?:T", "Y:T",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints output_padding:ints output_shape:ints pads:ints "
     "strides:ints",
     "T=floats|bfloat16"},
};

void check(CheckContext& context) {
  check_conv(context);
  for (const char* name : {"output_padding", "output_shape"}) {
    for (const std::int64_t value : context.attributes.ints(name)) {
      if (value >= 0) continue;
      context.error(kBadValue, name, fmt::format("attribute '{}' has the value {}, expected 0 or more", name, value));
    }
  }
}

// The attributes that a plain window lacks.
struct TransposeWindow {
  Window window;
  std::vector<std::int64_t> output_padding, output_shape;  // the latter may be empty
  bool more_at_end = false;                                // where an odd total is split
};

std::vector<std::int64_t> read_sizes(const AttributeView& attributes, const char* name, std::size_t rank) {
  std::vector<std::int64_t> values = attributes.ints(name);
  if (!values.empty() && values.size() != rank) {
    fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, values.size(), rank);
  }
  for (const std::int64_t value : values) {
    if (value < 0) fail(ErrorKind::kRuntime, "{} has the value {}, expected 0 or more", name, value);
  }
  return values;
}

TransposeWindow read_transpose(const AttributeView& attributes, std::size_t rank, const std::vector<std::int64_t>& kernel) {
  TransposeWindow result;
  result.window = read_window(attributes, rank, kernel);
  result.output_padding = read_sizes(attributes, "output_padding", rank);
  if (result.output_padding.empty()) result.output_padding.assign(rank, 0);
  result.output_shape = read_sizes(attributes, "output_shape", rank);
  const bool upper = result.window.auto_pad == AutoPad::kSameUpper;
  const bool exchanged = attributes.schema().since_version < 11 && !result.output_shape.empty();
  result.more_at_end = upper != exchanged;
  return result;
}

Dim full_size(const TransposeWindow& w, std::size_t axis, const Dim& in) {
  const LpWindow::Axis& a = w.window.axes[axis];
  return Dim(a.stride) * (in - Dim(1)) + Dim(w.output_padding[axis]) + Dim(a.extent);
}

Dim output_dim_of(const TransposeWindow& w, std::size_t axis, const Dim& in) {
  const LpWindow::Axis& a = w.window.axes[axis];
  if (!w.output_shape.empty()) return Dim(w.output_shape[axis]);
  if (w.window.same()) return in * Dim(a.stride);
  return full_size(w, axis, in) - Dim(a.pad_begin) - Dim(a.pad_end);
}

std::string formula_of(const TransposeWindow& w, std::size_t axis, const Dim& in) {
  const LpWindow::Axis& a = w.window.axes[axis];
  if (!w.output_shape.empty()) return fmt::format("attribute output_shape[{}]", axis);
  if (w.window.same()) return fmt::format("{}*{}", term(in), a.stride);
  std::string text = fmt::format("{}*({} - 1)", a.stride, term(in));
  if (w.output_padding[axis] != 0) text += fmt::format(" + {}", w.output_padding[axis]);
  text += a.dilation == 1 ? fmt::format(" + {}", a.kernel) : fmt::format(" + ({} - 1)*{} + 1", a.kernel, a.dilation);
  if (a.pad_begin != 0 || a.pad_end != 0) text += fmt::format(" - {} - {}", a.pad_begin, a.pad_end);
  return text;
}

// The axis as scatter_columns takes it: `in` is the output's size, `out` the input's.
kernels::PoolAxis plan(const TransposeWindow& w, std::size_t axis, std::int64_t in) {
  const LpWindow::Axis& a = w.window.axes[axis];
  const auto full = full_size(w, axis, Dim(in)).value();
  const auto size = output_dim_of(w, axis, Dim(in)).value();
  if (!full || !size) fail(ErrorKind::kLimit, "the output size of axis {} leaves 63 bits", axis + 2);
  if (*size < 0) fail(ErrorKind::kRuntime, "axis {} of size {} would give an output of size {}", axis + 2, in, *size);
  kernels::PoolAxis result{*size, in, a.kernel, a.stride, a.dilation, a.pad_begin};
  if (!w.output_shape.empty() || w.window.same()) {
    const std::int64_t total = std::max<std::int64_t>(0, *full - *size);
    result.pad_begin = w.more_at_end ? total / 2 : total - total / 2;
  }
  return result;
}

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  const std::vector<Dim>* x = context.shape(0);
  const std::vector<Dim>* w = context.shape(1);
  if (x == nullptr) return;
  const std::size_t rank = spatial_rank(x->size());
  std::vector<Dim> dims(x->size());
  dims[0] = (*x)[0];
  std::vector<std::int64_t> kernel;
  if (w != nullptr) {
    if (w->size() != x->size()) {
      fail(ErrorKind::kRuntime, "the weights have rank {}, expected {} as the input has", w->size(), x->size());
    }
    if ((*x)[1].value() && (*w)[0].value() && !same((*x)[1], (*w)[0])) {
      fail(ErrorKind::kRuntime, "the input has {} channels, but the weights are for {}", *(*x)[1].value(), *(*w)[0].value());
    }
    dims[1] = (*w)[1] * Dim(context.attributes.i("group"));
    if (context.attributes.i("group") == 1) context.explain(0, 1, size_name(context, 1, 1));
    else if (context.explaining) context.explain(0, 1, fmt::format("{}*{} (a group's channels times the groups)", term((*w)[1]), context.attributes.i("group")));
    for (std::size_t i = 2; i < w->size() && (*w)[i].value(); ++i) kernel.push_back(*(*w)[i].value());
    if (kernel.size() != rank) kernel.clear();
  }
  if (!kernel.empty() || !context.attributes.ints("kernel_shape").empty()) {
    const TransposeWindow window = read_transpose(context.attributes, rank, kernel);
    for (std::size_t a = 0; a < rank; ++a) {
      dims[a + 2] = output_dim_of(window, a, (*x)[a + 2]);
      if (context.explaining) context.explain(0, a + 2, formula_of(window, a, (*x)[a + 2]));
      if (const auto size = dims[a + 2].value(); size && *size < 0) {
        fail(ErrorKind::kRuntime, "axis {} would give an output of size {}", a + 2, *size);
      }
    }
  }
  context.set_output(0, dtype, std::move(dims));
}

template <typename T>
void transpose(KernelContext& context, const std::vector<kernels::PoolAxis>& axes, const Shape& output) {
  const Tensor x = as_compute<T>(context.input(0)), w = as_compute<T>(context.input(1));
  const Tensor bias = context.has_input(2) ? as_compute<T>(context.input(2)) : Tensor();
  ComputedOutput<T> y(context, 0, context.input(0).dtype(), output);
  const std::int64_t groups = context.attributes.i("group"), batch = x.shape()[0];
  const std::int64_t in_channels = x.shape()[1] / groups, out_channels = w.shape()[1];
  const std::int64_t positions = x.shape().elements(2, x.rank()), kernel = w.shape().elements(2, w.rank());
  const std::int64_t size = output.elements(2, output.rank()), depth = out_channels * kernel;
  if (size == 0 || batch == 0) return;
  // As many output channels at once as keep the contributions at some megabytes.
  constexpr std::int64_t kContributions = std::int64_t{1} << 21;
  const std::int64_t chunk = std::clamp<std::int64_t>(kContributions / std::max<std::int64_t>(kernel * positions, 1), 1,
                                                      std::max<std::int64_t>(out_channels, 1));
  Tensor columns = Tensor::allocate(type_of<T>(), Shape{chunk, kernel, positions});
  T* contributions = columns.mutable_data<T>().data();
  for (std::int64_t part = 0; part < batch * groups; ++part) {
    const std::int64_t group = part % groups;
    const T* in = x.data<T>().data() + part * in_channels * positions;
    const T* weights = w.data<T>().data() + group * in_channels * depth;
    for (std::int64_t first = 0; first < out_channels; first += chunk) {
      const std::int64_t count = std::min(chunk, out_channels - first);
      multiply_matrices<T>(count * kernel, positions, in_channels, {weights + first * kernel, 1, depth}, {in, positions, 1},
                           contributions, positions, context.threads());
      const T* terms = bias.defined() ? bias.data<T>().data() + group * out_channels + first : nullptr;
      kernels::scatter_columns<T>(contributions, terms, y.data() + (part * out_channels + first) * size, count, axes,
                                  context.threads());
    }
  }
  y.finish();
}

void run(KernelContext& context) {
  const Shape& x = context.input(0).shape();
  const Shape& w = context.input(1).shape();
  const std::size_t rank = spatial_rank(x.rank());
  const std::int64_t group = context.attributes.i("group");
  if (w.rank() != x.rank()) {
    fail(ErrorKind::kRuntime, "the weights have rank {}, expected {} as the input has", w.rank(), x.rank());
  }
  if (group < 1 || x[1] != w[0] || x[1] % group != 0) {
    fail(ErrorKind::kRuntime, "the input has {} channels in {} groups, but the weights are for {}", x[1], group, w[0]);
  }
  const TransposeWindow window = read_transpose(context.attributes, rank, {w.begin() + 2, w.end()});
  const auto channels = checked_mul(w[1], group);
  if (!channels) fail(ErrorKind::kLimit, "{} groups of {} channels leave 63 bits", group, w[1]);
  Shape output{x[0], *channels};
  std::vector<kernels::PoolAxis> axes;
  for (std::size_t a = 0; a < rank; ++a) {
    axes.push_back(plan(window, a, x[a + 2]));
    output.push_back(axes.back().in);
  }
  if (context.has_input(2)) check_bias(context.input(2), *channels);
  with_compute_type(context.input(0).dtype(), [&](auto zero) { transpose<decltype(zero)>(context, axes, output); });
}

}  // namespace

extern const OpDef kConvTranspose;
const OpDef kConvTranspose = {
    .domain = "",
    .type = "ConvTranspose",
    .summary = "The adjoint of a convolution: every element of X adds its multiple of the weights to the output, `strides` apart. "
               "B is added to each output channel.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
