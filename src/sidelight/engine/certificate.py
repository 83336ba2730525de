"""What a policy can say about its own regret, from its sums alone.

For any potential Φ, sums S and comparator u:  −⟨S, u⟩ ≤ Φ(u) − min_x [Φ(x) + ⟨S, x⟩]. With Φ the potential that a
simplex plays, S the sums of its estimates and Σ⟨ℓ̂, x⟩ what it paid, this bounds its part of the ledger. Nothing is
accumulated for it: minimum and payments are in the store. Proof and meaning: docs/theory/certificate.md.
"""

import math

from sidelight.engine._numba.jit import inlined, kernel
from sidelight.engine.fields import opened
from sidelight.engine.round.indexing import block_of, group_of, record_of_block, simplex_of, top_group_of
from sidelight.engine.simplex.buckets import fineness, lower_end
from sidelight.engine.simplex.moments import inverse_power, moments_of
from sidelight.engine.simplex.point import is_entropy, root_sum
from sidelight.engine.simplex.store import N_BUCKETS, N_MOMENTS, POWER_BUCKETS, end_of, first_of, group


@inlined()
def power_sum(store, g):
    """Σ x^h over a Tsallis group: x^h = x·d, as x = d^(−q) and 1 − h = 1/q."""
    q = store.power[g]
    # h = ½: Σ √x, which buckets keep as a series.
    if q == 2.0:
        return root_sum(store, g)
    multiplier = group(store, g).multiplier
    if store.form[g] == POWER_BUCKETS and q > 2.0:  # then buckets are narrow
        return power_sum_buckets(store, g, store.extra[g], multiplier)
    total = 0.0
    for i in range(first_of(store, g), end_of(store, g)):
        d = multiplier + store.key[i]
        total += d * inverse_power(d, q)
    return total


@inlined(needs="buckets", gives=0.0)
def power_sum_buckets(store, g, h, multiplier):
    """Σ d^(1−q) from the moments of the buckets, to about 10⁻⁷; the last bucket, which has no end, one by one."""
    q = store.power[g]
    fine = fineness(q)
    row = h * (N_BUCKETS + 1)
    total = 0.0
    for b in range(store.span[2 * h], min(store.span[2 * h + 1] + 1, N_BUCKETS - 1)):
        if store.start[row + b] < store.start[row + b + 1]:
            center = 0.5 * (1.0 / lower_end(b, fine) + 1.0 / lower_end(b + 1, fine))
            total += power_sum_bucket(store, h, b, q, multiplier, center)
    # Its u = 1/d ranges down to 0, so no single centre serves it.
    for position in range(store.start[row + N_BUCKETS - 1], store.start[row + N_BUCKETS]):
        d = multiplier + store.sum_at[position]
        total += d * inverse_power(d, q)
    return total


@inlined()
def power_sum_bucket(store, h, b, q, multiplier, center):
    """Σ d^(1−q) over bucket b, in which u = 1/d is near `center`.

    At its reference, Σ u^q/u with 1/u ≈ (1/c)·Σ_{k<8} (1 − u/c)^k: a combination of the moments Σ u^(q+j).
    From there to λ the derivative is (q−1)·Σ u^q, a series in the same moments.
    """
    moments = store.moments
    at = moments_of(h, b)
    r = store.ref[h * N_BUCKETS + b] - multiplier
    near = shift = 0.0
    weight = float(N_MOMENTS) / center  # (−1)^j·C(8, j+1)/c^(j+1)
    power = r
    for j in range(N_MOMENTS):
        # Stored moments carry the binomial of the Taylor series; here the bare sums Σ u^(q+j) are needed.
        near += weight * moments[at + j] / store.binomial[h * N_MOMENTS + j]
        # ∫ F_b over the window, term by term.
        shift += power * moments[at + j] / (j + 1.0)
        weight *= -(N_MOMENTS - 1.0 - j) / ((j + 2.0) * center)
        power *= r
    return near + (q - 1.0) * shift


@inlined()
def height(store, j):
    """−min_x [Φ(x) + ⟨S, x⟩] on simplex j: its dual, Λ + Σ x^h/(hη) with mass/η for entropy groups."""
    first, last = store.first_group[j], store.first_group[j + 1]
    own = group(store, first)
    # Log-sum-exp: the dual of entropy on the simplex. Through Λ it would be the same number with more
    # rounding.
    if last - first == 1 and is_entropy(store, first):
        return (math.log(own.total) - own.base + own.shift) / own.rate
    # Λ of the true sums: offset, shift and rate undone, any group gives the same.
    total = (own.multiplier - store.offset[first] + own.shift) / own.rate
    for g in range(first, last):
        rate = group(store, g).rate
        if is_entropy(store, g):
            total += group(store, g).mass / rate
        else:
            # hη in the group's own terms: rate·(q − 1), as rates of the store contain (1 − h).
            total += power_sum(store, g) / (rate * (store.power[g] - 1.0))
    return total


@inlined()
def corner(store, g):
    """Φ at a corner of group g, with the line beside it: −1/(h(1−h)η) and that, 0 for entropy."""
    q, rate = store.power[g], group(store, g).rate
    return 0.0 if is_entropy(store, g) else (store.offset[g] - q / (q - 1.0)) / rate


@inlined()
def is_single(machine, k):
    """Is block k one arm?"""
    return machine.singletons or (not machine.plain_blocks and machine.block_group[k] == -1)


@inlined()
def inside_height(machine, store, k):
    """What block k paid inside, plus its height; 0 for a singleton."""
    if is_single(machine, k):
        return 0.0
    return group(store, record_of_block(machine, k)).paid + height(store, simplex_of(machine, k))


@inlined()
def highest_corner(machine, store, k):
    """The largest Φ at a corner of block k; 0 for a singleton."""
    if is_single(machine, k):
        return 0.0
    j = simplex_of(machine, k)
    best = -math.inf
    # The bound must hold against every arm of the block, so the highest corner counts.
    for g in range(store.first_group[j], store.first_group[j + 1]):
        best = max(best, corner(store, g))
    return best


@inlined()
def write_terms(machine, state, store, k, top, restriction, out):
    """The four terms against an arm of block k; `top` is what the top level paid, plus its height."""
    # The inequality would still charge the diameter of the potential.
    if state.round == 0.0:  # no rounds, no regret
        out[0] = out[1] = out[2] = out[3] = 0.0
        return
    # One block is no choice: no projection regret.
    out[0] = top + corner(store, top_group_of(machine, k)) if machine.n_blocks > 1 else 0.0
    out[1] = restriction
    out[2] = state.exploration_cost
    out[3] = 0.0
    if not is_single(machine, k):
        out[3] = (1.0 - group(store, record_of_block(machine, k)).share) * state.round


@inlined()
def top_height(machine, state, store):
    """What the top level paid, plus its height; 0 where there is none."""
    return state.top_paid + height(store, 0) if machine.n_blocks > 1 else 0.0


@kernel()
def certify_worst(memory, out, spare):
    """Upper bounds on the four parts of the ledger, into out[0:4], against the arm with the largest sum of them.

    `spare` is scratch for four numbers. O(blocks), and O(arms) for Tsallis potentials other than −√x.
    """
    machine, state, store = opened(memory)
    # The same for every block: one comparison with the whole top level.
    top = top_height(machine, state, store)
    best = -math.inf
    for k in range(machine.n_blocks):
        # All arms of a group have the same corner and share everything else, so blocks are enough.
        restriction = inside_height(machine, store, k) + highest_corner(machine, store, k)
        write_terms(machine, state, store, k, top, restriction, spare)
        total = spare[0] + spare[1] + spare[2] + spare[3]
        if not total <= best:  # NaN counts as the largest
            best = total
            for i in range(4):
                out[i] = spare[i]


@kernel()
def certify_arm(memory, arm, out):
    """Upper bounds on the four parts of the ledger against `arm`, into out[0:4]."""
    machine, state, store = opened(memory)
    slot = machine.slot_of[arm]
    k = block_of(machine, slot)
    g = group_of(machine, k, slot)
    restriction = inside_height(machine, store, k) + (corner(store, g) if g >= 0 else 0.0)
    write_terms(machine, state, store, k, top_height(machine, state, store), restriction, out)
