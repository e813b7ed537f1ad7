#include "lppool/ops/generator.h"

#include <bit>
#include <cmath>

namespace lppool {
namespace {

constexpr double kLn2High = 0x1.62e42fefa0000p-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;  // ln 2 in two parts

double horner(double x, const auto& coefficients) {  // highest power first
  double sum = 0;
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

}  // namespace

Generator::Generator(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9E3779B97F4A7C15u;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Generator::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

// The coefficients are those published as PPND16.
double Generator::normal() {
  const double p = (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    constexpr double kA[] = {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
                             1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0};
    constexpr double kB[] = {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
                             5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0};
    const double r = 0.180625 - q * q;
    return q * horner(r, kA) / horner(r, kB);
  }
  double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  double z = 0;
  if (r <= 5) {
    constexpr double kC[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
                             3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0};
    constexpr double kD[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
                             6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0};
    r -= 1.6;
    z = horner(r, kC) / horner(r, kD);
  } else {
    constexpr double kE[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                             2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0};
    constexpr double kF[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
                             1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0};
    r -= 5;
    z = horner(r, kE) / horner(r, kF);
  }
  return q < 0 ? -z : z;
}

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // ln m = 2 atanh(s) with |s| <= 0.172: eleven terms reach 1e-17.
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  return exponent * kLn2High + (2 * s + (2 * s * sum + exponent * kLn2Low));
}

double portable_exp(double x) {
  if (!(x > -746)) return x != x ? x : 0.0;
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= 0.35
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

}  // namespace lppool
