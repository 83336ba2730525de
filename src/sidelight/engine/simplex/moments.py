"""Sums of powers of bucketed coordinates: moments of each bucket, and one series for the whole group.

`buckets` says what they are for. h is the index of a group among the bucketed ones.
"""

import math

from sidelight.engine._numba.jit import inlined, loop, noinline
from sidelight.engine._numba.pointers import bits_float, float_bits
from sidelight.engine.simplex.store import CARRY, CENTER, INVERSE, N_BUCKETS, N_MOMENTS, N_SERIES, group

FUSED = {"contract"}
"""Fused multiply-adds shorten the chain of dependent instructions that leads from one multiplier to the next."""


@inlined()
def inverse_power(d, q):
    """d^(−q)."""
    if q == 2.0:
        return 1.0 / (d * d)
    # At or beyond its pole a coordinate has no value: `walk` sees that F is not a number and rebuilds from a
    # bracket.
    return math.exp(-q * math.log(d)) if d > 0.0 else math.nan


@inlined()
def moments_of(h, b):
    """Where the moments of bucket b begin: one line of the cache."""
    return (h * N_BUCKETS + b) * N_MOMENTS


@inlined(fastmath=FUSED)
def powers(d, q, first):
    """1/d, then d^−(q+p) for p = 0..7; `first` is d^(−q), or anything where q = 2."""
    inv = 1.0 / d
    inv2 = inv * inv
    inv4 = inv2 * inv2
    t0 = inv2 if q == 2.0 else first
    # Products of squares instead of one factor after another: a shorter chain of dependent multiplications.
    t1, t2, t3 = t0 * inv, t0 * inv2, t0 * (inv2 * inv)
    return inv, t0, t1, t2, t3, t0 * inv4, t1 * inv4, t2 * inv4, t3 * inv4


@inlined(fastmath=FUSED)
def add_moments(store, h, q, b, r, sign):
    """Add (sign = 1) or remove (−1) a member with ref + s = r to the moments of bucket b."""
    first = 0.0 if q == 2.0 else inverse_power(r, q)
    inv, t0, t1, t2, t3, t4, t5, t6, t7 = powers(r, q, first)
    at = moments_of(h, b)
    beside = h * N_BUCKETS + b
    store.inverse[beside] += sign * inv
    # Only the first moment is compensated: doing the same for the others brought nothing measurable.
    add_precisely(store.moments, at, store.carry, beside, sign * t0)
    add_scaled(
        store,
        h,
        q,
        store.moments,
        at,
        sign * t1,
        sign * t2,
        sign * t3,
        sign * t4,
        sign * t5,
        sign * t6,
        sign * t7,
    )


@inlined()
def add_precisely(cell, at, carry, beside, amount):
    """Add to a cell, keeping its rounding error: identical amounts would make it drift systematically."""
    # TwoSum (Knuth): exact only if the compiler does not reorder it, so no `reassoc` here.
    old = cell[at]
    new = old + amount
    back = new - old
    carry[beside] += (old - (new - back)) + (amount - back)
    cell[at] = new


@inlined()
def binomials(store, h, q):
    """C(q+p−1, p) for p = 1..7."""
    # Constants where the compiler knows q: most potentials are −√x.
    if q == 2.0:
        return 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
    c, kept = h * N_MOMENTS, store.binomial
    return kept[c + 1], kept[c + 2], kept[c + 3], kept[c + 4], kept[c + 5], kept[c + 6], kept[c + 7]


@inlined(fastmath=FUSED)
def add_scaled(store, h, q, cell, at, t1, t2, t3, t4, t5, t6, t7):
    """Add C(q+p−1, p)·t_p to cells at + 1..7; everything is read before anything is written, so it vectorises."""
    c1, c2, c3, c4, c5, c6, c7 = binomials(store, h, q)
    a1, a2, a3, a4 = cell[at + 1], cell[at + 2], cell[at + 3], cell[at + 4]
    a5, a6, a7 = cell[at + 5], cell[at + 6], cell[at + 7]
    a1 += c1 * t1
    a2 += c2 * t2
    a3 += c3 * t3
    a4 += c4 * t4
    a5 += c5 * t5
    a6 += c6 * t6
    a7 += c7 * t7
    cell[at + 1] = a1
    cell[at + 2] = a2
    cell[at + 3] = a3
    cell[at + 4] = a4
    cell[at + 5] = a5
    cell[at + 6] = a6
    cell[at + 7] = a7


@inlined(fastmath=FUSED)
def replace_in(store, h, q, cell, at, carry, beside, before, after, r, x_before, x_after):
    """Replace a member by one with another sum in a polynomial around λ + r; return the change of 1/d.

    `before` and `after` are d = λ + s of the two, x their powers d^(−q); those are not read where q = 2.
    """
    first = last = 0.0
    if q != 2.0:
        first = x_before * nearby_power(store, h, q, r / before)
        last = x_after * nearby_power(store, h, q, r / after)
    u, u0, u1, u2, u3, u4, u5, u6, u7 = powers(before + r, q, first)
    v, v0, v1, v2, v3, v4, v5, v6, v7 = powers(after + r, q, last)
    # One change instead of removing and adding: half the roundings and half the stores.
    add_precisely(cell, at, carry, beside, v0 - u0)
    add_scaled(store, h, q, cell, at, v1 - u1, v2 - u2, v3 - u3, v4 - u4, v5 - u5, v6 - u6, v7 - u7)
    return v - u


@inlined(fastmath=FUSED)
def nearby_power(store, h, q, e):
    """(1 + e)^(−q) for |e| up to about ρ by ten terms of its series: a power costs three times as much."""
    c1, c2, c3, c4, c5, c6, c7 = binomials(store, h, q)
    # The moments need 7 coefficients, a power to rounding two more.
    c8 = c7 * (q + 7.0) * (1.0 / 8.0)
    c9 = c8 * (q + 8.0) * (1.0 / 9.0)
    e2 = e * e
    e4 = e2 * e2
    low = (1.0 - e * c1) + e2 * (c2 - e * c3)
    high = ((c4 - e * c5) + e2 * (c6 - e * c7)) + e4 * (c8 - e * c9)
    return low + e4 * high


@inlined(fastmath=FUSED, needs="buckets", gives=0.0)
def fast_power(store, h, q, d):
    """d^(−q) for d ≥ 1/2 and the q of bucketed group h, to a few roundings.

    With d = 2^k·m and c the middle of the part that m is in: 2^(−kq)·c^(−q)·(1 + e)^(−q), e = m/c − 1 ≤ 1/256.
    """
    at = store.table_at[h]
    if at < 0:
        return inverse_power(d, q)
    bits = float_bits(d)
    # The seven leading bits of the fraction choose one of 128 parts, then the exponent is taken off.
    part = (bits >> 45) & 127
    e = bits_float((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000) * store.power_table[at + part] - 1.0
    # d ≥ 1/2, except in what strangers wrote: then a number all the same.
    scale = store.power_table[at + 128 + part] * store.power_table[at + 256 + max((bits >> 52) - 1022, 0)]
    return scale * nearby_power(store, h, q, e)


@inlined()
def clear_moments(store, h, b):
    """Exactly zero, for an empty bucket."""
    store.carry[h * N_BUCKETS + b] = 0.0
    store.inverse[h * N_BUCKETS + b] = 0.0
    for p in range(N_MOMENTS):
        store.moments[moments_of(h, b) + p] = 0.0


@inlined(needs="buckets", gives=(0.0, 0.0, 0.0, 0.0), fastmath=FUSED)
def evaluate_buckets(store, h, multiplier):
    """F(λ) and its first three Taylor coefficients in the direction of falling λ."""
    at = h * N_SERIES
    series = store.series
    r = series[at + CENTER] - multiplier
    a1, a2, a3, a4 = series[at + 1], series[at + 2], series[at + 3], series[at + 4]
    a5, a6, a7 = series[at + 5], series[at + 6], series[at + 7]
    r2 = r * r
    r4 = r2 * r2
    # Estrin's scheme: independent halves are computed side by side, so the chain of dependent steps is short.
    f0 = (series[at] + series[at + CARRY]) + (
        (r * a1 + r2 * (a2 + r * a3)) + r4 * ((a4 + r * a5) + r2 * (a6 + r * a7))
    )
    f1 = ((a1 + r * (2.0 * a2)) + r2 * (3.0 * a3 + r * (4.0 * a4))) + r4 * (
        (5.0 * a5 + r * (6.0 * a6)) + r2 * (7.0 * a7)
    )
    f2 = ((a2 + r * (3.0 * a3)) + r2 * (6.0 * a4 + r * (10.0 * a5))) + r4 * (15.0 * a6 + r * (21.0 * a7))
    f3 = ((a3 + r * (4.0 * a4)) + r2 * (10.0 * a5 + r * (20.0 * a6))) + r4 * (35.0 * a7)
    return f0, f1, f2, f3


@inlined(fastmath=FUSED)
def fourth_buckets(store, h, multiplier):
    """The Taylor coefficient after those of `evaluate_buckets`."""
    at = h * N_SERIES
    series = store.series
    r = series[at + CENTER] - multiplier
    a4, a5, a6, a7 = series[at + 4], series[at + 5], series[at + 6], series[at + 7]
    return (a4 + r * (5.0 * a5)) + (r * r) * (15.0 * a6 + r * (35.0 * a7))


@inlined(needs="buckets", gives=0.0, fastmath=FUSED)
def root_sum_buckets(store, h, multiplier):
    """Σ 1/d for q = 2: the derivative of 1/d in r is d^(−2)."""
    at = h * N_SERIES
    series = store.series
    r = series[at + CENTER] - multiplier
    tail = series[at + 5] * (1.0 / 6.0) + r * (
        series[at + 6] * (1.0 / 7.0) + r * (series[at + 7] * (1.0 / 8.0))
    )
    middle = series[at + 2] * (1.0 / 3.0) + r * (
        series[at + 3] * 0.25 + r * (series[at + 4] * 0.2 + r * tail)
    )
    return series[at + INVERSE] + r * (series[at] + r * (series[at + 1] * 0.5 + r * middle))


@inlined()
def change_series(store, h, q, multiplier, before, after, x_before, x_after):
    """d of a member changes from `before` to `after`."""
    at = h * N_SERIES
    series = store.series
    r = series[at + CENTER] - multiplier
    # λ has not left the window of the lowest bucket since the series was centred, so r is small beside every d.
    change = replace_in(store, h, q, series, at, series, at + CARRY, before, after, r, x_before, x_after)
    series[at + INVERSE] += change


@loop(fastmath={"contract", "reassoc", "nsz"}, forceinline=False)
def recenter(store, g, h):
    """Write the series around the present λ, from the moments of the buckets."""
    noinline()
    moments, refs, inverses, carries = store.moments, store.ref, store.inverse, store.carry
    multiplier = group(store, g).multiplier
    row = h * N_BUCKETS
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = carry = inverse = 0.0
    # Adding up is exact but for rounding: a polynomial of degree 7 around another centre is again one of
    # degree 7.
    for b in range(store.span[2 * h], store.span[2 * h + 1] + 1):
        at = moments_of(h, b)
        r = refs[row + b] - multiplier
        a0, a1, a2, a3 = moments[at], moments[at + 1], moments[at + 2], moments[at + 3]
        a4, a5, a6, a7 = moments[at + 4], moments[at + 5], moments[at + 6], moments[at + 7]
        # Σ 1/d at the new centre: the integral of F over r, as the derivative of 1/d in r is d^(−2). It means
        # something for q = 2 only.
        tail = a4 * 0.2 + r * (a5 * (1.0 / 6.0) + r * (a6 * (1.0 / 7.0) + r * (a7 * (1.0 / 8.0))))
        middle = a1 * 0.5 + r * (a2 * (1.0 / 3.0) + r * (a3 * 0.25 + r * tail))
        inverse += inverses[row + b] + r * (a0 + r * middle)
        # Taylor shift by r: repeated synthetic division
        a6 += r * a7
        a5 += r * a6
        a4 += r * a5
        a3 += r * a4
        a2 += r * a3
        a1 += r * a2
        s0 += a0 + r * a1
        a6 += r * a7
        a5 += r * a6
        a4 += r * a5
        a3 += r * a4
        a2 += r * a3
        s1 += a1 + r * a2
        a6 += r * a7
        a5 += r * a6
        a4 += r * a5
        a3 += r * a4
        s2 += a2 + r * a3
        a6 += r * a7
        a5 += r * a6
        a4 += r * a5
        s3 += a3 + r * a4
        a6 += r * a7
        a5 += r * a6
        s4 += a4 + r * a5
        a6 += r * a7
        s5 += a5 + r * a6
        s6 += a6 + r * a7
        s7 += a7
        # Kept apart: `change_series` goes on compensating s0 with it.
        carry += carries[row + b]
    at = h * N_SERIES
    store.series[at] = s0
    store.series[at + 1] = s1
    store.series[at + 2] = s2
    store.series[at + 3] = s3
    store.series[at + 4] = s4
    store.series[at + 5] = s5
    store.series[at + 6] = s6
    store.series[at + 7] = s7
    store.series[at + CARRY] = carry
    store.series[at + INVERSE] = inverse
    store.series[h * N_SERIES + CENTER] = multiplier
