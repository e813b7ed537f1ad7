#include "lppool/tensor/float8.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "lppool/tensor/float16.h"

using namespace lppool;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Kind {
  DataType type;
  int exponent_bits, mantissa_bits, bias;
  bool fnuz, infinities;
};

// The formats as their specifications state them, read bit by bit.
const Kind kKinds[] = {{DataType::kFloat8E4M3FN, 4, 3, 7, false, false},
                       {DataType::kFloat8E4M3FNUZ, 4, 3, 8, true, false},
                       {DataType::kFloat8E5M2, 5, 2, 15, false, true},
                       {DataType::kFloat8E5M2FNUZ, 5, 2, 16, true, false},
                       {DataType::kFloat4E2M1, 2, 1, 1, false, false}};

double literal_value(const Kind& kind, int code) {
  const int bits = 1 + kind.exponent_bits + kind.mantissa_bits;
  const int sign = code >> (bits - 1) & 1;
  const int exponent = code >> kind.mantissa_bits & ((1 << kind.exponent_bits) - 1);
  const int mantissa = code & ((1 << kind.mantissa_bits) - 1);
  const double fraction = mantissa / std::pow(2.0, kind.mantissa_bits);
  if (kind.fnuz && sign == 1 && exponent == 0 && mantissa == 0) return NAN;
  const bool all_ones = exponent == (1 << kind.exponent_bits) - 1;
  if (kind.infinities && all_ones) return mantissa != 0 ? NAN : sign == 1 ? -kInf : kInf;
  if (kind.type == DataType::kFloat8E4M3FN && all_ones && mantissa == 7) return NAN;
  const double magnitude =
      exponent == 0 ? fraction * std::pow(2.0, 1 - kind.bias) : (1 + fraction) * std::pow(2.0, exponent - kind.bias);
  return sign == 1 ? -magnitude : magnitude;
}

int code_count(const Kind& kind) {
  return 1 << (1 + kind.exponent_bits + kind.mantissa_bits);
}

// What small_float_code must give, by search: the nearest code, of two equally near ones the one with an even mantissa.
// The first value past the largest one counts as a candidate, to tell rounding down to the largest from overflow.
struct Expected {
  double value;  // NaN: the NaN code
  bool negative;
};

double literal_rounding(const Kind& kind, double x, bool saturate, bool fnuz_infinity_saturates) {
  double largest = 0;
  for (int code = 0; code < code_count(kind); ++code) {
    const double v = literal_value(kind, code);
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  const double step = largest - [&] {
    double second = 0;
    for (int code = 0; code < code_count(kind); ++code) {
      const double v = literal_value(kind, code);
      if (std::isfinite(v) && v < largest) second = std::max(second, v);
    }
    return second;
  }();
  const double magnitude = std::fabs(x);
  const double overflow = kind.infinities ? kInf : NAN;
  if (std::isinf(x)) {
    if (saturate && !(kind.fnuz && !fnuz_infinity_saturates)) return std::copysign(largest, x);
    return kind.infinities ? (saturate ? std::copysign(largest, x) : x) : NAN;
  }
  // Halfway to the next step is a tie between the largest (odd or even mantissa) and the number that is not there.
  const double halfway = largest + step / 2;
  const bool largest_is_even = std::fmod(largest / step, 2.0) == 0;
  if (magnitude > halfway || (magnitude == halfway && !largest_is_even)) {
    return saturate ? std::copysign(largest, x) : std::isnan(overflow) ? overflow : std::copysign(overflow, x);
  }
  double best = 0, distance = kInf;
  int best_code = 0;
  for (int code = 0; code < code_count(kind) / 2; ++code) {
    const double v = literal_value(kind, code);
    if (!std::isfinite(v)) continue;
    const double d = std::fabs(v - magnitude);
    if (d < distance || (d == distance && code % 2 == 0 && best_code % 2 != 0)) {
      best = v;
      distance = d;
      best_code = code;
    }
  }
  return std::copysign(best, x);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

TEST_CASE("Small float codes have the values their formats state", "[tensor][float8]") {
  for (const Kind& kind : kKinds) {
    for (int code = 0; code < code_count(kind); ++code) {
      CAPTURE(name(kind.type), code);
      REQUIRE(same(small_float_value(kind.type, static_cast<std::uint8_t>(code)), literal_value(kind, code)));
    }
  }
  CHECK(small_float_value(DataType::kFloat8E4M3FN, 0x7e) == 448);
  CHECK(small_float_value(DataType::kFloat8E4M3FN, 0x01) == 0x1p-9);
  CHECK(small_float_value(DataType::kFloat8E4M3FNUZ, 0x7f) == 240);
  CHECK(small_float_value(DataType::kFloat8E4M3FNUZ, 0x01) == 0x1p-10);
  CHECK(small_float_value(DataType::kFloat8E5M2, 0x7b) == 57344);
  CHECK(small_float_value(DataType::kFloat8E5M2, 0x01) == 0x1p-16);
  CHECK(small_float_value(DataType::kFloat8E5M2FNUZ, 0x7f) == 57344);
  CHECK(small_float_value(DataType::kFloat8E5M2FNUZ, 0x01) == 0x1p-17);
  CHECK(small_float_value(DataType::kFloat4E2M1, 0x07) == 6);
  CHECK(small_float_value(DataType::kFloat8E8M0, 0) == 0x1p-127);
  CHECK(small_float_value(DataType::kFloat8E8M0, 127) == 1);
  CHECK(std::isnan(small_float_value(DataType::kFloat8E8M0, 255)));
}

TEST_CASE("Every code survives the way through double", "[tensor][float8]") {
  for (const Kind& kind : kKinds) {
    for (int code = 0; code < code_count(kind); ++code) {
      const double value = literal_value(kind, code);
      SmallFloatOptions keep;
      keep.saturate = false;
      CAPTURE(name(kind.type), code);
      if (std::isnan(value))
        CHECK(std::isnan(small_float_value(kind.type, small_float_code(kind.type, value, keep))));
      else
        CHECK(small_float_code(kind.type, value, keep) == code);
    }
  }
  for (int code = 0; code < 255; ++code) {
    CHECK(small_float_code(DataType::kFloat8E8M0, std::ldexp(1.0, code - 127)) == code);
  }
}

TEST_CASE("All float16 numbers round to the nearest small float", "[tensor][float8]") {
  for (const Kind& kind : kKinds) {
    for (const bool saturate : {true, false}) {
      if (kind.type == DataType::kFloat4E2M1 && !saturate) continue;
      for (const bool infinity : {true, false}) {
        if (!infinity && !kind.fnuz) continue;
        SmallFloatOptions options;
        options.saturate = saturate;
        options.fnuz_infinity_saturates = infinity;
        int wrong = 0;
        // Every 7th pattern, and all near the ends of the range: an exact search over all codes for each.
        for (std::uint32_t bits = 0; bits < 65536; bits += bits % 64 < 16 ? 1 : 7) {
          const auto x = static_cast<double>(Float16::from_bits(static_cast<std::uint16_t>(bits)));
          if (std::isnan(x)) continue;
          const double got = small_float_value(kind.type, small_float_code(kind.type, x, options));
          double expected = literal_rounding(kind, x, saturate, infinity);
          if (kind.fnuz && expected == 0) expected = 0;  // no -0
          if (kind.fnuz && expected == 0.0) expected = std::fabs(expected);
          if (!same(got, expected)) {
            CAPTURE(name(kind.type), x, got, expected, saturate, infinity);
            if (++wrong < 4) CHECK(same(got, expected));
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("NaN keeps its sign where small floats have one", "[tensor][float8]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(small_float_code(DataType::kFloat8E4M3FN, nan) == 0x7f);
  CHECK(small_float_code(DataType::kFloat8E4M3FN, -nan) == 0xff);
  CHECK(small_float_code(DataType::kFloat8E5M2, nan) == 0x7e);
  CHECK(small_float_code(DataType::kFloat8E4M3FNUZ, -nan) == 0x80);
  CHECK(small_float_code(DataType::kFloat8E5M2FNUZ, nan) == 0x80);
  CHECK(small_float_code(DataType::kFloat4E2M1, nan) == 0x08);
  CHECK(small_float_code(DataType::kFloat4E2M1, kInf) == 0x07);
}

TEST_CASE("float8e8m0 rounds to powers of two as told", "[tensor][float8]") {
  const auto code = [](double x, ScaleRounding rounding, bool saturate = true) {
    SmallFloatOptions options;
    options.saturate = saturate;
    options.scale_rounding = rounding;
    return static_cast<int>(small_float_code(DataType::kFloat8E8M0, x, options));
  };
  using enum ScaleRounding;
  CHECK(code(1, kUp) == 127);
  CHECK(code(1.001, kUp) == 128);
  CHECK(code(1.999, kDown) == 127);
  CHECK(code(1.499, kNearest) == 127);
  CHECK(code(1.5, kNearest) == 128);
  CHECK(code(0, kUp) == 0);
  CHECK(code(1e-45, kUp) == 0);
  CHECK(code(0x1.8p-127, kUp) == 1);
  CHECK(code(0, kNearest, false) == 255);
  CHECK(code(1e-45, kNearest, false) == 255);
  CHECK(code(kInf, kUp) == 254);
  CHECK(code(kInf, kUp, false) == 255);
  CHECK(code(0x1.8p127, kUp) == 254);
  CHECK(code(0x1.8p127, kUp, false) == 255);
  CHECK(code(0x1.8p127, kDown, false) == 254);
  CHECK(code(1e300, kDown, false) == 255);
  CHECK(code(-1, kUp) == 255);
  CHECK(code(NAN, kUp) == 255);
}
