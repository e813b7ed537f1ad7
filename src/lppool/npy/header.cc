#include "lppool/npy/header.h"

#include <charconv>
#include <optional>

#include "lppool/base/error.h"

namespace lppool::npy {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& shown) : text_(text), shown_(shown) {}

  Header parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (peek() != '}') {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(descr, key) = descriptor();
      } else if (key == "fortran_order") {
        once(fortran, key) = boolean();
      } else if (key == "shape") {
        once(shape, key) = tuple();
      } else {
        damaged(fmt::format("key '{}', expected descr, fortran_order and shape", key));
      }
      if (peek() != '}') expect(',');
    }
    expect('}');
    if (peek() != '\0') damaged("text after the dict");
    if (!descr || !fortran || !shape) damaged("a key is missing, expected descr, fortran_order and shape");
    return {std::move(*descr), *fortran, std::move(*shape)};
  }

 private:
  template <typename T>
  T& once(std::optional<T>& slot, const std::string& key) {
    if (slot) damaged(fmt::format("key '{}' twice", key));
    return slot.emplace();
  }

  // The next character that is not space; NUL at the end.
  char peek() {
    while (position_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  void expect(char c) {
    if (peek() != c) damaged(fmt::format("expected '{}'", c));
    ++position_;
  }

  std::string string() {
    char quote = peek();
    if (quote == 'u' || quote == 'b') {  // Python 2 prefixes
      ++position_;
      quote = position_ < text_.size() ? text_[position_] : '\0';
    }
    if (quote != '\'' && quote != '"') damaged("expected a string");
    const std::size_t end = text_.find(quote, ++position_);
    if (end == std::string_view::npos) damaged("a string that does not end");
    const std::string_view inside = text_.substr(position_, end - position_);
    if (inside.find('\\') != std::string_view::npos) damaged("a string with a backslash, which no descr has");
    position_ = end + 1;
    return std::string(inside);
  }

  std::string descriptor() {
    if (peek() == '[' || peek() == '(') {
      fail(ErrorKind::kUnsupported, "{}: a structured element type, expected a plain one such as '<f4'", shown_);
    }
    return string();
  }

  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    damaged("expected True or False");
  }

  std::int64_t integer() {
    peek();
    std::int64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) damaged("a dimension of more than 63 bits");
    if (error != std::errc()) damaged("expected a whole number");
    position_ += static_cast<std::size_t>(end - begin);
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2 wrote long integers so
    return value;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    bool comma = true;
    while (peek() != ')') {
      if (!comma) damaged("expected ','");
      values.push_back(integer());
      comma = peek() == ',';
      if (comma) ++position_;
    }
    expect(')');
    if (values.size() == 1 && !comma) damaged("a shape that is a number, expected a tuple");
    return values;
  }

  [[noreturn]] void damaged(const std::string& what) const {
    fail(ErrorKind::kParse, "{}: not a .npy file: {} at character {} of its header", shown_, what, position_);
  }

  std::string_view text_;
  const std::string& shown_;
  std::size_t position_ = 0;
};

}  // namespace

Header parse_header(std::string_view text, const std::string& shown) { return Parser(text, shown).parse(); }

}  // namespace lppool::npy
