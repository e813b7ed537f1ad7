// Polynomials over atoms. A monomial is a sorted list of atom keys (with repetition); a polynomial maps monomials to
// non-zero coefficients. Atom keys are their printed form, which is canonical because their arguments are: equal atoms
// have equal keys. The empty monomial is the constant term.
#include "lppool/graph/dim.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lppool/base/checked.h"

namespace lppool {
namespace {

enum class AtomKind { kSymbol, kFloorDiv, kMin, kMax };

}  // namespace

struct DimAtom;
using AtomPtr = std::shared_ptr<const DimAtom>;
using Monomial = std::vector<std::string>;

struct Dim::Poly {
  std::map<Monomial, std::int64_t> terms;
  std::map<std::string, AtomPtr> atoms;  // every atom that occurs in terms
};

struct DimAtom {
  AtomKind kind;
  std::string name;  // kSymbol
  Dim a, b;          // arguments of the others
};

namespace {

// Squares of squares and divisions within divisions grow without bound, and so would their printed forms, which are the
// keys of atoms. No size of a real model comes near this length.
constexpr std::size_t kMaxLength = 2000;

}  // namespace

struct DimAccess {
  static const Dim::Poly* poly(const Dim& d) { return d.poly_.get(); }
  static Dim make(Dim::Poly poly) {
    std::erase_if(poly.terms, [](const auto& term) { return term.second == 0; });
    if (poly.terms.size() > Dim::kMaxTerms) return {};
    std::size_t length = 0;
    for (const auto& [monomial, coefficient] : poly.terms) {
      for (const std::string& key : monomial) length += key.size();
    }
    if (length > kMaxLength && !sole_symbol(poly)) return {};
    std::set<std::string> used;
    for (const auto& [monomial, coefficient] : poly.terms) used.insert(monomial.begin(), monomial.end());
    std::erase_if(poly.atoms, [&](const auto& atom) { return !used.contains(atom.first); });
    return Dim(std::make_shared<const Dim::Poly>(std::move(poly)));
  }
  // A name may be as long as a file likes, so long as nothing is built from it.
  static bool sole_symbol(const Dim::Poly& poly) {
    return poly.terms.size() == 1 && poly.atoms.size() == 1 && poly.terms.begin()->first.size() == 1 &&
           poly.atoms.begin()->second->kind == AtomKind::kSymbol;
  }
  static Dim atom(const std::string& key, DimAtom atom) {
    if (key.size() > kMaxLength && atom.kind != AtomKind::kSymbol) return {};
    Dim::Poly poly;
    poly.terms[{key}] = 1;
    poly.atoms[key] = std::make_shared<const DimAtom>(std::move(atom));
    return Dim(std::make_shared<const Dim::Poly>(std::move(poly)));
  }
};

Dim::Dim(std::int64_t value) {
  Poly poly;
  if (value != 0) poly.terms[{}] = value;
  poly_ = std::make_shared<const Poly>(std::move(poly));
}

Dim Dim::symbol(std::string_view name) {
  return DimAccess::atom(std::string(name), {AtomKind::kSymbol, std::string(name), {}, {}});
}

std::optional<std::int64_t> Dim::value() const {
  if (!poly_) return std::nullopt;
  if (poly_->terms.empty()) return 0;
  if (poly_->terms.size() == 1 && poly_->terms.begin()->first.empty()) return poly_->terms.begin()->second;
  return std::nullopt;
}

Dim Dim::with_own_identity() const {
  return poly_ ? Dim(std::make_shared<const Poly>(*poly_)) : Dim();
}

bool Dim::is_sum() const {
  return poly_ && poly_->terms.size() > 1;
}

bool same(const Dim& a, const Dim& b) {
  return a.poly_ && b.poly_ && (a.poly_ == b.poly_ || a.poly_->terms == b.poly_->terms);
}

namespace {

// a + factor * b
Dim combine(const Dim& a, const Dim& b, std::int64_t factor) {
  const auto* pa = DimAccess::poly(a);
  const auto* pb = DimAccess::poly(b);
  if (!pa || !pb) return {};
  Dim::Poly result = *pa;
  result.atoms.insert(pb->atoms.begin(), pb->atoms.end());
  for (const auto& [monomial, coefficient] : pb->terms) {
    const auto scaled = checked_mul(coefficient, factor);
    if (!scaled) return {};
    const auto sum = checked_add(result.terms[monomial], *scaled);
    if (!sum) return {};
    result.terms[monomial] = *sum;
  }
  return DimAccess::make(std::move(result));
}

bool all_multiples(const Dim::Poly& poly, std::int64_t divisor) {
  return std::ranges::all_of(poly.terms, [&](const auto& term) { return term.second % divisor == 0; });
}

Dim exact_div(const Dim::Poly& poly, std::int64_t divisor) {
  Dim::Poly result = poly;
  for (auto& term : result.terms) term.second /= divisor;
  return DimAccess::make(std::move(result));
}

// a / b as a polynomial where b is a single monomial dividing every term of a; unknown otherwise.
Dim monomial_div(const Dim::Poly& a, const Dim::Poly& b) {
  if (b.terms.size() != 1) return {};
  const auto& [divisor, coefficient] = *b.terms.begin();
  Dim::Poly result;
  result.atoms = a.atoms;
  for (const auto& [monomial, c] : a.terms) {
    if (c % coefficient != 0 || !std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()))
      return {};
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(), std::back_inserter(rest));
    result.terms[rest] = c / coefficient;
  }
  return DimAccess::make(std::move(result));
}

}  // namespace

namespace {

// The atom an expression consists of; nullptr where it is anything else.
const DimAtom* sole_atom(const Dim& d) {
  const auto* poly = DimAccess::poly(d);
  if (poly == nullptr || poly->terms.size() != 1) return nullptr;
  const auto& [monomial, coefficient] = *poly->terms.begin();
  return coefficient == 1 && monomial.size() == 1 ? poly->atoms.at(monomial[0]).get() : nullptr;
}

// An expression as it stands beside a division sign.
std::string operand(const Dim& d) {
  const std::string text = d.to_string();
  return sole_atom(d) != nullptr || d.value() ? text : fmt::format("({})", text);
}

}  // namespace

Dim operator+(const Dim& a, const Dim& b) {
  return combine(a, b, 1);
}
Dim operator-(const Dim& a, const Dim& b) {
  return combine(a, b, -1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is(0) || b.is(0)) return Dim(0);
  if (!a.poly_ || !b.poly_) return {};
  if (a.poly_->terms.size() * b.poly_->terms.size() > Dim::kMaxTerms * 4) return {};
  Dim::Poly result;
  result.atoms = a.poly_->atoms;
  result.atoms.insert(b.poly_->atoms.begin(), b.poly_->atoms.end());
  for (const auto& [ma, ca] : a.poly_->terms) {
    for (const auto& [mb, cb] : b.poly_->terms) {
      Monomial product;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(product));
      const auto c = checked_mul(ca, cb);
      const auto sum = c ? checked_add(result.terms[product], *c) : std::nullopt;
      if (!sum) return {};
      result.terms[product] = *sum;
    }
  }
  return DimAccess::make(std::move(result));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (!a.poly_ || !b.poly_) return {};
  const auto divisor = b.value();
  if (divisor && *divisor <= 0) return {};
  if (divisor == 1) return a;
  if (divisor) {
    if (const auto value = a.value()) return Dim(floor_div(*value, *divisor));
    if (all_multiples(*a.poly_, *divisor)) return exact_div(*a.poly_, *divisor);
    // Terms whose coefficient the divisor divides come out: floor((4H + k)/4) = H + floor(k/4).
    Dim::Poly outside, inside = *a.poly_;
    outside.atoms = a.poly_->atoms;
    for (auto& [monomial, c] : inside.terms) {
      const std::int64_t multiple = monomial.empty() ? floor_div(c, *divisor) : (c % *divisor == 0 ? c / *divisor : 0);
      if (multiple != 0) {
        outside.terms[monomial] = multiple;
        c -= multiple * *divisor;
      }
    }
    const Dim rest = DimAccess::make(std::move(inside));
    const Dim whole = DimAccess::make(std::move(outside));
    if (const auto value = rest.value()) return whole + Dim(floor_div(*value, *divisor));
    // floor(floor(x/m)/n) = floor(x/(m*n)).
    if (const DimAtom* inner = sole_atom(rest);
        inner != nullptr && inner->kind == AtomKind::kFloorDiv && inner->b.value()) {
      if (const auto product = checked_mul(*inner->b.value(), *divisor))
        return whole + floor_div(inner->a, Dim(*product));
    }
    return whole +
           DimAccess::atom(fmt::format("floor({}/{})", operand(rest), *divisor), {AtomKind::kFloorDiv, {}, rest, b});
  }
  if (same(a, b)) return Dim(1);
  if (Dim exact = monomial_div(*a.poly_, *b.poly_); exact.known()) return exact;
  return DimAccess::atom(fmt::format("floor({}/{})", operand(a), operand(b)), {AtomKind::kFloorDiv, {}, a, b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  const auto divisor = b.value();
  if (divisor && *divisor > 0) {
    if (const auto value = a.value()) return Dim(ceil_div(*value, *divisor));
    return floor_div(a + Dim(*divisor - 1), b);
  }
  return floor_div(a + b - Dim(1), b);
}

namespace {

Dim extreme(const Dim& a, const Dim& b, bool maximum) {
  if (!a.known() || !b.known()) return {};
  if (const auto difference = (a - b).value()) return (*difference >= 0) == maximum ? a : b;
  std::string x = a.to_string(), y = b.to_string();
  const bool swap = y < x;
  if (swap) std::swap(x, y);
  return DimAccess::atom(fmt::format("{}({}, {})", maximum ? "max" : "min", x, y),
                         {maximum ? AtomKind::kMax : AtomKind::kMin, {}, swap ? b : a, swap ? a : b});
}

}  // namespace

Dim min(const Dim& a, const Dim& b) {
  return extreme(a, b, false);
}
Dim max(const Dim& a, const Dim& b) {
  return extreme(a, b, true);
}

namespace {

std::optional<std::int64_t> least(const Dim& d);

std::optional<std::int64_t> least(const DimAtom& atom) {
  if (atom.kind == AtomKind::kSymbol) return 0;
  const auto a = least(atom.a), b = least(atom.b);
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      if (const auto divisor = atom.b.value(); a && divisor) return floor_div(*a, *divisor);
      return a && b && *a >= 0 && *b >= 0 ? std::optional<std::int64_t>(0) : std::nullopt;
    case AtomKind::kMin:
      return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
    case AtomKind::kMax:
      return a && b ? std::optional(std::max(*a, *b)) : a ? a : b;
    case AtomKind::kSymbol:
      break;
  }
  return std::nullopt;
}

// A number the expression never falls below where no symbol is negative; empty where none is plain to see.
std::optional<std::int64_t> least(const Dim& d) {
  const Dim::Poly* poly = DimAccess::poly(d);
  if (poly == nullptr) return std::nullopt;
  std::optional<std::int64_t> sum = 0;
  for (const auto& [monomial, coefficient] : poly->terms) {
    std::optional<std::int64_t> term = coefficient;
    if (coefficient < 0 && !monomial.empty()) return std::nullopt;
    for (const std::string& key : monomial) {
      const auto factor = least(*poly->atoms.at(key));
      // The least product is the product of the least factors only where none is negative, or there is just one.
      if (!factor || (*factor < 0 && monomial.size() > 1)) return std::nullopt;
      term = checked_mul(*term, *factor);
      if (!term) return std::nullopt;
    }
    sum = checked_add(*sum, *term);
    if (!sum) return std::nullopt;
  }
  return sum;
}

}  // namespace

bool nonnegative(const Dim& d) {
  const auto bound = least(d);
  return bound && *bound >= 0;
}

Dim Dim::substitute(const std::map<std::string, Dim>& values) const {
  if (!poly_) return {};
  std::map<std::string, Dim> replaced;
  for (const auto& [key, atom] : poly_->atoms) {
    switch (atom->kind) {
      case AtomKind::kSymbol: {
        const auto found = values.find(atom->name);
        replaced[key] = found == values.end() ? Dim::symbol(atom->name) : found->second;
        break;
      }
      case AtomKind::kFloorDiv:
        replaced[key] = floor_div(atom->a.substitute(values), atom->b.substitute(values));
        break;
      case AtomKind::kMin:
        replaced[key] = min(atom->a.substitute(values), atom->b.substitute(values));
        break;
      case AtomKind::kMax:
        replaced[key] = max(atom->a.substitute(values), atom->b.substitute(values));
        break;
    }
  }
  Dim result(0);
  for (const auto& [monomial, coefficient] : poly_->terms) {
    Dim product(coefficient);
    for (const std::string& key : monomial) product = product * replaced[key];
    result = result + product;
  }
  return result;
}

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> found;
  if (poly_) {
    for (const auto& [key, atom] : poly_->atoms) {
      if (atom->kind == AtomKind::kSymbol) {
        found.insert(atom->name);
        continue;
      }
      for (const Dim& part : {atom->a, atom->b}) {
        for (auto& symbol : part.symbols()) found.insert(symbol);
      }
    }
  }
  return {found.begin(), found.end()};
}

std::string Dim::to_string() const {
  if (!poly_) return "?";
  if (poly_->terms.empty()) return "0";
  // Highest degree first, constant last, as people write polynomials.
  std::vector<std::pair<Monomial, std::int64_t>> ordered(poly_->terms.begin(), poly_->terms.end());
  std::ranges::stable_sort(ordered, [](const auto& x, const auto& y) { return x.first.size() > y.first.size(); });
  std::string text;
  for (const auto& [monomial, coefficient] : ordered) {
    const bool negative = coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const auto magnitude =
        negative ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
    if (monomial.empty()) {
      text += fmt::format("{}", magnitude);
    } else {
      if (magnitude != 1) text += fmt::format("{}*", magnitude);
      text += fmt::format("{}", fmt::join(monomial, "*"));
    }
  }
  return text;
}

}  // namespace lppool
