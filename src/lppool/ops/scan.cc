// Scan: runs its body for each position along an axis of its scan inputs. Version 8 scans axis 1 of batched tensors, with a
// length for each batch; from version 9 on axes and directions are attributes and there is no batch.
#include <algorithm>

#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/op.h"
#include "lppool/ops/stack.h"
#include "lppool/ops/value_types.h"

namespace lppool {
namespace {

constexpr std::string_view kInputs = "initial_state_and_scan_inputs**:V";
constexpr std::string_view kOutputs = "final_state_and_scan_outputs**:V";
constexpr std::string_view kAttributes =
    "body!:graph num_scan_inputs!:int scan_input_axes:ints scan_input_directions:ints scan_output_axes:ints "
    "scan_output_directions:ints";

constexpr OpVersion kScanVersions[] = {
    {8, "sequence_lens?:I initial_state_and_scan_inputs**:V", kOutputs, "body!:graph directions:ints num_scan_inputs!:int",
     "I=int64; V=all15"},
    {9, kInputs, kOutputs, kAttributes, "V=all15"},
    {11, kInputs, kOutputs, kAttributes, "V=all15"},
    {16, kInputs, kOutputs, kAttributes, "V=all16"},
    {19, kInputs, kOutputs, kAttributes, "V=all20"},
    {21, kInputs, kOutputs, kAttributes, "V=all22"},
    {23, kInputs, kOutputs, kAttributes, "V=all23"},
    {24, kInputs, kOutputs, kAttributes, "V=all24"},
    {25, kInputs, kOutputs, kAttributes, "V=all26"},
};

// What the node says of itself, checked: `first` is the first state variable's input.
struct Layout {
  const Graph* body = nullptr;
  bool batched = false;  // version 8
  std::size_t first = 0, states = 0, scans = 0, stacked = 0;
  std::vector<std::int64_t> input_axes, output_axes;
  std::vector<bool> input_reversed, output_reversed;
};

std::vector<bool> directions(const AttributeView& attributes, std::string_view name, std::size_t count) {
  if (!attributes.has(name)) return std::vector<bool>(count, false);
  const auto values = attributes.ints(name);
  if (values.size() != count) fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, values.size(), count);
  std::vector<bool> result;
  for (const std::int64_t value : values) {
    if (value != 0 && value != 1) fail(ErrorKind::kRuntime, "{} has {}, expected 0 or 1", name, value);
    result.push_back(value == 1);
  }
  return result;
}

std::vector<std::int64_t> axes(const AttributeView& attributes, std::string_view name, std::size_t count) {
  if (!attributes.has(name)) return std::vector<std::int64_t>(count, 0);
  auto values = attributes.ints(name);
  if (values.size() != count) fail(ErrorKind::kRuntime, "{} has {} values, expected {}", name, values.size(), count);
  return values;
}

Layout layout_of(const AttributeView& attributes, std::size_t inputs, std::size_t outputs) {
  Layout layout;
  layout.body = attributes.graph("body");
  if (layout.body == nullptr) fail(ErrorKind::kRuntime, "attribute 'body' is missing");
  layout.batched = attributes.schema().since_version < 9;
  layout.first = layout.batched ? 1 : 0;
  const std::int64_t scans = attributes.i("num_scan_inputs");
  const auto given = static_cast<std::int64_t>(inputs) - static_cast<std::int64_t>(layout.first);
  if (scans < 1 || scans > given) {
    fail(ErrorKind::kRuntime, "num_scan_inputs is {}, expected 1 to {} for {} inputs", scans, given, inputs);
  }
  layout.scans = static_cast<std::size_t>(scans);
  layout.states = static_cast<std::size_t>(given - scans);
  const Graph& body = *layout.body;
  if (body.inputs.size() != layout.states + layout.scans || body.outputs.size() != outputs || outputs < layout.states) {
    fail(ErrorKind::kRuntime, "the body has {} inputs and {} outputs, expected {} and {}", body.inputs.size(),
         body.outputs.size(), layout.states + layout.scans, outputs);
  }
  layout.stacked = outputs - layout.states;
  if (layout.batched) {
    layout.input_axes.assign(layout.scans, 0);  // of one batch's part
    layout.output_axes.assign(layout.stacked, 0);
    layout.input_reversed = directions(attributes, "directions", layout.scans);
    layout.output_reversed.assign(layout.stacked, false);
  } else {
    layout.input_axes = axes(attributes, "scan_input_axes", layout.scans);
    layout.output_axes = axes(attributes, "scan_output_axes", layout.stacked);
    layout.input_reversed = directions(attributes, "scan_input_directions", layout.scans);
    layout.output_reversed = directions(attributes, "scan_output_directions", layout.stacked);
  }
  return layout;
}

// ---- inference ----

// `type` without its axis `axis`, whose size goes to `length`.
ValueType without_axis(ValueType type, std::int64_t axis, Dim& length) {
  if (!type.shape) return type;
  const auto place = type.shape->begin() + static_cast<std::ptrdiff_t>(normalize_axis(axis, type.shape->size()));
  length = agree(length, *place, "length of a scan input");
  type.shape->erase(place);
  return type;
}

void insert_axis(ValueType& type, std::int64_t axis, const Dim& size) {
  if (!type.shape) return;
  const std::size_t place = normalize_axis(axis, type.shape->size() + 1);
  type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(place), size);
}

void infer_scan(InferContext& ctx) {
  const Layout layout = layout_of(ctx.attributes, ctx.input_count(), ctx.output_count());
  Dim length, batch;
  std::vector<ValueType> arguments;
  for (std::size_t i = 0; i < layout.states + layout.scans; ++i) {
    ValueType type = ctx.input(layout.first + i);
    if (layout.batched) type = without_axis(std::move(type), 0, batch);
    if (i >= layout.states) type = without_axis(std::move(type), layout.input_axes[i - layout.states], length);
    arguments.push_back(std::move(type));
  }
  std::vector<ValueType> results = ctx.infer_subgraph(*layout.body, arguments);
  if (results.size() != ctx.output_count()) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i < layout.states) {
      results[i] = union_of(arguments[i], results[i]);  // state keeps its shape from round to round
    } else {
      insert_axis(results[i], layout.output_axes[i - layout.states], length);
    }
    if (layout.batched) insert_axis(results[i], 0, batch);
    ctx.set_output(i, std::move(results[i]));
    explain_each(ctx, i, i < layout.states ? "the same before and after each step" : "as the body gives it, stacked by step");
  }
}

// ---- running ----

// The part of `tensor` at `index` along `axis`, without that axis.
Tensor part(const Tensor& tensor, std::size_t axis, std::int64_t index, ThreadPool& threads) {
  Shape shape;
  Box box;
  const auto strides = tensor.shape().strides();
  for (std::size_t k = 0; k < tensor.rank(); ++k) {
    if (k == axis) continue;
    shape.push_back(tensor.shape()[k]);
    box.in_strides.push_back(strides[k]);
  }
  box.in_offset = index * strides[axis];
  box.sizes = shape.dims();
  box.out_strides = shape.strides();
  Tensor result = Tensor::allocate(tensor.dtype(), std::move(shape));
  copy_box(tensor, result, std::move(box), threads);
  return result;
}

// Scans whole tensors (one batch's, in version 8) for `length` rounds. Returns final states, then stacked outputs.
std::vector<Value> scan(KernelContext& ctx, const Layout& layout, std::vector<Value> state, const std::vector<Tensor>& scans,
                        std::int64_t length) {
  std::vector<Stack> stacks(layout.stacked);
  for (Stack& stack : stacks) stack.expect(length);
  for (std::int64_t round = 0; round < length; ++round) {
    std::vector<Value> arguments = std::move(state);
    for (std::size_t i = 0; i < layout.scans; ++i) {
      const std::size_t axis = normalize_axis(layout.input_axes[i], scans[i].rank());
      const std::int64_t index = layout.input_reversed[i] ? scans[i].shape()[axis] - 1 - round : round;
      arguments.emplace_back(part(scans[i], axis, index, ctx.threads()));
    }
    std::vector<Value> results = ctx.run_subgraph(*layout.body, std::move(arguments));
    if (results.size() != layout.states + layout.stacked) {
      fail(ErrorKind::kRuntime, "the body made {} outputs, expected {}", results.size(), layout.states + layout.stacked);
    }
    for (std::size_t i = 0; i < layout.stacked; ++i) {
      const std::string what = fmt::format("scan output '{}'", layout.body->outputs[layout.states + i].name);
      const Value& result = results[layout.states + i];
      if (!result.is_tensor()) fail(ErrorKind::kRuntime, "{} is no tensor", what);
      stacks[i].append(result.tensor(), what, ctx.threads());
    }
    results.resize(layout.states);
    state = std::move(results);
  }
  for (std::size_t i = 0; i < layout.stacked; ++i) {
    const ValueInfo& declared = layout.body->outputs[layout.states + i];
    state.emplace_back(stacks[i].count() > 0
                           ? stacks[i].finish(layout.output_axes[i], layout.output_reversed[i], ctx.threads())
                           : empty_stack(declared.type, layout.output_axes[i], declared.name));
  }
  return state;
}

std::int64_t scan_length(const Layout& layout, const std::vector<Tensor>& scans) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const std::int64_t size = scans[i].shape()[normalize_axis(layout.input_axes[i], scans[i].rank())];
    if (i > 0 && size != length) {
      fail(ErrorKind::kRuntime, "scan input {} has {} positions, expected {} as scan input 0", i, size, length);
    }
    length = size;
  }
  return length;
}

void run_plain(KernelContext& ctx, const Layout& layout) {
  std::vector<Value> state;
  std::vector<Tensor> scans;
  for (std::size_t i = 0; i < layout.states; ++i) state.push_back(std::move(ctx.inputs[i]));
  for (std::size_t i = 0; i < layout.scans; ++i) scans.push_back(ctx.input(layout.states + i));
  std::vector<Value> results = scan(ctx, layout, std::move(state), scans, scan_length(layout, scans));
  for (std::size_t i = 0; i < results.size(); ++i) ctx.set_output(i, std::move(results[i]));
}

// Version 8. Outputs are as long as the inputs; what lies past a batch's own length has no meaning and is zero here.
void run_batched(KernelContext& ctx, const Layout& layout) {
  const Tensor& first = ctx.input(layout.first + layout.states);
  if (first.rank() < 2) fail(ErrorKind::kRuntime, "scan input 0 has shape {}, expected rank 2 or more", to_string(first.shape()));
  const std::int64_t batches = first.shape()[0], length = first.shape()[1];
  for (std::size_t i = 0; i < layout.states + layout.scans; ++i) {
    const Tensor& input = ctx.input(layout.first + i);
    const bool scanned = i >= layout.states;
    if (input.rank() < (scanned ? 2u : 1u) || input.shape()[0] != batches || (scanned && input.shape()[1] != length)) {
      fail(ErrorKind::kRuntime, "input {} has shape {}, expected {}{}x...", layout.first + i, to_string(input.shape()), batches,
           scanned ? fmt::format("x{}", length) : std::string());
    }
  }
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batches), length);
  if (const Tensor* given = ctx.optional_input(0)) {
    lengths = int_values(*given, "sequence_lens");
    const bool fits = given->size() == batches && std::ranges::all_of(lengths, [&](std::int64_t l) { return l >= 0 && l <= length; });
    if (!fits) fail(ErrorKind::kRuntime, "sequence_lens is not {} numbers from 0 to {}", batches, length);
  }
  if (batches == 0) fail(ErrorKind::kUnsupported, "a scan over no batches, supported with one batch or more");
  std::vector<Tensor> results(layout.states + layout.stacked);
  for (std::int64_t b = 0; b < batches; ++b) {
    std::vector<Value> state;
    std::vector<Tensor> scans;
    for (std::size_t i = 0; i < layout.states; ++i) state.emplace_back(part(ctx.input(1 + i), 0, b, ctx.threads()));
    for (std::size_t i = 0; i < layout.scans; ++i) {
      scans.push_back(part(ctx.input(1 + layout.states + i), 0, b, ctx.threads()));
    }
    const std::vector<Value> made = scan(ctx, layout, std::move(state), scans, lengths[static_cast<std::size_t>(b)]);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i].is_tensor()) fail(ErrorKind::kRuntime, "output {} is no tensor", i);
      const Tensor& one = made[i].tensor();
      const bool stacked = i >= layout.states;
      if (!results[i].defined()) {
        Shape shape{batches};
        for (std::size_t k = 0; k < one.rank(); ++k) shape.push_back(stacked && k == 0 ? length : one.shape()[k]);
        results[i] = Tensor::zeros(one.dtype(), std::move(shape));
      }
      Tensor& all = results[i];
      bool fits = one.rank() + 1 == all.rank() && one.dtype() == all.dtype();
      for (std::size_t k = stacked ? 1 : 0; fits && k < one.rank(); ++k) fits = one.shape()[k] == all.shape()[k + 1];
      if (!fits) fail(ErrorKind::kRuntime, "output {} has shape {} in batch {}, unlike before", i, to_string(one.shape()), b);
      copy_run(one, 0, all, b * (all.size() / batches), one.size());
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) ctx.set_output(i, Value(std::move(results[i])));
}

void run_scan(KernelContext& ctx) {
  const Layout layout = layout_of(ctx.attributes, ctx.input_count(), ctx.output_count());
  if (layout.batched) run_batched(ctx, layout);
  else run_plain(ctx, layout);
}

}  // namespace

extern const OpDef kScan;
const OpDef kScan = {
    .domain = "",
    .type = "Scan",
    .summary = "Runs its body for each position along an axis of some inputs; carries state, and stacks up what rounds give.",
    .versions = kScanVersions,
    .infer = infer_scan,
    .run = run_scan,
    .constant_foldable = false,
};

}  // namespace lppool
