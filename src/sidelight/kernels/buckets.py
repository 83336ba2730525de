"""The implicit simplex: a point of the simplex that is never written out.

A Tsallis coordinate is x = d^(−q) with d = λ + s: a private sum s (scaled cumulative loss) and one shared
multiplier λ with Σ x = 1. One round changes few sums, yet λ, hence every coordinate, moves. Writing all
coordinates down would cost O(n); instead

* **Buckets.** Coordinates are kept sorted into buckets by the size of d, a few per octave, stored bucket after
  bucket; moving to the next bucket is one swap at the boundary. Bucket b holds d ≥ lo_b(1−ρ) at all times.
* **Moments.** F(λ) = Σ d^(−q) is the sum over buckets of a power series around the bucket's reference ref_b:
  with r = ref_b − λ ∈ [0, ρ·lo_b],  F_b = Σ_p A_p r^p,  A_p = C(q+p−1, p) Σ_i (ref_b + s_i)^−(q+p).
  All terms are positive, so nothing cancels, and the 8-term series is cut at a relative 3e−14. The multiplier is
  found from a few dozen numbers, not n. It is evaluated from sums each time: errors of λ do not accumulate.
* **Refresh.** When λ has fallen by ρ·lo_b since ref_b, the bucket is scanned: members that now belong lower move
  down, moments are recomputed exactly, ref_b = λ. A bucket of n_b ≤ (hi_b)^q members is scanned once per ρ·lo_b
  of movement, which is why the cost per round does not grow with n.
* **Sampling by rejection.** Bucket b is proposed with weight n_b·(lo_b(1−ρ))^(−q), a member uniformly, and accepted
  with probability x·(lo_b(1−ρ))^q ≤ 1: the result has exactly the distribution x for the current λ, whatever the
  state of the moments. The same with 1/d in place of d^(−q) draws ∝ x^(1−h) (as q(1−h) = 1).
* **Fallback.** If λ must move further than the series reaches, it walks there one window at a time, and after
  too many steps everything is rebuilt from the sums in O(n). So the solution is always found.

Many simplices share the arrays of one `Store`; g is the simplex, its coordinates are the positions
origin[g]..origin[g+1].
"""

import math
from typing import NamedTuple

import numpy as np

from sidelight.kernels._jit import kernel, step
from sidelight.kernels.bits import bits_float, float_bits
from sidelight.kernels.random import next_unit

N_BUCKETS = 64
N_MOMENTS = 8
MOST_STEPS = 400
REBASE = -1024.0
"""Below this λ the sums are shifted so that λ + s keeps its digits."""

# Store.scalars, per simplex
LAMBDA, FLOOR, CHANGE, SLOPE, CURVE, TWIST, WEIGHT, ROOT_WEIGHT, SHIFT = range(9)
N_SCALARS = 9


class Store(NamedTuple):
    """Arrays of all implicit simplices, laid out one after another."""

    origin: np.ndarray  # (G+1,) int32 first position of each simplex
    power: np.ndarray  # (G,) q
    key: np.ndarray  # (N,) sums s, in bucket order
    occupant: np.ndarray  # (N,) int32: position -> coordinate
    place: np.ndarray  # (N,) int32: coordinate -> position
    start: np.ndarray  # (G·(B+1),) int32: first position of each bucket
    span: np.ndarray  # (2G,) int32: the buckets outside span[2g]..span[2g+1] (inclusive) are empty
    ref: np.ndarray  # (G·B,) λ at the last refresh
    moments: np.ndarray  # (G·P·B,) A_p, laid out [simplex][p][bucket]
    carry: np.ndarray  # (G·B,) what rounding took from A_0
    inverse: np.ndarray  # (G·B,) Σ 1/(ref + s)
    cap: np.ndarray  # (G·B,) (lo(1−ρ))^(−q)
    scalars: np.ndarray  # (G·N_SCALARS,)


# -- geometry of the buckets --------------------------------------------------------------------------


@step()
def fineness(q):
    """log₂ of the number of buckets per octave: finer for larger q, so that x varies little in a bucket."""
    if q <= 2.0:
        return 1
    if q <= 4.0:
        return 2
    if q <= 8.0:
        return 3
    return 4


@step()
def reach(q):
    """ρ: how far λ may fall, relative to lo_b, before the series loses accuracy."""
    return 1.0 / (32.0 * q)


@step()
def bucket_of(d, fine):
    """Index of the bucket that d belongs to; everything beyond the last edge is in the last bucket."""
    b = (float_bits(d) >> (52 - fine)) - (1023 << fine)
    if d < 1.0:
        b = 0
    return min(b, N_BUCKETS - 1)


@step()
def lower_end(b, fine):
    """lo_b, the least d of bucket b."""
    return bits_float((b + (1023 << fine)) << (52 - fine))


@step()
def inverse_power(d, q):
    """d^(−q)."""
    if q == 2.0:
        return 1.0 / (d * d)
    whole = int(q)
    if q != whole:
        return math.exp(-q * math.log(d))
    result = 1.0
    square = d
    while whole > 0:
        if whole & 1:
            result *= square
        square *= square
        whole >>= 1
    return 1.0 / result


# -- moments ------------------------------------------------------------------------------------------


@step()
def add_moments(store, g, b, q, r, sign):
    """Add (sign = 1) or remove (−1) a member with ref + s = r to the moments of bucket b."""
    at = g * N_MOMENTS * N_BUCKETS + b
    inv = 1.0 / r
    term = sign * inverse_power(r, q)
    # A_0 is kept with its rounding error: identical increments would make it drift systematically.
    old = store.moments[at]
    new = old + term
    back = new - old
    store.carry[g * N_BUCKETS + b] += (old - (new - back)) + (term - back)
    store.moments[at] = new
    store.inverse[g * N_BUCKETS + b] += sign * inv
    for p in range(1, N_MOMENTS):
        term *= inv * ((q + (p - 1)) / p)
        store.moments[at + p * N_BUCKETS] += term


@step()
def clear_moments(store, g, b):
    """Exactly zero, for an empty bucket."""
    store.carry[g * N_BUCKETS + b] = 0.0
    store.inverse[g * N_BUCKETS + b] = 0.0
    at = g * N_MOMENTS * N_BUCKETS + b
    for p in range(N_MOMENTS):
        store.moments[at + p * N_BUCKETS] = 0.0


@step(fastmath={"contract", "reassoc", "nsz"})
def evaluate(store, g, multiplier):
    """F(λ) and its first three Taylor coefficients in the direction of falling λ."""
    f0 = f1 = f2 = f3 = 0.0
    moments = store.moments
    row = g * N_BUCKETS
    block = g * N_MOMENTS * N_BUCKETS
    for b in range(store.span[2 * g], store.span[2 * g + 1] + 1):
        at = block + b
        r = store.ref[row + b] - multiplier
        f = moments[at + 7 * N_BUCKETS]
        d1 = d2 = d3 = 0.0
        for p in range(6, -1, -1):
            d3 = d3 * r + d2
            d2 = d2 * r + d1
            d1 = d1 * r + f
            f = f * r + moments[at + p * N_BUCKETS]
        f0 += f + store.carry[row + b]
        f1 += d1
        f2 += d2
        f3 += d3
    return f0, f1, f2, f3


@step()
def root_sum(store, g):
    """Σ 1/d over the simplex, the sum of x^(1−h); for q = 2 from the series, as d(1/d)/dr = d^(−2)."""
    total = 0.0
    multiplier = store.scalars[g * N_SCALARS + LAMBDA]
    for b in range(store.span[2 * g], store.span[2 * g + 1] + 1):
        at = g * N_MOMENTS * N_BUCKETS + b
        r = store.ref[g * N_BUCKETS + b] - multiplier
        series = 0.0
        for p in range(N_MOMENTS - 1, -1, -1):
            series = series * r + store.moments[at + p * N_BUCKETS] / (p + 1.0)
        total += store.inverse[g * N_BUCKETS + b] + r * series
    return total


# -- moving members -----------------------------------------------------------------------------------


@step()
def swap(store, i, j):
    """Exchange the members at two positions."""
    key_i, key_j = store.key[i], store.key[j]
    who_i, who_j = store.occupant[i], store.occupant[j]
    store.key[i] = key_j
    store.key[j] = key_i
    store.occupant[i] = who_j
    store.occupant[j] = who_i
    store.place[who_j] = i
    store.place[who_i] = j


@step()
def raise_member(store, g, position, b, target):
    """Move a member up from bucket b to `target`, one boundary swap per bucket."""
    row = g * (N_BUCKETS + 1)
    while b < target:
        last = store.start[row + b + 1] - 1
        if position != last:
            swap(store, position, last)
        store.start[row + b + 1] = last
        position = last
        b += 1
    store.span[2 * g + 1] = max(store.span[2 * g + 1], target)
    return position


@step()
def lower_member(store, g, position, b, target):
    """Move a member down from bucket b to `target`."""
    row = g * (N_BUCKETS + 1)
    while b > target:
        first = store.start[row + b]
        if position != first:
            swap(store, position, first)
        store.start[row + b] = first + 1
        position = first
        b -= 1
    store.span[2 * g] = min(store.span[2 * g], target)
    return position


@step()
def holding(store, g, position, d, fine):
    """The bucket that holds a position; d tells where to start looking."""
    row = g * (N_BUCKETS + 1)
    b = bucket_of(d, fine)
    while position >= store.start[row + b + 1]:
        b += 1
    while position < store.start[row + b]:
        b -= 1
    return b


@step()
def admit(store, g, b, q, fine, s):
    """Count a member with sum s in the moments of bucket b, which gets a fresh reference if it was empty."""
    row = g * (N_BUCKETS + 1)
    head = g * N_SCALARS
    if store.start[row + b + 1] - store.start[row + b] == 1:  # the newcomer is alone
        clear_moments(store, g, b)
        multiplier = store.scalars[head + LAMBDA]
        store.ref[g * N_BUCKETS + b] = multiplier
        store.scalars[head + FLOOR] = max(
            store.scalars[head + FLOOR], multiplier - reach(q) * lower_end(b, fine)
        )
    add_moments(store, g, b, q, store.ref[g * N_BUCKETS + b] + s, 1.0)


# -- the interface ------------------------------------------------------------------------------------


@step()
def value(store, g, coordinate):
    """x of a coordinate."""
    d = store.scalars[g * N_SCALARS + LAMBDA] + store.key[store.place[coordinate]]
    return inverse_power(d, store.power[g])


@step()
def inverse_value(store, g, coordinate):
    """1/d = x^(1−h) of a coordinate."""
    return 1.0 / (store.scalars[g * N_SCALARS + LAMBDA] + store.key[store.place[coordinate]])


@step()
def add(store, g, coordinate, amount):
    """Add `amount` ≥ 0 to the sum of a coordinate; λ is stale until `solve`."""
    q = store.power[g]
    fine = fineness(q)
    head = g * N_SCALARS
    multiplier = store.scalars[head + LAMBDA]
    position = store.place[coordinate]
    s = store.key[position]
    after = s + amount
    d, d_after = multiplier + s, multiplier + after
    b = holding(store, g, position, d, fine)
    target = bucket_of(d_after, fine)
    if target < b:  # d has slipped below lo_b within the tolerance; the next refresh will move it
        target = b

    inv, inv_after = 1.0 / d, 1.0 / d_after
    x, x_after = inverse_power(d, q), inverse_power(d_after, q)
    store.scalars[head + CHANGE] += x_after - x
    x *= q * inv
    x_after *= q * inv_after
    store.scalars[head + SLOPE] += x_after - x
    x *= 0.5 * (q + 1.0) * inv
    x_after *= 0.5 * (q + 1.0) * inv_after
    store.scalars[head + CURVE] += x_after - x
    third = (q + 2.0) / 3.0
    store.scalars[head + TWIST] += third * (x_after * inv_after - x * inv)

    store.key[position] = after
    add_moments(store, g, b, q, store.ref[g * N_BUCKETS + b] + s, -1.0)
    if target != b:
        raise_member(store, g, position, b, target)
        row = g * (N_BUCKETS + 1)
        if store.start[row + b + 1] == store.start[row + b]:
            clear_moments(store, g, b)
        cap = store.cap
        store.scalars[head + WEIGHT] += cap[g * N_BUCKETS + target] - cap[g * N_BUCKETS + b]
        rho = reach(q)
        store.scalars[head + ROOT_WEIGHT] += (
            1.0 / lower_end(target, fine) - 1.0 / lower_end(b, fine)
        ) / (1.0 - rho)
        admit(store, g, target, q, fine, after)
    else:
        add_moments(store, g, b, q, store.ref[g * N_BUCKETS + b] + after, 1.0)


@kernel()
def refresh(store, g):
    """Bring every bucket whose window λ has left up to date, from the highest to the lowest."""
    q = store.power[g]
    fine = fineness(q)
    rho = reach(q)
    head = g * N_SCALARS
    multiplier = store.scalars[head + LAMBDA]
    row = g * (N_BUCKETS + 1)
    b = store.span[2 * g + 1] + 1
    while b > store.span[2 * g]:  # the span may widen downwards on the way
        b -= 1
        if store.start[row + b] == store.start[row + b + 1]:
            continue
        low = lower_end(b, fine)
        if multiplier >= store.ref[g * N_BUCKETS + b] - rho * low:
            continue
        if b > 0:
            position = store.start[row + b]
            while position < store.start[row + b + 1]:
                s = store.key[position]
                if multiplier + s < low:
                    target = bucket_of(multiplier + s, fine)
                    lower_member(store, g, position, b, target)
                    admit(store, g, target, q, fine, s)
                position += 1
        recount(store, g, b)
    retotal(store, g)


@step()
def recount(store, g, b):
    """Moments of bucket b around the present λ, summed in short runs so that rounding stays small."""
    q = store.power[g]
    row = g * (N_BUCKETS + 1)
    multiplier = store.scalars[g * N_SCALARS + LAMBDA]
    clear_moments(store, g, b)
    store.ref[g * N_BUCKETS + b] = multiplier
    at = g * N_MOMENTS * N_BUCKETS + b
    position = store.start[row + b]
    last = store.start[row + b + 1]
    while position < last:
        stop = min(position + 512, last)
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        inverse = 0.0
        for i in range(position, stop):
            r = multiplier + store.key[i]
            inv = 1.0 / r
            inverse += inv
            w = inverse_power(r, q)
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
        binomial = 1.0
        store.moments[at] += a0
        binomial *= q
        store.moments[at + 1 * N_BUCKETS] += binomial * a1
        binomial *= (q + 1.0) / 2.0
        store.moments[at + 2 * N_BUCKETS] += binomial * a2
        binomial *= (q + 2.0) / 3.0
        store.moments[at + 3 * N_BUCKETS] += binomial * a3
        binomial *= (q + 3.0) / 4.0
        store.moments[at + 4 * N_BUCKETS] += binomial * a4
        binomial *= (q + 4.0) / 5.0
        store.moments[at + 5 * N_BUCKETS] += binomial * a5
        binomial *= (q + 5.0) / 6.0
        store.moments[at + 6 * N_BUCKETS] += binomial * a6
        binomial *= (q + 6.0) / 7.0
        store.moments[at + 7 * N_BUCKETS] += binomial * a7
        store.inverse[g * N_BUCKETS + b] += inverse
        position = stop


@step()
def retotal(store, g):
    """Recompute the floor of λ and the total proposal weights."""
    q = store.power[g]
    fine = fineness(q)
    rho = reach(q)
    head = g * N_SCALARS
    row = g * (N_BUCKETS + 1)
    floor = -math.inf
    weight = root_weight = 0.0
    lowest = -1
    highest = 0
    for b in range(store.span[2 * g], store.span[2 * g + 1] + 1):
        count = store.start[row + b + 1] - store.start[row + b]
        if count > 0:
            highest = b
            if lowest < 0:
                lowest = b
            low = lower_end(b, fine)
            floor = max(floor, store.ref[g * N_BUCKETS + b] - rho * low)
            weight += count * store.cap[g * N_BUCKETS + b]
            root_weight += count / (low * (1.0 - rho))
    store.span[2 * g] = lowest
    store.span[2 * g + 1] = highest
    store.scalars[head + FLOOR] = floor
    store.scalars[head + WEIGHT] = weight
    store.scalars[head + ROOT_WEIGHT] = root_weight


@step()
def solve(store, g):
    """Find the multiplier that belongs to the sums, to rounding."""
    head = g * N_SCALARS
    scalars = store.scalars
    change = scalars[head + CHANGE]
    if change == 0.0:
        return
    slope, curve, twist = scalars[head + SLOPE], scalars[head + CURVE], scalars[head + TWIST]
    multiplier = scalars[head + LAMBDA]
    solved = False
    if slope > 0.0:
        # Series reversion of −change = slope·r + curve·r² + twist·r³ predicts how far λ falls.
        a = -change / slope
        bend = curve / slope
        r = a * (1.0 - a * bend + (2.0 * bend * bend - twist / slope) * a * a)
        if 0.0 <= a * bend < 0.05 and multiplier - r >= scalars[head + FLOOR]:
            f0, f1, f2, f3 = evaluate(store, g, multiplier - r)
            excess = f0 - 1.0
            if excess * excess * f2 < 1e-15 * f1 * f1 and f1 > 0.0:
                multiplier += excess / f1 - r
                scalars[head + LAMBDA] = multiplier
                scalars[head + SLOPE] = f1
                scalars[head + CURVE] = f2
                scalars[head + TWIST] = f3
                solved = True
    if not solved:
        walk(store, g)
    scalars[head + CHANGE] = 0.0
    if scalars[head + LAMBDA] < scalars[head + FLOOR]:
        refresh(store, g)
    if scalars[head + LAMBDA] < REBASE:
        rebase(store, g)


@kernel()
def walk(store, g):
    """Newton on F^(−1/q), nearly linear in λ, at most one window at a time; after too many steps, rebuild."""
    q = store.power[g]
    head = g * N_SCALARS
    scalars = store.scalars
    small = store.origin[g + 1] - store.origin[g] <= 512
    for count in range(MOST_STEPS):
        if small and count > 8:
            break
        multiplier = scalars[head + LAMBDA]
        f0, f1, f2, f3 = evaluate(store, g, multiplier)
        if not (f1 > 0.0 and f0 > 0.0):
            break
        excess = f0 - 1.0
        if excess * excess * f2 < 1e-15 * f1 * f1:
            scalars[head + LAMBDA] = multiplier + excess / f1
            scalars[head + SLOPE] = f1
            scalars[head + CURVE] = f2
            scalars[head + TWIST] = f3
            return
        root = math.exp(-math.log(f0) / q)
        after = multiplier + (1.0 - root) * q * f0 / (root * f1)
        floor = scalars[head + FLOOR]
        if after > multiplier + reach(q):  # sums only grow: going up means that the series is of no use
            break
        if after < floor:
            scalars[head + LAMBDA] = floor - 1e-9 * abs(floor)
            refresh(store, g)
        else:
            scalars[head + LAMBDA] = after
    build(store, g)


@kernel()
def rebase(store, g):
    """Shift all sums by λ, so that λ becomes 0 and no coordinate changes."""
    head = g * N_SCALARS
    shift = store.scalars[head + LAMBDA]
    for i in range(store.origin[g], store.origin[g + 1]):
        store.key[i] += shift
    store.scalars[head + SHIFT] += shift
    store.scalars[head + LAMBDA] = 0.0
    build(store, g)


@kernel()
def build(store, g):
    """Everything from the sums alone, in O(n): λ by Newton over all coordinates, then buckets and moments."""
    q = store.power[g]
    fine = fineness(q)
    first, last = store.origin[g], store.origin[g + 1]
    least = math.inf
    for i in range(first, last):
        least = min(least, store.key[i])
    # The least sum has x ≤ 1 and the average coordinate 1/n: λ lies in [1, n^(1/q)] − least.
    lo = 1.0 - least
    hi = math.exp(math.log(float(last - first)) / q) - least
    multiplier = lo
    for _ in range(100):
        total = slope = 0.0
        for i in range(first, last):
            d = multiplier + store.key[i]
            x = inverse_power(d, q)
            total += x
            slope += q * x / d
        root = math.exp(-math.log(total) / q)
        after = min(max(multiplier + (1.0 - root) * q * total / (root * slope), lo), hi)
        if abs(after - multiplier) <= 1e-16 * abs(multiplier) or abs(total - 1.0) < 1e-15:
            multiplier = after
            break
        multiplier = after

    head = g * N_SCALARS
    store.scalars[head + LAMBDA] = multiplier
    row = g * (N_BUCKETS + 1)
    for b in range(N_BUCKETS + 1):
        store.start[row + b] = 0
    for i in range(first, last):
        store.start[row + bucket_of(multiplier + store.key[i], fine) + 1] += 1
    store.start[row] = first
    for b in range(N_BUCKETS):
        store.start[row + b + 1] += store.start[row + b]
        # ref serves as the next free position of its bucket until the members are in place
        store.ref[g * N_BUCKETS + b] = store.start[row + b]
    for b in range(N_BUCKETS):
        i = int(store.ref[g * N_BUCKETS + b])
        while i < store.start[row + b + 1]:
            target = bucket_of(multiplier + store.key[i], fine)
            if target == b:
                i += 1
            else:
                free = int(store.ref[g * N_BUCKETS + target])
                store.ref[g * N_BUCKETS + target] = free + 1.0
                swap(store, i, free)
    rho = reach(q)
    for b in range(N_BUCKETS):
        store.cap[g * N_BUCKETS + b] = inverse_power(lower_end(b, fine) * (1.0 - rho), q)
        recount(store, g, b)
    store.span[2 * g] = 0
    store.span[2 * g + 1] = N_BUCKETS - 1
    retotal(store, g)
    f0, f1, f2, f3 = evaluate(store, g, multiplier)
    store.scalars[head + LAMBDA] = multiplier + (f0 - 1.0) / f1
    store.scalars[head + SLOPE] = f1
    store.scalars[head + CURVE] = f2
    store.scalars[head + TWIST] = f3
    store.scalars[head + CHANGE] = 0.0


@step()
def sample(store, g, words):
    """A coordinate with probability x, exactly."""
    head = g * N_SCALARS
    row = g * (N_BUCKETS + 1)
    q = store.power[g]
    multiplier = store.scalars[head + LAMBDA]
    total = store.scalars[head + WEIGHT] * (1.0 + 1e-12)
    while True:
        target = next_unit(words) * total
        b = store.span[2 * g]
        highest = store.span[2 * g + 1]
        count = 0
        while b <= highest:
            count = store.start[row + b + 1] - store.start[row + b]
            target -= count * store.cap[g * N_BUCKETS + b]
            if target < 0.0:
                break
            b += 1
        if b > highest:
            continue  # the total is a hair above the sum of the weights: draw again
        position = store.start[row + b] + min(int(next_unit(words) * count), count - 1)
        x = inverse_power(multiplier + store.key[position], q)
        if next_unit(words) * store.cap[g * N_BUCKETS + b] < x:
            return store.occupant[position]


@step()
def sample_root(store, g, words):
    """A coordinate with probability ∝ 1/d = x^(1−h), exactly."""
    head = g * N_SCALARS
    row = g * (N_BUCKETS + 1)
    q = store.power[g]
    fine = fineness(q)
    rho = reach(q)
    multiplier = store.scalars[head + LAMBDA]
    total = store.scalars[head + ROOT_WEIGHT] * (1.0 + 1e-12)
    while True:
        target = next_unit(words) * total
        b = store.span[2 * g]
        highest = store.span[2 * g + 1]
        count = 0
        low = 1.0
        while b <= highest:
            count = store.start[row + b + 1] - store.start[row + b]
            low = lower_end(b, fine) * (1.0 - rho)
            target -= count / low
            if target < 0.0:
                break
            b += 1
        if b > highest:
            continue
        position = store.start[row + b] + min(int(next_unit(words) * count), count - 1)
        if next_unit(words) * (multiplier + store.key[position]) < low:
            return store.occupant[position]
