"""A point of the simplex under Tsallis-1/2, kept in buckets and written for nothing else.

x = (λ + s)^(−2), Σ x = 1; a round raises a few sums s. Items are stored bucket after bucket by d = λ + s, two
buckets per octave. Each bucket has the Taylor coefficients of its part of F(λ) = Σ (λ + s)^(−2) around a
multiplier of its own; moved to one common anchor and added up they are eight numbers that give F, wherever
every bucket's polynomial is good. So a round evaluates one polynomial, not one per bucket.

An item is two words, sum and name, at 2·place and 2·place + 1: proposing one takes a single line of memory.
All small numbers are cells of one array, named by offset below. Functions trust their arguments; the arrays
must stay arguments of the kernel that calls `opened`. Nothing is cached on disk, as callers in other files would
not notice a change of this one.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit, types, uint64

from sidelight.engine._numba.jit import noinline
from sidelight.engine._numba.pointers import float_bits, pointer
from sidelight.engine.random import mix

N_BUCKETS = 64
TERMS = 8
WINDOW = 1.0 / 64.0
"""A bucket's polynomial is used up to WINDOW · its lower end away: it errs by at most 3e−14."""
REBASE = -1024.0
"""λ below which sums are shifted."""
SERIES = 0.05
"""Longest step, in units of the series' own length and of the lowest bucket, for which it is reverted."""
MOST_STEPS = 400
SMALL = 512
"""Up to so many items a hard step is solved by a loop over all of them."""

# Cells of `numbers`: tables by bucket, then scalars
MOMENT = 0  # (p + 1) Σ (ref + s)^−(p + 2), at TERMS · bucket + p
ROOT = MOMENT + TERMS * N_BUCKETS  # Σ 1 / (ref + s)
LOST = ROOT + N_BUCKETS  # digits that the moment p = 0 could not hold
REF = LOST + N_BUCKETS
LOW = REF + N_BUCKETS
FLOOR = LOW + N_BUCKETS  # least d that an item of the bucket may have
TOP = FLOOR + N_BUCKETS  # FLOOR^−2, at least every x of the bucket
WEIGHT = TOP + N_BUCKETS  # items · TOP
ROOT_WEIGHT = WEIGHT + N_BUCKETS  # items / FLOOR
SUM = ROOT_WEIGHT + N_BUCKETS  # coefficients of F around ANCHOR
SUM_ROOT = SUM + TERMS
SUM_LOST = SUM_ROOT + 1
LAMBDA = SUM_LOST + 1
ANCHOR = LAMBDA + 1
LIMIT = ANCHOR + 1  # λ below which some bucket must be renewed
TOTAL = LIMIT + 1  # at least the weights of all buckets
ROOT_TOTAL = TOTAL + 1
SHIFTED = ROOT_TOTAL + 1  # what rebasing took off the sums since the owner last looked
N_NUMBERS = SHIFTED + 1

# Cells of `start`: where buckets begin, then
FIRST = N_BUCKETS + 1  # buckets outside FIRST..LAST are empty
LAST = FIRST + 1
HEAVY = LAST + 1  # the bucket that is most often drawn from
HEAVY_ROOT = HEAVY + 1
N_START = HEAVY_ROOT + 1

hot = partial(njit, error_model="numpy", no_cpython_wrapper=True, forceinline=True, _nrt=False)
cold = partial(njit, error_model="numpy", no_cpython_wrapper=True, forceinline=False, _nrt=False)
FUSED = {"contract"}
SUMMED = {"contract", "reassoc", "nsz"}


class Simplex(NamedTuple):
    """Pointers, and what the caller hard-wires."""

    key: types.CPointer  # sums at even cells
    name: types.CPointer  # names at odd cells of the same memory
    place: types.CPointer  # by name; only kept up where tracked
    spare: types.CPointer  # as large as the items
    spare_name: types.CPointer
    start: types.CPointer
    numbers: types.CPointer
    n: int
    tracked: bool
    rooted: bool  # are Σ 1/d and draws ∝ 1/d wanted?


@hot()
def opened(items, names, place, spare, spare_names, start, numbers, tracked, rooted):
    """The simplex in the arrays that `Arrays.all` gives; literal flags cost nothing."""
    return Simplex(
        pointer(items, 0, items.size),
        pointer(names, 0, names.size),
        pointer(place, 0, place.size),
        pointer(spare, 0, spare.size),
        pointer(spare_names, 0, spare_names.size),
        pointer(start, 0, start.size),
        pointer(numbers, 0, numbers.size),
        items.size // 2,
        tracked,
        rooted,
    )


class Arrays:
    """The memory of a simplex of n items at its centre; `all` goes to `opened`."""

    def __init__(self, n, tracked, rooted):
        self.items = np.zeros(2 * n)
        self.names = self.items.view(np.int64)
        self.names[1::2] = np.arange(n)
        self.place = np.arange(n if tracked else 1, dtype=np.int32)
        self.spare = np.zeros(2 * n)
        self.start = np.zeros(N_START, dtype=np.int64)
        self.numbers = np.zeros(N_NUMBERS)
        self.numbers[LAMBDA] = math.sqrt(n)
        octaves = 2.0 ** np.arange(N_BUCKETS // 2)
        low = np.column_stack([octaves, 1.5 * octaves]).ravel()
        self.numbers[LOW:FLOOR] = low
        self.numbers[FLOOR:TOP] = low * (1.0 - WINDOW)
        self.numbers[TOP:WEIGHT] = (low * (1.0 - WINDOW)) ** -2.0
        self.all = self.items, self.names, self.place, self.spare, self.spare.view(np.int64), self.start
        self.all += (self.numbers,)
        settle(*self.all, tracked, rooted)

    @property
    def multiplier(self):
        return self.numbers[LAMBDA]

    def sums(self):
        """s by name."""
        found = np.empty(self.items.size // 2)
        found[self.names[1::2]] = self.items[::2]
        return found


# -- which bucket -------------------------------------------------------------------------------------


@hot()
def bucket_of(d):
    """The exponent of d and the first bit after the point."""
    return min(max((float_bits(d) >> 51) - 2046, 0), N_BUCKETS - 1)


@hot()
def bucket_at(s, place):
    """The bucket in which a place is: that of its d, or the one above if d has fallen since."""
    b = bucket_of(s.numbers[LAMBDA] + s.key[2 * place])
    while place >= s.start[b + 1]:
        b += 1
    return b


@hot()
def exchange(s, i, j):
    """Swap two items."""
    key, name = s.key[2 * i], s.name[2 * i + 1]
    other = s.name[2 * j + 1]
    s.key[2 * i], s.name[2 * i + 1] = s.key[2 * j], other
    s.key[2 * j], s.name[2 * j + 1] = key, name
    if s.tracked:
        s.place[other] = i
        s.place[name] = j


# -- sums of powers -----------------------------------------------------------------------------------


@hot()
def two_sum(a, b):
    """a + b and what rounding lost."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@hot(fastmath=FUSED)
def add_powers(m, at, lost, d, d_after):
    """Add (p + 1) · (d_after^−(p + 2) − d^−(p + 2)) to cells `at` + p; returns 1 / d_after − 1 / d.

    Written out, with products that do not wait for each other: the compiler makes vectors of it.
    """
    u, v = 1.0 / d, 1.0 / d_after
    u2, v2 = u * u, v * v
    u3, v3, u4, v4 = u2 * u, v2 * v, u2 * u2, v2 * v2
    u5, v5 = u4 * u, v4 * v
    m[at], error = two_sum(m[at], v2 - u2)
    m[lost] += error
    a1, a2, a3 = m[at + 1], m[at + 2], m[at + 3]
    a4, a5, a6, a7 = m[at + 4], m[at + 5], m[at + 6], m[at + 7]
    m[at + 1] = a1 + 2.0 * (v3 - u3)
    m[at + 2] = a2 + 3.0 * (v4 - u4)
    m[at + 3] = a3 + 4.0 * (v5 - u5)
    m[at + 4] = a4 + 5.0 * (v4 * v2 - u4 * u2)
    m[at + 5] = a5 + 6.0 * (v4 * v3 - u4 * u3)
    m[at + 6] = a6 + 7.0 * (v4 * v4 - u4 * u4)
    m[at + 7] = a7 + 8.0 * (v4 * v5 - u4 * u5)
    return v - u


@hot()
def change_terms(s, b, d, d_after):
    """Bring the moments of bucket b up to date with an item whose ref + s changes; infinity: not there."""
    root = add_powers(s.numbers, MOMENT + TERMS * b, LOST + b, d, d_after)
    if s.rooted:
        s.numbers[ROOT + b] += root


@hot()
def change_sum(s, d, d_after):
    """The same for the coefficients of F around the anchor."""
    root = add_powers(s.numbers, SUM, SUM_LOST, d, d_after)
    if s.rooted:
        s.numbers[SUM_ROOT] += root


@hot()
def clear_terms(s, b):
    for p in range(TERMS):
        s.numbers[MOMENT + TERMS * b + p] = 0.0
    s.numbers[ROOT + b] = s.numbers[LOST + b] = 0.0


@hot(fastmath=SUMMED)
def power_sums(key, first, last, ref):
    """Σ (ref + s)^−q of places first..last for q = 1..9."""
    s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = 0.0
    for i in range(first, last):
        inv = 1.0 / (ref + key[2 * i])
        square = inv * inv
        cube = square * inv
        fourth = square * square
        s1 += inv
        s2 += square
        s3 += cube
        s4 += fourth
        s5 += fourth * inv
        s6 += fourth * square
        s7 += fourth * cube
        s8 += fourth * fourth
        s9 += fourth * fourth * inv
    return s1, s2, s3, s4, s5, s6, s7, s8, s9


@hot()
def renew_terms(s, b):
    """Write the moments of a bucket afresh at the present λ, in pieces, as sums of equal terms drift."""
    ref = s.numbers[LAMBDA]
    s.numbers[REF + b] = ref
    clear_terms(s, b)
    first, last = s.start[b], s.start[b + 1]
    moment = s.numbers
    while first < last:
        end = min(first + 512, last)
        s1, s2, s3, s4, s5, s6, s7, s8, s9 = power_sums(s.key, first, end, ref)
        moment[ROOT + b] += s1
        moment[MOMENT + TERMS * b] += s2
        moment[MOMENT + TERMS * b + 1] += 2.0 * s3
        moment[MOMENT + TERMS * b + 2] += 3.0 * s4
        moment[MOMENT + TERMS * b + 3] += 4.0 * s5
        moment[MOMENT + TERMS * b + 4] += 5.0 * s6
        moment[MOMENT + TERMS * b + 5] += 6.0 * s7
        moment[MOMENT + TERMS * b + 6] += 7.0 * s8
        moment[MOMENT + TERMS * b + 7] += 8.0 * s9
        first = end


@hot(fastmath=SUMMED)
def gather(m, first, last, anchor):
    """The polynomials of buckets first..last around the anchor, added up; Σ 1/d there."""
    t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = root = 0.0
    for b in range(first, last + 1):
        x = m[REF + b] - anchor
        a0, a1 = m[MOMENT + TERMS * b] + m[LOST + b], m[MOMENT + TERMS * b + 1]
        a2, a3 = m[MOMENT + TERMS * b + 2], m[MOMENT + TERMS * b + 3]
        a4, a5 = m[MOMENT + TERMS * b + 4], m[MOMENT + TERMS * b + 5]
        a6, a7 = m[MOMENT + TERMS * b + 6], m[MOMENT + TERMS * b + 7]
        area = a7 * 0.125 * x + a6 * (1.0 / 7.0)
        area = area * x + a5 * (1.0 / 6.0)
        area = area * x + a4 * 0.2
        area = area * x + a3 * 0.25
        area = area * x + a2 * (1.0 / 3.0)
        area = area * x + a1 * 0.5
        root += m[ROOT + b] + x * (area * x + a0)
        # Horner again and again: what is left each time is the next coefficient around the anchor
        a6 += a7 * x
        a5 += a6 * x
        a4 += a5 * x
        a3 += a4 * x
        a2 += a3 * x
        a1 += a2 * x
        t0 += a0 + a1 * x
        a6 += a7 * x
        a5 += a6 * x
        a4 += a5 * x
        a3 += a4 * x
        a2 += a3 * x
        t1 += a1 + a2 * x
        a6 += a7 * x
        a5 += a6 * x
        a4 += a5 * x
        a3 += a4 * x
        t2 += a2 + a3 * x
        a6 += a7 * x
        a5 += a6 * x
        a4 += a5 * x
        t3 += a3 + a4 * x
        a6 += a7 * x
        a5 += a6 * x
        t4 += a4 + a5 * x
        a6 += a7 * x
        t5 += a5 + a6 * x
        t6 += a6 + a7 * x
        t7 += a7
    return t0, t1, t2, t3, t4, t5, t6, t7, root


# -- keeping buckets ----------------------------------------------------------------------------------


@hot()
def set_weight(s, b):
    """The weights with which a bucket is drawn, after items came or went."""
    m = s.numbers
    size = s.start[b + 1] - s.start[b]
    weight = size * m[TOP + b]
    m[TOTAL] += weight - m[WEIGHT + b]
    m[WEIGHT + b] = weight
    if s.rooted:
        weight = size / m[FLOOR + b]
        m[ROOT_TOTAL] += weight - m[ROOT_WEIGHT + b]
        m[ROOT_WEIGHT + b] = weight


@hot()
def raise_item(s, b, place, amount):
    """Raise the sum of the item at a place of bucket b; λ is stale until `solve`. Returns its new place."""
    m = s.numbers
    before = s.key[2 * place]
    after = before + amount
    s.key[2 * place] = after
    change_sum(s, m[ANCHOR] + before, m[ANCHOR] + after)
    c = bucket_of(m[LAMBDA] + after)
    if c <= b:
        change_terms(s, b, m[REF + b] + before, m[REF + b] + after)
        return place
    if s.start[c] == s.start[c + 1]:
        m[REF + c] = m[LAMBDA]
        m[LIMIT] = max(m[LIMIT], m[LAMBDA] - WINDOW * m[LOW + c])
        s.start[LAST] = max(s.start[LAST], c)
    for hop in range(b + 1, c + 1):  # to the end of its bucket, which the next one then takes over
        end = s.start[hop] - 1
        if end != place:
            exchange(s, place, end)
            place = end
        s.start[hop] = end
    if s.start[b] == s.start[b + 1]:
        clear_terms(s, b)
    else:
        change_terms(s, b, m[REF + b] + before, math.inf)
    change_terms(s, c, math.inf, m[REF + c] + after)
    set_weight(s, b)
    set_weight(s, c)
    return place


@hot()
def renew_bucket(s, b):
    """Demote the items of a bucket whose d has fallen below it, and write its moments afresh."""
    m = s.numbers
    multiplier = m[LAMBDA]
    if b > 0:
        low = m[LOW + b] - multiplier
        was_empty = s.start[b - 1] == s.start[b]
        for place in range(s.start[b], s.start[b + 1]):
            if s.key[2 * place] < low:
                end = s.start[b]
                if was_empty:
                    m[REF + b - 1] = multiplier
                    was_empty = False
                if end != place:
                    exchange(s, place, end)
                s.start[b] = end + 1
                change_terms(s, b - 1, math.inf, m[REF + b - 1] + s.key[2 * end])
        if s.start[b - 1] < s.start[b] and s.start[FIRST] >= b:
            s.start[FIRST] = b - 1
    renew_terms(s, b)


@cold()
def refresh(s):
    """λ has fallen below LIMIT: renew the buckets that are due, from high to low, then their sum."""
    noinline()
    m = s.numbers
    for b in range(s.start[LAST], -1, -1):
        if s.start[b] < s.start[b + 1] and m[LAMBDA] < m[REF + b] - WINDOW * m[LOW + b]:
            renew_bucket(s, b)
    add_up(s)


@hot()
def add_up(s):
    """What is kept about all buckets together, from the buckets."""
    m = s.numbers
    first, last = 0, N_BUCKETS - 1
    while s.start[first + 1] == 0:
        first += 1
    while s.start[last] == s.n:
        last -= 1
    s.start[FIRST], s.start[LAST] = first, last
    m[LIMIT] = -math.inf
    total = root_total = 0.0
    heavy = heavy_root = first
    for b in range(first, last + 1):
        size = s.start[b + 1] - s.start[b]
        if size > 0:
            m[LIMIT] = max(m[LIMIT], m[REF + b] - WINDOW * m[LOW + b])
        m[WEIGHT + b] = size * m[TOP + b]
        m[ROOT_WEIGHT + b] = size / m[FLOOR + b]
        total += m[WEIGHT + b]
        root_total += m[ROOT_WEIGHT + b]
        if m[WEIGHT + b] > m[WEIGHT + heavy]:
            heavy = b
        if m[ROOT_WEIGHT + b] > m[ROOT_WEIGHT + heavy_root]:
            heavy_root = b
    s.start[HEAVY], s.start[HEAVY_ROOT] = heavy, heavy_root
    # slightly too much: a draw that runs off the end is made again, so later rounding cannot favour anyone
    m[TOTAL], m[ROOT_TOTAL] = total * (1.0 + 1e-12), root_total * (1.0 + 1e-12)
    m[ANCHOR] = m[LAMBDA]
    t0, t1, t2, t3, t4, t5, t6, t7, root = gather(m, first, last, m[ANCHOR])
    m[SUM], m[SUM + 1], m[SUM + 2], m[SUM + 3] = t0, t1, t2, t3
    m[SUM + 4], m[SUM + 5], m[SUM + 6], m[SUM + 7] = t4, t5, t6, t7
    m[SUM_ROOT], m[SUM_LOST] = root, 0.0


@cold()
def sort(s):
    """Everything from the sums and λ alone."""
    noinline()
    m = s.numbers
    for b in range(N_BUCKETS + 1):
        s.start[b] = 0
    for i in range(2 * s.n):
        s.spare_name[i] = s.name[i]
    for i in range(s.n):
        s.start[bucket_of(m[LAMBDA] + s.key[2 * i]) + 1] += 1
    for b in range(N_BUCKETS):
        s.start[b + 1] += s.start[b]
    for i in range(s.n):
        b = bucket_of(m[LAMBDA] + s.spare[2 * i])
        place = s.start[b]
        s.start[b] = place + 1
        s.key[2 * place] = s.spare[2 * i]
        name = s.spare_name[2 * i + 1]
        s.name[2 * place + 1] = name
        if s.tracked:
            s.place[name] = place
    for b in range(N_BUCKETS, 0, -1):
        s.start[b] = s.start[b - 1]
    s.start[0] = 0
    for b in range(N_BUCKETS):
        m[WEIGHT + b] = m[ROOT_WEIGHT + b] = 0.0
        renew_terms(s, b)
    add_up(s)


@njit(error_model="numpy")
def settle(items, names, place, spare, spare_names, start, numbers, tracked, rooted):
    sort(opened(items, names, place, spare, spare_names, start, numbers, tracked, rooted))


# -- the multiplier -----------------------------------------------------------------------------------


@cold()
def solve_all(s):
    """λ by Newton on F^(−1/2) over all items, then everything afresh."""
    noinline()
    m = s.numbers
    least = s.key[0]
    for i in range(s.n):
        least = min(least, s.key[2 * i])
    multiplier = max(m[LAMBDA], 1.0 - least)
    for _ in range(200):
        f = cubes = 0.0
        for i in range(s.n):
            inv = 1.0 / (multiplier + s.key[2 * i])
            f += inv * inv
            cubes += inv * inv * inv
        multiplier = max(multiplier + f * (math.sqrt(f) - 1.0) / cubes, 1.0 - least)
        if abs(f - 1.0) < 1e-8:
            break
    m[LAMBDA] = multiplier
    sort(s)


@cold()
def rebase(s):
    """Move λ to 0 and the sums with it, so that their difference keeps its digits."""
    noinline()
    m = s.numbers
    shift = m[LAMBDA]
    for i in range(s.n):
        s.key[2 * i] += shift
    m[LAMBDA] = 0.0
    m[SHIFTED] += shift
    sort(s)


@hot(fastmath=FUSED)
def polynomial(s, x):
    """F at ANCHOR − x and its first three Taylor coefficients towards smaller λ.

    In pairs and not by Horner, whose every step would wait for the one before.
    """
    m = s.numbers
    a0, a1, a2, a3 = m[SUM], m[SUM + 1], m[SUM + 2], m[SUM + 3]
    a4, a5, a6, a7 = m[SUM + 4], m[SUM + 5], m[SUM + 6], m[SUM + 7]
    x2 = x * x
    x4 = x2 * x2
    f0 = (a0 + m[SUM_LOST]) + (a1 * x + (a2 + a3 * x) * x2 + ((a4 + a5 * x) + (a6 + a7 * x) * x2) * x4)
    f1 = (
        (a1 + 2.0 * a2 * x)
        + (3.0 * a3 + 4.0 * a4 * x) * x2
        + ((5.0 * a5 + 6.0 * a6 * x) + 7.0 * a7 * x2) * x4
    )
    f2 = (a2 + 3.0 * a3 * x) + (6.0 * a4 + 10.0 * a5 * x) * x2 + (15.0 * a6 + 21.0 * a7 * x) * x4
    f3 = (a3 + 4.0 * a4 * x) + (10.0 * a5 + 20.0 * a6 * x) * x2 + 35.0 * a7 * x4
    return f0, f1, f2, f3


@hot(fastmath=FUSED)
def solve(s):
    """Find λ after sums were raised: evaluate F once and revert its series, or walk where that is too far."""
    m = s.numbers
    for _ in range(MOST_STEPS):
        x = m[ANCHOR] - m[LAMBDA]
        f0, f1, f2, f3 = polynomial(s, x)
        over = 1.0 / f1
        step = (1.0 - f0) * over
        curve, twist = f2 * over, f3 * over
        reach = SERIES * m[LOW + s.start[FIRST]]
        close = abs(step) * curve < SERIES and abs(step) < reach
        bend = step * curve
        if close:
            m[LAMBDA] -= step * (1.0 - bend + (2.0 * bend * bend - twist * step * step))
            bend *= bend
            close = bend * bend < 1e-17 * curve * over
        elif s.n <= SMALL:
            break
        else:  # Newton on F^(−1/2), as far as the lowest bucket can follow
            step = 2.0 * f0 * (1.0 - math.sqrt(f0)) * over
            m[LAMBDA] -= min(step, WINDOW * m[LOW + s.start[FIRST]])
        if m[LAMBDA] < m[LIMIT]:
            if m[LAMBDA] < REBASE:
                rebase(s)
            else:
                refresh(s)
        if close:
            return
    solve_all(s)


@hot(fastmath=FUSED)
def root_sum(s):
    """Σ 1/d at the present λ."""
    m = s.numbers
    x = m[ANCHOR] - m[LAMBDA]
    area = 0.0
    for p in range(TERMS - 1, -1, -1):
        area = area * x + m[SUM + p] * (1.0 / (p + 1))
    return m[SUM_ROOT] + area * x


# -- draws --------------------------------------------------------------------------------------------


@hot()
def unit(start, step, turn, draw):
    """Draw number `draw` of a round, uniform on [0, 1): a hash of its place in the stream."""
    word = mix(uint64(start + step * uint64(turn + (draw << 42))))
    return float(word >> uint64(11)) * 2.0**-53


@hot()
def scan(m, table, first, last, heavy, target):
    """The bucket in whose weight `target` falls and nothing beyond the last (−1), the heavy one first."""
    b = heavy
    while b <= last:
        target -= m[table + b]
        if target < 0.0:
            return b
        b += 1
    b = heavy - 1
    while b >= first:
        target -= m[table + b]
        if target < 0.0:
            return b
        b -= 1
    return -1


@hot()
def propose(s, start, step, turn, draw):
    """Bucket and place of a proposal for x, by two draws."""
    m = s.numbers
    target = unit(start, step, turn, draw) * m[TOTAL]
    b = scan(m, WEIGHT, s.start[FIRST], s.start[LAST], s.start[HEAVY], target)
    begin = s.start[max(b, 0)]
    size = s.start[max(b, 0) + 1] - begin
    return b, begin + max(min(int(unit(start, step, turn, draw + 1) * size), size - 1), 0)


@hot()
def sample(s, start, step, turn, draw):
    """Bucket and place of an item with probability x exactly, from draws `draw`, `draw` + 1, … of a round."""
    m = s.numbers
    while True:
        b, place = propose(s, start, step, turn, draw)
        if b >= 0:
            d = m[LAMBDA] + s.key[2 * place]
            if unit(start, step, turn, draw + 2) * (d * d) < m[FLOOR + b] * m[FLOOR + b]:
                return b, place
        draw += 3


@hot()
def sample_root(s, start, step, turn, draw):
    """The same with probability ∝ 1/d."""
    m = s.numbers
    while True:
        target = unit(start, step, turn, draw) * m[ROOT_TOTAL]
        b = scan(m, ROOT_WEIGHT, s.start[FIRST], s.start[LAST], s.start[HEAVY_ROOT], target)
        if b >= 0:
            begin = s.start[b]
            size = s.start[b + 1] - begin
            place = begin + min(int(unit(start, step, turn, draw + 1) * size), size - 1)
            if unit(start, step, turn, draw + 2) * (m[LAMBDA] + s.key[2 * place]) < m[FLOOR + b]:
                return b, place
        draw += 3
