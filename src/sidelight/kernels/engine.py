"""One round of two-level mirror descent on a partitioned feedback graph.

The machine is a tree of depth two: a simplex over the blocks on top, a simplex inside every block of two or
more arms. Arms are addressed by *slot*, their position when blocks are laid out one after another. With Y
and X_k the points of those simplices, slot j of block k is played with probability

    Z(j) = (1 − γ̄) · Y_k · X̃_k(j) + γ(j),       X̃_k = (1 − ᾱ_k) X_k + local(j),
    γ(j) = fixed(j) + adaptive_k · Σ_{i : parent(i) = j} √X_k(i) + spread(j),     γ̄ = Σ_j γ(j).

`ask` draws from Z without writing it out; `learn` forms the unbiased estimates ℓ/P of what the played arm
revealed and moves only the simplices they touch, so a round costs what was revealed and the in-degrees of
that, not the number of arms. Simulation and the one-decision-at-a-time policy both call these two functions,
so the same seed gives the same play either way.

`losses` are always in *engine order*. In general: the explicit out-neighbours of the arm in the order of its
row, then the universal arms, without the arm itself when it has no loop. Where every play reveals its own block,
or everything, but itself, whole runs of slots are revealed: then one loss for each of them, 0 for the arm itself.
Where every play reveals everything, one loss for each slot.
"""

import numpy as np
from numba import uint64

from sidelight.kernels._jit import apart, kernel, routine, step
from sidelight.kernels.alias import draw_alias, draw_evenly
from sidelight.kernels.buckets import FUSED, proposal, root_proposal
from sidelight.kernels.exponential import SMALL, TINY, exp_nonpositive, small_exp, tiny_exp
from sidelight.kernels.memory import (
    ADAPTIVE_TOTAL,
    ALL_OTHERS,
    EVERYTHING,
    FIXED_TOTAL,
    GAMMA,
    GAMMA_SUM,
    HEAVY,
    MANY_SHAPES,
    OWN_BLOCK,
    OWN_LOSS,
    PENDING,
    ROUND,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    TOP_PAID,
    WHOLE,
    unpack,
)
from sidelight.kernels.pointers import cells, fetch, onward, refer
from sidelight.kernels.random import DRAWS, START, TURN, coming_unit, next_turn, next_unit
from sidelight.kernels.simplex import (
    accept_weights,
    add,
    draw,
    inverse_value,
    move,
    rebuild,
    refill_weights,
    root_sum,
    sample,
    sample_root,
    sample_weights,
    solve,
    solve_weights,
    value,
)
from sidelight.kernels.spread import follow_spread, renew_block_spread
from sidelight.kernels.store import (
    BASE,
    CHANGE,
    FACTOR,
    HELD,
    LAMBDA,
    LOSS,
    PAID,
    RATE,
    SHARE,
    SHIFT,
    TOTAL,
    head,
)
from sidelight.kernels.tree import draw_leaf, tree_total

LARGEST_ESTIMATE = 1e300
"""Estimates are capped here so that a vanished probability times a huge estimate is 0, never NaN."""
PIECE = 1024
"""Where everything is revealed, so many arms are dealt with at a time: their losses stay in the nearest cache."""


# -- where things are ----------------------------------------------------------------------------------
# Each array read at random is a cache miss on a large graph; switches spare those that say nothing.


@step()
def arm_at(machine, slot):
    """The arm in a slot."""
    return slot if machine.in_order else machine.arm_at[slot]


@step()
def block_of(machine, slot):
    """The block of a slot."""
    if machine.n_blocks == 1:
        return 0
    if machine.shape == OWN_BLOCK and machine.block_size > 0:
        return slot // machine.block_size
    return slot if machine.singletons else machine.home[slot] >> 1


@step()
def group_of(machine, k, slot):
    """The group of a slot's coordinate inside block k, −1 for a singleton."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    if machine.singletons:
        return -1
    g = machine.block_group[k]
    return g if g >= -1 else machine.slot_group[slot]


@step()
def record_of(machine, k):
    """The group that keeps the owner's numbers of block k (not a singleton)."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    g = machine.block_group[k]
    return g if g >= -1 else -2 - g


@step()
def simplex_of(machine, k):
    """The simplex inside block k (not a singleton)."""
    if machine.plain_blocks:
        return k + (1 if machine.n_blocks > 1 else 0)
    return machine.block_simplex[k]


@step()
def top_group_of(machine, k):
    """The group of block k's coordinate on the top level."""
    return 0 if machine.n_top_groups == 1 else machine.top_group[k]


@step()
def first_edge(machine, slot):
    """Where the explicit out-neighbours of a slot begin."""
    return slot * machine.degree if machine.degree >= 0 else machine.out_indptr[slot]


@step()
def end_edge(machine, slot):
    """Where they end."""
    return (slot + 1) * machine.degree if machine.degree >= 0 else machine.out_indptr[slot + 1]


@step()
def first_in_edge(machine, slot):
    """Where the explicit in-neighbours of a slot begin."""
    return slot * machine.in_degree if machine.in_degree >= 0 else machine.in_indptr[slot]


@step()
def end_in_edge(machine, slot):
    """Where they end."""
    return (slot + 1) * machine.in_degree if machine.in_degree >= 0 else machine.in_indptr[slot + 1]


@step()
def first_slot(machine, k):
    """The first slot of block k."""
    return k * machine.block_size if machine.block_size >= 0 else machine.block_start[k]


@step()
def end_slot(machine, k):
    """One past its last slot."""
    return (k + 1) * machine.block_size if machine.block_size >= 0 else machine.block_start[k + 1]


# Reads that miss the caches wait for each other only if one tells where the next is. What a slot or a block will
# need is known as soon as it is drawn: asking for all of it at once makes one wait out of many.


@step()
def fetch_block(machine, store, k):
    """Ask for what drawing from block k, and learning about it, will read."""
    g = record_of(machine, k)
    fetch(store.scalars, head(g))
    fetch(store.scalars, head(g) + 8)
    fetch(store.portion, g)
    fetch(store.key, k)
    fetch(store.place, k)
    first = first_slot(machine, k)
    c = machine.n_blocks + first
    for ahead in range(0, min(end_slot(machine, k) - first, 32), 8):
        fetch(store.weight, c + ahead)
        if machine.written:
            continue  # what a play teaches is about other blocks
        fetch(store.key, c + ahead)
        if machine.any_local and not machine.even:
            fetch(machine.local, first + ahead)
        if machine.n_fixed > 0 and not machine.even:
            fetch(machine.fixed, first + ahead)


@step()
def fetch_slot(machine, store, slot):
    """Ask for what playing a slot will read first."""
    if machine.written:
        fetch(machine.out_indices, first_edge(machine, slot))
        fetch(machine.out_indices, end_edge(machine, slot) - 1)
    elif machine.shape == MANY_SHAPES:
        fetch(machine.out_indices, first_edge(machine, slot))
        fetch(machine.in_indices, first_in_edge(machine, slot))
        fetch(store.place, machine.n_blocks + slot)
        fetch(store.key, machine.n_blocks + slot)
        if machine.n_adaptive > 0:
            fetch(machine.child_start, slot)
            fetch(machine.child, slot)
            fetch(machine.parent, slot)
        if not machine.singletons and machine.n_blocks > 1:
            fetch(machine.home, slot)
    elif machine.shape == OWN_LOSS:
        fetch(store.place, slot)
        fetch(store.key, slot)


# What the coming rounds will draw is known but for the point, which hardly moves: their random numbers are counters.
# So memory is asked for in steps, each when the one before has arrived: the member that a round will propose first,
# what the arm or block there needs, and what the arms that it reveals need. A wrong guess, as after a rejected
# proposal, costs time and nothing else.


@step()
def proposed(machine, state, store, turns):
    """Where the member is that the draw `turns` rounds from now will propose first; asks for it."""
    words, gamma = state.words, state.numbers[GAMMA]
    if machine.lone and coming_unit(words, turns, 0) < gamma:
        position = root_proposal(store, 0, store.extra[0], coming_unit(words, turns, 2))[0]
    else:
        position = proposal(store, 0, store.extra[0], coming_unit(words, turns, 1 if gamma > 0.0 else 0))[0]
    position = max(position, 0)
    fetch(store.sum_at, position)
    fetch(store.occupant, position)
    return position


@step()
def fetch_parent(machine, store, position):
    """Ask for who explores for a proposed member, where that may be needed."""
    if machine.lone:
        fetch(machine.parent, store.occupant[position] - 1)


@step()
def slot_of_member(machine, state, store, position, turns):
    """The slot that will be drawn `turns` rounds from now, the first of its block where that is all one knows.

    `position` is what `proposed` gave for that round. Asks for what the slot or block will need; −1 if unknown.
    """
    words, gamma = state.words, state.numbers[GAMMA]
    drawn = store.occupant[position]
    if machine.singletons:
        slot = drawn
    elif machine.n_blocks == 1:
        slot = drawn - 1
        if machine.lone and coming_unit(words, turns, 0) < gamma:
            slot = machine.parent[slot]
    elif machine.plain_blocks:
        if machine.even and coming_unit(words, turns, 0) < gamma:
            drawn = block_of(machine, draw_evenly(0, machine.n_arms, coming_unit(words, turns, 1)))
        fetch_block(machine, store, drawn)
        return first_slot(machine, drawn)
    else:
        return -1
    fetch_slot(machine, store, slot)
    return slot


@step()
def fetch_members(machine, store, slot):
    """Ask for the members of a lone block that a slot reveals; where they are was asked for with `fetch_slot`."""
    if machine.lone and slot >= 0:
        for e in range(first_edge(machine, slot), end_edge(machine, slot)):
            position = store.place[1 + machine.out_indices[e]]
            fetch(store.sum_at, position)
            fetch(store.occupant, position)


@routine()
def foreseen(machine, state, store, turns):
    """The slot that `ask` will draw `turns` rounds from now if the point hardly moves; its numbers are known."""
    apart()
    words = state.words
    start, turn, draws = words[START], words[TURN], words[DRAWS]
    words[TURN] = uint64(turn + uint64(turns - 1))
    slot = ask(machine, state, store)
    words[START], words[TURN], words[DRAWS] = start, turn, draws
    return slot


# -- probabilities ------------------------------------------------------------------------------------


@step()
def block_value(machine, store, k):
    """Y_k."""
    if machine.n_blocks == 1:
        return 1.0
    return value(store, top_group_of(machine, k), k)


@step()
def on_behalf(machine, store, slot, k):
    """The adaptive exploration of a slot: coefficient · Σ √X over the slots it explores for."""
    total = 0.0
    g = record_of(machine, k)
    multiplier = store.scalars[head(g) + LAMBDA]
    for index in range(machine.child_start[slot], machine.child_start[slot + 1]):
        total += 1.0 / (multiplier + store.key[machine.n_blocks + machine.child[index]])
    return machine.adaptive[k] * total


@step()
def varying(machine, state, store, slot, k):
    """The part of γ(j) that follows the distribution."""
    gamma = 0.0
    if machine.n_adaptive > 0 and machine.adaptive[k] > 0.0:
        gamma += on_behalf(machine, store, slot, k)
    if machine.any_spread:
        gamma += state.spreading[slot]
    return gamma


@step()
def played(machine, state, store, slot, rest):
    """Z(j): the probability that a slot is played; `rest` is 1 − γ̄."""
    k = block_of(machine, slot)
    share = rest * block_value(machine, store, k)
    g = group_of(machine, k, slot)
    explores = (machine.any_local or machine.n_fixed > 0) and (
        machine.singletons or (machine.home[slot] & 1) != 0
    )
    if g >= 0:
        inside = value(store, g, machine.n_blocks + slot)
        if machine.any_local:
            inside *= store.scalars[head(record_of(machine, k)) + SHARE]
            if explores:
                inside += machine.local[slot]
        share *= inside
    if explores and machine.n_fixed > 0:
        share += machine.fixed[slot]
    if machine.n_adaptive > 0 or machine.any_spread:
        share += varying(machine, state, store, slot, k)
    return share


@step()
def seen_by_edges(machine, state, store, slot, rest):
    """P: the probability that the loss of a slot is revealed, Σ of Z over its in-neighbours.

    Slots seen by everyone, by everyone in their block, or by all of those but themselves do without: `learn`
    has closed forms for them.
    """
    probability = 0.0
    first, end = first_in_edge(machine, slot), end_in_edge(machine, slot)
    if not machine.usual:
        for e in range(first, end):
            probability += played(machine, state, store, machine.in_indices[e], rest)
        return probability
    # `played` for entropy blocks under one Tsallis-½ simplex, where most of a round is spent here
    multiplier = store.scalars[LAMBDA]
    keys, weights, portions, homes = store.key, store.weight, store.portion, machine.home
    edges = machine.in_indices
    for e in range(first, end):
        u = edges[e]
        home = homes[u]
        k = home >> 1
        d = multiplier + keys[k]
        inside = weights[machine.n_blocks + u] * portions[machine.n_top_groups + k]
        if home & 1:
            if machine.any_local:
                inside += machine.local[u]
            if machine.n_fixed > 0:
                probability += machine.fixed[u]
        probability += rest * inside / (d * d)
    return probability


@step()
def fetch_edges(machine, store, slot, losses):
    """Ask for what the estimates of all that a slot reveals will read, first the arms, then their blocks."""
    begin, end = first_edge(machine, slot), end_edge(machine, slot)
    for turn in range(2):
        for index in range(end - begin):
            if losses[index] == 0.0:
                continue
            v = machine.out_indices[begin + index]
            for e in range(first_in_edge(machine, v), end_in_edge(machine, v)):
                u = machine.in_indices[e]
                if turn == 0:
                    fetch(machine.home, u)
                    fetch(store.weight, machine.n_blocks + u)
                else:
                    k = machine.home[u] >> 1
                    fetch(store.key, k)
                    fetch(store.portion, machine.n_top_groups + k)


@step()
def block_at(homes, per_block, slot):
    """`block_of` for the hottest loops: by arithmetic where all blocks are alike, per_block > 0."""
    return np.int32((slot + 0.5) * per_block) if per_block > 0.0 else homes[slot] >> 1


@step(fastmath={"contract", "reassoc", "nsz"})
def seen_where_written(machine, state, store, slot, rest):
    """`seen_by_edges` where X̃ is kept by slot: one read for an arm, one for its block."""
    multiplier = store.scalars[LAMBDA]
    keys, mixed, edges, homes = store.key, state.mixed, machine.in_indices, machine.home
    first, end = first_in_edge(machine, slot), end_in_edge(machine, slot)
    per_block = 1.0 / machine.block_size
    seen = 0.0
    for e in range(first, end):
        u = edges[e]
        d = multiplier + keys[block_at(homes, per_block, u)]
        seen += mixed[u] / (d * d)
    return rest * seen + state.seen_fixed[slot]


@step()
def fetch_written(machine, state, store, n):
    """Ask for what `learn_written` will use for the first n of its targets: edges into them, then all the rest."""
    per_block = 1.0 / machine.block_size
    for index in range(n):
        v = state.targets[index]
        fetch(machine.in_indices, first_in_edge(machine, v))
        fetch(machine.in_indices, end_in_edge(machine, v) - 1)
    for index in range(n):
        v = state.targets[index]
        for e in range(first_in_edge(machine, v), end_in_edge(machine, v)):
            fetch(state.mixed, machine.in_indices[e])
        fetch(state.seen_fixed, v)
        fetch(store.key, machine.n_blocks + v)
        k = block_at(machine.home, per_block, v)
        fetch(store.place, k)
        record = head(record_of(machine, k))
        fetch(store.scalars, record)
        fetch(store.scalars, record + 8)
        last = end_slot(machine, k) - 1
        for ahead in range(first_slot(machine, k), last + 8, 8):
            i = min(ahead, last)
            fetch(store.weight, machine.n_blocks + i)
            fetch(state.mixed, i)
            if machine.any_local:
                fetch(machine.local, i)


# -- the two turns ------------------------------------------------------------------------------------


@step()
def ask(machine, state, store):
    """Draw the slot of this round from Z."""
    words = state.words
    next_turn(words)
    gamma = state.numbers[GAMMA]
    if gamma > 0.0 and next_unit(words) < gamma:
        return draw_explored(machine, state, store, gamma)
    k = 0
    if machine.n_blocks > 1 or machine.lone:
        k = draw(store, 0, words)
        if machine.singletons:
            return k
        if machine.lone:
            return k - machine.n_blocks
    if machine.fetches and machine.n_blocks > 1 and machine.plain_blocks:
        fetch_block(machine, store, k)
    first = first_slot(machine, k)
    if not machine.plain_blocks and machine.block_group[k] == -1:
        return first
    if machine.any_local:
        total = 1.0 - store.scalars[head(record_of(machine, k)) + SHARE]
        if total > 0.0 and next_unit(words) < total:
            end = end_slot(machine, k)
            if machine.even:
                return draw_evenly(first, end, next_unit(words))
            return draw_alias(machine.local_keep, machine.local_other, first, end, words)
    if machine.shape == OWN_BLOCK:  # `sample` without looking up what kind of simplex it is
        total = store.scalars[head(record_of(machine, k)) + TOTAL]
        c, end = machine.n_blocks + first, machine.n_blocks + end_slot(machine, k)
        return sample_weights(store.weight, c, end, next_unit(words) * total) - machine.n_blocks
    return sample(store, simplex_of(machine, k), words) - machine.n_blocks


@step()
def draw_explored(machine, state, store, gamma):
    """A slot with probability γ(j)/γ̄: a fixed one, the parent of a slot drawn ∝ √X, or one that spreads."""
    words = state.words
    target = next_unit(words) * gamma if machine.n_adaptive > 0 or machine.any_spread else 0.0
    if machine.n_fixed > 0 and target < state.numbers[FIXED_TOTAL]:
        if machine.even:
            return draw_evenly(0, machine.n_arms, next_unit(words))
        cell = draw_alias(machine.fixed_keep, machine.fixed_other, 0, machine.n_fixed, words)
        return machine.fixed_slots[cell]
    target -= state.numbers[FIXED_TOTAL]
    if machine.any_spread and (machine.n_adaptive == 0 or target >= state.numbers[ADAPTIVE_TOTAL]):
        return draw_leaf(state.spreading, 0, machine.n_arms, state.spread_node, 0, words)
    block = machine.adaptive_blocks[0]
    if machine.n_adaptive > 1:
        for index in range(machine.n_adaptive):
            block = machine.adaptive_blocks[index]
            target -= machine.adaptive[block] * state.roots[block]
            if target < 0.0:
                break
    child = sample_root(store, record_of(machine, block), words) - machine.n_blocks
    return machine.parent[child]


@step()
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
    elif machine.lone:
        learn_lone(machine, state, store, slot, losses, rest)
    elif machine.written:
        learn_written(machine, state, store, slot, losses, rest)
    else:
        learn_edges(machine, state, store, slot, losses, rest)


@step()
def count_round(state):
    """Note that a round is over; return 1 − γ̄ of it."""
    state.numbers[GAMMA_SUM] += state.numbers[GAMMA]
    state.numbers[ROUND] += 1.0
    return 1.0 - state.numbers[GAMMA]


@step()
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


@routine()
def learn_block(machine, state, store, slot, losses, rest):
    """`learn` where every block is a loop-less clique under the entropy: one pass over the block."""
    apart()
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


@step(fastmath={"contract", "reassoc", "nsz"})
def add_to_block(machine, state, store, g, first, end, losses, y, whole):
    """Add the estimates of a clique to their sums, write its weights and their total; return Σ X̃·ℓ̂, its loss."""
    at = head(g)
    factor, share, rate = store.scalars[at + FACTOR], store.scalars[at + SHARE], store.scalars[at + RATE]
    base = store.scalars[at + BASE]
    keys, weights, local, fixed = store.key, store.weight, machine.local, machine.fixed
    any_local, any_fixed, coordinate = machine.any_local, machine.n_fixed > 0, machine.n_blocks + first
    alike = 0 if machine.even else first  # slots that explore as those of this block, perhaps nearer
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


@routine()
def learn_all(machine, state, store, losses, rest):
    """`learn` on a clique of singletons under one entropy, with loops or without: everything moves, in one pass.

    Weights are multiplied instead of written afresh from their sums: for small steps that takes a third of the
    time. An arm with more than half of the probability is rarely seen by others and takes large steps; there is
    at most one, and it is kept out of the pass. Every 256 rounds, and where other steps may be large too, all
    weights are written afresh, so rounding cannot pile up.
    """
    apart()
    heavy = int(state.numbers[HEAVY])
    loss = losses[heavy]
    losses[heavy] = 0.0
    largest = largest_step(machine, store, heavy, rest)
    weight = put_aside(store, heavy)
    total = 0.0
    for first in range(0, machine.n_arms, PIECE):
        size = min(machine.n_arms - first, PIECE)
        total += add_to_piece(machine, state, store, onward(losses, first), first, size, rest, largest)
    settle_all(machine, state, store, heavy, weight, loss, total, largest, rest)


@step()
def largest_step(machine, store, heavy, rest):
    """A bound on what a round can add to any sum but the heavy arm's.

    No weight is greater than 1, nor any other than what the heavy one leaves of the total.
    """
    most = min(1.0, store.scalars[TOTAL] - store.weight[heavy])
    share, fixed = unseen(machine, store, rest)
    return store.scalars[RATE] / max(1.0 - (share * most + fixed), 1.0 / LARGEST_ESTIMATE)


@step()
def unseen(machine, store, rest):
    """(share, fixed): an arm is not seen with probability share · weight + fixed, that of being played itself."""
    if machine.shape == EVERYTHING:
        return 0.0, 0.0
    return rest * store.scalars[FACTOR], machine.fixed[0] if machine.n_fixed > 0 else 0.0  # the same for all


@step()
def put_aside(store, heavy):
    """Keep an arm out of the coming pass over all weights; return its weight."""
    weight = store.weight[heavy]
    store.weight[heavy] = 0.0
    return weight


@step()
def settle_all(machine, state, store, heavy, weight, loss, total, largest, rest):
    """End of a round in which all weights were multiplied but the heavy one, which was put aside."""
    if loss > 0.0:
        share, fixed = unseen(machine, store, rest)
        seen = 1.0 - share * weight - fixed
        guess = min(loss / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
        state.numbers[TOP_PAID] += weight * store.scalars[FACTOR] * guess
        store.key[heavy] += store.scalars[RATE] * guess
        weight = exp_nonpositive(store.scalars[BASE] - store.key[heavy])
    store.weight[heavy] = weight
    store.scalars[TOTAL] = total + weight
    if largest > SMALL or state.numbers[ROUND] % 256.0 == 0.0:
        refill_weights(store, 0)
        state.numbers[HEAVY] = heaviest(store, machine.n_arms)
    accept_weights(store, 0)


@step()
def heaviest(store, n):
    """The coordinate with the largest weight."""
    best = 0
    for i in range(n):
        if store.weight[i] > store.weight[best]:
            best = i
    return best


@step(fastmath={"contract", "reassoc", "nsz"})
def add_to_piece(machine, state, store, losses, first, size, rest, largest):
    """Add the estimates of a run of arms to their sums, multiply their weights; return the total of those.

    Which exponential does depends on the `largest` step; where none does, the weights are to be written afresh.
    """
    tiny = largest <= TINY
    factor, rate = store.scalars[FACTOR], store.scalars[RATE]
    share, fixed = unseen(machine, store, rest)
    keys, weights = onward(store.key, first), onward(store.weight, first)
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


@routine(fastmath=FUSED)
def learn_lone(machine, state, store, slot, losses, rest):
    """`learn` for one adaptive block and nothing else, where x = r² and all exploration is Σ r over children."""
    apart()
    begin = first_edge(machine, slot)
    multiplier, rate = store.scalars[LAMBDA], store.scalars[RATE]
    keys, edges, starts, children = store.key, machine.in_indices, machine.child_start, machine.child
    coefficient = machine.adaptive[0]
    paid = 0.0
    n_added = 0
    for index in range(end_edge(machine, slot) - begin):
        if losses[index] == 0.0:
            continue
        v = machine.out_indices[begin + index]
        seen = explored = 0.0
        for e in range(first_in_edge(machine, v), end_in_edge(machine, v)):
            u = edges[e]
            d = multiplier + keys[u + 1]
            seen += 1.0 / (d * d)
            for c in range(starts[u], starts[u + 1]):
                explored += 1.0 / (multiplier + keys[children[c] + 1])
        root_v = 1.0 / (multiplier + keys[v + 1])
        guess = min(losses[index] / (rest * seen + coefficient * explored), LARGEST_ESTIMATE)
        paid += root_v * root_v * guess
        state.targets[n_added] = v + 1
        state.amounts[n_added] = guess * rate
        n_added += 1
        if machine.fetches:
            fetch(store.sum_at, store.place[v + 1])
            fetch(store.occupant, store.place[v + 1])
    if n_added == 0:
        return
    store.scalars[PAID] += paid
    state.numbers[TOP_PAID] += paid
    state.numbers[WHOLE] += paid
    move(store, 0, state.targets, state.amounts, n_added)
    state.roots[0] = root_sum(store, 0)
    state.numbers[ADAPTIVE_TOTAL] = state.numbers[GAMMA] = coefficient * state.roots[0]


@routine()
def learn_edges(machine, state, store, slot, losses, rest):
    """`learn` on any graph: one revealed arm after another."""
    apart()
    begin = first_edge(machine, slot)
    n_explicit = end_edge(machine, slot) - begin
    n_touched = 0
    n_added = 0
    at = 0
    current = -1  # the block whose numbers are at hand: revealed arms tend to share one
    record = -1
    y = whole = 0.0
    if machine.fetches and machine.usual:
        fetch_edges(machine, store, slot, losses)
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


@routine()
def learn_written(machine, state, store, slot, losses, rest):
    """`learn` where all arms are seen along edges and X̃ is kept by slot.

    What lost is listed first, without a branch: whether an arm loses is hard to guess.
    """
    apart()
    begin = first_edge(machine, slot)
    targets, amounts, scalars = state.targets, state.amounts, store.scalars
    per_block = 1.0 / machine.block_size
    n_lost = 0
    for index in range(end_edge(machine, slot) - begin):
        targets[n_lost] = machine.out_indices[begin + index]
        amounts[n_lost] = losses[index]
        n_lost += 1 if losses[index] != 0.0 else 0
    if machine.fetches:
        fetch_written(machine, state, store, n_lost)
    for index in range(n_lost):
        seen = seen_where_written(machine, state, store, targets[index], rest)
        amounts[index] = min(amounts[index] / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
    n_touched = 0
    for index in range(n_lost):
        v = targets[index]
        guess = amounts[index]
        k = block_at(machine.home, per_block, v)
        record = head(record_of(machine, k))
        if scalars[record + CHANGE] == 0.0:
            scalars[record + CHANGE] = -1.0
            scalars[record + LOSS] = 0.0
            state.touched[n_touched] = k
            n_touched += 1
            if machine.fetches:
                fetch(store.sum_at, store.place[k])
                fetch(store.occupant, store.place[k])
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


@step()
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


@step()
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


@step()
def settle_top(machine, state, store, k, y, loss):
    """`settle` for a block that is already at its new point."""
    state.numbers[TOP_PAID] += y * loss
    if machine.n_blocks == 1:
        state.numbers[WHOLE] += loss
        return
    move_top(machine, state, store, top_group_of(machine, k), k, loss)


@step()
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


@step()
def owed_group(machine, store, k):
    """The group of block k that is explored for: all of it, or the first of its groups."""
    return store.first_group[simplex_of(machine, k)]


@step()
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


# -- entry points: what Python calls, one decision at a time ------------------------------------------


@kernel()
def ask_once(memory):
    """Draw an arm and make it the pending one."""
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    arm = arm_at(machine, ask(machine, state, store))
    state.numbers[PENDING] = arm
    return arm


@kernel()
def tell_once(memory, told, losses):
    """Learn from the pending arm's losses, told by rising arm; False, and nothing changed, if one is bad.

    `losses` is scratch for what one arm reveals and one more.
    """
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    for i in range(told.size):
        if not 0.0 <= told[i] <= 1.0:  # also NaN
            return False
    slot = int(machine.slot_of[int(state.numbers[PENDING])])
    arrange(machine, slot, told, losses)
    learn(machine, state, store, slot, cells(losses, 0, losses.size))
    state.numbers[PENDING] = -1.0
    return True


@step()
def arrange(machine, slot, told, losses):
    """From losses by rising arm to engine order."""
    if machine.shape == EVERYTHING:
        for i in range(told.size):
            losses[i] = told[i]
        return
    if machine.shape == OWN_BLOCK or machine.shape == ALL_OTHERS:
        own = slot
        if machine.shape == OWN_BLOCK:
            own -= machine.block_start[block_of(machine, slot)]
        for i in range(own):
            losses[i] = told[i]
        losses[own] = 0.0
        for i in range(own, told.size):
            losses[i + 1] = told[i]
        return
    begin = first_edge(machine, slot)
    n_explicit = end_edge(machine, slot) - begin
    explicit = 0
    universal = 0
    at = n_explicit
    for i in range(told.size):  # both rows are sorted by arm: merge them
        while universal < machine.n_universal and is_own(machine, slot, machine.universal[universal]):
            universal += 1
        from_row = universal >= machine.n_universal
        if not from_row and explicit < n_explicit:
            row_arm = arm_at(machine, machine.out_indices[begin + explicit])
            from_row = row_arm < arm_at(machine, machine.universal[universal])
        if from_row:
            losses[explicit] = told[i]
            explicit += 1
        else:
            losses[at] = told[i]
            at += 1
            universal += 1


@step()
def is_own(machine, slot, v):
    """Is v the played slot, which does not reveal itself?"""
    return v == slot and machine.seen_how[v] == SEEN_BY_OTHERS


@kernel()
def start(memory):
    """Everything that follows from sums, rates and exploration: at the beginning, and when those have changed."""
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    for j in range(machine.n_simplices):
        rebuild(store, j)
    for index in range(machine.n_adaptive):
        k = machine.adaptive_blocks[index]
        state.roots[k] = root_sum(store, record_of(machine, k))
    if machine.any_spread:
        for k in range(machine.n_blocks):
            if machine.spread[k] > 0.0:
                renew_block_spread(machine, state, store, k, owed_group(machine, store, k))
    total = 0.0
    if machine.n_fixed > 0:
        for slot in range(machine.n_arms):
            total += machine.fixed[slot]
    state.numbers[FIXED_TOTAL] = total
    total_exploration(machine, state)
    write_all(machine, state, store)


@kernel()
def write_out(memory):
    """What is kept besides and follows from the rest (`memory.DERIVED`)."""
    parts = unpack(memory)
    write_all(refer(parts[0]), refer(parts[1]), refer(parts[2]))


@step()
def write_all(machine, state, store):
    """X̃ and the constant exploration that every slot is seen by, where they are kept."""
    if not machine.written:
        return
    for k in range(machine.n_blocks):
        write_block(machine, state, store, k)
    for slot in range(machine.n_arms):
        seen = 0.0
        if machine.n_fixed > 0:
            for e in range(first_in_edge(machine, slot), end_in_edge(machine, slot)):
                seen += machine.fixed[machine.in_indices[e]]
        state.seen_fixed[slot] = seen


@kernel()
def fill_probabilities(memory, out):
    """Write Z for every arm into out."""
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    rest = 1.0 - state.numbers[GAMMA]
    for slot in range(out.size):
        out[machine.arm_at[slot]] = played(machine, state, store, slot, rest)


@kernel()
def fill_exploration(memory, out):
    """Write γ for every arm into out."""
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    for slot in range(out.size):
        gamma = varying(machine, state, store, slot, block_of(machine, slot))
        if machine.n_fixed > 0:
            gamma += machine.fixed[slot]
        out[machine.arm_at[slot]] = gamma


@kernel()
def fill_blocks(memory, out):
    """Write Y for every block into out, in the order of the engine."""
    parts = unpack(memory)
    machine, store = refer(parts[0]), refer(parts[2])
    for k in range(out.size):
        out[k] = block_value(machine, store, k)


@kernel()
def fill_inside(memory, out):
    """Write X for every arm into out: its share of its own block."""
    parts = unpack(memory)
    machine, store = refer(parts[0]), refer(parts[2])
    for slot in range(out.size):
        g = group_of(machine, block_of(machine, slot), slot)
        out[machine.arm_at[slot]] = value(store, g, machine.n_blocks + slot) if g >= 0 else 1.0


@kernel()
def ledger(memory, arm, out):
    """The four parts of the estimated regret against `arm` so far (Lemma regret), into out[0:4].

    projection Σ⟨L̂, Y − e_k⟩, restriction Σ⟨ℓ̂_k, X_k − e_j⟩, global exploration Σγ̄, local exploration Σγ̄_k.
    """
    parts = unpack(memory)
    machine, state, store = refer(parts[0]), refer(parts[1]), refer(parts[2])
    slot = machine.slot_of[arm]
    k = block_of(machine, slot)
    if machine.n_blocks > 1:
        top = head(top_group_of(machine, k))
        block_sum = (store.key[k] - store.scalars[top + SHIFT]) / store.scalars[top + RATE]
    else:
        block_sum = state.numbers[WHOLE]
    out[0] = state.numbers[TOP_PAID] - block_sum
    out[1] = out[3] = 0.0
    g = group_of(machine, k, slot)
    if g >= 0:
        record = head(record_of(machine, k))
        own = store.key[machine.n_blocks + slot] - store.scalars[head(g) + SHIFT]
        out[1] = store.scalars[record + PAID] - own / store.scalars[head(g) + RATE]
        out[3] = (1.0 - store.scalars[record + SHARE]) * state.numbers[ROUND]
    out[2] = state.numbers[GAMMA_SUM]
