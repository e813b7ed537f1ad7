#include "lppool/check/portability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lppool/base/checked.h"
#include "lppool/ops/lp_norm.h"

namespace lppool {
namespace {

constexpr Engine kOrt = {"ONNX Runtime", "1.30 (CPU)"};
constexpr Engine kReference = {"onnx ReferenceEvaluator", "1.23 development (August 2026)"};
constexpr Engine kOnnx13 = {"onnx shape inference", "1.13 to 1.15"};
constexpr Engine kOnnx16 = {"onnx shape inference", "1.16.0 to 1.16.2"};
constexpr Engine kPytorch = {"PyTorch", "2 (lp_pool)"};
constexpr Engine kTract = {"tract", "August 2026"};
constexpr Engine kRten = {"rten", "August 2026"};
constexpr Engine kOnnxMlir = {"onnx-mlir", "November 2026"};

std::size_t spatial_axes(const PoolFacts& facts) {
  if (facts.window) return facts.window->axes.size();
  return facts.x && facts.x->size() >= 2 ? facts.x->size() - 2 : 0;
}

// Calls f(axis, n) for the spatial axes of known size.
template <typename F>
bool any_axis(const PoolFacts& facts, F f) {
  if (!facts.window || !facts.x) return false;
  for (std::size_t i = 0; i < facts.window->axes.size(); ++i) {
    const auto n = (*facts.x)[i + 2].value();
    if (n && f(facts.window->axes[i], *n)) return true;
  }
  return false;
}

// Padding of the SAME modes by the plain formula: from `kernel` (not the dilated one in some engines), and not raised
// to 0.
std::int64_t same_padding(const LpWindow::Axis& axis, std::int64_t n, std::int64_t kernel) {
  return (ceil_div(n, axis.stride) - 1) * axis.stride + kernel - n;
}

// Output sizes -------------------------------------------------------------------------------------------------------
// An engine's size of one axis; empty where it gives none.
using AxisRule = std::optional<std::int64_t> (*)(const LpWindow&, const LpWindow::Axis&, std::int64_t n);

std::optional<std::int64_t> size_of(const LpWindow& window, std::size_t axis, std::int64_t n) {
  try {
    return plan_axis(window, axis, n).out;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// "gives 1x1x3x3, here it is 1x1x4x4" where the rule's shape differs; empty where it does not, or a size is not
// known.
std::string other_shape(const PoolFacts& facts, AxisRule rule) {
  if (!facts.window || !facts.x) return "";
  std::vector<Dim> ours = {(*facts.x)[0], (*facts.x)[1]}, theirs = ours;
  bool differs = false;
  for (std::size_t i = 0; i < facts.window->axes.size(); ++i) {
    const auto n = (*facts.x)[i + 2].value();
    Dim mine, other;
    if (n) {
      if (const auto size = size_of(*facts.window, i, *n)) mine = Dim(*size);
      if (const auto size = rule(*facts.window, facts.window->axes[i], *n)) other = Dim(*size);
    }
    differs = differs || (mine.known() && other.known() && !same(mine, other));
    ours.push_back(mine);
    theirs.push_back(other);
  }
  return differs ? fmt::format("gives {}, here it is {}", to_string(theirs), to_string(ours)) : "";
}

// True if window `index` starts at or after `end`, counted from the padded beginning.
bool starts_past(const LpWindow::Axis& axis, std::int64_t index, std::int64_t end) {
  const auto start = checked_mul(index, axis.stride);
  return !start || *start >= end;
}

// One window less where the last one starts in the end padding, for every opset.
std::int64_t dropped(const LpWindow::Axis& axis, std::int64_t n, std::int64_t size) {
  return size > 0 && starts_past(axis, size - 1, n + axis.pad_begin) ? size - 1 : size;
}

// The quotient goes through float, is rounded toward zero without ceil_mode, and SAME knows no dilation.
std::optional<std::int64_t> ort_size(const LpWindow& window, const LpWindow::Axis& axis, std::int64_t n) {
  if (window.same()) return (n + same_padding(axis, n, axis.kernel) - axis.extent) / axis.stride + 1;
  const std::int64_t room = n + axis.pad_begin + axis.pad_end - axis.extent;
  if (!window.ceil_mode) {
    const std::int64_t size = room / axis.stride + 1;
    return size < 0 ? std::nullopt : std::optional(size);
  }
  const float quotient = static_cast<float>(room) / static_cast<float>(axis.stride) + 1.0f;
  if (!(quotient < 9e18f)) return std::nullopt;
  return dropped(axis, n, static_cast<std::int64_t>(std::ceil(quotient)));
}

std::optional<std::int64_t> dropping_size(const LpWindow& window, const LpWindow::Axis& axis, std::int64_t n) {
  if (window.same()) return ceil_div(n, axis.stride);
  const std::int64_t room = n + axis.pad_begin + axis.pad_end - axis.extent;
  if (!window.ceil_mode) return floor_div(room, axis.stride) + 1;
  return dropped(axis, n, ceil_div(room, axis.stride) + 1);
}

std::optional<std::int64_t> float_ceil_size(const LpWindow& window, const LpWindow::Axis& axis, std::int64_t n) {
  if (window.same() || !window.ceil_mode) return std::nullopt;
  const std::int64_t room = n + axis.pad_begin + axis.pad_end - axis.extent;
  const float quotient = std::ceil(static_cast<float>(room) / static_cast<float>(axis.stride));
  return quotient < 9e18f ? std::optional(static_cast<std::int64_t>(quotient) + 1) : std::nullopt;
}

// Facts --------------------------------------------------------------------------------------------------------------

std::string op_version(const PoolFacts& facts) {
  return fmt::format("{} {}", facts.global ? "GlobalLpPool" : "LpPool", facts.since);
}

std::string ort_no_version(const PoolFacts& facts) {
  const bool none = facts.since == 1 || (facts.global && facts.since == 22);
  return none ? fmt::format("has no kernel for {}", op_version(facts)) : "";
}

std::string ort_no_type(const PoolFacts& facts) {
  if (facts.dtype == DataType::kFloat64 || facts.dtype == DataType::kBFloat16) {
    return fmt::format("has no kernel for {}", name(facts.dtype));
  }
  const bool old_cast = facts.dtype == DataType::kFloat16 && facts.opset < 6;
  return old_cast ? "does not load float16 at this opset: the Cast it inserts is of a later one" : "";
}

std::string ort_no_rank(const PoolFacts& facts) {
  const std::size_t axes = spatial_axes(facts);
  return axes > 3 ? fmt::format("has no kernel for {} spatial axes, 3 at most", axes) : "";
}

std::string ort_rank_2(const PoolFacts& facts) {
  return facts.global && facts.x && facts.x->size() == 2 ? "refuses an input without spatial axes" : "";
}

std::string ort_pads(const PoolFacts& facts) {
  if (!facts.window || facts.window->auto_pad != AutoPad::kNotSet) return "";
  for (const LpWindow::Axis& axis : facts.window->axes) {
    const std::int64_t pad = std::max(axis.pad_begin, axis.pad_end);
    if (pad >= axis.kernel)
      return fmt::format("refuses padding of {} with a kernel of {}: it must be smaller", pad, axis.kernel);
  }
  return "";
}

std::string ort_empty(const PoolFacts& facts) {
  if (!facts.x) return "";
  for (std::size_t i = 1; i < facts.x->size(); ++i) {
    if ((*facts.x)[i].is(0))
      return fmt::format("refuses an input of {}: only the batch may be empty", to_string(*facts.x));
  }
  return "";
}

std::string ort_shape(const PoolFacts& facts) {
  return other_shape(facts, ort_size);
}

std::string ort_negative_same(const PoolFacts& facts) {
  const bool inside = any_axis(facts, [&](const LpWindow::Axis& axis, std::int64_t n) {
    return facts.window->same() && same_padding(axis, n, axis.kernel) <= -2;
  });
  return inside ? "starts windows inside the input: it does not raise negative SAME padding to 0" : "";
}

std::string ort_overflow(const PoolFacts& facts) {
  constexpr double kNotable = 16;  // below, only magnitudes beyond 256 overflow
  if (facts.p < kNotable) return "";
  return fmt::format("sums powers in float32: magnitudes above {:.3g} give infinity",
                     std::pow(static_cast<double>(std::numeric_limits<float>::max()), 1 / facts.p));
}

std::string ort_large_plane(const PoolFacts& facts) {
  if (!facts.global || !facts.x || facts.x->size() < 3) return "";
  std::int64_t elements = 1;
  for (std::size_t i = 2; i < facts.x->size(); ++i) {
    const auto n = (*facts.x)[i].value();
    const auto product = n ? checked_mul(elements, *n) : std::nullopt;
    if (!product) return "";
    elements = *product;
  }
  const bool large = elements >= 512 * 512;
  return large ? fmt::format("sums {} elements in float32: errors of hundreds of units in the last place", elements)
               : "";
}

std::string reference_no_global(const PoolFacts& facts) {
  return facts.global ? "does not implement GlobalLpPool" : "";
}

std::string reference_partial(const PoolFacts& facts) {
  const bool hangs = any_axis(facts, [&](const LpWindow::Axis& axis, std::int64_t n) {
    if (!facts.window->ceil_mode || facts.window->same()) return false;
    const std::int64_t last = dropping_size(*facts.window, axis, n).value_or(0) - 1;
    return last >= 0 && starts_past(axis, last, n + axis.pad_begin + axis.pad_end - axis.extent + 1);
  });
  return hangs ? "scales windows that hang over the end to a full one, and shifts them" : "";
}

std::string reference_valid_ceil(const PoolFacts& facts) {
  const bool pair = facts.window && facts.window->auto_pad == AutoPad::kValid && facts.window->ceil_mode;
  return pair ? "refuses auto_pad VALID with ceil_mode" : "";
}

std::string reference_same_stride(const PoolFacts& facts) {
  const bool negative = any_axis(facts, [&](const LpWindow::Axis& axis, std::int64_t n) {
    return facts.window->same() && same_padding(axis, n, axis.extent) < 0;
  });
  return negative ? "fails on SAME padding with a stride above the kernel" : "";
}

std::string reference_same_dilation(const PoolFacts& facts) {
  const bool dilated = facts.window && facts.window->same() &&
                       std::ranges::any_of(facts.window->axes, [](const LpWindow::Axis& a) { return a.dilation > 1; });
  return dilated ? "gives other border values for SAME padding with dilations" : "";
}

std::string reference_float16(const PoolFacts& facts) {
  if (facts.global || facts.dtype != DataType::kFloat16) return "";
  return fmt::format("computes powers in float16: magnitudes above {:.3g} give infinity",
                     std::pow(65504.0, 1 / facts.p));
}

std::string kept_window_shape(const PoolFacts& facts) {
  return facts.since >= 18 && facts.since < 22 ? other_shape(facts, dropping_size) : "";
}

std::string float_ceil_shape(const PoolFacts& facts) {
  return facts.since == 18 ? other_shape(facts, float_ceil_size) : "";
}

std::string pytorch_sign(const PoolFacts& facts) {
  const bool even = std::fmod(facts.p, 2) == 0;
  return even ? "" : "takes no absolute value: a negative input gives another value, or NaN";
}

std::string tract_global(const PoolFacts& facts) {
  return facts.global ? "divides the sum by the number of elements and takes no absolute value" : "";
}

std::string no_lp_pool(const PoolFacts& facts) {
  return facts.global ? "" : "does not implement LpPool";
}

constexpr PortabilityRule kRules[] = {
    {kOrt, "PO001", false, "measured", ort_no_version},
    {kOrt, "PO001", false, "measured", ort_no_type},
    {kOrt, "PO001", false, "measured", ort_no_rank},
    {kOrt, "PO002", false, "measured", ort_negative_same},
    {kOrt, "PO002", false, "measured", ort_overflow},
    {kOrt, "PO002", false, "measured", ort_large_plane},
    {kOrt, "PO003", false, "measured", ort_shape},
    {kOrt, "PO004", false, "measured", ort_rank_2},
    {kOrt, "PO004", false, "measured", ort_pads},
    {kOrt, "PO004", false, "measured", ort_empty},
    {kReference, "PO001", true, "source", reference_no_global},
    {kReference, "PO002", false, "measured", reference_partial},
    {kReference, "PO002", false, "measured", reference_same_dilation},
    {kReference, "PO002", false, "measured", reference_float16},
    {kReference, "PO004", false, "measured", reference_valid_ceil},
    {kReference, "PO004", false, "measured", reference_same_stride},
    {kOnnx13, "PO003", false, "source", float_ceil_shape},
    {kOnnx16, "PO003", false, "source", kept_window_shape},
    {kPytorch, "PO002", false, "documentation", pytorch_sign},
    {kPytorch, "PO003", false, "source", kept_window_shape},
    {kTract, "PO001", true, "source", no_lp_pool},
    {kTract, "PO002", true, "source", tract_global},
    {kRten, "PO001", true, "source", no_lp_pool},
    {kOnnxMlir, "PO001", true, "source", no_lp_pool},
};

}  // namespace

std::span<const PortabilityRule> portability_rules() {
  return kRules;
}

std::string to_string(const Engine& engine) {
  return fmt::format("{} {}", engine.name, engine.version);
}

std::optional<PoolFacts> pool_facts(const OpDef& op, const AttributeView& attributes, std::int64_t opset,
                                    const ValueType& x) {
  const bool global = op.type == "GlobalLpPool";
  if (!op.domain.empty() || (!global && op.type != "LpPool")) return std::nullopt;
  PoolFacts facts;
  facts.global = global;
  facts.since = attributes.schema().since_version;
  facts.opset = opset;
  facts.dtype = x.dtype;
  facts.x = x.shape;
  try {
    const auto norm = read_lp_norm(attributes);
    facts.p = norm.whole != 0 ? static_cast<double>(norm.whole) : norm.fraction;
    const std::size_t rank = x.shape ? x.shape->size() : attributes.ints("kernel_shape").size() + 2;
    if (!global) facts.window = read_lp_window(attributes, rank);
  } catch (const Error&) {
    return std::nullopt;  // the node is wrong, or cannot run anywhere
  }
  return facts;
}

}  // namespace lppool
