#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "lppool/graph/dim.h"

namespace lppool {
namespace {

// Recursive descent over the grammar of to_string(); gives up (nullopt) on anything else.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  std::optional<Dim> parse() {
    const auto result = sum();
    skip();
    return result && position_ == text_.size() ? result : std::nullopt;
  }

 private:
  void skip() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool take(char c) {
    skip();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  std::optional<Dim> sum() {
    if (++depth_ > 64) return std::nullopt;
    auto left = take('-') ? negate(product()) : product();
    while (left) {
      if (take('+'))
        left = apply(left, product(), [](const Dim& a, const Dim& b) { return a + b; });
      else if (take('-'))
        left = apply(left, product(), [](const Dim& a, const Dim& b) { return a - b; });
      else
        break;
    }
    --depth_;
    return left;
  }
  std::optional<Dim> product() {
    auto left = factor();
    while (left) {
      if (take('*'))
        left = apply(left, factor(), [](const Dim& a, const Dim& b) { return a * b; });
      else if (take('/'))
        left = apply(left, factor(), [](const Dim& a, const Dim& b) { return floor_div(a, b); });
      else
        break;
    }
    return left;
  }
  std::optional<Dim> factor() {
    skip();
    if (take('(')) {
      auto inner = sum();
      return inner && take(')') ? inner : std::nullopt;
    }
    std::size_t end = position_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_' || text_[end] == '.' ||
            text_[end] == ':' || static_cast<unsigned char>(text_[end]) > 127)) {
      ++end;
    }
    const std::string_view word = text_.substr(position_, end - position_);
    if (word.empty()) return std::nullopt;
    position_ = end;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      std::int64_t number = 0;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
      return Dim(number);
    }
    if ((word == "min" || word == "max") && take('(')) {
      const auto a = sum();
      if (!a || !take(',')) return std::nullopt;
      const auto b = sum();
      if (!b || !take(')')) return std::nullopt;
      return word == "min" ? min(*a, *b) : max(*a, *b);
    }
    if ((word == "floor" || word == "ceil") && take('(')) {
      auto a = word == "floor" ? sum() : quotient();
      return a && take(')') ? a : std::nullopt;
    }
    return Dim::symbol(word);
  }
  std::optional<Dim> quotient() {  // inside ceil(): one division at the top
    if (++depth_ > 64) return std::nullopt;
    auto a = factor();
    if (!a || !take('/')) {
      --depth_;
      return a;
    }
    const auto b = factor();
    --depth_;
    return b ? std::optional(ceil_div(*a, *b)) : std::nullopt;
  }
  static std::optional<Dim> negate(const std::optional<Dim>& d) {
    return d ? std::optional(Dim(0) - *d) : std::nullopt;
  }
  template <typename F>
  static std::optional<Dim> apply(const std::optional<Dim>& a, const std::optional<Dim>& b, F f) {
    return a && b ? std::optional(f(*a, *b)) : std::nullopt;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text) {
  if (text == "?" || text.empty()) return {};
  if (const auto parsed = Parser(text).parse()) return *parsed;
  return Dim::symbol(text);
}

}  // namespace lppool
