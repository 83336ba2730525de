"""The implicit simplex: a point of the simplex that is never written out.

A Tsallis coordinate is x = d^(−q) with d = λ + s: a private sum s (scaled cumulative loss) and one shared
multiplier λ with Σ x = 1. One round changes few sums, yet λ, hence every coordinate, moves. Writing all
coordinates down would cost O(n); instead

* **Buckets.** Coordinates are kept sorted into buckets by the size of d, a few per octave, listed bucket after
  bucket; moving to the next bucket is one swap at the boundary. Who enters bucket b has d ≥ lo_b.
* **Moments.** F(λ) = Σ d^(−q) is the sum over buckets of a power series around the bucket's reference ref_b:
  with r = ref_b − λ,  F_b = Σ_p A_p r^p,  A_p = C(q+p−1, p) Σ_i (ref_b + s_i)^−(q+p).
  It is used while λ is in the bucket's window, −ρ'·lo_b ≤ r ≤ ρ·lo_b. There r is small beside every d, so
  nothing cancels, and the 8-term series is cut at a relative 4e−14.
* **One series.** The polynomials of all buckets, written around one common centre, add up to a single
  polynomial of eight terms: shifting a polynomial is exact, so nothing is lost. It is changed along with the
  moments when a sum changes, so F, its derivatives and Σ 1/d cost eight terms however many coordinates there are.
  The multiplier is found from sums each time: errors of λ do not accumulate.
* **Refresh.** When λ has left the window of a bucket, either way, the bucket is scanned: members that now belong
  elsewhere move there, moments are recomputed exactly, ref_b = λ, and the series is centred anew. A bucket
  of n_b ≤ (hi_b)^q members is scanned once per ρ'·lo_b of movement: why the cost per round does not grow with n.
* **Sampling by rejection.** Before its next refresh no member of bucket b can have a d below least_b: the least sum
  at the last one, and those of newcomers, tell. The bucket is proposed with weight n_b·least_b^(−q), a
  member uniformly, and accepted with probability x·least_b^q ≤ 1: the result has exactly the distribution x for the
  current λ, whatever the state of the moments. The same with 1/d in place of d^(−q) draws ∝ x^(1−h) (as q(1−h) = 1).
* **Fallback.** If λ must fall further than the series reaches, it walks there one window at a time; how far it may
  rise is known, and buckets are refreshed there. After too many steps everything is laid out afresh in O(n)
  (`solve.walk`). So the solution is always found.

Everything here works on one group g of a `Store`; h is its index among the bucketed groups.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine._numba.pointers import bits_float, float_bits
from sidelight.engine.constants import LARGEST_REACH
from sidelight.engine.simplex.moments import (
    add_moments,
    add_scaled,
    change_series,
    clear_moments,
    fast_power,
    inverse_power,
    moments_of,
    recenter,
    replace_in,
)
from sidelight.engine.simplex.store import N_BUCKETS, N_SERIES, RENEWED, end_of, first_of, group


@inlined()
def fineness(q):
    """log₂ of the number of buckets per octave: finer for larger q, so that x varies little in a bucket."""
    # Within a bucket x = d^(−q) then varies by a factor of at most 2.7 (for q up to 16), so rejection
    # sampling accepts more than one proposal in three.
    if q <= 2.0:
        return 1
    if q <= 4.0:
        return 2
    if q <= 8.0:
        return 3
    return 4


@inlined()
def reach(q):
    """ρ: how far λ may fall from ref_b, relative to lo_b, before the series loses accuracy."""
    # Cutting the series after 8 terms costs a relative C(q+7, 8)·ρ⁸, at most 3e−14 (q = 2, where ρ is 1/64).
    # Wider and narrower windows, with more and fewer terms, were measured: a flat optimum.
    return min(1.0 / (32.0 * q), LARGEST_REACH)


@inlined()
def headroom(q):
    """ρ' = ρ(1−ρ)/(1+ρ): how far λ may rise from ref_b, relative to lo_b.

    Who enters at the upper end of the window with d = lo_b has lo_b(1 − ρ' − ρ) at the lower one: in a window no d
    changes by more than a factor (1+ρ)/(1−ρ), which those who rely on it may know (`extremes`).
    """
    rho = reach(q)
    return rho * (1.0 - rho) / (1.0 + rho)


@inlined()
def bucket_of(d, fine):
    """Index of the bucket that d belongs to; everything beyond the last edge is in the last bucket."""
    # Exponent and leading bits of the fraction of a double are the bucket: one shift instead of a logarithm.
    b = (float_bits(d) >> (52 - fine)) - (1023 << fine)
    # No coordinate exceeds 1, so d ≥ 1 up to rounding and the slack of a solution; or NaN, in what strangers wrote.
    if not d >= 1.0:
        b = 0
    return min(b, N_BUCKETS - 1)


@inlined()
def lower_end(b, fine):
    """lo_b, the least d of bucket b."""
    return bits_float((int(b) + (1023 << fine)) << (52 - fine))


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
        # The last member of a bucket borders on the next one: changing places with it and moving the boundary
        # leaves all other members where they are.
        if position != last:
            swap(store, position, last)
        store.start[row + b + 1] = last
        position = last
        b += 1
    # The span only widens here; `retotal` narrows it again.
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
    # λ has moved since the member was put where it is, so its d may belong to a neighbouring bucket by now.
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
        multiplier = group(store, g).multiplier
        store.ref[h * N_BUCKETS + b] = multiplier
        # Floor and ceiling bound the windows of all buckets: between them every series holds, which two
        # comparisons check.
        low = lower_end(b, fineness(q))
        group(store, g).floor = max(group(store, g).floor, multiplier - reach(q) * low)
        group(store, g).ceiling = min(group(store, g).ceiling, multiplier + headroom(q) * low)
    least = least_after(store, h, q, b, s)
    # The bound of a bucket that was empty is out of date, whichever side it errs on.
    if count == 1 or least < store.least[h * N_BUCKETS + b]:
        set_least(store, g, h, q, b, least, count)
    add_moments(store, h, q, b, store.ref[h * N_BUCKETS + b] + s, 1.0)


@inlined()
def least_after(store, h, q, b, s):
    """The least d that a member of bucket b with sum s can have before the next refresh."""
    return (store.ref[h * N_BUCKETS + b] + s) - reach(q) * lower_end(b, fineness(q))


@inlined()
def extremes(store, g, coordinate):
    """The least and the largest d of a coordinate until its bucket is refreshed or its own sum changes."""
    h, q, s = store.extra[g], store.power[g], store.key[coordinate]
    b = holding(store, h, store.place[coordinate], group(store, g).multiplier + s, fineness(q))
    least = least_after(store, h, q, b, s)
    return least, least + (reach(q) + headroom(q)) * lower_end(b, fineness(q))


@inlined()
def set_least(store, g, h, q, b, least, count):
    """Give bucket b, with `count` members, another bound on them, and the proposal weights that follow."""
    beside = h * N_BUCKETS + b
    cap = inverse_power(least, q)
    # Totals are changed rather than added up again; `proposal` tolerates their rounding errors.
    group(store, g).weight += count * (cap - store.cap[beside])
    group(store, g).root_weight += count * (1.0 / least - 1.0 / store.least[beside])
    store.least[beside] = least
    store.cap[beside] = cap


@internal(needs="buckets")
def make_room(store, g, h, s):
    """Let λ rise to where a coordinate with sum s has d = 1: none exceeds 1, so the solution is not below."""
    noinline()
    # Rounded upwards: d ≥ 1, however large s is.
    group(store, g).multiplier = (1.0 - s) + 1e-15 * abs(1.0 - s)
    refresh(store, g, h)


@inlined(needs="buckets")
def change_power_sum(store, g, h, q, coordinate, before, after):
    """Give a coordinate another sum, in the bucket where it then belongs; q may be a constant."""
    fine = fineness(q)
    # It may even be beyond its pole; less, and the lowest series takes it.
    if group(store, g).multiplier + after < 1.0 - reach(q):
        make_room(store, g, h, after)
    multiplier = group(store, g).multiplier
    position = store.place[coordinate]
    b = holding(store, h, position, multiplier + before, fine)
    target = bucket_of(multiplier + after, fine)
    # Lower than all others: the series must be centred where that is near, beside a d that small.
    if target < b and target < store.span[2 * h]:
        recenter(store, g, h)
    # Sums are kept twice: by coordinate for estimates, by position so that sampling and refreshing read
    # memory in one place.
    store.key[coordinate] = after
    store.sum_at[position] = after
    d_before, d_after = multiplier + before, multiplier + after
    x_before = x_after = 0.0
    if q != 2.0:
        x_before, x_after = fast_power(store, h, q, d_before), fast_power(store, h, q, d_after)
    change_series(store, h, q, multiplier, d_before, d_after, x_before, x_after)
    row = h * (N_BUCKETS + 1)
    count = store.start[row + b + 1] - store.start[row + b]
    # The frequent case: the reference of the bucket stays valid, and its least d where that of the member grows.
    if target == b and count > 1:
        beside = h * N_BUCKETS + b
        if after < before:
            least = least_after(store, h, q, b, after)
            if least < store.least[beside]:
                set_least(store, g, h, q, b, least, count)
        r = store.ref[beside] - multiplier
        at = moments_of(h, b)
        store.inverse[beside] += replace_in(
            store, h, q, store.moments, at, store.carry, beside, d_before, d_after, r, x_before, x_after
        )
        return
    # A sole member leaves and comes back even if its bucket stays the same: `admit` then starts from moments
    # that are exactly zero, and from the present λ.
    add_moments(store, h, q, b, store.ref[h * N_BUCKETS + b] + before, -1.0)
    if target != b:
        if target > b:
            raise_member(store, h, position, b, target)
        else:
            lower_member(store, h, position, b, target)
        there, here = h * N_BUCKETS + target, h * N_BUCKETS + b
        # With the cap that the target has now; where the newcomer needs another, `admit` corrects for all
        # members.
        group(store, g).weight += store.cap[there] - store.cap[here]
        group(store, g).root_weight += 1.0 / store.least[there] - 1.0 / store.least[here]
        if store.start[row + b + 1] == store.start[row + b]:
            # What subtraction left is rounding; in an empty bucket it would stay for ever.
            clear_moments(store, h, b)
    admit(store, g, h, q, target, after)


@inlined()
def has_left(store, g):
    """Has λ left the window of some bucket?"""
    own = group(store, g)
    return own.multiplier < own.floor or own.multiplier > own.ceiling


@internal(needs="buckets")
def refresh(store, g, h):
    """Bring every bucket whose window λ has left up to date, from the highest to the lowest; λ may be anywhere."""
    noinline()
    q = store.power[g]
    fine = fineness(q)
    multiplier = group(store, g).multiplier
    row = h * (N_BUCKETS + 1)
    # From high to low: whoever falls out of a bucket is in place before a lower bucket is recounted, and
    # buckets that were empty until now still lie ahead.
    b = store.span[2 * h + 1] + 1
    while b > store.span[2 * h]:  # the span may widen downwards on the way
        b -= 1
        if store.start[row + b] == store.start[row + b + 1]:
            continue
        low, ref = lower_end(b, fine), store.ref[h * N_BUCKETS + b]
        if ref - reach(q) * low <= multiplier <= ref + headroom(q) * low:
            continue
        high = lower_end(b + 1, fine) if b + 1 < N_BUCKETS else math.inf
        position = store.start[row + b]
        while position < store.start[row + b + 1]:
            s = store.sum_at[position]
            if not low <= multiplier + s < high:
                target = bucket_of(multiplier + s, fine)
                if target < b:
                    lower_member(store, h, position, b, target)
                elif target > b:
                    raise_member(store, h, position, b, target)
                    position -= 1
                if target != b:
                    admit(store, g, h, q, target, s)
                    store.renewed[h * N_BUCKETS + target] = max(store.renewed[h * N_BUCKETS + target], 1)
            # The place of a member that moved down was taken by the first of the bucket, which has been looked at
            # already, and that of one that moved up by the last, which has not.
            position += 1
        recount(store, g, h, b)
        # Exploration that follows the distribution is kept up to a factor that only lasts until a refresh
        # (`round.spread`), so its owner has to know.
        store.renewed[h * N_BUCKETS + b] += 1
    store.series[h * N_SERIES + RENEWED] = 1.0
    retotal(store, g, h)
    recenter(store, g, h)


@inlined()
def recount(store, g, h, b):
    """Moments of bucket b around the present λ, summed in short runs so that rounding stays small; its least d."""
    q = store.power[g]
    row = h * (N_BUCKETS + 1)
    multiplier = group(store, g).multiplier
    clear_moments(store, h, b)
    store.ref[h * N_BUCKETS + b] = multiplier
    at = moments_of(h, b)
    position = store.start[row + b]
    last = store.start[row + b + 1]
    least = math.inf
    while position < last:
        # A million equal terms in one running sum would be off by 1e−12; in runs of 512 the error is 3e−14.
        stop = min(position + 512, last)
        least = min(least, least_of(store.sum_at, position, stop))
        a0, a1, a2, a3, a4, a5, a6, a7, inverse = raw_moments(store, q, multiplier, position, stop)
        store.moments[at] += a0
        add_scaled(store, h, q, store.moments, at, a1, a2, a3, a4, a5, a6, a7)
        store.inverse[h * N_BUCKETS + b] += inverse
        position = stop
    bound = lower_end(b, fineness(q)) * (1.0 - reach(q))  # of any member
    # The least sum gives a tighter bound than the edge of the bucket, so fewer proposals are rejected.
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
        # A comparison instead of min(): only this vectorises.
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
    """Recompute the span of non-empty buckets, floor and ceiling of λ and the total proposal weights."""
    q = store.power[g]
    fine = fineness(q)
    row = h * (N_BUCKETS + 1)
    floor, ceiling = -math.inf, math.inf
    weight = root_weight = 0.0
    lowest = -1
    highest = 0
    # Added up afresh, so rounding errors of the totals live no longer than until the next refresh.
    for b in range(store.span[2 * h], store.span[2 * h + 1] + 1):
        count = store.start[row + b + 1] - store.start[row + b]
        if count > 0:
            highest = b
            low, ref = lower_end(b, fine), store.ref[h * N_BUCKETS + b]
            if lowest < 0:
                lowest = b
                # The window of the series of all, which is about to be centred at λ, is that of the lowest.
                floor = group(store, g).multiplier - reach(q) * low
                ceiling = group(store, g).multiplier + headroom(q) * low
            floor = max(floor, ref - reach(q) * low)
            ceiling = min(ceiling, ref + headroom(q) * low)
            weight += count * store.cap[h * N_BUCKETS + b]
            root_weight += count / store.least[h * N_BUCKETS + b]
    store.span[2 * h] = lowest
    store.span[2 * h + 1] = highest
    group(store, g).floor = floor
    group(store, g).ceiling = ceiling
    group(store, g).weight = weight
    group(store, g).root_weight = root_weight


@internal(needs="buckets")
def sort_into_buckets(store, g, h):
    """Lay the group out afresh for its present λ, in O(n)."""
    noinline()
    q = store.power[g]
    fine = fineness(q)
    first, last = first_of(store, g), end_of(store, g)
    multiplier = group(store, g).multiplier
    row = h * (N_BUCKETS + 1)
    for b in range(N_BUCKETS + 1):
        store.start[row + b] = 0
    # A counting sort in place: sizes, then boundaries, then swaps that each bring one member home for good.
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
        store.renewed[h * N_BUCKETS + b] += 1
        recount(store, g, h, b)
    # All buckets, for `retotal` to narrow down.
    store.span[2 * h] = 0
    store.span[2 * h + 1] = N_BUCKETS - 1
    store.series[h * N_SERIES + RENEWED] = 1.0
    retotal(store, g, h)
    recenter(store, g, h)
