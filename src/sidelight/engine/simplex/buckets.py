"""The implicit simplex: a point of the simplex that is never written out.

A Tsallis coordinate is x = d^(−q) with d = λ + s: a private sum s (scaled cumulative loss) and one shared
multiplier λ with Σ x = 1. One round changes few sums, yet λ, hence every coordinate, moves. Writing all
coordinates down would cost O(n); instead

* **Buckets.** Coordinates are kept sorted into buckets by the size of d, a few per octave, listed bucket after
  bucket; moving to the next bucket is one swap at the boundary. Bucket b holds d ≥ lo_b(1−ρ) at all times.
* **Moments.** F(λ) = Σ d^(−q) is the sum over buckets of a power series around the bucket's reference ref_b:
  with r = ref_b − λ ∈ [0, ρ·lo_b],  F_b = Σ_p A_p r^p,  A_p = C(q+p−1, p) Σ_i (ref_b + s_i)^−(q+p).
  All terms are positive, so nothing cancels, and the 8-term series is cut at a relative 3e−14.
* **One series.** The polynomials of all buckets, written around one common centre, add up to a single
  polynomial of eight terms: shifting a polynomial is exact, so nothing is lost. It is changed along with the
  moments when a sum changes, so F, its derivatives and Σ 1/d cost eight terms however many coordinates there are.
  The multiplier is found from sums each time: errors of λ do not accumulate.
* **Refresh.** When λ has fallen by ρ·lo_b since ref_b, the bucket is scanned: members that now belong lower move
  down, moments are recomputed exactly, ref_b = λ, and the series is centred anew. A bucket of n_b ≤ (hi_b)^q
  members is scanned once per ρ·lo_b of movement, which is why the cost per round does not grow with n.
* **Sampling by rejection.** Before its next refresh no member of bucket b can have a d below least_b ≥ lo_b(1−ρ): the
  least sum at the last one, and those of newcomers, tell. The bucket is proposed with weight n_b·least_b^(−q), a
  member uniformly, and accepted with probability x·least_b^q ≤ 1: the result has exactly the distribution x for the
  current λ, whatever the state of the moments. The same with 1/d in place of d^(−q) draws ∝ x^(1−h) (as q(1−h) = 1).
* **Fallback.** If λ must move further than the series reaches, it walks there one window at a time, and after
  too many steps everything is laid out afresh in O(n) (`simplex.walk`). So the solution is always found.

Everything here works on one group g of a `Store`; h is its index among the bucketed groups.
"""

import math

from sidelight.engine._numba.bits import bits_float, float_bits
from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import prefetch
from sidelight.engine.constants import LARGEST_REACH
from sidelight.engine.random import next_unit
from sidelight.engine.simplex.store import (
    CARRY,
    CENTER,
    FLOOR,
    INVERSE,
    LAMBDA,
    N_BUCKETS,
    N_MOMENTS,
    N_SERIES,
    RENEWED,
    ROOT_WEIGHT,
    WEIGHT,
    end_of,
    first_of,
    head,
)

FUSED = {"contract"}
"""Products and sums in one instruction where they meet: shorter waits on the way from one multiplier to the next."""

# -- geometry of the buckets --------------------------------------------------------------------------


@inlined()
def fineness(q):
    """log₂ of the number of buckets per octave: finer for larger q, so that x varies little in a bucket."""
    if q <= 2.0:
        return 1
    if q <= 4.0:
        return 2
    if q <= 8.0:
        return 3
    return 4


@inlined()
def reach(q):
    """ρ: how far λ may fall, relative to lo_b, before the series loses accuracy."""
    return min(1.0 / (32.0 * q), LARGEST_REACH)


@inlined()
def bucket_of(d, fine):
    """Index of the bucket that d belongs to; everything beyond the last edge is in the last bucket."""
    b = (float_bits(d) >> (52 - fine)) - (1023 << fine)
    if d < 1.0:
        b = 0
    return min(b, N_BUCKETS - 1)


@inlined()
def lower_end(b, fine):
    """lo_b, the least d of bucket b."""
    return bits_float((int(b) + (1023 << fine)) << (52 - fine))


@inlined()
def inverse_power(d, q):
    """d^(−q)."""
    if q == 2.0:
        return 1.0 / (d * d)
    return general_inverse_power(d, q)


@inlined()
def general_inverse_power(d, q):
    """d^(−q) for any q."""
    return math.exp(-q * math.log(d)) if d > 0.0 else math.nan


# -- moments ------------------------------------------------------------------------------------------


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
    old = cell[at]
    new = old + amount
    back = new - old
    carry[beside] += (old - (new - back)) + (amount - back)
    cell[at] = new


@inlined()
def binomials(store, h, q):
    """C(q+p−1, p) for p = 1..7."""
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
    """Replace a member by one with a larger sum in a polynomial around λ + r; return the change of 1/d.

    `before` and `after` are d = λ + s of the two, x their powers d^(−q); those are not read where q = 2.
    """
    first = last = 0.0
    if q != 2.0:
        first = x_before * nearby_power(store, h, q, r / before)
        last = x_after * nearby_power(store, h, q, r / after)
    u, u0, u1, u2, u3, u4, u5, u6, u7 = powers(before + r, q, first)
    v, v0, v1, v2, v3, v4, v5, v6, v7 = powers(after + r, q, last)
    add_precisely(cell, at, carry, beside, v0 - u0)
    add_scaled(store, h, q, cell, at, v1 - u1, v2 - u2, v3 - u3, v4 - u4, v5 - u5, v6 - u6, v7 - u7)
    return v - u


@inlined(fastmath=FUSED)
def nearby_power(store, h, q, e):
    """(1 + e)^(−q) for |e| ≤ ρ by ten terms of its series: a power costs three times as much."""
    c1, c2, c3, c4, c5, c6, c7 = binomials(store, h, q)
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
    part = (bits >> 45) & 127
    e = bits_float((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000) * store.power_table[at + part] - 1.0
    scale = store.power_table[at + 128 + part] * store.power_table[at + 256 + (bits >> 52) - 1022]
    return scale * nearby_power(store, h, q, e)


@inlined()
def clear_moments(store, h, b):
    """Exactly zero, for an empty bucket."""
    store.carry[h * N_BUCKETS + b] = 0.0
    store.inverse[h * N_BUCKETS + b] = 0.0
    for p in range(N_MOMENTS):
        store.moments[moments_of(h, b) + p] = 0.0


# -- the series of the whole group ----------------------------------------------------------------------


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
    # halves side by side: what waits for what decides how long this takes
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
    """d of a member grows from `before` to `after`."""
    at = h * N_SERIES
    series = store.series
    r = series[at + CENTER] - multiplier
    change = replace_in(store, h, q, series, at, series, at + CARRY, before, after, r, x_before, x_after)
    series[at + INVERSE] += change


@loop(fastmath={"contract", "reassoc", "nsz"}, forceinline=False)
def recenter(store, g, h):
    """Write the series around the present λ, from the moments of the buckets."""
    noinline()
    moments, refs, inverses, carries = store.moments, store.ref, store.inverse, store.carry
    multiplier = store.scalars[head(g) + LAMBDA]
    row = h * N_BUCKETS
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = carry = inverse = 0.0
    for b in range(store.span[2 * h], store.span[2 * h + 1] + 1):
        at = moments_of(h, b)
        r = refs[row + b] - multiplier
        a0, a1, a2, a3 = moments[at], moments[at + 1], moments[at + 2], moments[at + 3]
        a4, a5, a6, a7 = moments[at + 4], moments[at + 5], moments[at + 6], moments[at + 7]
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


# -- moving members -----------------------------------------------------------------------------------


@inlined()
def swap(store, i, j):
    """Exchange the members at two positions."""
    who_i, who_j = store.occupant[i], store.occupant[j]
    store.occupant[i] = who_j
    store.occupant[j] = who_i
    sum_i = store.sum_at[i]
    store.sum_at[i] = store.sum_at[j]
    store.sum_at[j] = sum_i
    store.place[who_j] = i
    store.place[who_i] = j


@inlined()
def raise_member(store, h, position, b, target):
    """Move a member up from bucket b to `target`, one boundary swap per bucket."""
    row = h * (N_BUCKETS + 1)
    while b < target:
        last = store.start[row + b + 1] - 1
        if position != last:
            swap(store, position, last)
        store.start[row + b + 1] = last
        position = last
        b += 1
    if target > store.span[2 * h + 1]:
        store.span[2 * h + 1] = target


@inlined()
def lower_member(store, h, position, b, target):
    """Move a member down from bucket b to `target`."""
    row = h * (N_BUCKETS + 1)
    while b > target:
        first = store.start[row + b]
        if position != first:
            swap(store, position, first)
        store.start[row + b] = first + 1
        position = first
        b -= 1
    if target < store.span[2 * h]:
        store.span[2 * h] = target


@inlined()
def holding(store, h, position, d, fine):
    """The bucket that holds a position; d tells where to start looking."""
    row = h * (N_BUCKETS + 1)
    b = bucket_of(d, fine)
    while position >= store.start[row + b + 1]:
        b += 1
    while position < store.start[row + b]:
        b -= 1
    return b


@inlined()
def admit(store, g, h, q, b, s):
    """Count a newcomer with sum s in the moments of bucket b, which gets a fresh reference if it was empty."""
    row = h * (N_BUCKETS + 1)
    count = store.start[row + b + 1] - store.start[row + b]
    if count == 1:  # the newcomer is alone
        clear_moments(store, h, b)
        multiplier = store.scalars[head(g) + LAMBDA]
        store.ref[h * N_BUCKETS + b] = multiplier
        floor = multiplier - reach(q) * lower_end(b, fineness(q))
        store.scalars[head(g) + FLOOR] = max(store.scalars[head(g) + FLOOR], floor)
    least = least_after(store, h, q, b, s)
    if count == 1 or least < store.least[h * N_BUCKETS + b]:
        set_least(store, g, h, q, b, least, count)
    add_moments(store, h, q, b, store.ref[h * N_BUCKETS + b] + s, 1.0)


@inlined()
def least_after(store, h, q, b, s):
    """The least d that a member of bucket b with sum s can have before the next refresh."""
    return (store.ref[h * N_BUCKETS + b] + s) - reach(q) * lower_end(b, fineness(q))


@inlined()
def set_least(store, g, h, q, b, least, count):
    """Give bucket b, with `count` members, another bound on them, and the proposal weights that follow."""
    beside = h * N_BUCKETS + b
    cap = inverse_power(least, q)
    store.scalars[head(g) + WEIGHT] += count * (cap - store.cap[beside])
    store.scalars[head(g) + ROOT_WEIGHT] += count * (1.0 / least - 1.0 / store.least[beside])
    store.least[beside] = least
    store.cap[beside] = cap


@inlined(needs="buckets")
def raise_power_sum(store, g, h, q, coordinate, before, after):
    """Give a coordinate the larger sum `after`, in the bucket where it then belongs; q may be a constant."""
    fine = fineness(q)
    multiplier = store.scalars[head(g) + LAMBDA]
    position = store.place[coordinate]
    b = holding(store, h, position, multiplier + before, fine)
    # Usually b or higher; lower if d has slipped below lo_b within the tolerance since the last refresh.
    target = bucket_of(multiplier + after, fine)
    store.key[coordinate] = after
    store.sum_at[position] = after
    d_before, d_after = multiplier + before, multiplier + after
    x_before = x_after = 0.0
    if q != 2.0:
        x_before, x_after = fast_power(store, h, q, d_before), fast_power(store, h, q, d_after)
    change_series(store, h, q, multiplier, d_before, d_after, x_before, x_after)
    row = h * (N_BUCKETS + 1)
    if target == b and store.start[row + b + 1] - store.start[row + b] > 1:
        beside = h * N_BUCKETS + b
        r = store.ref[beside] - multiplier
        at = moments_of(h, b)
        store.inverse[beside] += replace_in(
            store, h, q, store.moments, at, store.carry, beside, d_before, d_after, r, x_before, x_after
        )
        return
    add_moments(store, h, q, b, store.ref[h * N_BUCKETS + b] + before, -1.0)
    if target != b:
        if target > b:
            raise_member(store, h, position, b, target)
        else:
            lower_member(store, h, position, b, target)
        there, here = h * N_BUCKETS + target, h * N_BUCKETS + b
        store.scalars[head(g) + WEIGHT] += store.cap[there] - store.cap[here]
        store.scalars[head(g) + ROOT_WEIGHT] += 1.0 / store.least[there] - 1.0 / store.least[here]
        if store.start[row + b + 1] == store.start[row + b]:
            clear_moments(store, h, b)
    admit(store, g, h, q, target, after)


# -- refreshing ---------------------------------------------------------------------------------------


@internal(needs="buckets")
def refresh(store, g, h):
    """Bring every bucket whose window λ has left up to date, from the highest to the lowest."""
    noinline()
    q = store.power[g]
    fine = fineness(q)
    rho = reach(q)
    multiplier = store.scalars[head(g) + LAMBDA]
    row = h * (N_BUCKETS + 1)
    b = store.span[2 * h + 1] + 1
    while b > store.span[2 * h]:  # the span may widen downwards on the way
        b -= 1
        if store.start[row + b] == store.start[row + b + 1]:
            continue
        low = lower_end(b, fine)
        if multiplier >= store.ref[h * N_BUCKETS + b] - rho * low:
            continue
        if b > 0:
            position = store.start[row + b]
            while position < store.start[row + b + 1]:
                s = store.sum_at[position]
                if multiplier + s < low:
                    target = bucket_of(multiplier + s, fine)
                    lower_member(store, h, position, b, target)
                    admit(store, g, h, q, target, s)
                    store.renewed[h * N_BUCKETS + target] = 1
                position += 1
        recount(store, g, h, b)
        store.renewed[h * N_BUCKETS + b] = 1
    store.series[h * N_SERIES + RENEWED] = 1.0
    retotal(store, g, h)
    recenter(store, g, h)


@inlined()
def recount(store, g, h, b):
    """Moments of bucket b around the present λ, summed in short runs so that rounding stays small; its least d."""
    q = store.power[g]
    row = h * (N_BUCKETS + 1)
    multiplier = store.scalars[head(g) + LAMBDA]
    clear_moments(store, h, b)
    store.ref[h * N_BUCKETS + b] = multiplier
    at = moments_of(h, b)
    position = store.start[row + b]
    last = store.start[row + b + 1]
    least = math.inf
    while position < last:
        stop = min(position + 512, last)
        least = min(least, least_of(store.sum_at, position, stop))
        a0, a1, a2, a3, a4, a5, a6, a7, inverse = raw_moments(store, q, multiplier, position, stop)
        store.moments[at] += a0
        add_scaled(store, h, q, store.moments, at, a1, a2, a3, a4, a5, a6, a7)
        store.inverse[h * N_BUCKETS + b] += inverse
        position = stop
    bound = lower_end(b, fineness(q)) * (1.0 - reach(q))  # of any member
    if least < math.inf:
        bound = max(bound, least_after(store, h, q, b, least))
    store.least[h * N_BUCKETS + b] = bound
    store.cap[h * N_BUCKETS + b] = inverse_power(bound, q)


@inlined(fastmath={"nnan", "nsz", "reassoc"})
def least_of(sums, first, last):
    """min of a run of sums."""
    least = math.inf
    for i in range(first, last):
        s = sums[i]
        if s < least:
            least = s
    return least


@inlined(fastmath={"contract", "reassoc", "nsz"})
def raw_moments(store, q, multiplier, first, last):
    """Σ d^−(q+p) for p = 0..7 and Σ 1/d over a run of positions; reassociation lets the sums vectorise."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    inverse = 0.0
    sums = store.sum_at
    for i in range(first, last):
        d = multiplier + sums[i]
        inv = 1.0 / d
        w = inv * inv if q == 2.0 else inverse_power(d, q)
        inverse += inv
        a0 += w
        w *= inv
        a1 += w
        w *= inv
        a2 += w
        w *= inv
        a3 += w
        w *= inv
        a4 += w
        w *= inv
        a5 += w
        w *= inv
        a6 += w
        w *= inv
        a7 += w
    return a0, a1, a2, a3, a4, a5, a6, a7, inverse


@inlined()
def retotal(store, g, h):
    """Recompute the span of non-empty buckets, the floor of λ and the total proposal weights."""
    q = store.power[g]
    fine = fineness(q)
    rho = reach(q)
    row = h * (N_BUCKETS + 1)
    floor = -math.inf
    weight = root_weight = 0.0
    lowest = -1
    highest = 0
    for b in range(store.span[2 * h], store.span[2 * h + 1] + 1):
        count = store.start[row + b + 1] - store.start[row + b]
        if count > 0:
            highest = b
            if lowest < 0:
                lowest = b
            low = lower_end(b, fine)
            floor = max(floor, store.ref[h * N_BUCKETS + b] - rho * low)
            weight += count * store.cap[h * N_BUCKETS + b]
            root_weight += count / store.least[h * N_BUCKETS + b]
    store.span[2 * h] = lowest
    store.span[2 * h + 1] = highest
    store.scalars[head(g) + FLOOR] = floor
    store.scalars[head(g) + WEIGHT] = weight
    store.scalars[head(g) + ROOT_WEIGHT] = root_weight


@internal(needs="buckets")
def sort_into_buckets(store, g, h):
    """Lay the group out afresh for its present λ, in O(n)."""
    noinline()
    q = store.power[g]
    fine = fineness(q)
    first, last = first_of(store, g), end_of(store, g)
    multiplier = store.scalars[head(g) + LAMBDA]
    row = h * (N_BUCKETS + 1)
    for b in range(N_BUCKETS + 1):
        store.start[row + b] = 0
    for i in range(first, last):
        store.sum_at[i] = store.key[store.occupant[i]]
        store.start[row + bucket_of(multiplier + store.sum_at[i], fine) + 1] += 1
    store.start[row] = first
    for b in range(N_BUCKETS):
        store.start[row + b + 1] += store.start[row + b]
        # ref serves as the next free position of its bucket until the members are in place
        store.ref[h * N_BUCKETS + b] = store.start[row + b]
    for b in range(N_BUCKETS):
        i = int(store.ref[h * N_BUCKETS + b])
        while i < store.start[row + b + 1]:
            target = bucket_of(multiplier + store.sum_at[i], fine)
            if target == b:
                i += 1
            else:
                free = int(store.ref[h * N_BUCKETS + target])
                store.ref[h * N_BUCKETS + target] = free + 1.0
                swap(store, i, free)
    for b in range(N_BUCKETS):
        store.renewed[h * N_BUCKETS + b] = 1
        recount(store, g, h, b)
    store.span[2 * h] = 0
    store.span[2 * h + 1] = N_BUCKETS - 1
    store.series[h * N_SERIES + RENEWED] = 1.0
    retotal(store, g, h)
    recenter(store, g, h)


# -- sampling -----------------------------------------------------------------------------------------


@inlined(needs="buckets", gives=0)
def sample_buckets(store, g, h, words):
    """A coordinate of the group with probability ∝ x, exactly.

    One uniform decides everything: where it falls among the buckets, among the members of that bucket, and within
    the member's share of the proposal, of which the lowest part, of length x, is accepted.
    """
    while True:
        position, least, room, fraction = proposal(store, g, h, next_unit(words))
        if position >= 0:
            prefetch(store.occupant, position)
            if is_accepted(store, g, position, least, room, fraction):
                return store.occupant[position]


@inlined(needs="buckets", gives=(0, 0.0, 0.0, 0.0))
def proposal(store, g, h, unit):
    """The position that a uniform proposes, −1 for none; least d and 1/cap of its bucket; where in its share."""
    row = h * (N_BUCKETS + 1)
    start, caps = store.start, store.cap
    at = h * N_BUCKETS
    target = unit * (store.scalars[head(g) + WEIGHT] * (1.0 + 1e-12))  # a hair above the sum: then none
    b, highest = store.span[2 * h], store.span[2 * h + 1]
    first, end = start[row + b], start[row + b + 1]
    weight = (end - first) * caps[at + b]
    while target >= weight and b < highest:
        target -= weight
        b += 1
        first, end = end, start[row + b + 1]
        weight = (end - first) * caps[at + b]
    if target >= weight:
        return -1, 1.0, 1.0, 0.0
    least = store.least[at + b]
    # 1/cap; for q = 2 without a division, on which everything waits
    room = least * least if store.power[g] == 2.0 else 1.0 / caps[at + b]
    target *= room
    index = min(int(target), end - first - 1)
    return first + index, least, room, target - index


@inlined()
def is_accepted(store, g, position, least, room, fraction):
    """Does x/cap exceed the fraction of a proposal?

    x/cap = (1 − y)^q with y = 1 − least/d, and (1 − y)^q ≥ 1 − q·y: that decides most proposals without a power.
    """
    d = store.scalars[head(g) + LAMBDA] + store.sum_at[position]
    q = store.power[g]
    if q == 2.0:
        return fraction * (d * d) < room
    return fraction * d < d - q * (d - least) or fraction < room * fast_power(store, store.extra[g], q, d)


@inlined(needs="buckets", gives=0)
def sample_root_buckets(store, g, h, words):
    """A coordinate of the group with probability ∝ 1/d = x^(1−h), exactly; one uniform decides, as above."""
    multiplier = store.scalars[head(g) + LAMBDA]
    while True:
        position, least, fraction = root_proposal(store, g, h, next_unit(words))
        if position >= 0:
            prefetch(store.occupant, position)
            if fraction * (multiplier + store.sum_at[position]) < least:
                return store.occupant[position]


@inlined(needs="buckets", gives=(0, 0.0, 0.0))
def root_proposal(store, g, h, unit):
    """`proposal` for `sample_root_buckets`: the cap of a bucket is 1/least."""
    row = h * (N_BUCKETS + 1)
    start, bounds = store.start, store.least
    at = h * N_BUCKETS
    target = unit * (store.scalars[head(g) + ROOT_WEIGHT] * (1.0 + 1e-12))
    b, highest = store.span[2 * h], store.span[2 * h + 1]
    first, end = start[row + b], start[row + b + 1]
    least = bounds[at + b]
    while target * least >= end - first and b < highest:
        target -= (end - first) / least
        b += 1
        first, end = end, start[row + b + 1]
        least = bounds[at + b]
    target *= least
    if target >= end - first:
        return -1, least, 0.0
    index = min(int(target), end - first - 1)
    return first + index, least, target - index
