#include <algorithm>
#include <limits>
#include <vector>

#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {10,
     "boxes:float32 scores:float32 max_output_boxes_per_class?:int64 iou_threshold?:float32 score_threshold?:float32",
     "selected_indices:int64", "center_point_box:int=0", ""},
    {11,
     "boxes:float32 scores:float32 max_output_boxes_per_class?:int64 iou_threshold?:float32 score_threshold?:float32",
     "selected_indices:int64", "center_point_box:int=0", ""},
};

void check(CheckContext& ctx) {
  const std::int64_t format = ctx.attributes.i("center_point_box");
  if (format == 0 || format == 1) return;
  ctx.error(kBadValue, "center_point_box", fmt::format("attribute 'center_point_box' is {}, expected 0 or 1", format));
}

void infer(InferContext& ctx) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* shape = ctx.shape(i);
    if (shape != nullptr && shape->size() != 3) {
      fail(ErrorKind::kRuntime, "input {} has rank {}, expected 3", i == 0 ? "boxes" : "scores", shape->size());
    }
  }
  ctx.set_output(0, DataType::kInt64, {{Dim(), 3}});
  ctx.explain(0, 1, "3 (batch, class and box)");
}

// Corners in order, and the area.
struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

Box read_box(const float* b, bool centred) {
  if (centred) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  return {std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]), std::max(b[0], b[2])};
}

// Intersection over union strictly above the threshold. In float32, as the boxes are: at the threshold itself the
// rounding decides.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(width > 0 && height > 0)) return false;
  const float common = width * height, together = a.area() + b.area() - common;
  if (common <= 0 || a.area() <= 0 || b.area() <= 0 || together <= 0) return false;
  return common / together > threshold;
}

void run(KernelContext& ctx) {
  const Tensor &boxes = ctx.input(0), &scores = ctx.input(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 || boxes.shape()[0] != scores.shape()[0] ||
      boxes.shape()[1] != scores.shape()[2]) {
    fail(ErrorKind::kRuntime, "boxes have shape {}, scores {}, expected batch x boxes x 4 and batch x classes x boxes",
         to_string(boxes.shape()), to_string(scores.shape()));
  }
  const std::int64_t batches = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  const auto number = [&](std::size_t i, std::string_view what, float fallback) {
    return ctx.has_input(i) && ctx.input(i).size() > 0 ? static_cast<float>(read_number(ctx.input(i), what)) : fallback;
  };
  const bool limited = ctx.has_input(2) && ctx.input(2).size() > 0;
  const std::int64_t most =
      limited ? std::max<std::int64_t>(0, read_integer(ctx.input(2), "input max_output_boxes_per_class")) : 0;
  const float iou_threshold = number(3, "input iou_threshold", 0);
  const bool has_least = ctx.has_input(4) && ctx.input(4).size() > 0;
  const float least = number(4, "input score_threshold", 0);
  if (!(iou_threshold >= 0 && iou_threshold <= 1)) {
    fail(ErrorKind::kRuntime, "input iou_threshold is {}, expected 0 to 1", iou_threshold);
  }
  const bool centred = ctx.attributes.i("center_point_box") != 0;

  std::vector<std::int64_t> selected;
  std::vector<Box> all(static_cast<std::size_t>(count)), kept;
  std::vector<std::int64_t> order;
  for (std::int64_t b = 0; b < batches && most > 0; ++b) {
    for (std::int64_t i = 0; i < count; ++i) {
      all[static_cast<std::size_t>(i)] = read_box(boxes.data<float>().data() + (b * count + i) * 4, centred);
    }
    for (std::int64_t c = 0; c < classes; ++c) {
      const float* score = scores.data<float>().data() + (b * classes + c) * count;
      order.clear();
      for (std::int64_t i = 0; i < count; ++i) {
        // A score that is no number is above nothing.
        if (has_least ? score[i] > least : score[i] == score[i]) order.push_back(i);
      }
      std::ranges::stable_sort(order, [&](std::int64_t x, std::int64_t y) { return score[x] > score[y]; });
      kept.clear();
      for (const std::int64_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) == most) break;
        ctx.checkpoint();
        const Box& box = all[static_cast<std::size_t>(i)];
        if (std::ranges::any_of(kept, [&](const Box& other) { return overlaps(box, other, iou_threshold); })) continue;
        kept.push_back(box);
        selected.insert(selected.end(), {b, c, i});
      }
    }
  }
  Tensor& out = ctx.output(0, DataType::kInt64, Shape{static_cast<std::int64_t>(selected.size() / 3), 3});
  std::ranges::copy(selected, out.mutable_data<std::int64_t>().begin());
}

}  // namespace

extern const OpDef kNonMaxSuppression;
const OpDef kNonMaxSuppression = {
    .domain = "",
    .type = "NonMaxSuppression",
    .summary = "Picks boxes by falling score and drops those that overlap one already picked.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .check = check,
};

}  // namespace lppool
