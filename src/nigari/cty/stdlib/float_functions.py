"""Logarithm and power of floats, equal to Go's to the last bit.

Results of `log` and `pow` are printed with all their digits, so a neighbouring float would be
visible. The C library differs from Go in the last bit for many arguments; these functions use Go's
methods: Sun's for the logarithm, Shibata's for the exponential, and squaring for the whole part of
a power.
"""

from __future__ import annotations

import math
from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_INFINITY: Final = math.inf

_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
# The polynomial for the logarithm in powers of s**2, from the second to the fourteenth.
_LOG_ODD: Final = (
    1.479819860511658591e-01,
    1.818357216161805012e-01,
    2.857142874366239149e-01,
    6.666666666666735130e-01,
)
_LOG_EVEN: Final = (1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)

_LOG2_E: Final = 1.4426950408889634073599246810018920
_LN2_UPPER: Final = 0.69314718055966295651160180568695068359375
_LN2_LOWER: Final = 0.28235290563031577122588448175013436025525412068e-12
# 1/n! from n = 8 down to 1.
_EXP_SERIES: Final = (
    2.4801587301587301587e-5,
    1.9841269841269841270e-4,
    1.3888888888888888889e-3,
    8.3333333333333333333e-3,
    4.1666666666666666667e-2,
    1.6666666666666666667e-1,
    0.5,
    1.0,
)
_EXP_LARGEST: Final = 7.09782712893384e02


def logarithm(x: float, base: float) -> float:
    """Compute the logarithm to a base; NaN if it is undefined."""
    above, below = natural_logarithm(x), natural_logarithm(base)
    if below == 0:
        if above == 0 or math.isnan(above):
            return math.nan
        return math.copysign(_INFINITY, above) * math.copysign(1.0, below)
    if math.isinf(above) and math.isinf(below):
        return math.nan
    return above / below


def natural_logarithm(x: float) -> float:
    if x == 0:
        return -_INFINITY
    if math.isnan(x) or x < 0:
        return math.nan
    if math.isinf(x):
        return x
    fraction, exponent = math.frexp(x)
    if fraction < math.sqrt(2) / 2:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = even = 0.0
    for coefficient in _LOG_ODD:
        odd = odd * s4 + coefficient
    for coefficient in _LOG_EVEN:
        even = even * s4 + coefficient
    rest = s2 * odd + s4 * even
    half_square = 0.5 * f * f
    k = float(exponent)
    return k * _LN2_HIGH - ((half_square - (s * (half_square + rest) + k * _LN2_LOW)) - f)


def _fused(a: float, b: float, c: float) -> float:
    """Compute a * b + c with a single rounding."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def exponential(x: float) -> float:
    if math.isnan(x) or x == _INFINITY:
        return x
    if x == -_INFINITY:
        return 0.0
    if x > _EXP_LARGEST:
        return _INFINITY
    power = round(_LOG2_E * x)
    k = float(power)
    reduced = _fused(-k, _LN2_UPPER, x)
    reduced = _fused(-k, _LN2_LOWER, reduced) * 0.0625
    series = _EXP_SERIES[0]
    for coefficient in _EXP_SERIES[1:]:
        series = _fused(series, reduced, coefficient)
    # Four doublings undo the division by sixteen: exp(2x) - 1 = (exp(x) - 1) * (exp(x) + 1).
    less_one = reduced * series
    for _ in range(3):
        less_one *= less_one + 2.0
    return math.ldexp(_fused(less_one, less_one + 2.0, 1.0), power)


def power(x: float, y: float) -> float:
    """Compute x to the power of y; NaN if it is undefined, infinity if it is too large."""
    if y == 0 or x == 1:
        return 1.0
    if y == 1:
        return x
    if x == 0 or math.isinf(x) or math.isinf(y) or math.isnan(x) or math.isnan(y):
        return _limit(x, y)
    if y == 0.5 and x > 0:
        return math.sqrt(x)
    if y == -0.5 and x > 0:
        return 1 / math.sqrt(x)
    fraction, whole = math.modf(abs(y))
    if fraction and x < 0:
        return math.nan
    if whole >= 2.0**63:
        if x == -1:
            return 1.0
        return 0.0 if (abs(x) < 1) == (y > 0) else _INFINITY
    return _power_by_squaring(x, int(whole), fraction, y < 0)


def _limit(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except ValueError:
        odd = y == math.floor(y) and y % 2 == 1
        return -_INFINITY if odd and math.copysign(1.0, x) < 0 else _INFINITY


def _power_by_squaring(x: float, whole: int, fraction: float, invert: bool) -> float:
    result, result_exponent = 1.0, 0
    if fraction:
        if fraction > 0.5:
            fraction -= 1
            whole += 1
        result = exponential(fraction * natural_logarithm(x))
    factor, factor_exponent = math.frexp(x)
    while whole:
        if abs(factor_exponent) > 1 << 12:
            result_exponent += factor_exponent
            break
        if whole & 1:
            result *= factor
            result_exponent += factor_exponent
        factor *= factor
        factor_exponent <<= 1
        if factor < 0.5:
            factor += factor
            factor_exponent -= 1
        whole >>= 1
    if invert:
        result, result_exponent = 1 / result, -result_exponent
    try:
        return math.ldexp(result, result_exponent)
    except OverflowError:
        return math.copysign(_INFINITY, result)
