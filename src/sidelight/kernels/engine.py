"""One round of two-level mirror descent on a partitioned feedback graph.

The machine is a tree of depth two: a simplex over the blocks on top, a simplex inside every block of two or
more arms. Arms are addressed by *slot*, their position when blocks are laid out one after another. With Y
and X_k the points of those simplices, arm j of block k is played with probability

    Z(j) = (1 − γ̄) · Y_k · X̃_k(j) + γ(j),       X̃_k = (1 − ᾱ_k) X_k + local(j),
    γ(j) = fixed(j) + adaptive_k · Σ_{i : parent(i) = j} √X_k(i),     γ̄ = Σ_j γ(j).

`ask` draws from Z without writing it out; `learn` forms the unbiased estimates ℓ/P of what the played arm
revealed and moves only the simplices they touch, so a round costs what was revealed and the in-degrees of
that, not the number of arms. Simulation and the one-decision-at-a-time policy both call these two functions,
so the same seed gives the same play either way.
"""

from sidelight.kernels._jit import kernel, step
from sidelight.kernels.alias import draw_alias
from sidelight.kernels.memory import (
    ADAPTIVE_TOTAL,
    FIXED_TOTAL,
    GAMMA_SUM,
    PENDING,
    ROUND,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    TOP_PAID,
    unpack,
)
from sidelight.kernels.random import next_unit
from sidelight.kernels.simplex import add, root, root_sum, sample, sample_root, solve, value
from sidelight.kernels.store import CHANGE, FACTOR, SHIFT, head

LARGEST_ESTIMATE = 1e300
"""Estimates are capped here so that a vanished probability times a huge estimate is 0, never NaN."""


# -- where things are ----------------------------------------------------------------------------------
# Each array read at random is a cache miss on a large graph; switches spare those that say nothing.


@step()
def slot_of(machine, arm):
    """The slot of an arm."""
    return arm if machine.in_order else machine.slot_of[arm]


@step()
def arm_at(machine, slot):
    """The arm in a slot."""
    return slot if machine.in_order else machine.arm_at[slot]


@step()
def block_of(machine, slot):
    """The block of a slot."""
    if machine.n_blocks == 1:
        return 0
    return slot if machine.singletons else machine.block_of[slot]


@step()
def group_of(machine, k):
    """The group of the coordinates inside block k, −1 for a singleton."""
    return -1 if machine.singletons else machine.block_group[k]


@step()
def top_group_of(machine, k):
    """The group of block k's coordinate on the top level."""
    return 0 if machine.n_top_groups == 1 else machine.top_group[k]


@step()
def top_rate_of(machine, k):
    """The rate of block k's coordinate on the top level."""
    return machine.top_rate[0 if machine.n_top_groups == 1 else k]


# -- probabilities ------------------------------------------------------------------------------------


@step()
def explored(machine, state):
    """γ̄, the total global exploration of this round."""
    return state.numbers[FIXED_TOTAL] + state.numbers[ADAPTIVE_TOTAL]


@step()
def block_value(machine, store, k):
    """Y_k."""
    if machine.n_blocks == 1:
        return 1.0
    return value(store, top_group_of(machine, k), k)


@step()
def inside_value(machine, store, slot, k):
    """X_k(j): 1 for a singleton."""
    g = group_of(machine, k)
    if g < 0:
        return 1.0
    return value(store, g, machine.n_blocks + slot)


@step()
def mixed(machine, slot, k, inside):
    """X̃_k(j) from X_k(j): local exploration mixed in."""
    if not machine.any_local:
        return inside
    return (1.0 - machine.local_total[k]) * inside + machine.local[slot]


@step()
def on_behalf(machine, store, slot, k):
    """The adaptive exploration of a slot: coefficient · Σ √X over the slots it explores for."""
    total = 0.0
    g = machine.block_group[k]
    for index in range(machine.child_start[slot], machine.child_start[slot + 1]):
        total += root(store, g, machine.n_blocks + machine.child[index])
    return machine.adaptive[k] * total


@step()
def extra(machine, store, slot, k):
    """γ(j): the global exploration of a slot."""
    gamma = 0.0
    if machine.any_fixed:
        gamma += machine.fixed[slot]
    if machine.any_adaptive and machine.adaptive[k] > 0.0:
        gamma += on_behalf(machine, store, slot, k)
    return gamma


@step()
def played(machine, state, store, slot):
    """Z(j): the probability that the arm in this slot is played."""
    k = block_of(machine, slot)
    inside = mixed(machine, slot, k, inside_value(machine, store, slot, k))
    share = (1.0 - explored(machine, state)) * block_value(machine, store, k)
    return share * inside + extra(machine, store, slot, k)


@step()
def seen_by_edges(machine, state, store, arm):
    """P: the probability that the loss of `arm` is revealed, Σ of Z over its in-neighbours.

    Arms seen by everyone, by everyone in their block, or by all of those but themselves do without: `learn`
    has closed forms for them.
    """
    probability = 0.0
    for e in range(machine.in_indptr[arm], machine.in_indptr[arm + 1]):
        probability += played(machine, state, store, slot_of(machine, machine.in_indices[e]))
    return probability


# -- the two turns ------------------------------------------------------------------------------------


@step()
def ask(machine, state, store):
    """Draw the arm of this round from Z."""
    words = state.words
    gamma = explored(machine, state)
    if gamma > 0.0 and next_unit(words) < gamma:
        return arm_at(machine, draw_explored(machine, state, store, gamma))
    k = 0
    if machine.n_blocks > 1:
        k = sample(store, 0, words)
    if machine.singletons:
        return arm_at(machine, k)
    first = machine.block_start[k]
    slot = first
    if group_of(machine, k) >= 0:
        total = machine.local_total[k] if machine.any_local else 0.0
        if total > 0.0 and next_unit(words) < total:
            slot = draw_alias(
                machine.local_keep, machine.local_other, first, machine.block_start[k + 1], words
            )
        else:
            slot = sample(store, machine.block_simplex[k], words) - machine.n_blocks
    return arm_at(machine, slot)


@step()
def draw_explored(machine, state, store, gamma):
    """A slot with probability γ(j)/γ̄: a fixed one, or the parent of a slot drawn ∝ √X."""
    words = state.words
    if machine.any_fixed and (
        not machine.any_adaptive or next_unit(words) * gamma < state.numbers[FIXED_TOTAL]
    ):
        cell = draw_alias(machine.fixed_keep, machine.fixed_other, 0, machine.fixed_slots.size, words)
        return machine.fixed_slots[cell]
    block = machine.adaptive_blocks[0]
    if machine.adaptive_blocks.size > 1:
        target = next_unit(words) * state.numbers[ADAPTIVE_TOTAL]
        for index in range(machine.adaptive_blocks.size):
            block = machine.adaptive_blocks[index]
            target -= machine.adaptive[block] * state.roots[block]
            if target < 0.0:
                break
    child = sample_root(store, machine.block_group[block], words) - machine.n_blocks
    return machine.parent[child]


@step()
def learn(machine, state, store, arm, losses):
    """Take in what playing `arm` revealed and move to the next round.

    `losses` lists the explicit out-neighbours of the arm first, in order, then the universal arms (without
    the arm itself when it has no loop).
    """
    if machine.broadcast:
        learn_from_all(machine, state, store, arm, losses)
        return
    first = machine.out_indptr[arm]
    n_explicit = machine.out_indptr[arm + 1] - first
    n_revealed = n_explicit + machine.universal.size
    n_touched = 0
    n_added = 0
    at = 0
    current = -1  # the block whose numbers are at hand: revealed arms tend to share one
    group = -1
    y = whole = 0.0
    rest = 1.0 - explored(machine, state)
    # All estimates first: they use this round's distribution.
    for index in range(n_revealed):
        if index < n_explicit:
            v = machine.out_indices[first + index]
        else:
            v = machine.universal[index - n_explicit]
            if v == arm and machine.seen_how[v] == SEEN_BY_OTHERS:
                continue  # it does not reveal itself
        loss = losses[at]
        at += 1
        if loss == 0.0:
            continue
        slot = slot_of(machine, v)
        k = block_of(machine, slot)
        if k != current:
            current = k
            group = group_of(machine, k)
            y = block_value(machine, store, k)
            whole = rest * y
            if machine.any_fixed:
                whole += machine.fixed_in_block[k]
            if machine.any_adaptive:
                whole += machine.adaptive[k] * state.roots[k]
            if group >= 0 and state.marked[k] == 0:
                state.marked[k] = 1
                state.touched[n_touched] = k
                state.block_loss[k] = 0.0
                n_touched += 1
        inside = inside_value(machine, store, slot, k)
        inside_mixed = mixed(machine, slot, k, inside) if group >= 0 else 1.0
        how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[v]
        if how == SEEN_BY_ALL:
            probability = 1.0
        elif how == SEEN_BY_EDGES:
            probability = seen_by_edges(machine, state, store, v)
        else:
            probability = rest * y * inside_mixed + extra(machine, store, slot, k)
            if how == SEEN_BY_BLOCK:
                probability = whole - probability
            elif how == SEEN_BY_OTHERS:
                probability = 1.0 - probability
        guess = min(loss / probability, LARGEST_ESTIMATE)
        if group >= 0:
            state.block_loss[k] += inside_mixed * guess
            state.paid[k] += inside * guess
            state.owners[n_added] = group
            state.targets[n_added] = machine.n_blocks + slot
            state.amounts[n_added] = guess * machine.block_rate[k]
        elif machine.n_blocks == 1:  # a single arm: nothing to choose
            state.numbers[TOP_PAID] += guess
            state.whole[0] += guess
            continue
        else:  # a singleton: its estimate is its block's loss
            state.numbers[TOP_PAID] += y * guess
            state.owners[n_added] = top_group_of(machine, k)
            state.targets[n_added] = k
            state.amounts[n_added] = guess * top_rate_of(machine, k)
        n_added += 1
    state.numbers[GAMMA_SUM] += explored(machine, state)
    state.numbers[ROUND] += 1.0
    if n_added == 0:
        return
    for index in range(n_touched):
        k = state.touched[index]
        loss = state.block_loss[k]
        state.numbers[TOP_PAID] += block_value(machine, store, k) * loss
        if machine.n_blocks == 1:
            state.whole[0] += loss
        else:
            state.owners[n_added] = top_group_of(machine, k)
            state.targets[n_added] = k
            state.amounts[n_added] = loss * top_rate_of(machine, k)
            n_added += 1
    for index in range(n_added):
        add(store, state.owners[index], state.targets[index], state.amounts[index])
    settle(machine, state, store, n_touched)


@step()
def learn_from_all(machine, state, store, arm, losses):
    """`learn` on a loop-less clique of singletons: everything moves every round, so do it in vector passes."""
    state.numbers[GAMMA_SUM] += explored(machine, state)
    state.numbers[ROUND] += 1.0
    paid = add_to_all(machine, state, store, losses, 0, arm, 0)
    paid += add_to_all(machine, state, store, losses, arm + 1, store.key.size // 2, 1)
    state.numbers[TOP_PAID] += paid
    store.scalars[head(0) + CHANGE] = -1.0
    solve(store, 0)


@step(fastmath={"contract", "reassoc", "nsz"})
def add_to_all(machine, state, store, losses, first, last, skipped):
    """Add the estimates of arms first..last to their sums; return Σ Y·ℓ̂ over them."""
    rest = (1.0 - explored(machine, state)) * store.scalars[head(0) + FACTOR]
    rate = machine.top_rate[0]
    weights, keys = store.weight[first:last], store.key[first:last]
    fixed, told = machine.fixed[first:last], losses[first - skipped : last - skipped]
    paid = 0.0
    for i in range(weights.size):
        seen = 1.0 - (rest * weights[i] + fixed[i])
        guess = told[i] / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
        paid += weights[i] * guess
        keys[i] += rate * guess
    return paid * store.scalars[head(0) + FACTOR]


@step()
def settle(machine, state, store, n_touched):
    """Move the touched blocks, then the top level, to their new points."""
    adapted = False
    n_simplices = n_touched + (1 if machine.n_blocks > 1 else 0)
    for index in range(n_simplices):
        simplex = 0
        k = -1
        if index < n_touched:
            k = state.touched[index]
            state.marked[k] = 0
            simplex = machine.block_simplex[k]
        solve(store, simplex)
        if k >= 0 and machine.any_adaptive and machine.adaptive[k] > 0.0:
            adapted = True
            state.roots[k] = root_sum(store, machine.block_group[k])
    if adapted:
        total = 0.0
        for index in range(machine.adaptive_blocks.size):
            block = machine.adaptive_blocks[index]
            total += machine.adaptive[block] * state.roots[block]
        state.numbers[ADAPTIVE_TOTAL] = total


# -- entry points: what Python calls, one decision at a time ------------------------------------------


@kernel()
def ask_once(memory):
    """Draw an arm and make it the pending one."""
    machine, state, store = unpack(memory)
    arm = ask(machine, state, store)
    state.numbers[PENDING] = arm
    return arm


@kernel()
def tell_once(memory, losses):
    """Learn from the pending arm's losses, given in engine order; False, and nothing changed, if one is bad."""
    machine, state, store = unpack(memory)
    for i in range(losses.size):
        if not 0.0 <= losses[i] <= 1.0:  # also NaN
            return False
    learn(machine, state, store, int(state.numbers[PENDING]), losses)
    state.numbers[PENDING] = -1.0
    return True


@kernel()
def start(memory):
    """Quantities that follow from the initial point."""
    machine, state, store = unpack(memory)
    total = 0.0
    for index in range(machine.adaptive_blocks.size):
        k = machine.adaptive_blocks[index]
        state.roots[k] = root_sum(store, machine.block_group[k])
        total += machine.adaptive[k] * state.roots[k]
    state.numbers[ADAPTIVE_TOTAL] = total
    total = 0.0
    for k in range(machine.fixed_in_block.size):
        total += machine.fixed_in_block[k]
    state.numbers[FIXED_TOTAL] = total
    state.numbers[PENDING] = -1.0


@kernel()
def fill_probabilities(memory, out):
    """Write Z for every arm into out."""
    machine, state, store = unpack(memory)
    for slot in range(out.size):
        out[machine.arm_at[slot]] = played(machine, state, store, slot)


@kernel()
def fill_blocks(memory, out):
    """Write Y for every block into out."""
    machine, _, store = unpack(memory)
    for k in range(out.size):
        out[k] = block_value(machine, store, k)


@kernel()
def fill_inside(memory, out):
    """Write X for every arm into out: its share of its own block."""
    machine, _, store = unpack(memory)
    for slot in range(out.size):
        out[machine.arm_at[slot]] = inside_value(machine, store, slot, machine.block_of[slot])


@kernel()
def ledger(memory, arm, out):
    """The four parts of the estimated regret against `arm` so far (Lemma regret), into out[0:4].

    projection Σ⟨L̂, Y − e_k⟩, restriction Σ⟨ℓ̂_k, X_k − e_j⟩, global exploration Σγ̄, local exploration Σγ̄_k.
    """
    machine, state, store = unpack(memory)
    slot = machine.slot_of[arm]
    k = machine.block_of[slot]
    if machine.n_blocks > 1:
        top = machine.top_group[k]
        block_sum = (store.key[store.place[k]] - store.scalars[head(top) + SHIFT]) / machine.top_rate[k]
    else:
        block_sum = state.whole[0]
    out[0] = state.numbers[TOP_PAID] - block_sum
    out[1] = 0.0
    g = machine.block_group[k]
    if g >= 0:
        own = store.key[store.place[machine.n_blocks + slot]] - store.scalars[head(g) + SHIFT]
        out[1] = state.paid[k] - own / machine.block_rate[k]
    out[2] = state.numbers[GAMMA_SUM]
    out[3] = machine.local_total[k] * state.numbers[ROUND]
