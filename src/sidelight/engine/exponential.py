"""An exponential that vectorises.

The C library's exp is a call per element. Here exp(x) = 2^k · exp(r) with k the nearest integer to x/ln 2 and
a polynomial for exp(r) on |r| ≤ ln(2)/2: plain arithmetic on doubles and their bits, so LLVM turns a loop over
an array into vector instructions. The relative error is below 3e-16; arguments at or below −708 give 0.
`small_exp` and `tiny_exp` are shorter, for multiplying weights by small steps of either sign.
"""

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import bits_float, float_bits

_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.42860682030941723212e-6
_ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer kept in the low bits


@inlined(fastmath={"contract"})
def exp_nonpositive(x):
    """exp(x) for x ≤ 0 (exact to rounding; 0 where the result would be subnormal), and as exactly up to 700.

    Contraction to fused multiply-adds is allowed; reassociation would fold the rounding trick away.
    """
    inside = x > -708.0
    x = x if inside else -708.0
    shifted = x * _LOG2E + _ROUNDER
    k = shifted - _ROUNDER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # Σ r^k/k! to k = 13, in pairs (Estrin): a short chain of dependent steps keeps the processor busy
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + r * 1.6666666666666666e-01)
    middle = (4.1666666666666664e-02 + r * 8.333333333333333e-03) + r2 * (
        1.388888888888889e-03 + r * 1.984126984126984e-04
    )
    high = (2.48015873015873e-05 + r * 2.7557319223985893e-06) + r2 * (
        2.755731922398589e-07 + r * 2.505210838544172e-08
    )
    top = 2.08767569878681e-09 + r * 1.6059043836821613e-10
    p = low + r4 * (middle + r4 * (high + r4 * top))
    scale = bits_float((float_bits(shifted) << 52) + 0x3FF0000000000000)
    return p * scale if inside else 0.0


LARGEST = 64.0
"""`exp_bounded` goes no further."""


@inlined()
def exp_bounded(x):
    """exp(x) as `exp_nonpositive` gives it, and e^64 beyond 64: a large number, of which many can be added up."""
    return exp_nonpositive(x if x < LARGEST else LARGEST)


SMALL = 1.0 / 32.0
"""`small_exp` is exact to rounding up to here."""
TINY = 1.0 / 640.0
"""`tiny_exp` is exact to rounding up to here."""


@inlined(fastmath={"contract"})
def small_exp(x):
    """exp(x) for |x| ≤ 1/32, to rounding."""
    high = 1.3888888888888889e-03 + x * 1.9841269841269841e-04
    low = 4.1666666666666664e-02 + x * 8.3333333333333332e-03
    return 1.0 + x * (1.0 + x * (0.5 + x * (1.6666666666666666e-01 + x * (low + x * x * high))))


@inlined(fastmath={"contract"})
def tiny_exp(x):
    """exp(x) for |x| ≤ 1/640, to rounding.

    (exp(x) − 1)/x is interpolated at the Chebyshev nodes of that range: off by 1e-17, with half the terms.
    """
    return 1.0 + x * (
        0.9999999999999938 + x * (0.49999999999999895 + x * (0.16666668701171977 + x * 0.04166667005750881))
    )
