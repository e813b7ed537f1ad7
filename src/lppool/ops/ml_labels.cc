// LabelEncoder, CategoryMapper and OneHotEncoder of ai.onnx.ml: labels looked up in a list that the node brings along.
#include <bit>
#include <cmath>
#include <unordered_map>

#include "lppool/ops/contents.h"
#include "lppool/ops/explain.h"
#include "lppool/ops/indexing.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/scalars.h"

namespace lppool {
namespace {

// ---- keys ----

// A key as 64 bits: equal keys have equal bits. Zeros of either sign are one key, and so are all NaN.
std::uint64_t float_key(double value) {
  if (std::isnan(value)) return ~std::uint64_t{0};
  return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

// Calls use(i, key) for each element, the key being a string or 64 bits. Throws kUnsupported for other types.
template <typename OnString, typename OnNumber>
void visit_keys(const Tensor& tensor, OnString&& on_string, OnNumber&& on_number) {
  const auto numbers = [&](auto values, auto key) {
    for (std::size_t i = 0; i < values.size(); ++i) on_number(i, key(values[i]));
  };
  const auto integer = [](auto v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); };
  const auto real = [](auto v) { return float_key(static_cast<double>(v)); };
  switch (tensor.dtype()) {
    case DataType::kString:
      for (std::size_t i = 0; i < tensor.strings().size(); ++i) on_string(i, tensor.strings()[i]);
      return;
    case DataType::kInt16: return numbers(tensor.data<std::int16_t>(), integer);
    case DataType::kInt32: return numbers(tensor.data<std::int32_t>(), integer);
    case DataType::kInt64: return numbers(tensor.data<std::int64_t>(), integer);
    case DataType::kFloat32: return numbers(tensor.data<float>(), real);
    case DataType::kFloat64: return numbers(tensor.data<double>(), real);
    default: fail(ErrorKind::kUnsupported, "labels of type {}", name(tensor.dtype()));
  }
}

// A dictionary: out's element i is the value whose key is x's element i, or the default. The last of equal keys counts.
void look_up(KernelContext& ctx, const Tensor& x, const Tensor& keys, const Tensor& values, const Tensor& otherwise) {
  if (keys.size() != values.size()) {
    fail(ErrorKind::kRuntime, "{} keys and {} values are given, expected as many", keys.size(), values.size());
  }
  if (keys.dtype() != x.dtype()) fail(ErrorKind::kRuntime, "input is {}, expected {} as the keys", name(x.dtype()), name(keys.dtype()));
  if (otherwise.size() != 1 || otherwise.dtype() != values.dtype()) {
    fail(ErrorKind::kRuntime, "the default is {} {}, expected one {} as the values", name(otherwise.dtype()),
         to_string(otherwise.shape()), name(values.dtype()));
  }
  std::unordered_map<std::string, std::int64_t> by_string;
  std::unordered_map<std::uint64_t, std::int64_t> by_number;
  visit_keys(
      keys, [&](std::size_t i, const std::string& key) { by_string[key] = static_cast<std::int64_t>(i); },
      [&](std::size_t i, std::uint64_t key) { by_number[key] = static_cast<std::int64_t>(i); });
  Tensor all = Tensor::allocate(values.dtype(), {values.size() + 1});  // the default last
  copy_run(values, 0, all, 0, values.size());
  copy_run(otherwise, 0, all, values.size(), 1);
  std::vector<std::int64_t> place(static_cast<std::size_t>(x.size()), values.size());
  const auto find = [&](const auto& map, std::size_t i, const auto& key) {
    if (const auto found = map.find(key); found != map.end()) place[i] = found->second;
  };
  visit_keys(
      x, [&](std::size_t i, const std::string& key) { find(by_string, i, key); },
      [&](std::size_t i, std::uint64_t key) { find(by_number, i, key); });
  Tensor& out = ctx.output(0, values.dtype(), x.shape());
  copy_runs(all, out, x.size(), 1, [&](std::int64_t i) { return place[static_cast<std::size_t>(i)]; }, ctx.threads());
}

template <typename T>
Tensor list(const std::vector<T>& values) {
  return Tensor::of(Shape{std::ssize(values)}, values);
}

// ---- LabelEncoder ----

constexpr OpVersion kLabelEncoderVersions[] = {
    {1, "X:T1", "Y:T2", "classes_strings:strings default_int64:int=-1 default_string:string=_Unused",
     "T1=string|int64; T2=string|int64"},
    {2, "X:T1", "Y:T2",
     "default_float:float=-0.0 default_int64:int=-1 default_string:string=_Unused keys_floats:floats keys_int64s:ints "
     "keys_strings:strings values_floats:floats values_int64s:ints values_strings:strings",
     "T1=string|int64|float32; T2=string|int64|float32"},
    {4, "X:T1", "Y:T2",
     "default_float:float=-0.0 default_int64:int=-1 default_string:string=_Unused default_tensor:tensor keys_floats:floats "
     "keys_int64s:ints keys_strings:strings keys_tensor:tensor values_floats:floats values_int64s:ints "
     "values_strings:strings values_tensor:tensor",
     "T1=string|int64|float32|int32|int16|float64; T2=string|int64|float32|int32|int16|float64"},
};

// The list named prefix + "_strings", "_int64s", "_floats" or "_tensor", of which one is given.
Tensor label_list(const AttributeView& attributes, const std::string& prefix) {
  Tensor result;
  int given = 0;
  const auto take = [&](const std::string& suffix, auto&& read) {
    if (!attributes.has(prefix + suffix)) return;
    ++given;
    result = read(prefix + suffix);
  };
  take("_strings", [&](const std::string& n) { return list(attributes.strings(n)); });
  take("_int64s", [&](const std::string& n) { return list(attributes.ints(n)); });
  take("_floats", [&](const std::string& n) { return list(attributes.floats(n)); });
  take("_tensor", [&](const std::string& n) { return *attributes.tensor(n); });
  if (given != 1) fail(ErrorKind::kRuntime, "{} {}_* attributes are given, expected one", given, prefix);
  return result;
}

Tensor label_default(const AttributeView& attributes, DataType dtype) {
  if (attributes.schema().since_version >= 4) {
    if (const Tensor* given = attributes.tensor("default_tensor"); given != nullptr && attributes.has("values_tensor")) return *given;
  }
  switch (dtype) {
    case DataType::kString: return Tensor::scalar(attributes.s("default_string"));
    case DataType::kInt64: return Tensor::scalar(attributes.i("default_int64"));
    case DataType::kFloat32: return Tensor::scalar(attributes.f("default_float"));
    // What the text says of values_tensor without default_tensor.
    case DataType::kFloat64: return Tensor::scalar(-0.0);
    default: return number_of(dtype, -1, "the default");
  }
}

void infer_label_encoder(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  DataType dtype = DataType::kUndefined;
  if (ctx.since_version() == 1) {
    if (ctx.input(0).dtype == DataType::kString) dtype = DataType::kInt64;
    else if (ctx.input(0).dtype != DataType::kUndefined) dtype = DataType::kString;
  } else {
    dtype = label_list(ctx.attributes, "values").dtype();
  }
  ctx.set_output(0, dtype, shape ? std::optional(*shape) : std::nullopt);
}

Tensor counted(std::size_t count) {
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i);
  return list(values);
}

void run_label_encoder(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (ctx.since_version() > 1) {
    const Tensor values = label_list(ctx.attributes, "values");
    return look_up(ctx, x, label_list(ctx.attributes, "keys"), values, label_default(ctx.attributes, values.dtype()));
  }
  // Version 1: a string's place in the list, or the string at a place. Of equal strings the first one counts.
  auto classes = ctx.attributes.strings("classes_strings");
  if (x.dtype() != DataType::kString) {
    return look_up(ctx, x, counted(classes.size()), list(classes), Tensor::scalar(ctx.attributes.s("default_string")));
  }
  std::vector<std::int64_t> places(classes.size());
  std::unordered_map<std::string, std::int64_t> first;
  for (std::size_t i = 0; i < classes.size(); ++i) places[i] = first.emplace(classes[i], static_cast<std::int64_t>(i)).first->second;
  look_up(ctx, x, list(classes), list(places), Tensor::scalar(ctx.attributes.i("default_int64")));
}

// ---- CategoryMapper ----

constexpr OpVersion kCategoryMapperVersions[] = {
    {1, "X:T1", "Y:T2", "cats_int64s:ints cats_strings:strings default_int64:int=-1 default_string:string=_Unused",
     "T1=string|int64; T2=string|int64"}};

void infer_category_mapper(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  const DataType in = ctx.input(0).dtype;
  const DataType dtype = in == DataType::kUndefined ? in : in == DataType::kString ? DataType::kInt64 : DataType::kString;
  ctx.set_output(0, dtype, shape ? std::optional(*shape) : std::nullopt);
}

void run_category_mapper(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor numbers = list(ctx.attributes.ints("cats_int64s")), strings = list(ctx.attributes.strings("cats_strings"));
  if (x.dtype() == DataType::kString) look_up(ctx, x, strings, numbers, Tensor::scalar(ctx.attributes.i("default_int64")));
  else look_up(ctx, x, numbers, strings, Tensor::scalar(ctx.attributes.s("default_string")));
}

// ---- OneHotEncoder ----

constexpr OpVersion kOneHotEncoderVersions[] = {
    {1, "X:T", "Y:float32", "cats_int64s:ints cats_strings:strings zeros:int=1", "T=string|int64|int32|float32|float64"}};

std::int64_t category_count(const AttributeView& attributes) {
  const bool numbers = attributes.has("cats_int64s"), strings = attributes.has("cats_strings");
  if (numbers == strings) fail(ErrorKind::kRuntime, "cats_int64s and cats_strings: expected one of them");
  return numbers ? std::ssize(attributes.ints("cats_int64s")) : std::ssize(attributes.strings("cats_strings"));
}

void infer_one_hot_encoder(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  std::optional<std::vector<Dim>> result;
  if (shape != nullptr) {
    result = *shape;
    result->emplace_back(category_count(ctx.attributes));
    if (ctx.explaining) ctx.explain(0, shape->size(), fmt::format("{} (categories)", result->back().to_string()));
  }
  ctx.set_output(0, DataType::kFloat32, std::move(result));
}

void run_one_hot_encoder(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::int64_t count = category_count(ctx.attributes);
  const bool strings = ctx.attributes.has("cats_strings");
  if (strings != (x.dtype() == DataType::kString)) {
    fail(ErrorKind::kRuntime, "input is {}, expected {} as the categories", name(x.dtype()), strings ? "string" : "a number type");
  }
  std::unordered_map<std::string, std::int64_t> by_string;
  std::unordered_map<std::int64_t, std::int64_t> by_number;
  const auto names = ctx.attributes.strings("cats_strings");
  const auto numbers = ctx.attributes.ints("cats_int64s");
  for (std::size_t i = 0; i < names.size(); ++i) by_string.emplace(names[i], static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < numbers.size(); ++i) by_number.emplace(numbers[i], static_cast<std::int64_t>(i));
  Shape shape = x.shape();
  shape.push_back(count);
  const bool zeros_allowed = ctx.attributes.i("zeros") != 0;
  Tensor& out = ctx.output(0, DataType::kFloat32, std::move(shape));
  auto target = out.mutable_data<float>();
  std::ranges::fill(target, 0.0f);
  const auto cast = strings ? std::vector<std::int64_t>() : cast_to_int64(x, "input");
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    std::int64_t category = -1;
    if (strings) {
      if (const auto found = by_string.find(x.strings()[i]); found != by_string.end()) category = found->second;
    } else if (const auto found = by_number.find(cast[i]); found != by_number.end()) {
      category = found->second;
    }
    if (category >= 0) target[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(category)] = 1.0f;
    else if (!zeros_allowed) fail(ErrorKind::kRuntime, "element {} is in no category", i);
  }
}

}  // namespace

extern const OpDef kLabelEncoder;
const OpDef kLabelEncoder = {
    .domain = "ai.onnx.ml",
    .type = "LabelEncoder",
    .summary = "Replaces each element by the value that a list of keys and values gives for it.",
    .versions = kLabelEncoderVersions,
    .infer = infer_label_encoder,
    .run = run_label_encoder,
};

extern const OpDef kCategoryMapper;
const OpDef kCategoryMapper = {
    .domain = "ai.onnx.ml",
    .type = "CategoryMapper",
    .summary = "Turns category names into numbers or numbers into names.",
    .versions = kCategoryMapperVersions,
    .infer = infer_category_mapper,
    .run = run_category_mapper,
};

extern const OpDef kOneHotEncoder;
const OpDef kOneHotEncoder = {
    .domain = "ai.onnx.ml",
    .type = "OneHotEncoder",
    .summary = "A new last axis with a one at the place of each element's category.",
    .versions = kOneHotEncoderVersions,
    .infer = infer_one_hot_encoder,
    .run = run_one_hot_encoder,
};

}  // namespace lppool
