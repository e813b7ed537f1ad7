#pragma once

#include "lppool/kernels/double_double.h"

namespace lppool::kernels {

inline constexpr DoubleDouble kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// exp(x) for |x| <= 700 and ln(x) for positive normal x, with relative error below 2^-90 (absolute for results of ln
// near 0). Plain double arithmetic in a fixed order: the same bits everywhere.
DoubleDouble exp_dd(DoubleDouble x);
DoubleDouble ln_dd(DoubleDouble x);

}  // namespace lppool::kernels
