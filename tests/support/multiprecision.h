#pragma once

#include <gmp.h>
#include <mpfr.h>

namespace lppool::testing {

// Owners of GMP and MPFR numbers, so that no test leaks one. They convert to the C types and add nothing else.
class Integer {
 public:
  Integer() { mpz_init(value_); }
  explicit Integer(unsigned long value) { mpz_init_set_ui(value_, value); }
  Integer(const Integer& other) { mpz_init_set(value_, other.value_); }
  Integer& operator=(const Integer& other) {
    mpz_set(value_, other.value_);
    return *this;
  }
  ~Integer() { mpz_clear(value_); }
  operator mpz_ptr() { return value_; }
  operator mpz_srcptr() const { return value_; }
  mpz_srcptr operator->() const { return value_; }  // some functions of GMP are macros that look inside

 private:
  mpz_t value_;
};

class Rational {
 public:
  Rational() { mpq_init(value_); }
  Rational(const Rational&) = delete;
  Rational& operator=(const Rational&) = delete;
  ~Rational() { mpq_clear(value_); }
  operator mpq_ptr() { return value_; }
  mpz_ptr numerator() { return mpq_numref(value_); }
  mpz_ptr denominator() { return mpq_denref(value_); }

 private:
  mpq_t value_;
};

class BigFloat {
 public:
  explicit BigFloat(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  BigFloat(const BigFloat&) = delete;
  BigFloat& operator=(const BigFloat&) = delete;
  ~BigFloat() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }
  mpfr_srcptr operator->() const { return value_; }

 private:
  mpfr_t value_;
};

}  // namespace lppool::testing
