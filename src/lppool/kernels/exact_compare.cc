#include "lppool/kernels/exact_compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "lppool/kernels/double_double.h"

namespace lppool::kernels {
namespace {

__extension__ typedef unsigned __int128 Wide;

// ---- Expansions (Shewchuk 1997): an exact sum as doubles that do not overlap, smallest first.

class Expansion {
 public:
  void add(double v) {
    std::size_t kept = 0;
    for (const double part : parts_) {
      const DoubleDouble s = two_sum(v, part);
      if (s.lo != 0) parts_[kept++] = s.lo;
      v = s.hi;
    }
    parts_.resize(kept);
    if (v != 0) parts_.push_back(v);
  }
  int sign() const { return parts_.empty() ? 0 : parts_.back() > 0 ? 1 : -1; }

 private:
  std::vector<double> parts_;
};

// p = 1 or 2. Everything is scaled so that the largest number is near 1; false if a value is so small beside it that
// its square is not exact in two doubles.
bool compare_by_expansion(std::span<const double> values, std::int64_t p, const ExactNumber& bound, int& sign) {
  const int scale = -(static_cast<int>(std::bit_width(bound.mantissa)) + bound.exponent);
  const std::uint64_t low = bound.mantissa & 1;
  const double m = std::ldexp(static_cast<double>(bound.mantissa - low), bound.exponent + scale);
  const double h = std::ldexp(static_cast<double>(low), bound.exponent + scale);  // m + h is the bound, m has 53 bits
  // A product with a power of two, in two steps where one would leave double's range.
  const double first = std::ldexp(1.0, std::clamp(scale, -1000, 1000));
  const double second = std::ldexp(1.0, scale - std::clamp(scale, -1000, 1000));
  Expansion sum;
  for (const double value : values) {
    if (value == 0) continue;
    const double v = value * first * second;
    if (v < 0x1p-400) return false;
    if (p == 1) {
      sum.add(v);
    } else {
      const DoubleDouble square = two_product(v, v);
      sum.add(square.lo);
      sum.add(square.hi);
    }
  }
  if (p == 1) {
    sum.add(-h);
    sum.add(-m);
  } else {
    const DoubleDouble square = two_product(m, m);
    sum.add(-h * h);
    sum.add(-2 * m * h);
    sum.add(-square.lo);
    sum.add(-square.hi);
  }
  sign = sum.sign();
  return true;
}

// ---- Truncated big numbers.

// A number in [n, n * (1 + error)] with n = limbs * 2^exponent (limbs little-endian, top limb not 0). Truncation only
// ever lowers n. Errors below 2^-900 count as 2^-900: certainty beyond that comes from exactness alone.
struct Big {
  std::vector<std::uint64_t> limbs;
  std::int64_t exponent = 0;
  double error = 0;

  std::int64_t top() const {  // 2^(top-1) <= n < 2^top
    return exponent + static_cast<std::int64_t>(limbs.size()) * 64 - std::countl_zero(limbs.back());
  }
};

double worse(double error) {
  return error == 0 ? 0 : std::max(error * (1 + 0x1p-20), 0x1p-900);
}

// Keeps the top `width` limbs and strips zero limbs at both ends.
void trim(Big& a, std::size_t width) {
  while (!a.limbs.empty() && a.limbs.back() == 0) a.limbs.pop_back();
  std::size_t drop = a.limbs.size() > width ? a.limbs.size() - width : 0;
  const bool lost = std::any_of(a.limbs.begin(), a.limbs.begin() + static_cast<std::ptrdiff_t>(drop),
                                [](std::uint64_t limb) { return limb != 0; });
  if (lost) {
    a.error = worse(
        a.error + std::max(std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(64 * (width - 1), 900))), 0x1p-900));
  }
  while (drop < a.limbs.size() && a.limbs[drop] == 0) ++drop;
  a.limbs.erase(a.limbs.begin(), a.limbs.begin() + static_cast<std::ptrdiff_t>(drop));
  a.exponent += static_cast<std::int64_t>(drop) * 64;
}

Big product(const Big& a, const Big& b, std::size_t width) {
  Big r;
  r.limbs.assign(a.limbs.size() + b.limbs.size(), 0);
  for (std::size_t i = 0; i < a.limbs.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs.size(); ++j) {
      const Wide t = static_cast<Wide>(a.limbs[i]) * b.limbs[j] + r.limbs[i + j] + carry;
      r.limbs[i + j] = static_cast<std::uint64_t>(t);
      carry = static_cast<std::uint64_t>(t >> 64);
    }
    r.limbs[i + b.limbs.size()] = carry;
  }
  r.exponent = a.exponent + b.exponent;
  r.error = worse(a.error + b.error);
  trim(r, width);
  return r;
}

Big power(const Big& base, std::int64_t p, std::size_t width) {
  Big r = base;
  for (int bit = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p))) - 2; bit >= 0; --bit) {
    r = product(r, r, width);
    if (p >> bit & 1) r = product(r, base, width);
  }
  return r;
}

// a += b.
void accumulate(Big& a, const Big& b, std::size_t width) {
  if (a.limbs.empty()) {
    a = b;
    return;
  }
  // Below the last kept limb of the sum, b counts as error only.
  const std::int64_t top = std::max(a.top(), b.top()) + 1;
  const std::int64_t bottom =
      std::max(std::min(a.exponent, b.exponent), top - 64 * static_cast<std::int64_t>(width + 1));
  Big r;
  r.exponent = bottom;
  r.limbs.assign(static_cast<std::size_t>((top - bottom) / 64 + 1), 0);
  bool lost = false;
  for (const Big* n : {static_cast<const Big*>(&a), &b}) {
    const std::int64_t shift = n->exponent - bottom;  // in bits, may be negative
    std::uint64_t carry = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < n->limbs.size(); ++i) {
      const std::int64_t at = shift + static_cast<std::int64_t>(i) * 64;
      Wide piece = n->limbs[i];
      if (at < 0) {
        if (at <= -64) {
          lost |= piece != 0;
          continue;
        }
        lost |= (static_cast<std::uint64_t>(piece) & ((std::uint64_t{1} << -at) - 1)) != 0;
        piece >>= -at;
      } else {
        piece <<= at % 64;
      }
      const std::size_t limb = at < 0 ? 0 : static_cast<std::size_t>(at / 64);
      // Add both halves of the piece, then let the carry run.
      Wide t = static_cast<Wide>(r.limbs[limb]) + static_cast<std::uint64_t>(piece);
      r.limbs[limb] = static_cast<std::uint64_t>(t);
      carry = static_cast<std::uint64_t>(t >> 64);
      for (last = limb + 1; last < r.limbs.size(); ++last) {
        const std::uint64_t high = last == limb + 1 ? static_cast<std::uint64_t>(piece >> 64) : 0;
        t = static_cast<Wide>(r.limbs[last]) + high + carry;
        r.limbs[last] = static_cast<std::uint64_t>(t);
        carry = static_cast<std::uint64_t>(t >> 64);
        if (carry == 0 && last > limb) break;
      }
    }
  }
  r.error = worse(std::max(a.error, b.error));
  if (lost)
    r.error = worse(
        r.error + std::max(std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(64 * (width - 1), 900))), 0x1p-900));
  trim(r, width);
  a = std::move(r);
}

// Sign of a.n - b.n.
int compare_lower(const Big& a, const Big& b) {
  if (a.top() != b.top()) return a.top() < b.top() ? -1 : 1;
  // Same leading position: compare limb by limb after aligning the tops.
  const int sa = std::countl_zero(a.limbs.back()), sb = std::countl_zero(b.limbs.back());
  const auto limb = [](const Big& n, int shift, std::size_t k) -> std::uint64_t {
    if (k >= n.limbs.size()) return 0;
    const std::size_t i = n.limbs.size() - 1 - k;
    const std::uint64_t low = shift != 0 && i > 0 ? n.limbs[i - 1] >> (64 - shift) : 0;
    return n.limbs[i] << shift | low;
  };
  for (std::size_t k = 0; k < std::max(a.limbs.size(), b.limbs.size()); ++k) {
    const std::uint64_t la = limb(a, sa, k), lb = limb(b, sb, k);
    if (la != lb) return la < lb ? -1 : 1;
  }
  return 0;
}

// n * (1 + error), rounded up.
Big upper(const Big& n) {
  if (n.error == 0) return n;
  int e;
  const double f = std::frexp(n.error, &e);
  const Big slack{{static_cast<std::uint64_t>(std::ldexp(f, 60)) + 1}, e - 60, 0};
  Big r = n;
  accumulate(r, product(n, slack, n.limbs.size() + 2), n.limbs.size() + 20);
  return r;
}

Big from_double(double v) {
  int e;
  const double f = std::frexp(v, &e);
  return {{static_cast<std::uint64_t>(std::ldexp(f, 64))}, e - 64, 0};
}

}  // namespace

int compare_power_sum(std::span<const double> values, std::int64_t p, const ExactNumber& bound) {
  int sign = 0;
  if (p <= 2 && compare_by_expansion(values, p, bound, sign)) return sign;

  double largest = 0;
  for (const double v : values) largest = std::max(largest, v);
  const int scale = std::ilogb(largest);
  for (std::size_t width = 4;; width *= 4) {
    Big limit{{bound.mantissa}, bound.exponent - scale, 0};
    limit = power(limit, p, width);
    Big sum;
    bool dropped = false;
    for (const double v : values) {
      if (v == 0) continue;
      const int below = scale - std::ilogb(v);
      // Terms this far below the largest are under 2^-1000 of it; only exact arithmetic needs them.
      if (below > 1 &&
          static_cast<double>(below - 1) * static_cast<double>(p) > 64.0 * static_cast<double>(width) + 2000) {
        dropped = true;
        continue;
      }
      Big base = from_double(v);
      base.exponent -= scale;
      accumulate(sum, power(base, p, width), width);
    }
    if (dropped) sum.error = worse(sum.error + 0x1p-900);
    if (sum.error == 0 && limit.error == 0) return compare_lower(sum, limit);
    if (compare_lower(sum, upper(limit)) > 0) return 1;
    if (compare_lower(upper(sum), limit) < 0) return -1;
  }
}

}  // namespace lppool::kernels
