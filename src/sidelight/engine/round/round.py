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
or everything, but itself, whole runs of slots are revealed: then one loss for each of them, the shift for the arm
itself. What failed to be revealed has the shift as its loss, whose estimate is 0. Where every play reveals
everything, one loss for each slot.
"""

from sidelight.engine._numba.jit import inlined, kernel
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.alias import draw_alias
from sidelight.engine.constants import FAILED
from sidelight.engine.fields import ALL_OTHERS, EVERYTHING, OWN_BLOCK, UNSIGNED, opened
from sidelight.engine.random import next_turn, next_unit
from sidelight.engine.round.indexing import (
    arm_at,
    block_of,
    group_of,
    in_edges,
    is_own,
    out_edges,
    record_of_block,
    simplex_of,
    slots_of,
    top_group_of,
)
from sidelight.engine.round.learn import learn
from sidelight.engine.round.prefetch import fetch_block
from sidelight.engine.round.probabilities import block_value, is_told, played
from sidelight.engine.round.settle import owed_group, total_exploration
from sidelight.engine.round.spread import renew_block_spread
from sidelight.engine.self_tuning.choose import mark_shows
from sidelight.engine.simplex.point import root_sum, value
from sidelight.engine.simplex.sample import draw, sample, sample_root, sample_weights
from sidelight.engine.simplex.solve import rebuild
from sidelight.engine.simplex.store import ENTROPY_TREE, end_of, first_of, group
from sidelight.engine.simplex.tree import draw_leaf, renew_tree

# -- drawing an arm -----------------------------------------------------------------------------------


@inlined()
def ask(machine, state, store):
    """Draw the slot of this round from Z."""
    words = state.words
    next_turn(words)
    # Z is a mixture: drawing the component first, then the arm inside it, costs O(1) and never writes Z out.
    # `prefetch.proposed` and `slot_of_member` rely on the order of these draws.
    gamma = state.gamma
    if gamma > 0.0 and next_unit(words) < gamma:
        return draw_explored(machine, state, store, gamma)
    k = 0
    if machine.n_blocks > 1 or machine.single:
        k = draw(store, 0, words)
        if machine.singletons:
            return k
        if machine.single:
            # Coordinate 0 of the store belongs to the only block, so slot i is coordinate 1 + i.
            return k - 1
    # The block is known, its arm is not: ask for all that both will read while drawing goes on.
    if machine.fetches and machine.n_blocks > 1 and machine.plain_blocks:
        fetch_block(machine, store, k)
    run = slots_of(machine, k)
    first, end = run.start, run.stop
    # A singleton: its block is the arm.
    if not machine.plain_blocks and machine.block_group[k] == -1:
        return first
    if machine.any_local:
        # X̃ = (1 − ᾱ)X + local is again a mixture; ᾱ, its total, decides between the two.
        total = 1.0 - group(store, record_of_block(machine, k)).share
        if total > 0.0 and next_unit(words) < total:
            return draw_alias(machine.local_keep, machine.local_other, first, end, words)
    if machine.shape == OWN_BLOCK:  # `sample` without looking up what kind of simplex it is
        total = group(store, record_of_block(machine, k)).total
        m = machine.n_blocks
        return sample_weights(store.weight, m + first, m + end, next_unit(words) * total) - m
    return sample(store, simplex_of(machine, k), words) - machine.n_blocks


@inlined()
def draw_explored(machine, state, store, gamma):
    """A slot with probability γ(j)/γ̄: a fixed one, the parent of a slot drawn ∝ √X, or one that spreads."""
    words = state.words
    # The parts of γ̄ one after another: fixed, adaptive, spread. If all of it is fixed there is nothing to
    # decide, and no random number is used.
    target = next_unit(words) * gamma if machine.n_adaptive > 0 or machine.any_spread else 0.0
    if machine.n_fixed > 0 and target < state.fixed_total:
        cell = draw_alias(machine.fixed_keep, machine.fixed_other, 0, machine.n_fixed, words)
        return machine.fixed_slots[cell]
    target -= state.fixed_total
    if machine.any_spread and (machine.n_adaptive == 0 or target >= state.adaptive_total):
        return draw_leaf(state.spreading, 0, machine.n_arms, state.spread_node, 0, words)
    block = machine.adaptive_blocks[0]
    if machine.n_adaptive > 1:
        for index in range(machine.n_adaptive):
            block = machine.adaptive_blocks[index]
            target -= machine.adaptive[block] * state.roots[block]
            if target < 0.0:
                break
    # γ(j) = adaptive·Σ √X(i) over the children i of j: drawing a child ∝ √X and playing its parent has
    # exactly this distribution.
    child = sample_root(store, record_of_block(machine, block), words) - machine.n_blocks
    return machine.parent[child]


# -- entry points: what Python calls, one decision at a time ------------------------------------------


@kernel()
def ask_once(memory):
    """Draw an arm."""
    machine, state, store = opened(memory)
    return arm_at(machine, ask(machine, state, store))


@kernel()
def tell_once(memory, arm, revealed, losses):
    """Learn from the losses that an arm of the present distribution revealed, in increasing order of arms.

    Returns False, with nothing changed, if one is outside [0, 1].

    `losses` is scratch for what one arm reveals and one more.
    """
    machine, state, store = opened(memory)
    # All losses are checked before the first changes the state: a refused call must leave it as it was.
    for i in range(revealed.size):
        if not is_told(machine, revealed[i]):
            return False
    slot = int(machine.slot_of[arm])
    arrange(machine, state, slot, revealed, losses)
    learn(machine, state, store, slot, pointer(losses, 0, losses.size))
    return True


@inlined()
def arrange(machine, state, slot, revealed, losses):
    """From losses in increasing order of arms to engine order."""
    if machine.shape == EVERYTHING:
        for i in range(revealed.size):
            losses[i] = revealed[i]
        return
    if machine.shape == OWN_BLOCK or machine.shape == ALL_OTHERS:
        own = slot
        if machine.shape == OWN_BLOCK:
            own -= machine.block_start[block_of(machine, slot)]
        for i in range(own):
            losses[i] = revealed[i]
        # The played arm does not reveal itself; this loss changes nothing.
        losses[own] = state.shift
        for i in range(own, revealed.size):
            losses[i + 1] = revealed[i]
        return
    row = out_edges(machine, slot)
    n_explicit = len(row)
    explicit = 0
    universal = 0
    at = n_explicit
    for i in range(revealed.size):  # both rows are sorted by arm: merge them
        while universal < machine.n_universal and is_own(machine, slot, machine.universal[universal]):
            universal += 1
        from_row = universal >= machine.n_universal
        if not from_row and explicit < n_explicit:
            row_arm = arm_at(machine, machine.out_indices[row.start + explicit])
            from_row = row_arm < arm_at(machine, machine.universal[universal])
        if from_row:
            losses[explicit] = revealed[i]
            explicit += 1
        else:
            losses[at] = revealed[i]
            at += 1
            universal += 1
    if machine.fails:
        for i in range(revealed.size):
            if losses[i] == FAILED:
                losses[i] = state.shift


@kernel()
def start(memory):
    """Everything that follows from sums, rates and exploration: at the beginning, and when those have changed."""
    machine, state, store = opened(memory)
    # In the order of what depends on what: points, then exploration that follows them, then its total, then
    # caches.
    for j in range(machine.n_simplices):
        rebuild(store, j)
    for index in range(machine.n_adaptive):
        k = machine.adaptive_blocks[index]
        state.roots[k] = root_sum(store, record_of_block(machine, k))
    if machine.any_spread:
        for k in range(machine.n_blocks):
            if machine.spread[k] > 0.0 or state.floor > 0.0:
                renew_block_spread(machine, state, store, k, owed_group(machine, store, k))
    total = 0.0
    if machine.n_fixed > 0:
        for slot in range(machine.n_arms):
            total += machine.fixed[slot]
    state.fixed_total = total
    total_exploration(machine, state)
    fill_caches(machine, state, store)


@kernel()
def renew_trees(memory):
    """Sum trees from their leaves, as they are after every round: for memory that somebody else has written."""
    machine, state, store = opened(memory)
    if machine.any_spread:
        renew_tree(state.spreading, 0, machine.n_arms, state.spread_node, 0)
    for j in range(machine.n_simplices):
        for g in range(store.first_group[j], store.first_group[j + 1]):
            if store.form[g] == ENTROPY_TREE:
                first, end = first_of(store, g), end_of(store, g)
                renew_tree(store.weight, first, end - first, store.node, store.extra[g])


@inlined()
def fill_caches(machine, state, store):
    """What follows from the rest (`fields.DERIVED`): constant exploration of a slot's in-neighbours."""
    if machine.single and machine.n_fixed > 0:
        for slot in range(machine.n_arms):
            seen = 0.0
            for e in in_edges(machine, slot):
                seen += machine.fixed[machine.in_indices[e]]
            state.seen_fixed[slot] = seen
    if machine.self_tunes and machine.signed != UNSIGNED:
        mark_shows(machine, state.shows_leader, int(state.leader))


@kernel()
def fill_probabilities(memory, out):
    """Write Z for every arm into out."""
    machine, state, store = opened(memory)
    rest = 1.0 - state.gamma
    for slot in range(out.size):
        out[machine.arm_at[slot]] = played(machine, state, store, slot, rest)


@kernel()
def fill_blocks(memory, out):
    """Write Y for every block into out, in the order of the engine."""
    machine, _, store = opened(memory)
    for k in range(out.size):
        out[k] = block_value(machine, store, k)


@kernel()
def fill_inside(memory, out):
    """Write X for every arm into out: its share of its own block."""
    machine, _, store = opened(memory)
    for slot in range(out.size):
        g = group_of(machine, block_of(machine, slot), slot)
        out[machine.arm_at[slot]] = value(store, g, machine.n_blocks + slot) if g >= 0 else 1.0


@kernel()
def ledger(memory, arm, out):
    """The four parts of the estimated regret against `arm` so far (Lemma regret), into out[0:4].

    projection Σ⟨L̂, Y − e_k⟩, restriction Σ⟨ℓ̂_k, X_k − e_j⟩, global exploration Σγ̄(1 − ⟨L̂, Y⟩), local
    exploration Σγ̄_k.
    """
    machine, state, store = opened(memory)
    slot = machine.slot_of[arm]
    k = block_of(machine, slot)
    # Sums are scaled by rates and shifted now and then: undo both to get the cumulative estimates.
    if machine.n_blocks > 1:
        top = top_group_of(machine, k)
        block_sum = (store.key[k] - group(store, top).shift) / group(store, top).rate
    else:
        block_sum = state.whole
    out[0] = state.top_paid - block_sum
    out[1] = out[3] = 0.0
    g = group_of(machine, k, slot)
    if g >= 0:
        record = record_of_block(machine, k)
        own = store.key[machine.n_blocks + slot] - group(store, g).shift
        out[1] = group(store, record).paid - own / group(store, g).rate
        # Lemma regret charges local exploration with ᾱ_k per round; that is constant, so no counter is
        # needed.
        out[3] = (1.0 - group(store, record).share) * state.round
    out[2] = state.exploration_cost
