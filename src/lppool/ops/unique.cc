// Unique: the different elements of a tensor, or the different slices along an axis, in ascending order or in that of their
// first occurrence. Slices are compared element by element. NaN equals itself, as in numpy.
#include <algorithm>
#include <numeric>

#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/ordering.h"

namespace lppool {
namespace {

constexpr OpVersion kUniqueVersions[] = {
    {11, "X:T", "Y:T indices?:int64 inverse_indices?:int64 counts?:int64", "axis:int sorted:int=1", "T=all15"}};

void infer_unique(InferContext& ctx) {
  std::optional<std::vector<Dim>> result;
  if (!ctx.attributes.has("axis")) {
    result = unknown_dims(1);
  } else if (const std::vector<Dim>* shape = ctx.shape(0)) {
    result = *shape;
    (*result)[normalize_axis(ctx.attributes.i("axis"), shape->size())] = Dim();
  }
  set_moved(ctx, std::move(result));
  for (std::size_t i = 1; i < 4; ++i) ctx.set_output(i, DataType::kInt64, unknown_dims(1));
}

// For each slice the number of its group; and for each group, in the wanted order, its first slice and how many it has.
struct Groups {
  std::vector<std::int64_t> group_of, first, count;
};

Groups group(std::int64_t slices, bool sorted, const auto& compare) {
  std::vector<std::int64_t> by_value(static_cast<std::size_t>(slices));
  std::iota(by_value.begin(), by_value.end(), std::int64_t{0});
  std::ranges::sort(by_value, [&](std::int64_t a, std::int64_t b) {
    const int c = compare(a, b);
    return c == 0 ? a < b : c < 0;
  });
  Groups groups;
  groups.group_of.resize(by_value.size());
  for (std::size_t i = 0; i < by_value.size(); ++i) {
    if (i == 0 || compare(by_value[i - 1], by_value[i]) != 0) {
      groups.first.push_back(by_value[i]);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.group_of[static_cast<std::size_t>(by_value[i])] = std::ssize(groups.first) - 1;
  }
  if (sorted) return groups;
  std::vector<std::size_t> by_place(groups.first.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  std::ranges::sort(by_place, {}, [&](std::size_t g) { return groups.first[g]; });
  Groups result;
  std::vector<std::int64_t> renamed(by_place.size());
  for (const std::size_t g : by_place) {
    renamed[g] = std::ssize(result.first);
    result.first.push_back(groups.first[g]);
    result.count.push_back(groups.count[g]);
  }
  for (const std::int64_t g : groups.group_of) result.group_of.push_back(renamed[static_cast<std::size_t>(g)]);
  return result;
}

void run_unique(KernelContext& ctx) {
  Tensor data = ctx.input(0);
  if (!ctx.attributes.has("axis")) data = data.reshaped({data.size()});
  const std::size_t axis = normalize_axis(ctx.attributes.i("axis", 0), data.rank());
  const std::int64_t sorted = ctx.attributes.i("sorted");
  if (sorted != 0 && sorted != 1) fail(ErrorKind::kRuntime, "sorted is {}, expected 0 or 1", sorted);
  const std::int64_t slices = data.shape()[axis];
  const std::int64_t inner = data.shape().elements(axis + 1, data.rank()), outer = data.shape().elements(0, axis);
  // Without elements nothing but memory bounds the number of slices.
  if (slices > static_cast<std::int64_t>(memory::limit() / 32)) {
    fail(ErrorKind::kLimit, "{} slices to compare, more than memory allows", slices);
  }
  Groups groups;
  visit_ordered(data, "Unique", [&](auto elements) {
    groups = group(slices, sorted == 1, [&](std::int64_t a, std::int64_t b) {
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < inner; ++i) {
          const auto at = [&](std::int64_t slice) { return static_cast<std::size_t>((o * slices + slice) * inner + i); };
          if (const int c = order(elements[at(a)], elements[at(b)]); c != 0) return c;
        }
      }
      return 0;
    });
  });
  Shape shape = data.shape();
  shape[axis] = std::ssize(groups.first);
  Tensor& out = ctx.output(0, data.dtype(), std::move(shape));
  const std::int64_t found = std::ssize(groups.first);
  for (std::int64_t o = 0; out.size() > 0 && o < outer; ++o) {
    for (std::int64_t g = 0; g < found; ++g) {
      copy_run(data, (o * slices + groups.first[static_cast<std::size_t>(g)]) * inner, out, (o * found + g) * inner, inner);
    }
  }
  const std::vector<std::int64_t>* lists[] = {&groups.first, &groups.group_of, &groups.count};
  for (std::size_t i = 0; i < 3; ++i) {
    if (ctx.wants_output(i + 1)) ctx.set_output(i + 1, Value(Tensor::of(Shape{std::ssize(*lists[i])}, *lists[i])));
  }
}

}  // namespace

extern const OpDef kUnique;
const OpDef kUnique = {
    .domain = "",
    .type = "Unique",
    .summary = "The different elements, or slices along an axis; where each was first, which is which, and how often it occurs.",
    .versions = kUniqueVersions,
    .infer = infer_unique,
    .run = run_unique,
};

}  // namespace lppool
