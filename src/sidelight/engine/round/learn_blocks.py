"""`learn` for entropy blocks under one Tsallis-½ simplex: cliques, and small blocks seen along edges."""

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import prefetch
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.round.indexing import (
    block_at,
    block_of,
    end_edge,
    end_slot,
    first_edge,
    first_slot,
    group_of,
    record_of_block,
)
from sidelight.engine.round.learn_single import LARGEST_ESTIMATE
from sidelight.engine.round.prefetch import fetch_cached
from sidelight.engine.round.probabilities import block_value, seen_by_cached_mixture
from sidelight.engine.round.settle import settle_top
from sidelight.engine.simplex.move import add
from sidelight.engine.simplex.solve import solve
from sidelight.engine.simplex.store import BASE, CHANGE, FACTOR, HELD, LOSS, PAID, RATE, SHARE, TOTAL, head
from sidelight.engine.simplex.weights import accept_weights, solve_weights


@internal()
def learn_block(machine, state, store, slot, losses, rest):
    """`learn` where every block is a loop-less clique under the entropy: one pass over the block."""
    noinline()
    k = block_of(machine, slot)
    g = group_of(machine, k, slot)
    first, end = first_slot(machine, k), end_slot(machine, k)
    y = block_value(machine, store, k)
    # The probability of playing anything in the clique; an arm is seen if any other is played: P = whole − Z.
    whole = rest * y
    if machine.n_fixed > 0:
        whole += store.scalars[head(g) + HELD]
    loss = add_to_block(machine, state, store, g, first, end, losses, rest * y, whole)
    # If nothing was lost, the same weights have been written again and the point stays as it is.
    if loss > 0.0:
        accept_weights(store, g)
        settle_top(machine, state, store, k, y, loss)


@loop(fastmath={"contract", "reassoc", "nsz"})
def add_to_block(machine, state, store, g, first, end, losses, y, whole):
    """Add the estimates of a clique to their sums, write its weights and their total; return Σ X̃·ℓ̂, its loss."""
    at = head(g)
    factor, share, rate = store.scalars[at + FACTOR], store.scalars[at + SHARE], store.scalars[at + RATE]
    base = store.scalars[at + BASE]
    keys, weights, local, fixed = store.key, store.weight, machine.local, machine.fixed
    any_local, any_fixed, coordinate = machine.any_local, machine.n_fixed > 0, machine.n_blocks + first
    # Where all blocks explore alike, the first block's numbers do for all and stay in the cache.
    alike = 0 if machine.even else first
    block_loss = paid = total = 0.0
    for i in range(end - first):
        c = coordinate + i
        inside = weights[c] * factor
        mixed = share * inside
        if any_local:
            mixed += local[alike + i]
        seen = whole - y * mixed
        if any_fixed:
            seen -= fixed[alike + i]
        # Zero losses are not skipped: a branch would keep the loop from vectorising, and blocks are small.
        estimate = losses[i] / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
        # The block is charged with what it plays, X̃; the regret inside it is measured with X.
        block_loss += mixed * estimate
        paid += inside * estimate
        after = keys[c] + rate * estimate
        keys[c] = after
        weight = exp_nonpositive(base - after)
        weights[c] = weight
        total += weight
    store.scalars[at + PAID] += paid
    store.scalars[at + TOTAL] = total
    return block_loss


@internal()
def learn_by_cached_mixture(machine, state, store, slot, losses, rest):
    """`learn` where all arms are seen along edges and X̃ is kept by slot.

    Arms with a positive loss are listed first; a loss of 0 changes nothing.
    """
    noinline()
    begin = first_edge(machine, slot)
    targets, amounts, scalars = state.targets, state.amounts, store.scalars
    per_block = 1.0 / machine.block_size
    n_lost = 0
    # Writing always and advancing only after a loss replaces a branch that the processor cannot predict.
    for index in range(end_edge(machine, slot) - begin):
        targets[n_lost] = machine.out_indices[begin + index]
        amounts[n_lost] = losses[index]
        n_lost += 1 if losses[index] != 0.0 else 0
    if machine.fetches:
        fetch_cached(machine, state, store, n_lost)
    # All probabilities before any weight changes: estimates use this round's distribution.
    for index in range(n_lost):
        seen = seen_by_cached_mixture(machine, state, store, targets[index], rest)
        amounts[index] = min(amounts[index] / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
    n_touched = 0
    for index in range(n_lost):
        v = targets[index]
        estimate = amounts[index]
        k = block_at(machine.block_and_flag, per_block, v)
        record = head(record_of_block(machine, k))
        # The stale mark doubles as "already listed"; `solve_weights` clears it.
        if scalars[record + CHANGE] == 0.0:
            scalars[record + CHANGE] = -1.0
            scalars[record + LOSS] = 0.0
            state.touched[n_touched] = k
            n_touched += 1
            if machine.fetches:
                prefetch(store.sum_at, store.place[k])
                prefetch(store.occupant, store.place[k])
        scalars[record + LOSS] += state.mixed[v] * estimate
        c = machine.n_blocks + v
        # Before the weight changes. The factor is that of this round until `solve_weights`, so other arms of
        # the block keep theirs.
        scalars[record + PAID] += store.weight[c] * scalars[record + FACTOR] * estimate
        store.key[c] += estimate * scalars[record + RATE]
        store.weight[c] = exp_nonpositive(scalars[record + BASE] - store.key[c])
    for index in range(n_touched):
        k = state.touched[index]
        g = record_of_block(machine, k)
        first = machine.n_blocks + first_slot(machine, k)
        solve_weights(store, g, first, machine.n_blocks + end_slot(machine, k))
        write_block(machine, state, store, k)
        loss = scalars[head(g) + LOSS]
        # Y_k before its sum changes; Y of later blocks is still this round's, as λ only moves in `solve`.
        state.top_paid += block_value(machine, store, k) * loss
        add(store, 0, k, loss * scalars[RATE])
    if n_touched > 0:
        solve(store, 0)


@inlined()
def write_block(machine, state, store, k):
    """Write out X̃ of block k."""
    first = first_slot(machine, k)
    record = head(record_of_block(machine, k))
    # One read per in-neighbour when probabilities are added up, instead of weight, factor and exploration.
    portion = store.scalars[record + FACTOR] * store.scalars[record + SHARE]
    weights, mixed, local, c = store.weight, state.mixed, machine.local, machine.n_blocks + first
    if machine.any_local:
        for i in range(end_slot(machine, k) - first):
            mixed[first + i] = weights[c + i] * portion + local[first + i]
    else:
        for i in range(end_slot(machine, k) - first):
            mixed[first + i] = weights[c + i] * portion
