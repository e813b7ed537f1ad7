#include "lppool/ops/lp_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lppool/base/checked.h"

namespace lppool {
namespace {

// ---- attributes

constexpr std::pair<std::string_view, AutoPad> kAutoPadWords[] = {{"NOTSET", AutoPad::kNotSet},
                                                                  {"VALID", AutoPad::kValid},
                                                                  {"SAME_UPPER", AutoPad::kSameUpper},
                                                                  {"SAME_LOWER", AutoPad::kSameLower},
                                                                  {"", AutoPad::kNotSet}};

std::optional<AutoPad> parse_auto_pad(std::string_view word) {
  for (const auto& [text, value] : kAutoPadWords) {
    if (text == word) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> window_extent(std::int64_t kernel, std::int64_t dilation) {
  const auto span = checked_mul(kernel - 1, dilation);
  return span ? checked_add(*span, 1) : std::nullopt;
}

void check_list(CheckContext& ctx, const char* code, const char* attribute, std::int64_t least) {
  const auto values = ctx.attributes.ints(attribute);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= least) continue;
    ctx.error(code, attribute, fmt::format("{}[{}] is {}, expected {} or more", attribute, i, values[i], least));
  }
}

void check_auto_pad(CheckContext& ctx) {
  const std::string word = ctx.attributes.s("auto_pad");
  const auto mode = parse_auto_pad(word);
  if (!mode) {
    ctx.error("LP010", "auto_pad",
              fmt::format("auto_pad is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", word));
    return;
  }
  if (word.empty()) {
    ctx.warning("LP011", "auto_pad", "auto_pad is an empty string, which is none of its four words; taken as NOTSET",
                "remove the attribute");
  }
  if (*mode != AutoPad::kNotSet && ctx.attributes.has("pads")) {
    ctx.error("LP012", "pads", fmt::format("pads and auto_pad {} exclude each other", word),
              "remove pads, or set auto_pad to NOTSET");
  }
  if (*mode == AutoPad::kValid && ctx.attributes.i("ceil_mode", 0) == 1) {
    ctx.warning("LP015", "ceil_mode",
                "auto_pad VALID with ceil_mode 1: ONNX's text rounds down, its shape inference up; rounded up here",
                "use auto_pad NOTSET without pads, which says the same and is settled");
  }
}

// Sizes of the lists against each other. Against the input's rank they are judged by read_lp_window.
void check_lengths(CheckContext& ctx) {
  constexpr std::pair<const char*, std::size_t> kLists[] = {{"strides", 1}, {"dilations", 1}, {"pads", 2}};
  const std::size_t spatial = ctx.attributes.ints("kernel_shape").size();
  for (const auto& [list, per_axis] : kLists) {
    if (!ctx.attributes.has(list)) continue;
    const std::size_t size = ctx.attributes.ints(list).size();
    if (per_axis == 2 && size % 2 != 0) {
      ctx.error("LP002", list, fmt::format("pads has {} values, expected a begin and an end for each axis", size));
    } else if (spatial != 0 && size != spatial * per_axis) {
      ctx.error("LP021", list,
                fmt::format("{} has {} values, but kernel_shape has {}: expected {}", list, size, spatial,
                            spatial * per_axis));
    }
  }
}

void check_overflow(CheckContext& ctx) {
  const auto kernel = ctx.attributes.ints("kernel_shape");
  const auto dilations = ctx.attributes.ints("dilations");
  const auto pads = ctx.attributes.ints("pads");
  for (std::size_t i = 0; i < std::min(kernel.size(), dilations.size()); ++i) {
    if (kernel[i] < 1 || dilations[i] < 1 || window_extent(kernel[i], dilations[i])) continue;
    ctx.error("LP014", "dilations",
              fmt::format("the window ({} - 1)*{} + 1 of axis {} leaves 64 bits", kernel[i], dilations[i], i));
  }
  for (std::size_t i = 0; i + pads.size() / 2 < pads.size(); ++i) {
    const std::int64_t begin = pads[i], end = pads[i + pads.size() / 2];
    if (begin < 0 || end < 0 || checked_add(begin, end)) continue;
    ctx.error("LP014", "pads", fmt::format("the padding {} + {} of axis {} leaves 64 bits", begin, end, i));
  }
}

// ---- the rule

// Numbers wide enough for every intermediate value of 64-bit attributes.
__extension__ typedef __int128 Wide;

Wide floor_div(Wide a, Wide b) {
  return a / b - (a % b != 0 && a < 0);
}  // b > 0
Wide ceil_div(Wide a, Wide b) {
  return a / b + (a % b != 0 && a > 0);
}
Wide min(Wide a, Wide b) {
  return a < b ? a : b;
}
Wide max(Wide a, Wide b) {
  return a > b ? a : b;
}

// The size before LpPool 22 takes the last window away. Number is Wide, or Dim for an expression.
template <typename Number>
Number window_count(const LpWindow& window, const LpWindow::Axis& axis, const Number& n) {
  const Number stride(axis.stride);
  if (window.same()) return ceil_div(n, stride);
  const Number room = n + Number(axis.pad_begin) + Number(axis.pad_end) - Number(axis.extent);
  return (window.ceil_mode ? ceil_div(room, stride) : floor_div(room, stride)) + Number(1);
}

// Windows that start before the end padding: those that start at or after n + pad_begin are the ones to leave out, but
// never more than one.
template <typename Number>
Number output_size(const LpWindow& window, const LpWindow::Axis& axis, const Number& n) {
  const Number count = window_count(window, axis, n);
  if (window.same() || !window.ceil_mode || !window.drops_last_window) return count;
  const Number before_padding = ceil_div(n + Number(axis.pad_begin), Number(axis.stride));
  return max(count - Number(1), min(count, before_padding));
}

// Whether some n makes the rule of LpPool 22 leave a window out; where not, the expression stays short.
bool can_drop(const LpWindow::Axis& axis) {
  return Wide(axis.pad_end) + axis.stride - 1 >= Wide(axis.extent);
}

std::int64_t narrow(Wide value, const char* what) {
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min()) {
    fail(ErrorKind::kRuntime, "the {} leaves 64 bits", what);
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

void check_lp_window(CheckContext& ctx) {
  if (!ctx.attributes.has("kernel_shape")) {  // only opset 1 gets here: later schemas require it
    ctx.warning("LP001", "kernel_shape",
                "kernel_shape is missing: opset 1 allows that, but gives no window to compute with",
                "add kernel_shape");
  } else if (ctx.attributes.ints("kernel_shape").empty()) {
    ctx.error("LP006", "kernel_shape", "kernel_shape is empty, expected a size for each spatial axis");
  }
  check_list(ctx, "LP006", "kernel_shape", 1);
  check_list(ctx, "LP007", "strides", 1);
  check_list(ctx, "LP008", "dilations", 1);
  check_list(ctx, "LP009", "pads", 0);
  check_auto_pad(ctx);
  if (const std::int64_t ceil_mode = ctx.attributes.i("ceil_mode", 0); ceil_mode != 0 && ceil_mode != 1) {
    ctx.error("LP013", "ceil_mode", fmt::format("ceil_mode is {}, expected 0 or 1", ceil_mode));
  }
  check_lengths(ctx);
  check_overflow(ctx);
}

LpWindow read_lp_window(const AttributeView& attributes, std::size_t rank) {
  if (rank < 3) fail(ErrorKind::kRuntime, "the input has rank {}, expected 3 or more: N, C and a spatial axis", rank);
  CheckContext findings(attributes.node(), attributes.schema());
  check_lp_window(findings);
  for (const Diagnostic& finding : findings.findings) {
    if (finding.severity == Severity::kError) fail(ErrorKind::kRuntime, "{}", finding.message);
  }

  const std::size_t spatial = rank - 2;
  const auto list = [&](const char* attribute, std::size_t size, std::int64_t fallback) {
    if (!attributes.has(attribute)) return std::vector<std::int64_t>(size, fallback);
    auto values = attributes.ints(attribute);
    if (values.size() != size) {
      fail(ErrorKind::kRuntime, "{} has {} values, but the input has {} spatial axes: expected {}", attribute,
           values.size(), spatial, size);
    }
    return values;
  };
  if (!attributes.has("kernel_shape")) fail(ErrorKind::kRuntime, "kernel_shape is missing");
  const auto kernel = list("kernel_shape", spatial, 1);
  const auto strides = list("strides", spatial, 1);
  const auto dilations = list("dilations", spatial, 1);
  const auto pads = list("pads", spatial * 2, 0);

  LpWindow window;
  window.auto_pad = *parse_auto_pad(attributes.s("auto_pad"));
  window.ceil_mode = attributes.i("ceil_mode", 0) == 1;
  window.drops_last_window = attributes.schema().since_version >= 22;
  for (std::size_t i = 0; i < spatial; ++i) {
    window.axes.push_back(
        {kernel[i], strides[i], dilations[i], pads[i], pads[i + spatial], *window_extent(kernel[i], dilations[i])});
  }
  return window;
}

AxisPlan plan_axis(const LpWindow& window, std::size_t axis_index, std::int64_t n) {
  const LpWindow::Axis& axis = window.axes[axis_index];
  const Wide size = output_size(window, axis, Wide(n));
  if (size < 0) {
    fail(ErrorKind::kRuntime,
         "the window of {} (kernel {}, dilation {}) does not fit the padded input of {} + {} + {} along axis {}: the "
         "output size {} would be {}",
         axis.extent, axis.kernel, axis.dilation, n, axis.pad_begin, axis.pad_end, axis_index + 2,
         output_formula(window, axis_index, Dim(n)), narrow(size, "output size"));
  }
  AxisPlan plan;
  plan.out = narrow(size, "output size");
  plan.pad_begin = axis.pad_begin;
  plan.pad_end = axis.pad_end;
  if (window.same()) {
    const Wide total = max((size - 1) * axis.stride + axis.extent - n, 0);
    const Wide less = total / 2, more = total - less;
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    plan.pad_begin = narrow(upper ? less : more, "padding");
    plan.pad_end = narrow(upper ? more : less, "padding");
  } else if (window.ceil_mode) {
    plan.last_window_dropped = size < window_count(window, axis, Wide(n));
    plan.last_window_in_padding = size > 0 && (size - 1) * axis.stride >= Wide(n) + axis.pad_begin;
  }
  // Kernels count positions from the padded beginning in 64 bits.
  narrow(max(size - 1, 0) * axis.stride + axis.extent, "last window's end");
  narrow(Wide(n) + plan.pad_begin + plan.pad_end, "padded input size");
  return plan;
}

Dim output_dim(const LpWindow& window, std::size_t axis_index, const Dim& n) {
  if (const auto value = n.value()) return Dim(plan_axis(window, axis_index, *value).out);
  const LpWindow::Axis& axis = window.axes[axis_index];
  return can_drop(axis) ? output_size(window, axis, n) : window_count(window, axis, n);
}

std::string output_formula(const LpWindow& window, std::size_t axis_index, const Dim& n) {
  const LpWindow::Axis& axis = window.axes[axis_index];
  std::string size = n.to_string();
  if (n.is_sum()) size = fmt::format("({})", size);
  const auto quotient = [&](bool up, const std::string& dividend) {
    if (axis.stride == 1) return dividend;
    const bool bare = dividend.find(' ') == std::string::npos;
    return fmt::format("{}({}/{})", up ? "ceil" : "floor", bare ? dividend : "(" + dividend + ")", axis.stride);
  };
  if (window.same()) return quotient(true, n.to_string());
  std::string room = size;
  if (axis.pad_begin != 0 || axis.pad_end != 0) {
    room += fmt::format(" + {}", (Dim(axis.pad_begin) + Dim(axis.pad_end)).to_string());
  }
  room += axis.dilation == 1 ? fmt::format(" - {}", axis.kernel)
                             : fmt::format(" - (({} - 1)*{} + 1)", axis.kernel, axis.dilation);
  std::string formula = quotient(window.ceil_mode, room) + " + 1";
  if (!window.ceil_mode || !window.drops_last_window || !can_drop(axis)) return formula;
  if (const auto value = n.value()) {
    const bool dropped = output_size(window, axis, Wide(*value)) < window_count(window, axis, Wide(*value));
    return dropped ? formula + " - 1" : formula;
  }
  return fmt::format("{}, less 1 where the last window would start at or after {} + {}", formula, size, axis.pad_begin);
}

void remark_on_axis(InferContext& ctx, const LpWindow& window, std::size_t axis_index, std::int64_t n,
                    const WindowRemarks& codes) {
  const LpWindow::Axis& axis = window.axes[axis_index];
  const AxisPlan plan = plan_axis(window, axis_index, n);
  const std::size_t d = axis_index + 2;
  const std::string_view op = ctx.attributes.schema().name;
  if (plan.last_window_in_padding) {
    if (!window.drops_last_window) {
      ctx.warn(codes.kept_last,
               fmt::format("axis {} has size {} in {} {}, where the last window starts in the end padding; "
                           "{} 22 and some runtimes leave it out and give {}",
                           d, plan.out, op, ctx.since_version(), op, plan.out - 1));
    } else {
      ctx.warn(codes.in_padding, fmt::format("the last window of axis {} lies wholly in the padding: such windows {}", d, codes.of_padding));
    }
  }
  const bool fits = axis.extent <= n + plan.pad_begin + plan.pad_end;
  if (!window.same() && !window.ceil_mode && !fits && axis.stride > 1) {
    ctx.warn(codes.does_not_fit,
             fmt::format("the window of {} is larger than the padded input of {} along axis {}: the size is {} by "
                         "the formula, while runtimes that divide toward zero give {}",
                         axis.extent, n + plan.pad_begin + plan.pad_end, d, plan.out, plan.out + 1));
  } else if (plan.out == 0) {
    ctx.warn(codes.empty,
             fmt::format("the output is empty: axis {} has size 0 = {}", d, output_formula(window, axis_index, n)));
  }
  if (plan.out == 0 || n == 0) return;
  const bool ends_in_padding = !plan.last_window_in_padding && (plan.out - 1) * axis.stride - plan.pad_begin >= n;
  if (axis.extent <= plan.pad_begin || ends_in_padding) {
    ctx.warn(codes.in_padding, fmt::format("windows of {} lie wholly in the padding {} and {} of axis {} and {}",
                                            axis.extent, plan.pad_begin, plan.pad_end, d, codes.of_padding));
  }
  if (codes.unread[0] == '\0') return;
  const std::int64_t end = (plan.out - 1) * axis.stride + axis.extent - plan.pad_begin;  // of the last window
  if (axis.stride > axis.extent && plan.out > 1) {
    ctx.note(codes.unread,
             fmt::format("axis {} is not read whole: stride {} steps over elements that the window of {} leaves out", d,
                         axis.stride, axis.extent));
  } else if (end < n) {
    ctx.note(codes.unread,
             fmt::format("axis {} is not read whole: the last {} of its {} elements are in no window", d, n - end, n));
  }
}

}  // namespace lppool
