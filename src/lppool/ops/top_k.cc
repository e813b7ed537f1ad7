// TopK: the largest or smallest elements along an axis, with their places. Equal elements come in the order of their
// places; NaN counts as larger than every number, as numpy and PyTorch sort it. `sorted` = 0 leaves the order open: it is
// sorted all the same.
#include <algorithm>
#include <numeric>

#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/ordering.h"

namespace lppool {
namespace {

constexpr OpVersion kTopKVersions[] = {
    {1, "X:T", "Values:T Indices:I", "axis:int=-1 k!:int", "T=floats; I=int64"},
    {10, "X:T K:int64", "Values:T Indices:I", "axis:int=-1", "T=floats; I=int64"},
    {11, "X:T K:int64", "Values:T Indices:I", "axis:int=-1 largest:int=1 sorted:int=1", "T=num11; I=int64"},
    {24, "X:T K:int64", "Values:T Indices:I", "axis:int=-1 largest:int=1 sorted:int=1", "T=num12; I=int64"},
};

void check_k(std::int64_t k, std::optional<std::int64_t> size) {
  if (k < 0 || (size && k > *size)) {
    fail(ErrorKind::kRuntime, "k is {}, expected 0 to {}", k, size ? std::to_string(*size) : std::string("the size of the axis"));
  }
}

void infer_top_k(InferContext& ctx) {
  std::optional<std::vector<Dim>> result;
  if (const std::vector<Dim>* shape = ctx.shape(0)) {
    result = *shape;
    const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), shape->size());
    Dim& dim = (*result)[axis];
    const auto size = dim.value();
    if (ctx.since_version() < 10) {
      dim = Dim(ctx.attributes.i("k"));
      for (const std::size_t output : {0, 1}) ctx.explain(output, axis, "attribute k");
    } else {
      const std::vector<Dim>* k = ctx.elements(1);
      dim = k != nullptr && k->size() == 1 ? (*k)[0] : Dim();
    }
    if (dim.value()) check_k(*dim.value(), size);
  }
  ctx.set_output(0, ctx.input(0).dtype, result);
  ctx.set_output(1, DataType::kInt64, std::move(result));
}

void run_top_k(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis"), data.rank());
  const std::int64_t size = data.shape()[axis];
  const std::int64_t k = ctx.since_version() < 10 ? ctx.attributes.i("k") : int_value(ctx.input(1), "K");
  check_k(k, size);
  const bool largest = ctx.since_version() < 11 || ctx.attributes.i("largest") != 0;
  Shape shape = data.shape();
  shape[axis] = k;
  const std::int64_t inner = shape.elements(axis + 1, shape.rank()), outer = shape.elements(0, axis);
  Tensor& values = ctx.output(0, data.dtype(), shape);
  Tensor& indices = ctx.output(1, DataType::kInt64, shape);
  if (values.size() == 0) return;
  visit_ordered(data, "TopK", [&](auto elements) {
    using T = std::remove_cv_t<typename decltype(elements)::element_type>;
    const auto out = mutable_stored<T>(values);
    const auto places = indices.mutable_data<std::int64_t>();
    ctx.threads().parallel_for(outer * inner, std::max<std::int64_t>(1, 4096 / size), [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> line(static_cast<std::size_t>(size));
      std::vector<std::int64_t> ranked(static_cast<std::size_t>(size));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t from = i / inner * size * inner + i % inner, to = i / inner * k * inner + i % inner;
        for (std::int64_t j = 0; j < size; ++j) line[static_cast<std::size_t>(j)] = elements[static_cast<std::size_t>(from + j * inner)];
        std::iota(ranked.begin(), ranked.end(), std::int64_t{0});
        const auto before = [&](std::int64_t a, std::int64_t b) {
          const int c = order(line[static_cast<std::size_t>(a)], line[static_cast<std::size_t>(b)]);
          return c == 0 ? a < b : (largest ? c > 0 : c < 0);
        };
        std::partial_sort(ranked.begin(), ranked.begin() + k, ranked.end(), before);
        for (std::int64_t j = 0; j < k; ++j) {
          const std::int64_t place = ranked[static_cast<std::size_t>(j)];
          out[static_cast<std::size_t>(to + j * inner)] = line[static_cast<std::size_t>(place)];
          places[static_cast<std::size_t>(to + j * inner)] = place;
        }
      }
    });
  });
}

}  // namespace

extern const OpDef kTopK;
const OpDef kTopK = {
    .domain = "",
    .type = "TopK",
    .summary = "The k largest (or smallest) elements along an axis and where they were.",
    .versions = kTopKVersions,
    .infer = infer_top_k,
    .run = run_top_k,
};

}  // namespace lppool
