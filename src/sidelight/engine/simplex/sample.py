"""Drawing a coordinate of a simplex with exactly its probability.

Bucketed groups by rejection (see `buckets`), listed ones by a running sum, trees from the root down.
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine._numba.pointers import prefetch
from sidelight.engine.random import next_unit
from sidelight.engine.simplex.moments import fast_power, inverse_power
from sidelight.engine.simplex.point import is_plain, root_sum, sum_weights
from sidelight.engine.simplex.store import (
    ENTROPY_LIST,
    ENTROPY_TREE,
    N_BUCKETS,
    POWER_BUCKETS,
    POWER_LIST,
    end_of,
    first_of,
    group,
)
from sidelight.engine.simplex.tree import draw_leaf

MOST_PROPOSALS = 100_000
"""More than a third are accepted; after so many in vain the bounds of the buckets are wrong, as in a forged file."""

STRIDE = 64
"""Weights are scanned in strides of this many: a stride is added up at once, and entered only at the end."""


@inlined(needs="buckets", gives=0)
def sample_buckets(store, g, h, words):
    """A coordinate of the group with probability ∝ x, exactly.

    One uniform decides everything: where it falls among the buckets, among the members of that bucket, and within
    the member's share of the proposal, of which the lowest part, of length x, is accepted.
    """
    for _ in range(MOST_PROPOSALS):
        # Exact for the present λ, however old the bounds: they only decide how many proposals are rejected.
        position, least, room, fraction = proposal(store, g, h, next_unit(words))
        if position >= 0:
            # Most proposals are accepted: the name of the member is on its way while the test is made.
            prefetch(store.occupant, position)
            if is_accepted(store, g, position, least, room, fraction):
                return store.occupant[position]
    return first_of(store, g)


@inlined(needs="buckets", gives=(0, 0.0, 0.0, 0.0))
def proposal(store, g, h, unit):
    """The position that a uniform proposes, −1 for none; least d and 1/cap of its bucket; where in its share."""
    row = h * (N_BUCKETS + 1)
    start, caps = store.start, store.cap
    at = h * N_BUCKETS
    # The total is kept by adding changes, so it may fall short by rounding. A hair too much makes the scan
    # run off the end now and then, and redrawing then biases nothing; too little would starve the last
    # bucket.
    target = unit * (group(store, g).weight * (1.0 + 1e-12))
    # The largest x are in the lowest bucket: once play has settled on few arms, the scan ends early.
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
    # The remainder of the target is uniform again, given bucket and member, and serves the acceptance test.
    index = max(0, min(int(target), end - first - 1))
    return first + index, least, room, target - index


@inlined()
def is_accepted(store, g, position, least, room, fraction):
    """Does x/cap exceed the fraction of a proposal?

    x/cap = (1 − y)^q with y = 1 − least/d, and (1 − y)^q ≥ 1 − q·y: that decides most proposals without a power.
    """
    d = group(store, g).multiplier + store.sum_at[position]
    q = store.power[g]
    if q == 2.0:
        return fraction * (d * d) < room
    return fraction * d < d - q * (d - least) or fraction < room * fast_power(store, store.extra[g], q, d)


@inlined(needs="buckets", gives=0)
def sample_root_buckets(store, g, h, words):
    """A coordinate of the group with probability ∝ 1/d = x^(1−h), exactly; one uniform decides, as above."""
    multiplier = group(store, g).multiplier
    for _ in range(MOST_PROPOSALS):
        position, least, fraction = root_proposal(store, g, h, next_unit(words))
        if position >= 0:
            prefetch(store.occupant, position)
            if fraction * (multiplier + store.sum_at[position]) < least:
                return store.occupant[position]
    return first_of(store, g)


@inlined(needs="buckets", gives=(0, 0.0, 0.0))
def root_proposal(store, g, h, unit):
    """`proposal` for `sample_root_buckets`: the cap of a bucket is 1/least."""
    row = h * (N_BUCKETS + 1)
    start, bounds = store.start, store.least
    at = h * N_BUCKETS
    target = unit * (group(store, g).root_weight * (1.0 + 1e-12))
    b, highest = store.span[2 * h], store.span[2 * h + 1]
    first, end = start[row + b], start[row + b + 1]
    least = bounds[at + b]
    # Multiplied out, so that going past a bucket is the only division.
    while target * least >= end - first and b < highest:
        target -= (end - first) / least
        b += 1
        first, end = end, start[row + b + 1]
        least = bounds[at + b]
    target *= least
    if target >= end - first:
        return -1, least, 0.0
    index = max(0, min(int(target), end - first - 1))
    return first + index, least, target - index


@inlined()
def draw(store, j, words):
    """`sample`, copied into the caller for the most frequent kinds of simplex."""
    g = store.first_group[j]
    if store.first_group[j + 1] - g == 1 and store.form[g] == POWER_BUCKETS:
        return sample_buckets(store, g, store.extra[g], words)
    if is_plain(store, j, POWER_LIST):
        return sample_list(store, g, 2.0, words)
    return sample(store, j, words)


@internal()
def sample(store, j, words):
    """A coordinate of simplex j with probability x, exactly."""
    noinline()
    g = store.first_group[j]
    last = store.first_group[j + 1]
    if last - g > 1:
        # The shares of the groups add up to 1 only within the tolerance of the solution.
        total = 0.0
        for other in range(g, last):
            total += group(store, other).mass
        target = next_unit(words) * total
        while g < last - 1:
            target -= group(store, g).mass
            if target < 0.0:
                break
            g += 1
    form = store.form[g]
    if form == POWER_BUCKETS:
        return sample_buckets(store, g, store.extra[g], words)
    first, end = first_of(store, g), end_of(store, g)
    if form == ENTROPY_LIST:
        return sample_weights(store.weight, first, end, next_unit(words) * group(store, g).total)
    if form == ENTROPY_TREE:
        return first + draw_leaf(store.weight, first, end - first, store.node, store.extra[g], words)
    return sample_list(store, g, store.power[g], words)


@inlined()
def sample_weights(weight, first, end, target):
    """The coordinate at which the running sum of the weights passes `target`; never one of weight zero."""
    # Adding up a stride vectorises; a running sum with a test at every step does not.
    while end - first > STRIDE:
        stride = sum_weights(weight, first, first + STRIDE)
        if target < stride:
            end = first + STRIDE
        else:
            target -= stride
            first += STRIDE
    for i in range(first, end):
        target -= weight[i]
        if target < 0.0:
            return i
    last = end - 1  # rounding has left some of the target
    while last > first and weight[last] == 0.0:
        last -= 1
    return last


@inlined()
def sample_list(store, g, q, words):
    """A coordinate of a listed Tsallis group with probability ∝ x; never one of probability zero."""
    first, end = first_of(store, g), end_of(store, g)
    multiplier = group(store, g).multiplier
    keys = store.key
    # MASS is 1 for a single group, else its share of the simplex.
    target = next_unit(words) * group(store, g).mass
    for i in range(first, end):
        target -= inverse_power(multiplier + keys[i], q)
        if target < 0.0:
            return i
    last = end - 1  # rounding has left some of the target
    while last > first and inverse_power(multiplier + keys[last], q) == 0.0:
        last -= 1
    return last


@inlined()
def sample_root(store, g, words):
    """A coordinate of a Tsallis group with probability ∝ 1/d = x^(1−h)."""
    if store.form[g] == POWER_BUCKETS:
        return sample_root_buckets(store, g, store.extra[g], words)
    multiplier = group(store, g).multiplier
    # Small enough for two passes; nothing is kept that would have to follow λ.
    target = next_unit(words) * root_sum(store, g)
    chosen = first_of(store, g)
    for i in range(first_of(store, g), end_of(store, g)):
        chosen = i
        target -= 1.0 / (multiplier + store.key[i])
        if target < 0.0:
            break
    return chosen
