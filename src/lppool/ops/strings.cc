// StringConcat, StringSplit and StringNormalizer.
#include <algorithm>
#include <set>

#include "lppool/ops/broadcast.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"
#include "lppool/ops/unicode.h"

namespace lppool {
namespace {

// Tensor of these strings; their characters count against the memory limit.
Value string_tensor(Shape shape, std::vector<std::string> strings) {
  Tensor result = Tensor::allocate(DataType::kString, std::move(shape));
  std::size_t characters = 0;
  for (const std::string& text : strings) characters += text.size();
  result.charge_characters(characters);
  std::ranges::move(strings, result.mutable_strings().begin());
  return Value(std::move(result));
}

const Tensor& string_input(const KernelContext& ctx, std::size_t i) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.dtype() != DataType::kString) fail(ErrorKind::kRuntime, "input {} is {}, expected string", i, name(tensor.dtype()));
  return tensor;
}

// ---- StringConcat ----

constexpr OpVersion kStringConcatVersions[] = {{20, "X:T Y:T", "Z:T", "", "T=string"}};

void infer_string_concat(InferContext& ctx) {
  const std::vector<Dim>*x = ctx.shape(0), *y = ctx.shape(1);
  std::optional<std::vector<Dim>> shape;
  if (x != nullptr && y != nullptr) shape = broadcast_shape(std::span<const Dim>(*x), std::span<const Dim>(*y));
  ctx.set_output(0, DataType::kString, std::move(shape));
}

void run_string_concat(KernelContext& ctx) {
  const Tensor& x = string_input(ctx, 0);
  const Tensor& y = string_input(ctx, 1);
  const Shape shape = broadcast_shape(x.shape(), y.shape());
  Tensor& out = ctx.output(0, DataType::kString, shape);
  const Shape operands[] = {x.shape(), y.shape()};
  const BroadcastLoop loop(shape, operands);
  ThreadPool serial(1);
  const auto each = [&](auto&& use) {
    loop.run(serial, [&](std::int64_t to, const std::int64_t* from, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        use(x.strings()[static_cast<std::size_t>(from[0] + (loop.repeats(0) ? 0 : i))],
            y.strings()[static_cast<std::size_t>(from[1] + (loop.repeats(1) ? 0 : i))],
            out.mutable_strings()[static_cast<std::size_t>(to + i)]);
      }
    });
  };
  std::size_t characters = 0;
  each([&](const std::string& a, const std::string& b, std::string&) {
    if (characters <= memory::limit()) characters += a.size() + b.size();
  });
  out.charge_characters(characters);
  each([](const std::string& a, const std::string& b, std::string& joined) { joined = a + b; });
}

// ---- StringSplit ----

constexpr OpVersion kStringSplitVersions[] = {
    {20, "X:T1", "Y:T2 Z:T3", "delimiter:string maxsplit:int", "T1=string; T2=string; T3=int64"}};

void infer_string_split(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  std::optional<std::vector<Dim>> parts, counts;
  if (shape != nullptr) {
    counts = *shape;
    parts = *shape;
    parts->push_back(Dim());
  }
  ctx.set_output(0, DataType::kString, std::move(parts));
  ctx.set_output(1, DataType::kInt64, std::move(counts));
}

// A long text of short parts takes many times its size: each part counts before it is made.
void add_part(std::vector<std::string>& parts, std::string_view part, memory::Charge& charge) {
  charge.add(sizeof(std::string) + part.size());
  parts.emplace_back(part);
}

// Parts between runs of white space; the last of `most` + 1 parts keeps what is left, but for leading white space.
std::vector<std::string> split_at_space(std::string_view text, std::int64_t most, memory::Charge& charge) {
  const auto space_at = [&](std::size_t at) -> std::size_t {  // bytes of white space here
    std::size_t next = at;
    const auto c = next_character(text, next);
    if (!c) fail(ErrorKind::kRuntime, "a string is not valid UTF-8 at byte {}", at);
    return is_white_space(*c) ? next - at : 0;
  };
  const auto character_at = [&](std::size_t at) {
    std::size_t next = at;
    next_character(text, next);
    return next - at;
  };
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && space_at(at) > 0) at += space_at(at);
    if (at == text.size()) return parts;
    if (std::ssize(parts) == most) break;
    const std::size_t begin = at;
    while (at < text.size() && space_at(at) == 0) at += character_at(at);
    add_part(parts, text.substr(begin, at - begin), charge);
  }
  // The rest loses its white space at the end: what ends the text separates nothing.
  std::size_t end = at;
  for (std::size_t k = at; k < text.size(); k += character_at(k)) {
    if (space_at(k) == 0) end = k + character_at(k);
  }
  add_part(parts, text.substr(at, end - at), charge);
  return parts;
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, std::int64_t most, memory::Charge& charge) {
  std::vector<std::string> parts;
  while (std::ssize(parts) != most) {
    const std::size_t found = text.find(delimiter);
    if (found == std::string_view::npos) break;
    add_part(parts, text.substr(0, found), charge);
    text.remove_prefix(found + delimiter.size());
  }
  add_part(parts, text, charge);
  return parts;
}

void run_string_split(KernelContext& ctx) {
  const Tensor& data = string_input(ctx, 0);
  const std::string delimiter = ctx.attributes.s("delimiter", "");
  const std::int64_t given = ctx.attributes.i("maxsplit", -1);
  const std::int64_t most = given < 0 ? -1 : given;  // negative: as often as it occurs
  std::vector<std::vector<std::string>> split;
  memory::Charge charge;
  std::size_t longest = 0;
  for (const std::string& text : data.strings()) {
    split.push_back(delimiter.empty() ? split_at_space(text, most, charge) : split_at(text, delimiter, most, charge));
    longest = std::max(longest, split.back().size());
  }
  Tensor counts = Tensor::allocate(DataType::kInt64, data.shape());
  Shape shape = data.shape();
  shape.push_back(static_cast<std::int64_t>(longest));
  Tensor parts = Tensor::allocate(DataType::kString, std::move(shape));
  for (std::size_t i = 0; i < split.size(); ++i) {
    counts.mutable_data<std::int64_t>()[i] = std::ssize(split[i]);
    std::ranges::move(split[i], parts.mutable_strings().begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  std::size_t characters = 0;
  for (const std::string& text : parts.strings()) characters += text.size();
  parts.charge_characters(characters);
  ctx.set_output(0, Value(std::move(parts)));
  ctx.set_output(1, Value(std::move(counts)));
}

// ---- StringNormalizer ----

constexpr OpVersion kStringNormalizerVersions[] = {
    {10, "X:string", "Y:string", "case_change_action:string=NONE is_case_sensitive:int=0 locale:string stopwords:strings", ""}};

void infer_string_normalizer(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  if (shape == nullptr) return ctx.set_output(0, DataType::kString, std::nullopt);
  if (shape->empty() || shape->size() > 2) {
    fail(ErrorKind::kRuntime, "input has shape {}, expected C or 1xC", to_string(*shape));
  }
  std::vector<Dim> result = *shape;
  result.back() = Dim();
  ctx.set_output(0, DataType::kString, std::move(result));
}

// Removes the stop words, then changes case. Where nothing is left one empty string is.
void run_string_normalizer(KernelContext& ctx) {
  const Tensor& data = string_input(ctx, 0);
  const bool row = data.rank() == 2 && data.shape()[0] == 1;
  if (data.rank() != 1 && !row) {
    fail(ErrorKind::kRuntime, "input has shape {}, expected C or 1xC", to_string(data.shape()));
  }
  const std::string action = ctx.attributes.s("case_change_action");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    fail(ErrorKind::kRuntime, "case_change_action is '{}', expected NONE, LOWER or UPPER", action);
  }
  const bool sensitive = ctx.attributes.i("is_case_sensitive") != 0;
  const auto folded = [&](const std::string& text) { return sensitive ? text : change_case(text, LetterCase::kLower); };
  std::set<std::string> stop_words;
  for (const std::string& word : ctx.attributes.strings("stopwords")) stop_words.insert(folded(word));
  std::vector<std::string> kept;
  for (const std::string& text : data.strings()) {
    if (!stop_words.empty() && stop_words.contains(folded(text))) continue;
    if (action == "NONE") kept.push_back(text);
    else kept.push_back(change_case(text, action == "LOWER" ? LetterCase::kLower : LetterCase::kUpper));
  }
  if (kept.empty()) kept.emplace_back();
  const std::int64_t count = std::ssize(kept);
  ctx.set_output(0, string_tensor(row ? Shape{1, count} : Shape{count}, std::move(kept)));
}

}  // namespace

extern const OpDef kStringConcat;
const OpDef kStringConcat = {
    .domain = "",
    .type = "StringConcat",
    .summary = "Joins strings element by element, with broadcasting.",
    .versions = kStringConcatVersions,
    .infer = infer_string_concat,
    .run = run_string_concat,
};

extern const OpDef kStringSplit;
const OpDef kStringSplit = {
    .domain = "",
    .type = "StringSplit",
    .summary = "Splits each string at a delimiter, or at white space; shorter lists are filled up with empty strings.",
    .versions = kStringSplitVersions,
    .infer = infer_string_split,
    .run = run_string_split,
};

extern const OpDef kStringNormalizer;
const OpDef kStringNormalizer = {
    .domain = "",
    .type = "StringNormalizer",
    .summary = "Removes stop words from a list of strings and changes the case of the others.",
    .versions = kStringNormalizerVersions,
    .infer = infer_string_normalizer,
    .run = run_string_normalizer,
};

}  // namespace lppool
