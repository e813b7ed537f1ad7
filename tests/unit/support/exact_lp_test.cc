// Tests of the oracle itself, on values that can be checked by hand or against a second method.

#include "support/exact_lp.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/random.h"

namespace lppool::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const FloatFormat kFormats[] = {kFloat16, kBFloat16, kFloat32, kFloat64};

double norm(const FloatFormat& format, const std::vector<double>& values, double p) {
  const std::uint64_t bits = exact_lp(format, values, p);
  CHECK(exact_lp_unfiltered(format, values, p) == bits);
  return decode(format, bits);
}

std::vector<double> decode_all(const FloatFormat& format, const std::vector<std::uint64_t>& window) {
  std::vector<double> values;
  for (const std::uint64_t bits : window) values.push_back(decode(format, bits));
  return values;
}

}  // namespace

TEST_CASE("the oracle's formats have the well known limits", "[support]") {
  CHECK(decode(kFloat16, kFloat16.largest_finite()) == 65504);
  CHECK(decode(kFloat16, 1) == 0x1p-24);
  CHECK(decode(kFloat16, kFloat16.least_normal()) == 0x1p-14);
  CHECK(decode(kFloat16, 0xC000) == -2);
  CHECK(decode(kBFloat16, 0x3F80) == 1);
  CHECK(decode(kBFloat16, 1) == 0x1p-133);
  CHECK(decode(kBFloat16, kBFloat16.largest_finite()) == 0x1.FEp127);
  CHECK(decode(kFloat32, kFloat32.largest_finite()) == std::numeric_limits<float>::max());
  CHECK(decode(kFloat32, 1) == std::numeric_limits<float>::denorm_min());
  CHECK(decode(kFloat64, kFloat64.largest_finite()) == std::numeric_limits<double>::max());
  CHECK(decode(kFloat64, 1) == std::numeric_limits<double>::denorm_min());
  CHECK(std::isinf(decode(kFloat16, 0x7C00)));
  CHECK(std::isnan(decode(kFloat16, 0x7C01)));
  CHECK(midpoint_above(kFloat16, kFloat16.largest_finite()).significand == 4095);
  CHECK(midpoint_above(kFloat16, kFloat16.largest_finite()).exponent == 4);  // 65520
}

TEST_CASE("the oracle knows sums of powers that are powers", "[support]") {
  for (const FloatFormat& format : kFormats) {
    CAPTURE(format.storage_bits, format.precision);
    CHECK(norm(format, {1, -2, 4}, 1) == 7);
    CHECK(norm(format, {3, -4}, 2) == 5);
    CHECK(norm(format, {0.375, 0.5}, 2) == 0.625);
    CHECK(norm(format, {-3, 4, 5}, 3) == 6);
    CHECK(norm(format, {2, 2, 2, 2}, 2) == 4);
    CHECK(norm(format, {1, 1, 1, 1, 1, 1, 1, 1}, 3) == 2);
    CHECK(norm(format, std::vector<double>(32, 3.0), 5) == 6);
    CHECK(norm(format, {-7}, 4) == 7);
    CHECK(norm(format, {0, 0}, 2) == 0);
    CHECK(norm(format, {-0.0}, 2) == 0);
    CHECK(norm(format, {}, 2) == 0);
    CHECK(norm(format, {kInf, 1}, 2) == kInf);
    CHECK(norm(format, {-kInf, 1}, 3) == kInf);
    CHECK(std::isnan(norm(format, {kInf, kNaN, 1}, 2)));
  }
  // 30^4 + 120^4 + 272^4 + 315^4 = 353^4 (Norrie 1911); 27^5 + 84^5 + 110^5 + 133^5 = 144^5 (Lander and Parkin 1966).
  CHECK(norm(kFloat16, {30, 120, 272, 315}, 4) == 353);
  CHECK(norm(kFloat64, {27, 84, 110, 133}, 5) == 144);
  // 127^7 + 258^7 + 266^7 + 413^7 + 430^7 + 439^7 + 525^7 = 568^7 (Dodrill 1999).
  CHECK(norm(kFloat32, {127, 258, 266, 413, 430, 439, 525}, 7) == 568);
}

TEST_CASE("the oracle rounds ties to even", "[support]") {
  // 2048 + 1 and 2048 + 3 lie halfway between neighbours of float16 (spacing 2).
  CHECK(norm(kFloat16, {2048, 1}, 1) == 2048);
  CHECK(norm(kFloat16, {2048, 3}, 1) == 2052);
  CHECK(norm(kFloat16, {2048, 1, 0x1p-24}, 1) == 2050);
  CHECK(norm(kFloat16, {2047, 1, 0.5, 0x1p-1}, 1) == 2048);
  CHECK(norm(kBFloat16, {256, 1}, 1) == 256);
  CHECK(norm(kBFloat16, {256, 3}, 1) == 260);
  CHECK(norm(kFloat32, {0x1p24, 1}, 1) == 0x1p24);
  CHECK(norm(kFloat32, {0x1p24, 3}, 1) == 0x1p24 + 4);
  CHECK(norm(kFloat32, {0x1p24, 1, 0x1p-149}, 1) == 0x1p24 + 2);
  CHECK(norm(kFloat64, {0x1p53, 1}, 1) == 0x1p53);
  CHECK(norm(kFloat64, {0x1p53, 1, 0x1p-1074}, 1) == 0x1p53 + 2);
  // Squares with a sum that is the square of a midpoint: 32^2 + 255^2 = 257^2, (2^k + 1)^2 = 2^2k + 2 * 2^k + 1.
  CHECK(norm(kBFloat16, {32, 255}, 2) == 256);
  CHECK(norm(kBFloat16, {32, 255, 0x1p-100}, 2) == 258);
  CHECK(norm(kFloat16, {2048, 64, 1}, 2) == 2048);
  CHECK(norm(kFloat16, {2048, 64, 1, 0x1p-24}, 2) == 2050);
  CHECK(norm(kFloat32, {0x1p24, 4096, 4096, 1}, 2) == 0x1p24);
  CHECK(norm(kFloat32, {0x1p24, 4096, 4096, 1, 0x1p-149}, 2) == 0x1p24 + 2);
  CHECK(norm(kFloat64, {0x1p53, 0x1p27, 1}, 2) == 0x1p53);
  CHECK(norm(kFloat64, {0x1p53, 0x1p27, 1, 0x1p-1074}, 2) == 0x1p53 + 2);
}

TEST_CASE("the oracle underflows gradually", "[support]") {
  for (const FloatFormat& format : kFormats) {
    CAPTURE(format.storage_bits, format.precision);
    const double least = decode(format, 1);
    CHECK(norm(format, {least, least}, 1) == 2 * least);
    CHECK(norm(format, {least, least}, 2) == least);             // 1.41
    CHECK(norm(format, {least, least, least}, 2) == 2 * least);  // 1.73
    CHECK(norm(format, {3 * least, 4 * least}, 2) == 5 * least);
    CHECK(norm(format, {least, least, least}, 3) == least);             // 1.44
    CHECK(norm(format, {least, least, least, least}, 3) == 2 * least);  // 1.59
    const double normal = decode(format, format.least_normal());
    CHECK(norm(format, {normal - least, least}, 1) == normal);
    CHECK(norm(format, {normal, least}, 2) == normal);
  }
}

TEST_CASE("the oracle overflows from the boundary on, not before", "[support]") {
  for (const FloatFormat& format : kFormats) {
    CAPTURE(format.storage_bits, format.precision);
    const double largest = decode(format, format.largest_finite());
    const double half_spacing = std::ldexp(1.0, format.max_exponent - format.precision);
    const double below = half_spacing / 2;
    CHECK(norm(format, {largest, below}, 1) == largest);
    CHECK(norm(format, {largest, below, below / 2, below / 4}, 1) == largest);
    CHECK(norm(format, {largest, half_spacing}, 1) == kInf);  // the tie goes to the even side
    CHECK(norm(format, {largest, largest}, 2) == kInf);
    CHECK(norm(format, {largest, 1}, 2) == largest);
    CHECK(norm(format, {largest, 1}, 100) == largest);
    CHECK(norm(format, {largest / 2, largest / 2, largest / 2, largest / 2}, 2) == largest);
    CHECK(norm(format, {largest, largest}, 1e6) == (format.precision > 19 ? kInf : largest));
  }
}

TEST_CASE("the oracle takes any p", "[support]") {
  for (const FloatFormat& format : kFormats) {
    CAPTURE(format.storage_bits, format.precision);
    CHECK(norm(format, {4, 9}, 0.5) == 25);
    CHECK(norm(format, {9, 16, 25}, 1.5) == 36);  // 27 + 64 + 125 = 216 = 36^1.5
    CHECK(norm(format, {-2, 2}, 0.5) == 8);       // (2 sqrt 2)^2
    CHECK(norm(format, {1, 1}, 0.125) == 256);
    CHECK(norm(format, {1, 1, 1, 1, 1, 1, 1, 1}, 1.5) == 4);
    CHECK(norm(format, {6, 5}, 5000) == 6);
    CHECK(norm(format, {6, 6}, 1e12) == (format.precision == 53 ? 0x1.800000000124Ap+2 : 6));  // 6 * 2^1e-12
    CHECK(norm(format, {6, 6}, 1e18) == 6);
    CHECK(norm(format, {6, 6}, 1e30) == 6);
    CHECK(norm(format, {1, 1}, 1e-30) == kInf);
    CHECK(norm(format, {5}, 1e-30) == 5);
    CHECK(norm(format, {5, 0}, 2.5) == 5);
    CHECK(norm(format, {kInf, 1}, 2.5) == kInf);
    CHECK(std::isnan(norm(format, {kInf, kNaN}, 1e9)));
  }
  // Ties that no interval can see: (3 sqrt 257)^2 = 2313, between 2312 and 2314 of float16; likewise 9 * 57 = 513, and
  // (sqrt 43 + 2 sqrt 43)^2 = 387.
  CHECK(norm(kFloat16, {257, 257, 257}, 0.5) == 2312);
  CHECK(norm(kBFloat16, {57, 57, 57}, 0.5) == 512);
  CHECK(norm(kBFloat16, {43, 172}, 0.5) == 388);
  CHECK(norm(kBFloat16, {1, 36, 64}, 1.5) == 81);  // 1 + 6^3 + 8^3 = 9^3
  // Digits of 2^(1/2.5) = 1.3195079107728942593740019712296...
  CHECK(norm(kFloat64, {1, 1}, 2.5) == 1.3195079107728942593740019712296);
  // And of 2^(1/5000) = 1.000138639045474...
  CHECK(norm(kFloat64, {1, 1}, 5000) == std::exp2(1.0 / 5000));
}

TEST_CASE("the oracle's ways agree with each other on random windows", "[support]") {
  CAPTURE(test_seed());
  Random random(1);
  for (const FloatFormat& format : kFormats) {
    for (int round = 0; round < 3000; ++round) {
      const auto p = static_cast<unsigned>(random.between(1, 10));
      std::vector<std::uint64_t> window(static_cast<std::size_t>(random.between(1, 9)));
      if (round % 4 == 0 && window.size() > 1) {
        window = near_midpoint_window(format, random, p, static_cast<int>(window.size()), round % 8 == 0);
      } else {
        random_window(format, random, window);
      }
      const std::vector<double> values = decode_all(format, window);
      const std::uint64_t fast = exact_lp(format, values, p);
      const std::uint64_t slow = exact_lp_unfiltered(format, values, p);
      if (fast != slow) {
        CAPTURE(format.storage_bits, format.precision, p, values);
        CHECK(fast == slow);
      }
      const double error = ulp_error(format, slow, values, p);
      if (!(error <= 0.5 + 0x1p-40) || (slow > 0 && slow < format.infinity() && round % 16 == 1 &&
                                        ulp_error(format, slow - 1, values, p) < 0.5 - 0x1p-40)) {
        CAPTURE(format.storage_bits, format.precision, p, values);
        CHECK(error <= 0.5);
      }
    }
  }
}

TEST_CASE("the greedy search comes very near to midpoints", "[support]") {
  CAPTURE(test_seed());
  Random random(2);
  for (const bool above : {false, true}) {
    double nearest = 1;
    for (int round = 0; round < 200; ++round) {
      const auto window = near_midpoint_window(kFloat32, random, 2, 4, above);
      const std::vector<double> values = decode_all(kFloat32, window);
      const std::uint64_t rounded = exact_lp(kFloat32, values, 2);
      nearest = std::min(nearest, 0.5 - ulp_error(kFloat32, rounded, values, 2));
    }
    CHECK(nearest < 0x1p-30);
  }
}

TEST_CASE("the ULP error is a distance in spacings at the exact norm", "[support]") {
  const std::vector<double> window{3, 4};
  const std::uint64_t five = exact_lp(kFloat64, window, 2);
  CHECK(ulp_error(kFloat64, five, window, 2) == 0);
  CHECK(ulp_error(kFloat64, five + 1, window, 2) == 1);
  CHECK(ulp_error(kFloat64, five - 3, window, 2) == 3);
  const std::vector<double> ones{1, 1};  // sqrt(2) = 0x1.6A09E667F3BCC908B2FB1366EA957D3E...
  CHECK(ulp_error(kFloat64, 0x3FF6A09E667F3BCC, ones, 2) == Approx(0x908B2FB1p-32));
  CHECK(ulp_error(kFloat64, 0x3FF6A09E667F3BCD, ones, 2) == Approx(1 - 0x908B2FB1p-32));
  CHECK(ulp_error(kFloat64, kFloat64.quiet_nan(), ones, 2) == kInf);
  CHECK(ulp_error(kFloat64, kFloat64.quiet_nan(), std::vector<double>{kNaN}, 2) == 0);
  CHECK(ulp_error(kFloat64, 0, std::vector<double>{0, 0}, 2) == 0);
  CHECK(ulp_error(kFloat64, 2, std::vector<double>{0, 0}, 2) == 2);
  const std::vector<double> large(2, decode(kFloat16, kFloat16.largest_finite()));
  CHECK(ulp_error(kFloat16, kFloat16.infinity(), large, 2) == 0);
  CHECK(ulp_error(kFloat16, kFloat16.infinity(), std::vector<double>{65504}, 2) == 1);
  CHECK(ulp_error(kFloat16, 0x8000, std::vector<double>{1}, 2) == kInf);
}

}  // namespace lppool::testing
