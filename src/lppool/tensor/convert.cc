// Three ways: types with a C++ type of their own convert directly, in one loop for each pair; the small floats go
// through double by way of tables; strings are read and written one by one.
#include "lppool/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "lppool/base/error.h"

namespace lppool {
namespace {

constexpr std::int64_t kGrain = 16384;

template <typename T>
struct Tag {
  using type = T;
};

// Calls body with the C++ type that arithmetic on `type` may use; false where there is none.
template <typename Body>
bool with_native(DataType type, Body&& body) {
  switch (type) {
    case DataType::kFloat32:
      body(Tag<float>{});
      return true;
    case DataType::kFloat64:
      body(Tag<double>{});
      return true;
    case DataType::kFloat16:
      body(Tag<Float16>{});
      return true;
    case DataType::kBFloat16:
      body(Tag<BFloat16>{});
      return true;
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2:
      body(Tag<std::int8_t>{});
      return true;
    case DataType::kInt16:
      body(Tag<std::int16_t>{});
      return true;
    case DataType::kInt32:
      body(Tag<std::int32_t>{});
      return true;
    case DataType::kInt64:
      body(Tag<std::int64_t>{});
      return true;
    case DataType::kUInt8:
    case DataType::kUInt4:
    case DataType::kUInt2:
      body(Tag<std::uint8_t>{});
      return true;
    case DataType::kUInt16:
      body(Tag<std::uint16_t>{});
      return true;
    case DataType::kUInt32:
      body(Tag<std::uint32_t>{});
      return true;
    case DataType::kUInt64:
      body(Tag<std::uint64_t>{});
      return true;
    case DataType::kBool:
      body(Tag<bool>{});
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(DataType from, DataType to) {
  fail(ErrorKind::kUnsupported, "conversion from {} to {} is not defined", name(from), name(to));
}

// Keeps the low bits of a type below a byte, sign-extended as a Tensor holds them.
void narrow(Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kUInt4:
      for (auto& v : tensor.mutable_data<std::uint8_t>()) v &= 15;
      break;
    case DataType::kUInt2:
      for (auto& v : tensor.mutable_data<std::uint8_t>()) v &= 3;
      break;
    case DataType::kInt4:
      for (auto& v : tensor.mutable_data<std::int8_t>()) v = static_cast<std::int8_t>(((v & 15) ^ 8) - 8);
      break;
    case DataType::kInt2:
      for (auto& v : tensor.mutable_data<std::int8_t>()) v = static_cast<std::int8_t>(((v & 3) ^ 2) - 2);
      break;
    default:
      break;
  }
}

template <typename Body>
void for_ranges(ThreadPool* threads, std::int64_t n, Body&& body) {
  if (threads != nullptr && n > kGrain)
    threads->parallel_for(n, kGrain, body);
  else
    body(0, n);
}

// bool is read as bytes: a file may hold others than 0 and 1, and a C++ bool may not.
template <typename T>
const auto* data_of(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, bool>)
    return tensor.data<std::uint8_t>().data();
  else
    return tensor.data<T>().data();
}

Tensor native_to_native(const Tensor& in, DataType to, ThreadPool* threads) {
  Tensor out = Tensor::allocate(to, in.shape());
  with_native(in.dtype(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    const auto* source = data_of<From>(in);
    with_native(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      To* target = out.mutable_data<To>().data();
      for_ranges(threads, in.size(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if constexpr (std::is_same_v<From, bool>)
            target[i] = convert_value<To>(source[i] != 0);
          else
            target[i] = convert_value<To>(source[i]);
        }
      });
    });
  });
  narrow(out);
  return out;
}

Tensor small_to_native(const Tensor& in, DataType to) {
  Tensor out = Tensor::allocate(to, in.shape());
  const auto source = in.data<std::uint8_t>();
  with_native(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    std::array<To, 256> values;
    for (int code = 0; code < 256; ++code) {
      values[static_cast<std::size_t>(code)] =
          convert_value<To>(small_float_value(in.dtype(), static_cast<std::uint8_t>(code)));
    }
    To* target = out.mutable_data<To>().data();
    for (const std::uint8_t code : source) *target++ = values[code];
  });
  narrow(out);
  return out;
}

Tensor to_small(const Tensor& in, DataType to, const ConvertOptions& options, ThreadPool* threads) {
  Tensor out = Tensor::allocate(to, in.shape());
  std::uint8_t* target = out.mutable_data<std::uint8_t>().data();
  if (is_small_float(in.dtype())) {
    for (const std::uint8_t code : in.data<std::uint8_t>()) {
      *target++ = small_float_code(to, small_float_value(in.dtype(), code), options.small_float);
    }
    return out;
  }
  with_native(in.dtype(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    const auto* source = data_of<From>(in);
    for_ranges(threads, in.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        double value;
        if constexpr (std::is_same_v<From, bool>)
          value = source[i] != 0 ? 1 : 0;
        else if constexpr (std::is_integral_v<From>)
          value = to_double_for_rounding(source[i]);
        else
          value = static_cast<double>(source[i]);
        target[i] = small_float_code(to, value, options.small_float);
      }
    });
  });
  return out;
}

// ---- strings ----

template <typename T>
std::string float_text(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  std::array<char, 512> buffer;  // the longest double in fixed notation has about 330 characters
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  if (error != std::errc()) fail(ErrorKind::kDefect, "a number does not fit its text buffer");
  return {buffer.data(), end};
}

// Numbers of 8 and 16 bits name themselves uniquely in float32 already: their float32 digits are written.
Tensor to_strings(const Tensor& in) {
  Tensor out = Tensor::allocate(DataType::kString, in.shape());
  const auto texts = out.mutable_strings();
  const auto keep = [&](std::size_t i, std::string text) {
    if (text.size() >= sizeof(std::string)) out.charge_characters(text.size());
    texts[i] = std::move(text);
  };
  if (is_small_float(in.dtype())) {
    const auto codes = in.data<std::uint8_t>();
    for (std::size_t i = 0; i < codes.size(); ++i) {
      keep(i, float_text(static_cast<float>(small_float_value(in.dtype(), codes[i]))));
    }
    return out;
  }
  with_native(in.dtype(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    const auto* source = data_of<From>(in);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if constexpr (std::is_same_v<From, bool>)
        keep(i, source[i] != 0 ? "1" : "0");
      else if constexpr (std::is_integral_v<From>)
        keep(i, fmt::format("{}", source[i] + 0));
      else if constexpr (std::is_same_v<From, double>)
        keep(i, float_text(source[i]));
      else
        keep(i, float_text(static_cast<float>(source[i])));
    }
  });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

[[noreturn]] void not_a_number(std::string_view text, DataType to) {
  constexpr std::size_t kShown = 40;
  fail(ErrorKind::kRuntime, "string '{}{}' is not a number, as conversion to {} needs", text.substr(0, kShown),
       text.size() > kShown ? "..." : "", name(to));
}

// Of a decimal number: where its first digit other than 0 stands, as a power of ten.
std::int64_t decimal_exponent(std::string_view text) {
  constexpr std::int64_t kFar = 1'000'000'000;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, e);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return -kFar;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::int64_t position =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point ? 1 : 0);
  if (e == text.size()) return position;
  std::string_view exponent_text = text.substr(e + 1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  if (result.ec != std::errc()) exponent = exponent_text.starts_with('-') ? -kFar : kFar;
  return position + std::clamp(exponent, -kFar, kFar);
}

// A decimal number, rounded once to T.
template <typename T>
T parse_float(std::string_view whole, DataType to) {
  std::string_view text = trimmed(whole);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  T value{};
  if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity")) {
    value = std::numeric_limits<T>::infinity();
  } else if (equals_ignoring_case(text, "nan")) {
    value = std::numeric_limits<T>::quiet_NaN();
  } else {
    if (text.empty() || !(text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) not_a_number(whole, to);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) not_a_number(whole, to);
    if (error == std::errc::result_out_of_range) {
      value = decimal_exponent(text) > 0 ? std::numeric_limits<T>::infinity() : T{0};
    }
  }
  return negative ? -value : value;
}

// A whole number that fits, else a decimal number truncated toward zero.
template <typename T>
T parse_integer(std::string_view whole, DataType to) {
  std::string_view text = trimmed(whole);
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  const double number = std::trunc(parse_float<double>(whole, to));
  // Bounds as doubles: the upper one is exclusive and a power of two, hence exact.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(number >= (std::is_signed_v<T> ? -above : 0.0) && number < above)) {
    fail(ErrorKind::kRuntime, "string '{}' is outside the range of {}", whole.substr(0, 40), name(to));
  }
  return static_cast<T>(number);
}

Tensor from_strings(const Tensor& in, DataType to, const ConvertOptions& options) {
  const auto texts = in.strings();
  if (is_small_float(to)) {
    Tensor out = Tensor::allocate(to, in.shape());
    const auto codes = out.mutable_data<std::uint8_t>();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      codes[i] = small_float_code(to, parse_float<double>(texts[i], to), options.small_float);
    }
    return out;
  }
  Tensor out = Tensor::allocate(to, in.shape());
  const bool known = with_native(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    const auto values = out.mutable_data<To>();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if constexpr (std::is_same_v<To, bool>)
        values[i] = parse_float<double>(texts[i], to) != 0;
      else if constexpr (std::is_integral_v<To>)
        values[i] = parse_integer<To>(texts[i], to);
      else if constexpr (std::is_same_v<To, float>)
        values[i] = parse_float<float>(texts[i], to);
      else
        values[i] = static_cast<To>(parse_float<double>(texts[i], to));
    }
  });
  if (!known) refuse(in.dtype(), to);
  narrow(out);
  return out;
}

}  // namespace

Tensor convert(const Tensor& tensor, DataType to, const ConvertOptions& options, ThreadPool* threads) {
  const DataType from = tensor.dtype();
  if (from == to) return tensor;
  const auto is_complex = [](DataType t) { return t == DataType::kComplex64 || t == DataType::kComplex128; };
  if (is_complex(from) || is_complex(to)) refuse(from, to);
  if (from == DataType::kString) return from_strings(tensor, to, options);
  if (to == DataType::kString) return to_strings(tensor);
  if (is_small_float(to)) return to_small(tensor, to, options, threads);
  if (is_small_float(from)) return small_to_native(tensor, to);
  return native_to_native(tensor, to, threads);
}

double element_as_double(const Tensor& tensor, std::int64_t index) {
  double value = 0;
  if (is_small_float(tensor.dtype())) {
    return small_float_value(tensor.dtype(), tensor.data<std::uint8_t>()[static_cast<std::size_t>(index)]);
  }
  const bool known = with_native(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = convert_value<double>(static_cast<T>(data_of<T>(tensor)[index]));
  });
  if (!known) fail(ErrorKind::kUnsupported, "a number is needed, found element type {}", name(tensor.dtype()));
  return value;
}

std::int64_t element_as_int64(const Tensor& tensor, std::int64_t index) {
  std::int64_t value = 0;
  bool integral = false;
  with_native(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const auto element = data_of<T>(tensor)[index];
      if (!std::in_range<std::int64_t>(element)) fail(ErrorKind::kRuntime, "{} is larger than 2^63 - 1", element);
      value = static_cast<std::int64_t>(element);
      integral = true;
    }
  });
  if (!integral) fail(ErrorKind::kUnsupported, "an integer is needed, found element type {}", name(tensor.dtype()));
  return value;
}

}  // namespace lppool
