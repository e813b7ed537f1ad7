#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lppool {

// A dimension (or an element of a shape tensor) known exactly, as an integer expression over symbols, or not at all.
//
// An expression is kept as a polynomial with integer coefficients over atoms - symbols, floor divisions, minima, maxima -
// in one canonical form, so that equal polynomials compare equal: (H + 1) - 1 is H. floor((H - 1) / 2) + 1 stays exact.
// Arithmetic that leaves 64 bits, or an expression that grows past kMaxTerms terms, gives "unknown", never a wrong value.
// Immutable and cheap to copy.
class Dim {
 public:
  static constexpr std::size_t kMaxTerms = 64;

  Dim() = default;  // unknown
  Dim(std::int64_t value);  // NOLINT: numbers are dims
  static Dim symbol(std::string_view name);

  bool known() const { return poly_ != nullptr; }          // a number or an expression
  std::optional<std::int64_t> value() const;               // the number, if it is one
  bool is(std::int64_t number) const { return value() == number; }
  bool is_sum() const;                                     // of several terms: to be put in parentheses beside * and /

  // An equal dim that is_copy_of() tells apart from this one: how `infer --explain` finds out which input a size was taken
  // from. Copying keeps the identity, arithmetic gives a new one; unknown dims have none.
  Dim with_own_identity() const;
  bool is_copy_of(const Dim& other) const { return poly_ != nullptr && poly_ == other.poly_; }

  // Equal as expressions. Two unknown dims are not known to be equal: same(unknown, unknown) is false.
  friend bool same(const Dim& a, const Dim& b);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Division rounded toward minus (plus) infinity. Unknown where b is known to be <= 0.
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim ceil_div(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  // True where the expression cannot be negative, given that no symbol is; false also where that is not plain to see.
  friend bool nonnegative(const Dim& d);

  // The expression with numbers (or other expressions) put in for symbols; symbols not in the map stay.
  Dim substitute(const std::map<std::string, Dim>& values) const;
  // Names of the symbols in it, sorted.
  std::vector<std::string> symbols() const;

  // "224", "H", "floor((H - 1)/2) + 1"; "?" where unknown.
  std::string to_string() const;

  struct Poly;  // in dim.cc

 private:
  explicit Dim(std::shared_ptr<const Poly> poly) : poly_(std::move(poly)) {}
  friend struct DimAccess;
  std::shared_ptr<const Poly> poly_;
};

// A dim from text: a number, a symbol, or an expression as to_string() writes it (+ - * / with floor(), ceil(), min(),
// max(), parentheses). Text that is none of these is a symbol of that name; "?" is unknown.
Dim parse_dim(std::string_view text);

}  // namespace lppool
