#include "lppool/io/print_tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "lppool/base/error.h"
#include "lppool/io/text_tensor.h"

namespace lppool {
namespace {

// Tensors of more axes than numpy knows are printed flat, so that brackets cannot nest without bound.
constexpr std::size_t kMaxRank = 64;

class Printer {
 public:
  Printer(const Tensor& tensor, const PrintOptions& options)
      : tensor_(tensor), strides_(tensor.shape().strides()),
        edge_(options.threshold > 0 && tensor.size() > options.threshold ? options.edge : tensor.size()) {}

  std::string print() {
    if (tensor_.rank() == 0) return element_text(tensor_, 0);
    measure(0, 0);
    block(0, 0, 0);
    return std::move(out_);
  }

 private:
  // Calls visit(i) for the shown entries of an axis, and skipped() once where some are left out.
  template <typename Visit, typename Skipped>
  void entries(std::size_t axis, Visit visit, Skipped skipped) {
    const std::int64_t n = tensor_.shape()[axis];
    const bool all = n <= 2 * edge_;
    for (std::int64_t i = 0; i < (all ? n : edge_); ++i) visit(i);
    if (all) return;
    skipped();
    for (std::int64_t i = n - edge_; i < n; ++i) visit(i);
  }

  void measure(std::size_t axis, std::int64_t offset) {
    entries(
        axis,
        [&](std::int64_t i) {
          const std::int64_t at = offset + i * strides_[axis];
          if (axis + 1 < tensor_.rank()) measure(axis + 1, at);
          else width_ = std::max(width_, element_text(tensor_, at).size());
        },
        [] {});
  }

  void block(std::size_t axis, std::int64_t offset, std::size_t indent) {
    const bool last = axis + 1 == tensor_.rank();
    bool first = true;
    const auto separate = [&] {
      if (!first) out_ += last ? " " : std::string(tensor_.rank() - axis - 1, '\n') + std::string(indent + 1, ' ');
      first = false;
    };
    out_ += '[';
    entries(
        axis,
        [&](std::int64_t i) {
          separate();
          const std::int64_t at = offset + i * strides_[axis];
          if (last) out_ += fmt::format("{:>{}}", element_text(tensor_, at), width_);
          else block(axis + 1, at, indent + 1);
        },
        [&] {
          separate();
          out_ += "...";
        });
    out_ += ']';
  }

  const Tensor& tensor_;
  std::vector<std::int64_t> strides_;
  std::int64_t edge_;
  std::size_t width_ = 0;
  std::string out_;
};

struct Range {
  std::int64_t begin = 0, end = 0;
  bool keep = true;
};

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Range parse_range(std::string_view text, std::int64_t size, std::string_view whole) {
  const auto bad = [&]() { fail(ErrorKind::kUsage, "slice '{}': '{}' is neither a number nor a range a:b", whole, text); };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto index = parse_integer(text);
    if (!index) bad();
    if (*index < -size || *index >= size) {
      fail(ErrorKind::kUsage, "slice '{}': index {} is outside an axis of {}", whole, *index, size);
    }
    const std::int64_t at = *index < 0 ? *index + size : *index;
    return {at, at + 1, false};
  }
  const auto bound = [&](std::string_view part, std::int64_t otherwise) {
    if (part.empty()) return otherwise;
    const auto value = parse_integer(part);
    if (!value) bad();
    return std::clamp<std::int64_t>(*value < 0 ? *value + size : *value, 0, size);
  };
  const std::int64_t begin = bound(text.substr(0, colon), 0);
  return {begin, std::max(begin, bound(text.substr(colon + 1), size)), true};
}

}  // namespace

std::string print_tensor(const Tensor& tensor, const PrintOptions& options) {
  if (tensor.size() == 0) return "[]";
  if (tensor.rank() <= kMaxRank) return Printer(tensor, options).print();
  return Printer(tensor.reshaped({tensor.size()}), options).print();
}

Tensor slice_tensor(const Tensor& tensor, std::string_view text) {
  std::vector<Range> ranges;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string part(rest.substr(0, comma));
    std::erase(part, ' ');
    if (ranges.size() == tensor.rank()) {
      fail(ErrorKind::kUsage, "slice '{}' has more parts than shape {} has axes", text, to_string(tensor.shape()));
    }
    ranges.push_back(parse_range(part, tensor.shape()[ranges.size()], text));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  while (ranges.size() < tensor.rank()) ranges.push_back({0, tensor.shape()[ranges.size()], true});

  Shape shape;
  for (const Range& range : ranges) {
    if (range.keep) shape.push_back(range.end - range.begin);
  }
  Tensor result = Tensor::allocate(tensor.dtype(), shape);
  const std::vector<std::int64_t> strides = tensor.shape().strides();
  std::vector<std::int64_t> at(ranges.size());
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) at[axis] = ranges[axis].begin;
  const std::size_t size = element_size(tensor.dtype());
  for (std::int64_t i = 0; i < result.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides[axis];
    const auto from = static_cast<std::size_t>(offset), to = static_cast<std::size_t>(i);
    if (tensor.dtype() == DataType::kString) result.mutable_strings()[to] = tensor.strings()[from];
    else std::memcpy(result.mutable_raw() + to * size, tensor.raw() + from * size, size);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < ranges[axis].end) break;
      at[axis] = ranges[axis].begin;
    }
  }
  return result;
}

}  // namespace lppool
