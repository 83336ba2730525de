"""Taking in what a play revealed: unbiased estimates, added to their sums, and the touched simplices moved.

One way for graphs of any shape, `learn_edges`, and faster ones for shapes that are frequent. `losses` are in engine
order (see `engine`).
"""

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset, prefetch
from sidelight.engine.exponential import SMALL, TINY, exp_nonpositive, small_exp, tiny_exp
from sidelight.engine.fields import (
    ADAPTIVE_TOTAL,
    ALL_OTHERS,
    DOMINANT,
    EVERYTHING,
    FIXED_TOTAL,
    GAMMA,
    GAMMA_SUM,
    OWN_BLOCK,
    OWN_LOSS,
    ROUND,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    TOP_PAID,
    WHOLE,
)
from sidelight.engine.round.indexing import (
    block_at,
    block_of,
    end_edge,
    end_slot,
    first_edge,
    first_slot,
    group_of,
    record_of,
    simplex_of,
    top_group_of,
)
from sidelight.engine.round.learn_single import LARGEST_ESTIMATE, learn_single
from sidelight.engine.round.prefetch import fetch_cached
from sidelight.engine.round.probabilities import block_value, seen_by_cached_mixture, seen_by_edges, varying
from sidelight.engine.round.spread import follow_spread
from sidelight.engine.simplex.move import add, move
from sidelight.engine.simplex.point import inverse_value, root_sum, value
from sidelight.engine.simplex.solve import solve
from sidelight.engine.simplex.store import (
    BASE,
    CHANGE,
    FACTOR,
    HELD,
    LOSS,
    PAID,
    RATE,
    SHARE,
    TOTAL,
    head,
)
from sidelight.engine.simplex.tree import tree_total
from sidelight.engine.simplex.weights import accept_weights, refill_weights, solve_weights

PIECE = 1024
"""Where everything is revealed, so many arms are dealt with at a time: their losses stay in the nearest cache."""


@inlined()
def learn(machine, state, store, slot, losses):
    """Take in what playing `slot` revealed and move to the next round."""
    rest = count_round(state)
    if machine.shape == OWN_LOSS:
        if losses[0] != 0.0:
            learn_own(machine, state, store, slot, losses[0], rest)
    elif machine.shape == OWN_BLOCK:
        learn_block(machine, state, store, slot, losses, rest)
    elif machine.shape == ALL_OTHERS or machine.shape == EVERYTHING:
        learn_all(machine, state, store, losses, rest)
    elif machine.single:
        learn_single(machine, state, store, slot, losses, rest)
    elif machine.cached_mixture:
        learn_by_cached_mixture(machine, state, store, slot, losses, rest)
    else:
        learn_edges(machine, state, store, slot, losses, rest)


@inlined()
def count_round(state):
    """Note that a round is over; return 1 − γ̄ of it."""
    state.numbers[GAMMA_SUM] += state.numbers[GAMMA]
    state.numbers[ROUND] += 1.0
    return 1.0 - state.numbers[GAMMA]


@inlined()
def learn_own(machine, state, store, slot, loss, rest):
    """`learn` where every arm is a singleton and reveals itself alone: a bandit."""
    g = top_group_of(machine, slot)
    if machine.n_fixed > 0:
        y = value(store, g, slot)
        guess = min(loss / (rest * y + machine.fixed[slot]), LARGEST_ESTIMATE)
        state.numbers[TOP_PAID] += y * guess
    else:  # nothing is explored: rest is 1
        guess = min(loss * inverse_value(store, g, slot), LARGEST_ESTIMATE)
        state.numbers[TOP_PAID] += loss
    move_top(machine, state, store, g, slot, guess)


@internal()
def learn_block(machine, state, store, slot, losses, rest):
    """`learn` where every block is a loop-less clique under the entropy: one pass over the block."""
    noinline()
    k = block_of(machine, slot)
    g = group_of(machine, k, slot)
    first, end = first_slot(machine, k), end_slot(machine, k)
    y = block_value(machine, store, k)
    whole = rest * y
    if machine.n_fixed > 0:
        whole += store.scalars[head(g) + HELD]
    loss = add_to_block(machine, state, store, g, first, end, losses, rest * y, whole)
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
    block_loss = paid = total = 0.0
    for i in range(end - first):
        c = coordinate + i
        inside = weights[c] * factor
        mixed = share * inside
        if any_local:
            mixed += local[first + i]
        seen = whole - y * mixed
        if any_fixed:
            seen -= fixed[first + i]
        guess = losses[i] / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
        block_loss += mixed * guess
        paid += inside * guess
        after = keys[c] + rate * guess
        keys[c] = after
        weight = exp_nonpositive(base - after)
        weights[c] = weight
        total += weight
    store.scalars[at + PAID] += paid
    store.scalars[at + TOTAL] = total
    return block_loss


@internal()
def learn_all(machine, state, store, losses, rest):
    """`learn` on a clique of singletons under one entropy, with loops or without: everything moves, in one pass.

    Weights are multiplied instead of written afresh from their sums: for small steps that takes a third of the
    time. An arm with more than half of the probability is rarely seen by others and takes large steps; there is
    at most one, and it is kept out of the pass. Every 256 rounds, and where other steps may be large too, all
    weights are written afresh, so rounding cannot pile up.
    """
    noinline()
    dominant = int(state.numbers[DOMINANT])
    loss = losses[dominant]
    losses[dominant] = 0.0
    largest = largest_step(machine, store, dominant, rest)
    weight = put_aside(store, dominant)
    total = 0.0
    for first in range(0, machine.n_arms, PIECE):
        size = min(machine.n_arms - first, PIECE)
        total += add_to_piece(machine, state, store, offset(losses, first), first, size, rest, largest)
    settle_all(machine, state, store, dominant, weight, loss, total, largest, rest)


@inlined()
def largest_step(machine, store, dominant, rest):
    """A bound on what a round can add to any sum but the dominant arm's.

    No weight is greater than 1, nor any other than what the dominant one leaves of the total.
    """
    most = min(1.0, store.scalars[TOTAL] - store.weight[dominant])
    share, fixed = unseen(machine, store, rest)
    return store.scalars[RATE] / max(1.0 - (share * most + fixed), 1.0 / LARGEST_ESTIMATE)


@inlined()
def unseen(machine, store, rest):
    """(share, fixed): an arm is not seen with probability share · weight + fixed, that of being played itself."""
    if machine.shape == EVERYTHING:
        return 0.0, 0.0
    return rest * store.scalars[FACTOR], machine.fixed[0] if machine.n_fixed > 0 else 0.0  # the same for all


@inlined()
def put_aside(store, dominant):
    """Keep an arm out of the coming pass over all weights; return its weight."""
    weight = store.weight[dominant]
    store.weight[dominant] = 0.0
    return weight


@inlined()
def settle_all(machine, state, store, dominant, weight, loss, total, largest, rest):
    """End of a round in which all weights were multiplied but the dominant one, which was put aside."""
    if loss > 0.0:
        share, fixed = unseen(machine, store, rest)
        seen = 1.0 - share * weight - fixed
        guess = min(loss / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
        state.numbers[TOP_PAID] += weight * store.scalars[FACTOR] * guess
        store.key[dominant] += store.scalars[RATE] * guess
        weight = exp_nonpositive(store.scalars[BASE] - store.key[dominant])
    store.weight[dominant] = weight
    store.scalars[TOTAL] = total + weight
    if largest > SMALL or int(state.numbers[ROUND]) & 255 == 0:
        refill_weights(store, 0)
        state.numbers[DOMINANT] = heaviest(store, machine.n_arms)
    accept_weights(store, 0)


@inlined()
def heaviest(store, n):
    """The coordinate with the largest weight."""
    best = 0
    for i in range(n):
        if store.weight[i] > store.weight[best]:
            best = i
    return best


@loop(fastmath={"contract", "reassoc", "nsz"})
def add_to_piece(machine, state, store, losses, first, size, rest, largest):
    """Add the estimates of a run of arms to their sums, multiply their weights; return the total of those.

    Which exponential does depends on the `largest` step; where none does, the weights are to be written afresh.
    """
    tiny = largest <= TINY
    factor, rate = store.scalars[FACTOR], store.scalars[RATE]
    share, fixed = unseen(machine, store, rest)
    keys, weights = offset(store.key, first), offset(store.weight, first)
    paid = total = 0.0
    for i in range(size):
        weight = weights[i]
        seen = 1.0 - (share * weight + fixed)
        if tiny:
            x = rate * losses[i] / seen
            shrunk = weight * tiny_exp(-x)
        else:
            x = rate * losses[i] / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
            shrunk = weight * small_exp(-x)
        keys[i] += x
        paid += weight * x
        weights[i] = shrunk
        total += shrunk
    state.numbers[TOP_PAID] += paid * (factor / rate)
    return total


@internal()
def learn_edges(machine, state, store, slot, losses, rest):
    """`learn` on any graph: one revealed arm after another."""
    noinline()
    begin = first_edge(machine, slot)
    n_explicit = end_edge(machine, slot) - begin
    n_touched = 0
    n_added = 0
    at = 0
    current = -1  # the block whose numbers are at hand: revealed arms tend to share one
    record = -1
    y = whole = 0.0
    # All estimates first: they use this round's distribution.
    for index in range(n_explicit + machine.n_universal):
        if index < n_explicit:
            v = machine.out_indices[begin + index]
        else:
            v = machine.universal[index - n_explicit]
            if v == slot and machine.seen_how[v] == SEEN_BY_OTHERS:
                continue  # it does not reveal itself
        loss = losses[at]
        at += 1
        if loss == 0.0:
            continue
        k = block_of(machine, v)
        g = group_of(machine, k, v)
        if k != current:
            current = k
            y = block_value(machine, store, k)
            if g >= 0:
                record = head(record_of(machine, k))
                whole = rest * y
                if machine.n_fixed > 0:
                    whole += store.scalars[record + HELD]
                if machine.n_adaptive > 0:
                    whole += machine.adaptive[k] * state.roots[k]
                if state.marked[k] == 0:
                    state.marked[k] = 1
                    state.touched[n_touched] = k
                    state.block_loss[k] = 0.0
                    n_touched += 1
        inside = mixed = 1.0
        if g >= 0:
            inside = value(store, g, machine.n_blocks + v)
            mixed = inside
            if machine.any_local:
                mixed = store.scalars[record + SHARE] * inside + machine.local[v]
        how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[v]
        if how == SEEN_BY_ALL:
            probability = 1.0
        elif how == SEEN_BY_EDGES:
            probability = seen_by_edges(machine, state, store, v, rest)
        else:
            probability = rest * y * mixed + varying(machine, state, store, v, k)
            if machine.n_fixed > 0:
                probability += machine.fixed[v]
            if how == SEEN_BY_BLOCK:
                probability = whole - probability
            elif how == SEEN_BY_OTHERS:
                probability = 1.0 - probability
        guess = min(loss / probability, LARGEST_ESTIMATE) if probability > 0.0 else LARGEST_ESTIMATE
        if g >= 0:
            state.block_loss[k] += mixed * guess
            store.scalars[record + PAID] += inside * guess
            state.owners[n_added] = g
            state.targets[n_added] = machine.n_blocks + v
        elif machine.n_blocks == 1:  # a single arm: nothing to choose
            state.numbers[TOP_PAID] += guess
            state.numbers[WHOLE] += guess
            continue
        else:  # a singleton: its estimate is its block's loss
            state.numbers[TOP_PAID] += y * guess
            g = top_group_of(machine, k)
            state.owners[n_added] = g
            state.targets[n_added] = k
        state.amounts[n_added] = guess * store.scalars[head(g) + RATE]
        n_added += 1
    if n_added > 0:
        settle(machine, state, store, n_touched, n_added)


@internal()
def learn_by_cached_mixture(machine, state, store, slot, losses, rest):
    """`learn` where all arms are seen along edges and X̃ is kept by slot.

    What lost is listed first, without a branch: whether an arm loses is hard to guess.
    """
    noinline()
    begin = first_edge(machine, slot)
    targets, amounts, scalars = state.targets, state.amounts, store.scalars
    per_block = 1.0 / machine.block_size
    n_lost = 0
    for index in range(end_edge(machine, slot) - begin):
        targets[n_lost] = machine.out_indices[begin + index]
        amounts[n_lost] = losses[index]
        n_lost += 1 if losses[index] != 0.0 else 0
    if machine.fetches:
        fetch_cached(machine, state, store, n_lost)
    for index in range(n_lost):
        seen = seen_by_cached_mixture(machine, state, store, targets[index], rest)
        amounts[index] = min(amounts[index] / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
    n_touched = 0
    for index in range(n_lost):
        v = targets[index]
        guess = amounts[index]
        k = block_at(machine.block_and_flag, per_block, v)
        record = head(record_of(machine, k))
        if scalars[record + CHANGE] == 0.0:
            scalars[record + CHANGE] = -1.0
            scalars[record + LOSS] = 0.0
            state.touched[n_touched] = k
            n_touched += 1
            if machine.fetches:
                prefetch(store.sum_at, store.place[k])
                prefetch(store.occupant, store.place[k])
        scalars[record + LOSS] += state.mixed[v] * guess
        c = machine.n_blocks + v
        scalars[record + PAID] += store.weight[c] * scalars[record + FACTOR] * guess
        store.key[c] += guess * scalars[record + RATE]
        store.weight[c] = exp_nonpositive(scalars[record + BASE] - store.key[c])
    for index in range(n_touched):
        k = state.touched[index]
        g = record_of(machine, k)
        first = machine.n_blocks + first_slot(machine, k)
        solve_weights(store, g, first, machine.n_blocks + end_slot(machine, k))
        write_block(machine, state, store, k)
        loss = scalars[head(g) + LOSS]
        state.numbers[TOP_PAID] += block_value(machine, store, k) * loss
        add(store, 0, k, loss * scalars[RATE])
    if n_touched > 0:
        solve(store, 0)


@inlined()
def write_block(machine, state, store, k):
    """Write out X̃ of block k."""
    first = first_slot(machine, k)
    record = head(record_of(machine, k))
    portion = store.scalars[record + FACTOR] * store.scalars[record + SHARE]
    weights, mixed, local, c = store.weight, state.mixed, machine.local, machine.n_blocks + first
    if machine.any_local:
        for i in range(end_slot(machine, k) - first):
            mixed[first + i] = weights[c + i] * portion + local[first + i]
    else:
        for i in range(end_slot(machine, k) - first):
            mixed[first + i] = weights[c + i] * portion


@inlined()
def settle(machine, state, store, n_touched, n_added):
    """Add this round's estimates to their sums, and move the touched simplices to their new points."""
    n_inside = n_added
    for index in range(n_touched):
        k = state.touched[index]
        state.marked[k] = 0
        loss = state.block_loss[k]
        y = block_value(machine, store, k)
        state.numbers[TOP_PAID] += y * loss
        if machine.n_blocks == 1:
            state.numbers[WHOLE] += loss
        else:
            g = top_group_of(machine, k)
            state.owners[n_added] = g
            state.targets[n_added] = k
            state.amounts[n_added] = loss * store.scalars[head(g) + RATE]
            n_added += 1
    for index in range(n_added):
        add(store, state.owners[index], state.targets[index], state.amounts[index])
    n_simplices = n_touched + (1 if machine.n_blocks > 1 else 0)
    varies = False
    for index in range(n_simplices):
        if index == n_touched:
            solve(store, 0)
        else:
            k = state.touched[index]
            solve(store, simplex_of(machine, k))
            if machine.n_adaptive > 0 and machine.adaptive[k] > 0.0:
                varies = True
                state.roots[k] = root_sum(store, record_of(machine, k))
            if machine.any_spread and machine.spread[k] > 0.0:
                varies = True
                follow_spread(machine, state, store, k, owed_group(machine, store, k), n_inside)
    if varies:
        total_exploration(machine, state)


@inlined()
def settle_top(machine, state, store, k, y, loss):
    """`settle` for a block that is already at its new point."""
    state.numbers[TOP_PAID] += y * loss
    if machine.n_blocks == 1:
        state.numbers[WHOLE] += loss
        return
    move_top(machine, state, store, top_group_of(machine, k), k, loss)


@inlined()
def move_top(machine, state, store, g, k, loss):
    """Move the top simplex by the loss of one block, in group g."""
    amount = loss * store.scalars[head(g) + RATE]
    if machine.n_top_groups > 1:
        add(store, g, k, amount)
        solve(store, 0)
        return
    state.targets[0] = k
    state.amounts[0] = amount
    move(store, 0, state.targets, state.amounts, 1)


@inlined()
def owed_group(machine, store, k):
    """The group of block k that is explored for: all of it, or the first of its groups."""
    return store.first_group[simplex_of(machine, k)]


@inlined()
def total_exploration(machine, state):
    """γ̄ after the varying parts have changed."""
    total = 0.0
    for index in range(machine.n_adaptive):
        block = machine.adaptive_blocks[index]
        total += machine.adaptive[block] * state.roots[block]
    state.numbers[ADAPTIVE_TOTAL] = total
    if machine.any_spread:
        total += tree_total(machine.n_arms, state.spread_node, 0)
    state.numbers[GAMMA] = state.numbers[FIXED_TOTAL] + total
