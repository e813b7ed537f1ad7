#include "lppool/ops/broadcast.h"

#include <algorithm>

#include "lppool/base/error.h"

namespace lppool {

Shape broadcast_shape(std::span<const Shape> shapes) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.rank());
  std::vector<std::int64_t> out(rank, 1);
  for (const Shape& shape : shapes) {
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      std::int64_t& dim = out[rank - shape.rank() + axis];
      if (shape[axis] == dim || shape[axis] == 1) continue;
      if (dim != 1) {
        std::string all;
        for (const Shape& each : shapes) all += (all.empty() ? "" : ", ") + to_string(each);
        fail(ErrorKind::kRuntime, "shapes {} do not broadcast: sizes {} and {} meet", all, dim, shape[axis]);
      }
      dim = shape[axis];
    }
  }
  return Shape(std::move(out));
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const std::array<Shape, 2> both = {a, b};
  return broadcast_shape(both);
}

BroadcastLoop::BroadcastLoop(const Shape& out, std::span<const Shape> operands) : size_(out.elements()) {
  const std::size_t count = operands.size();
  strides_.resize(count);
  repeats_.resize(count, false);

  // Strides of every operand along every axis of the output, 0 where it repeats.
  std::vector<std::vector<std::int64_t>> full(count, std::vector<std::int64_t>(out.rank(), 0));
  for (std::size_t k = 0; k < count; ++k) {
    const Shape& shape = operands[k];
    if (shape.rank() > out.rank()) {
      fail(ErrorKind::kRuntime, "shape {} does not broadcast to {}", to_string(shape), to_string(out));
    }
    std::int64_t stride = 1;
    for (std::size_t back = 1; back <= shape.rank(); ++back) {
      const std::int64_t dim = shape[shape.rank() - back];
      const std::size_t axis = out.rank() - back;
      if (dim != 1 && dim != out[axis]) {
        fail(ErrorKind::kRuntime, "shape {} does not broadcast to {}", to_string(shape), to_string(out));
      }
      full[k][axis] = dim == 1 ? 0 : stride;
      if (size_ > 0) stride *= dim;  // no zero size: the product is at most the checked size_
    }
  }

  // Axes of size 1 go; neighbours along which every operand steps evenly become one.
  std::vector<std::int64_t> sizes;
  for (std::size_t axis = 0; axis < out.rank(); ++axis) {
    if (out[axis] == 1) continue;
    bool joins = !sizes.empty();
    for (std::size_t k = 0; k < count && joins; ++k) joins = strides_[k].back() == full[k][axis] * out[axis];
    if (joins)
      sizes.back() *= out[axis];
    else
      sizes.push_back(out[axis]);
    for (std::size_t k = 0; k < count; ++k) {
      if (joins)
        strides_[k].back() = full[k][axis];
      else
        strides_[k].push_back(full[k][axis]);
    }
  }
  if (!sizes.empty()) {
    row_ = sizes.back();
    sizes.pop_back();
    for (std::size_t k = 0; k < count; ++k) {
      repeats_[k] = strides_[k].back() == 0;
      strides_[k].pop_back();
    }
  }
  outer_ = std::move(sizes);
}

void BroadcastLoop::run(ThreadPool& threads, Row row, std::int64_t grain) const {
  if (size_ == 0) return;
  if (size_ <= grain) {
    run_range(0, size_, row);
    return;
  }
  threads.parallel_for(size_, grain, [&](std::int64_t begin, std::int64_t end) { run_range(begin, end, row); });
}

void BroadcastLoop::run_range(std::int64_t begin, std::int64_t end, Row row) const {
  const std::size_t count = strides_.size();
  const std::size_t axes = outer_.size();
  std::vector<std::int64_t> index(axes), offsets(count, 0), starts(count);
  std::int64_t rest = begin / row_;
  for (std::size_t axis = axes; axis-- > 0;) {
    index[axis] = rest % outer_[axis];
    rest /= outer_[axis];
    for (std::size_t k = 0; k < count; ++k) offsets[k] += index[axis] * strides_[k][axis];
  }
  std::int64_t column = begin % row_;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t n = std::min(row_ - column, end - at);
    for (std::size_t k = 0; k < count; ++k) starts[k] = offsets[k] + (repeats_[k] ? 0 : column);
    row(at, starts.data(), n);
    at += n;
    column = 0;
    for (std::size_t axis = axes; axis-- > 0;) {
      const bool wraps = ++index[axis] == outer_[axis];
      for (std::size_t k = 0; k < count; ++k) offsets[k] += strides_[k][axis] * (wraps ? 1 - outer_[axis] : 1);
      if (!wraps) break;
      index[axis] = 0;
    }
  }
}

BinaryShapes binary_shapes(const KernelContext& ctx) {
  BinaryShapes shapes;
  shapes.a = ctx.input(0).shape();
  shapes.b = ctx.input(1).shape();
  if (ctx.attributes.schema().find_attribute("broadcast") == nullptr) {
    shapes.out = broadcast_shape(shapes.a, shapes.b);
    return shapes;
  }
  shapes.out = shapes.a;
  if (ctx.attributes.i("broadcast") == 0) {
    if (shapes.a != shapes.b) {
      fail(ErrorKind::kRuntime, "shapes {} and {} differ, and the attribute broadcast is not 1", to_string(shapes.a),
           to_string(shapes.b));
    }
    return shapes;
  }
  if (shapes.b.elements() == 1) {
    shapes.b = Shape{};
    return shapes;
  }
  const std::size_t rank = shapes.a.rank(), count = shapes.b.rank();
  const bool given = ctx.attributes.has("axis");
  const std::int64_t axis = given ? ctx.attributes.i("axis") : 0;
  const std::size_t start = count > rank ? 0
                            : given ? static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shapes.a.dims()) : axis)
                                    : rank - count;
  if (count > rank || start > rank - count) {
    fail(ErrorKind::kRuntime, "shape {} does not fit into {} from axis {} on", to_string(shapes.b), to_string(shapes.a),
         given ? axis : 0);
  }
  std::vector<std::int64_t> placed(rank, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t dim = shapes.b[i];
    if (dim != shapes.a[start + i] && dim != 1) {
      fail(ErrorKind::kRuntime, "shape {} does not fit into {} from axis {} on", to_string(shapes.b),
           to_string(shapes.a), start);
    }
    placed[start + i] = dim;
  }
  shapes.b = Shape(std::move(placed));
  return shapes;
}

}  // namespace lppool
