"""`learn` where all arms share one simplex: what `sl.plan` returns by default on most graphs.

Coordinate 1 + i is slot i. The loss of slot v is seen with probability

    P_v = (1 − γ̄) Σ_{u ∈ Nin(v)} X_u + Σ_{u ∈ Nin(v)} γ_u,

the first sum from weights (entropy) or sums (Tsallis) of the in-neighbours, the second from what is kept for constant
exploration (`seen_fixed`) and from what varies. Arms whose loss is not the shift are listed first, since others do
not move, and without a branch, since the processor cannot predict coins.
"""

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.round.indexing import in_edges, out_edges
from sidelight.engine.round.prefetch import fetch_lost
from sidelight.engine.round.spread import follow_spread
from sidelight.engine.simplex.moments import FUSED, fast_power, inverse_power
from sidelight.engine.simplex.point import is_entropy, move_weights
from sidelight.engine.simplex.solve import move, move_rooted
from sidelight.engine.simplex.store import POWER_BUCKETS, group
from sidelight.engine.simplex.tree import tree_total

LARGEST_ESTIMATE = 1e300
"""Estimates are capped here so that a vanished probability times a huge estimate is 0, never NaN."""
TERMS = 256
"""Size of the buffer of numbers whose powers are taken together; more only if one arm has more in-neighbours."""


@internal()
def learn_single(machine, state, store, slot, losses, rest):
    """Take in what playing `slot` revealed."""
    noinline()
    targets, amounts = state.targets, state.amounts
    row = out_edges(machine, slot)
    n_lost = 0
    shift = state.shift
    # Always written, and overwritten by the next unless the arm moves.
    for index in range(len(row)):
        targets[n_lost] = machine.out_indices[row.start + index]
        amounts[n_lost] = losses[index] - shift
        n_lost += 1 if losses[index] != shift else 0
    if n_lost == 0:
        return
    # All addresses are known by now: one wait for memory instead of one per arm.
    if machine.fetches:
        fetch_lost(machine, state, store, n_lost)
    # All estimates before any sum moves: they use this round's distribution.
    if is_entropy(store, 0):
        paid = estimate_by_weights(machine, state, store, n_lost, rest)
    elif store.power[0] == 2.0:
        paid = estimate_by_squares(machine, state, store, n_lost, rest)
    else:
        paid = estimate_by_powers(machine, state, store, n_lost, rest)
    # One block: what it pays inside, what the top pays and its whole loss are the same number.
    group(store, 0).paid += paid
    state.top_paid += paid
    state.whole += paid
    if is_entropy(store, 0):
        move_weights(store, 0, targets, amounts, state.changed, n_lost)
    elif machine.n_adaptive > 0:
        state.roots[0] = move_rooted(store, 0, targets, amounts, n_lost)
        state.adaptive_total = machine.adaptive[0] * state.roots[0]
    else:
        move(store, 0, targets, amounts, n_lost)
    # After the move: the exploration of the next round follows its distribution.
    if machine.any_spread and (machine.spread[0] > 0.0 or state.floor > 0.0):
        follow_spread(machine, state, store, 0, 0, n_lost)
    total = state.fixed_total + state.adaptive_total
    if machine.any_spread:
        total += tree_total(machine.n_arms, state.spread_node, 0)
    state.gamma = total


@inlined()
def estimate_of(amount, seen):
    """(ℓ − c)/P of an arm that was seen."""
    # P > 0 in exact arithmetic, as the arm has just been seen; it may underflow all the same.
    if not seen > 0.0:
        return LARGEST_ESTIMATE if amount > 0.0 else 0.0
    return min(max(amount / seen, -LARGEST_ESTIMATE), LARGEST_ESTIMATE)


@inlined()
def take_down(state, store, index, v, x, seen):
    """From ℓ − c of slot v, seen with a probability, to what is added to its sum; return its part of ⟨X, ℓ̃⟩."""
    estimate = estimate_of(state.amounts[index], seen)
    state.targets[index] = v + 1
    state.amounts[index] = estimate * group(store, 0).rate
    state.owners[index] = 0
    return x * estimate


@inlined()
def explored_for(machine, state, store, v):
    """Σ of the exploration of all in-neighbours of slot v."""
    total = state.seen_fixed[v] if machine.n_fixed > 0 else 0.0
    row = in_edges(machine, v)
    if machine.any_spread:
        spreading = state.spreading
        for e in row:
            total += spreading[machine.in_indices[e]]
    if machine.n_adaptive > 0:
        # γ(u) = adaptive·Σ √X(i) over the arms i whose parent is u, and √X = 1/d for Tsallis-½.
        multiplier, roots = group(store, 0).multiplier, 0.0
        keys, starts, children = offset(store.key, 1), machine.child_start, machine.child
        for e in row:
            u = machine.in_indices[e]
            for c in range(starts[u], starts[u + 1]):
                roots += 1.0 / (multiplier + keys[children[c]])
        total += machine.adaptive[0] * roots
    return total


@inlined()
def estimate_by_weights(machine, state, store, n_lost, rest):
    """Estimates where X = factor · weight."""
    factor = group(store, 0).factor
    weights = offset(store.weight, 1)
    paid = 0.0
    for index in range(n_lost):
        v = state.targets[index]
        row = in_edges(machine, v)
        # The factor is taken out of the sum: one multiplication however many in-neighbours.
        total = gathered_sum(weights, offset(machine.in_indices, row.start), len(row))
        seen = rest * factor * total + explored_for(machine, state, store, v)
        paid += take_down(state, store, index, v, factor * weights[v], seen)
    return paid


@loop(fastmath={"contract", "reassoc", "nsz"})
def gathered_sum(cells, indices, count):
    """Σ of the cells with these indices."""
    total = 0.0
    for e in range(count):
        total += cells[indices[e]]
    return total


@inlined(fastmath=FUSED)
def estimate_by_squares(machine, state, store, n_lost, rest):
    """Estimates where X = d^(−2)."""
    multiplier = group(store, 0).multiplier
    keys, edges = offset(store.key, 1), machine.in_indices
    paid = 0.0
    for index in range(n_lost):
        v = state.targets[index]
        total = 0.0
        for e in in_edges(machine, v):
            d = multiplier + keys[edges[e]]
            total += 1.0 / (d * d)
        root = 1.0 / (multiplier + keys[v])
        seen = rest * total + explored_for(machine, state, store, v)
        paid += take_down(state, store, index, v, root * root, seen)
    return paid


@inlined()
def estimate_by_powers(machine, state, store, n_lost, rest):
    """Estimates where X = d^(−q): powers of all in-neighbours, and of the lost arms, are taken at once."""
    multiplier, q = group(store, 0).multiplier, store.power[0]
    keys, edges, terms = offset(store.key, 1), machine.in_indices, state.terms
    paid = 0.0
    done = 0
    # As many arms at a time as fit the buffer: independent powers overlap in the processor, while a power
    # followed by an addition each would wait for the other.
    while done < n_lost:
        n_terms = 0
        last = done
        while last < n_lost:
            v = state.targets[last]
            row = in_edges(machine, v)
            # An arm with more in-neighbours than TERMS goes alone; the buffer is large enough for any.
            if n_terms > 0 and n_terms + len(row) + 1 > TERMS:
                break
            for e in row:
                terms[n_terms] = multiplier + keys[edges[e]]
                n_terms += 1
            terms[n_terms] = multiplier + keys[v]
            n_terms += 1
            last += 1
        for i in range(n_terms):
            if store.form[0] == POWER_BUCKETS:
                terms[i] = fast_power(store, 0, q, terms[i])
            else:
                terms[i] = inverse_power(terms[i], q)
        at = 0
        for index in range(done, last):
            v = state.targets[index]
            total = 0.0
            for _ in in_edges(machine, v):
                total += terms[at]
                at += 1
            seen = rest * total + explored_for(machine, state, store, v)
            paid += take_down(state, store, index, v, terms[at], seen)
            at += 1
        done = last
    return paid
