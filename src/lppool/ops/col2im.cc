// Col2Im: adds up overlapping blocks; what Im2Col took apart.
#include <algorithm>

#include "lppool/base/checked.h"
#include "lppool/kernels/conv.h"
#include "lppool/ops/compute_type.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/window.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {18, "input:T image_shape:int64 block_shape:int64", "output:T", "dilations:ints pads:ints strides:ints", "T=all16"},
};

void infer(InferContext& context) {
  const DataType dtype = context.input(0).dtype;
  context.set_output(0, dtype, std::nullopt);
  const std::vector<Dim>* x = context.shape(0);
  if (x != nullptr && x->size() != 3) fail(ErrorKind::kRuntime, "the input has rank {}, expected 3", x->size());
  const std::vector<Dim>* image = context.elements(1);
  const std::vector<Dim>* block = context.elements(2);
  if (image == nullptr) return;
  std::vector<Dim> dims{x != nullptr ? (*x)[0] : Dim(), Dim()};
  if (x != nullptr && block != nullptr) {
    Dim size(1);
    for (const Dim& part : *block) size = size * part;
    dims[1] = floor_div((*x)[1], size);
    if (context.explaining) context.explain(0, 1, fmt::format("{}/({})", term((*x)[1]), terms(*block)));
  }
  dims.insert(dims.end(), image->begin(), image->end());
  context.set_output(0, dtype, std::move(dims));
}

// The block as a window over the image.
std::vector<kernels::PoolAxis> plan(const AttributeView& attributes, const std::vector<std::int64_t>& image,
                                    const std::vector<std::int64_t>& block) {
  if (image.empty() || image.size() != block.size()) {
    fail(ErrorKind::kRuntime, "image_shape has {} values and block_shape {}, expected as many, at least 1", image.size(),
         block.size());
  }
  if (std::ranges::any_of(image, [](std::int64_t size) { return size < 0; })) {
    fail(ErrorKind::kRuntime, "image_shape is {}, expected sizes of 0 or more", to_string(Shape(image)));
  }
  Shape shape{1, 1};
  for (const std::int64_t size : image) shape.push_back(size);
  return pool_axes(resolve_axes(read_window(attributes, image.size(), block), shape));
}

template <typename T>
void scatter(const Tensor& x, T* y, std::int64_t planes, const std::vector<kernels::PoolAxis>& axes, ThreadPool& pool) {
  kernels::scatter_columns<T>(x.data<T>().data(), nullptr, y, planes, axes, pool);
}

void run(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto image = read_integers(context.input(1), "image_shape"), block = read_integers(context.input(2), "block_shape");
  if (x.rank() != 3) fail(ErrorKind::kRuntime, "the input has shape {}, expected N x C*block x L", to_string(x.shape()));
  const std::vector<kernels::PoolAxis> axes = plan(context.attributes, image, block);
  const auto block_size = checked_elements(block);
  if (!block_size || x.shape()[1] % *block_size != 0) {
    fail(ErrorKind::kRuntime, "axis 1 has size {}, expected a multiple of the block's {} elements", x.shape()[1],
         block_size.value_or(0));
  }
  Shape positions;
  for (const kernels::PoolAxis& axis : axes) positions.push_back(axis.out);
  if (positions.elements() != x.shape()[2]) {
    fail(ErrorKind::kRuntime, "axis 2 has size {}, but the blocks have {} positions", x.shape()[2], to_string(positions));
  }
  Shape output{x.shape()[0], x.shape()[1] / *block_size};
  for (const std::int64_t size : image) output.push_back(size);
  const std::int64_t planes = output.elements(0, 2);
  ThreadPool& pool = context.threads();
  const auto scatter_integers = [&](auto zero) {  // as unsigned numbers, whose sums wrap
    using T = decltype(zero);
    scatter<T>(x, context.output(0, x.dtype(), output).mutable_data<T>().data(), planes, axes, pool);
  };
  switch (x.dtype()) {
    case DataType::kInt8:
    case DataType::kUInt8: return scatter_integers(std::uint8_t{});
    case DataType::kInt16:
    case DataType::kUInt16: return scatter_integers(std::uint16_t{});
    case DataType::kInt32:
    case DataType::kUInt32: return scatter_integers(std::uint32_t{});
    case DataType::kInt64:
    case DataType::kUInt64: return scatter_integers(std::uint64_t{});
    default: break;
  }
  with_compute_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ComputedOutput<T> y(context, 0, x.dtype(), output);
    scatter<T>(as_compute<T>(x), y.data(), planes, axes, pool);
    y.finish();
  });
}

}  // namespace

extern const OpDef kCol2Im;
const OpDef kCol2Im = {
    .domain = "",
    .type = "Col2Im",
    .summary = "Puts columns of block elements back into an image, adding where blocks overlap and dropping what falls into the "
               "padding.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check_window,
};

}  // namespace lppool
