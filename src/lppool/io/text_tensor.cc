#include "lppool/io/text_tensor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>

#include "lppool/base/checked.h"
#include "lppool/base/error.h"
#include "lppool/tensor/float8.h"

namespace lppool {
namespace {

constexpr std::string_view kMagic = "# lppool tensor";

// --- writing -----------------------------------------------------------------------------------------------------------

void append_quoted(std::string& out, std::string_view s) {
  out += '"';
  for (const char c : s) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        // Bytes, not characters: a tensor's strings need not be UTF-8.
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else out += c;
    }
  }
  out += '"';
}

template <typename T>
void append_float(std::string& out, T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (std::isnan(value)) {
    const Bits bits = std::bit_cast<Bits>(value);
    out += bits == std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN()) ? "nan" : fmt::format("nan({:#x})", bits);
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  out.append(buffer, end);
}

void append_half(std::string& out, float value, std::uint16_t bits, std::uint16_t usual_nan) {
  if (!std::isnan(value)) append_float(out, value);
  else out += bits == usual_nan ? "nan" : fmt::format("nan({:#x})", bits);
}

void append_small_float(std::string& out, DataType dtype, std::uint8_t code) {
  const double value = small_float_value(dtype, code);
  if (!std::isnan(value)) append_float(out, value);
  else out += fmt::format("nan({:#x})", code);
}

void append_element(std::string& out, const Tensor& t, std::size_t i) {
  switch (t.dtype()) {
    case DataType::kFloat32: append_float(out, t.data<float>()[i]); break;
    case DataType::kFloat64: append_float(out, t.data<double>()[i]); break;
    case DataType::kFloat16: {
      const Float16 v = t.data<Float16>()[i];
      append_half(out, static_cast<float>(v), v.bits, 0x7e00);
      break;
    }
    case DataType::kBFloat16: {
      const BFloat16 v = t.data<BFloat16>()[i];
      append_half(out, static_cast<float>(v), v.bits, 0x7fc0);
      break;
    }
    case DataType::kComplex64:
    case DataType::kComplex128: {
      out += '(';
      if (t.dtype() == DataType::kComplex64) append_float(out, t.data<std::complex<float>>()[i].real());
      else append_float(out, t.data<std::complex<double>>()[i].real());
      out += ',';
      if (t.dtype() == DataType::kComplex64) append_float(out, t.data<std::complex<float>>()[i].imag());
      else append_float(out, t.data<std::complex<double>>()[i].imag());
      out += ')';
      break;
    }
    case DataType::kBool: out += t.data<std::uint8_t>()[i] != 0 ? "true" : "false"; break;
    case DataType::kString: append_quoted(out, t.strings()[i]); break;
    case DataType::kUInt64: out += std::to_string(t.data<std::uint64_t>()[i]); break;
    case DataType::kInt64: out += std::to_string(t.data<std::int64_t>()[i]); break;
    case DataType::kUInt32: out += std::to_string(t.data<std::uint32_t>()[i]); break;
    case DataType::kInt32: out += std::to_string(t.data<std::int32_t>()[i]); break;
    case DataType::kUInt16: out += std::to_string(t.data<std::uint16_t>()[i]); break;
    case DataType::kInt16: out += std::to_string(t.data<std::int16_t>()[i]); break;
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2: out += std::to_string(t.data<std::int8_t>()[i]); break;
    case DataType::kUInt8:
    case DataType::kUInt4:
    case DataType::kUInt2: out += std::to_string(t.data<std::uint8_t>()[i]); break;
    default: append_small_float(out, t.dtype(), t.data<std::uint8_t>()[i]); break;
  }
}

// --- reading -----------------------------------------------------------------------------------------------------------

class Parser {
 public:
  Parser(std::string_view text, const std::string& shown) : text_(text), shown_(shown) {}

  NamedTensor parse() {
    if (!looks_like_text_tensor(text_)) damaged("it does not begin with '# lppool tensor'");
    NamedTensor result;
    std::optional<DataType> dtype;
    std::optional<Shape> shape;
    skip_space();
    while (!dtype || !shape) {
      const std::size_t colon = text_.find(':', position_);
      const std::string_view key = colon == std::string_view::npos ? "" : text_.substr(position_, colon - position_);
      if (key != "name" && key != "dtype" && key != "shape") damaged("expected name:, dtype: and shape:");
      position_ = colon + 1;
      skip_space();
      if (key == "name") {
        result.name = quoted();
      } else if (key == "dtype") {
        const std::string_view word = token();
        dtype = parse_dtype(word);
        if (!dtype) damaged(fmt::format("no element type is called '{}'", word));
      } else {
        const std::string_view word = token();
        shape = parse_shape(word);
        if (!shape) damaged(fmt::format("no shape is written '{}'", word));
      }
      skip_space();
    }
    const auto elements = checked_elements(shape->dims());
    // Every element takes a character and a space at least, so that a claim is bounded by the text behind it.
    if (!elements || static_cast<std::size_t>(*elements) > (text_.size() - position_ + 1) / 2) {
      damaged(fmt::format("too few values for shape {}", to_string(*shape)));
    }
    result.tensor = Tensor::allocate(*dtype, std::move(*shape));
    for (std::size_t i = 0; i < static_cast<std::size_t>(*elements); ++i) {
      skip_space();
      if (position_ == text_.size()) damaged(fmt::format("{} values, expected {}", i, *elements));
      element(result.tensor, i);
    }
    skip_space();
    if (position_ != text_.size()) damaged(fmt::format("more than {} values", *elements));
    return result;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  // White space, and comments from a '#' at the beginning of a line.
  void skip_space() {
    while (position_ < text_.size()) {
      if (text_[position_] == '#' && (position_ == 0 || text_[position_ - 1] == '\n')) {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (is_space(text_[position_])) {
        ++position_;
      } else {
        return;
      }
    }
  }

  std::string_view token() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && !is_space(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  std::string quoted() {
    if (position_ == text_.size() || text_[position_] != '"') damaged("expected a string in double quotes");
    std::string out;
    for (++position_; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '"') {
        ++position_;
        return out;
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escape = ++position_ < text_.size() ? text_[position_] : '\0';
      constexpr std::string_view kNames = "\"\\ntr", kBytes = "\"\\\n\t\r";
      const std::size_t known = kNames.find(escape);
      if (escape == 'x' && position_ + 2 < text_.size()) {
        unsigned value = 0;
        const char* digits = text_.data() + position_ + 1;
        if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) damaged("a \\x without two hex digits");
        out += static_cast<char>(value);
        position_ += 2;
      } else if (escape != '\0' && known != std::string_view::npos) {
        out += kBytes[known];
      } else {
        damaged("an unknown escape in a string");
      }
    }
    damaged("a string that does not end");
  }

  template <typename T>
  T integer(std::string_view word, std::int64_t low, std::int64_t high) {
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool in_range = sizeof(T) == 8 || (static_cast<std::int64_t>(value) >= low && static_cast<std::int64_t>(value) <= high);
    if (error != std::errc() || end != word.data() + word.size() || !in_range) damaged(fmt::format("'{}' is no value of the type", word));
    return value;
  }

  template <typename T>
  T integer(std::string_view word) {
    return integer<T>(word, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  }

  // The bits in nan(0x...), if the word is that.
  std::optional<std::uint64_t> nan_bits(std::string_view word) {
    constexpr std::string_view kBegin = "nan(0x";
    if (!word.starts_with(kBegin)) return std::nullopt;
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(word.data() + kBegin.size(), word.data() + word.size(), bits, 16);
    if (error != std::errc() || end != word.data() + word.size() - 1 || *end != ')') damaged(fmt::format("'{}' is no NaN", word));
    return bits;
  }

  template <typename T>
  T real(std::string_view word) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (const auto bits = nan_bits(word)) {
      const T value = std::bit_cast<T>(static_cast<Bits>(*bits));
      if (!std::isnan(value) || static_cast<Bits>(*bits) != *bits) damaged(fmt::format("'{}' is no NaN of the type", word));
      return value;
    }
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) damaged(fmt::format("'{}' is no number the type holds", word));
    return value;
  }

  template <typename Half>
  Half half(std::string_view word) {
    if (const auto bits = nan_bits(word)) {
      const Half value = Half::from_bits(static_cast<std::uint16_t>(*bits));
      if (!std::isnan(static_cast<float>(value)) || value.bits != *bits) damaged(fmt::format("'{}' is no NaN of the type", word));
      return value;
    }
    return Half(real<double>(word));
  }

  std::uint8_t small_float(DataType dtype, std::string_view word) {
    if (const auto bits = nan_bits(word)) {
      if (*bits > 0xff || !std::isnan(small_float_value(dtype, static_cast<std::uint8_t>(*bits)))) {
        damaged(fmt::format("'{}' is no NaN of the type", word));
      }
      return static_cast<std::uint8_t>(*bits);
    }
    const double value = real<double>(word);
    SmallFloatOptions options;
    options.saturate = false;  // so that an infinity stays one
    const std::uint8_t code = small_float_code(dtype, value, options);
    const double back = small_float_value(dtype, code);
    if (back != value && !(std::isnan(back) && std::isnan(value))) damaged(fmt::format("'{}' is no value of {}", word, name(dtype)));
    return code;
  }

  template <typename T>
  std::complex<T> complex(std::string_view word) {
    const std::size_t comma = word.find(',');
    if (word.size() < 2 || word.front() != '(' || word.back() != ')' || comma == std::string_view::npos) {
      damaged(fmt::format("'{}' is no complex number, expected (1,2)", word));
    }
    return {real<T>(word.substr(1, comma - 1)), real<T>(word.substr(comma + 1, word.size() - comma - 2))};
  }

  void element(Tensor& t, std::size_t i) {
    if (t.dtype() == DataType::kString) {
      t.mutable_strings()[i] = quoted();
      return;
    }
    const std::string_view word = token();
    switch (t.dtype()) {
      case DataType::kFloat32: t.mutable_data<float>()[i] = real<float>(word); break;
      case DataType::kFloat64: t.mutable_data<double>()[i] = real<double>(word); break;
      case DataType::kFloat16: t.mutable_data<Float16>()[i] = half<Float16>(word); break;
      case DataType::kBFloat16: t.mutable_data<BFloat16>()[i] = half<BFloat16>(word); break;
      case DataType::kComplex64: t.mutable_data<std::complex<float>>()[i] = complex<float>(word); break;
      case DataType::kComplex128: t.mutable_data<std::complex<double>>()[i] = complex<double>(word); break;
      case DataType::kBool:
        if (word != "true" && word != "false" && word != "1" && word != "0") damaged(fmt::format("'{}' is no bool", word));
        t.mutable_data<std::uint8_t>()[i] = word == "true" || word == "1";
        break;
      case DataType::kUInt64: t.mutable_data<std::uint64_t>()[i] = integer<std::uint64_t>(word); break;
      case DataType::kInt64: t.mutable_data<std::int64_t>()[i] = integer<std::int64_t>(word); break;
      case DataType::kUInt32: t.mutable_data<std::uint32_t>()[i] = integer<std::uint32_t>(word); break;
      case DataType::kInt32: t.mutable_data<std::int32_t>()[i] = integer<std::int32_t>(word); break;
      case DataType::kUInt16: t.mutable_data<std::uint16_t>()[i] = integer<std::uint16_t>(word); break;
      case DataType::kInt16: t.mutable_data<std::int16_t>()[i] = integer<std::int16_t>(word); break;
      case DataType::kInt8: t.mutable_data<std::int8_t>()[i] = integer<std::int8_t>(word); break;
      case DataType::kInt4: t.mutable_data<std::int8_t>()[i] = integer<std::int8_t>(word, -8, 7); break;
      case DataType::kInt2: t.mutable_data<std::int8_t>()[i] = integer<std::int8_t>(word, -2, 1); break;
      case DataType::kUInt8: t.mutable_data<std::uint8_t>()[i] = integer<std::uint8_t>(word); break;
      case DataType::kUInt4: t.mutable_data<std::uint8_t>()[i] = integer<std::uint8_t>(word, 0, 15); break;
      case DataType::kUInt2: t.mutable_data<std::uint8_t>()[i] = integer<std::uint8_t>(word, 0, 3); break;
      default: t.mutable_data<std::uint8_t>()[i] = small_float(t.dtype(), word); break;
    }
  }

  [[noreturn]] void damaged(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position_), '\n');
    fail(ErrorKind::kParse, "{}: not a tensor as text: {} (line {})", shown_, what, line);
  }

  std::string_view text_;
  const std::string& shown_;
  std::size_t position_ = 0;
};

}  // namespace

bool looks_like_text_tensor(std::string_view bytes) { return bytes.starts_with(kMagic); }

std::optional<Shape> parse_shape(std::string_view text) {
  if (text == "scalar") return Shape{};
  Shape shape;
  while (true) {
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 0) return std::nullopt;
    shape.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

std::string element_text(const Tensor& tensor, std::int64_t index) {
  std::string out;
  append_element(out, tensor, static_cast<std::size_t>(index));
  return out;
}

std::string to_text(std::string_view name, const Tensor& tensor) {
  std::string out = std::string(kMagic) + "\n";
  if (!name.empty()) {
    out += "name: ";
    append_quoted(out, name);
    out += '\n';
  }
  out += fmt::format("dtype: {}\nshape: {}\n", lppool::name(tensor.dtype()), to_string(tensor.shape()));
  const std::int64_t row = tensor.rank() == 0 ? 1 : tensor.shape()[tensor.rank() - 1];
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    append_element(out, tensor, static_cast<std::size_t>(i));
    out += (i + 1) % row == 0 ? '\n' : ' ';
  }
  return out;
}

NamedTensor parse_text_tensor(std::string_view text, const std::string& shown) { return Parser(text, shown).parse(); }

}  // namespace lppool
