"""The end of a round: sums added to, touched simplices at their new points, exploration totalled."""

from sidelight.engine._numba.jit import inlined
from sidelight.engine.round.indexing import record_of_block, simplex_of, top_group_of
from sidelight.engine.round.probabilities import block_value
from sidelight.engine.round.spread import follow_spread
from sidelight.engine.simplex.point import root_sum
from sidelight.engine.simplex.solve import add, move, solve
from sidelight.engine.simplex.store import group
from sidelight.engine.simplex.tree import tree_total


@inlined()
def count_round(state):
    """Note that a round is over; return 1 − γ̄ of it."""
    # Before learning changes γ̄: the ledger charges what was really explored in this round. What Y would have
    # paid is known after learning: `count_paid`.
    state.exploration_cost += state.gamma
    state.round += 1.0
    return 1.0 - state.gamma


@inlined()
def count_paid(state, rest, before):
    """Exploration is taken from all arms alike, and saves γ̄ of what they would have paid, c + ⟨L̃, Y⟩, this round."""
    state.exploration_cost -= (1.0 - rest) * (state.shift + state.top_paid - before)


@inlined()
def touch(state, k, n_touched):
    """Block k has losses this round; return how many have. Revealed arms of a block need not come in a row."""
    if state.marked[k] != 0:
        return n_touched
    state.marked[k] = 1
    state.touched[n_touched] = k
    state.block_loss[k] = 0.0
    return n_touched + 1


@inlined()
def list_estimate(machine, state, store, k, g, v, inside, mixed, estimate, n_added):
    """Note what is added to the sum of slot v of block k, or to its block's where it is alone; return how many are.

    Noted, not added: later estimates of this round must still see the present point.
    """
    coordinate = k
    if g >= 0:
        # L̂_k = Σ_j X̃_k(j)·ℓ̂(j): an unbiased estimate of the loss of playing block k.
        state.block_loss[k] += mixed * estimate
        group(store, record_of_block(machine, k)).paid += inside * estimate
        coordinate = machine.n_blocks + v
    elif machine.n_blocks == 1:  # a single arm: nothing to choose
        state.whole += estimate
        return n_added
    else:
        g = top_group_of(machine, k)
    state.owners[n_added] = g
    state.targets[n_added] = coordinate
    state.amounts[n_added] = estimate * group(store, g).rate
    return n_added + 1


@inlined()
def settle(machine, state, store, n_touched, n_added):
    """Add this round's estimates to their sums, and move the touched simplices to their new points."""
    # Estimates of arms come first in the list, blocks after them: spread exploration follows the former only.
    n_inside = n_added
    for index in range(n_touched):
        k = state.touched[index]
        state.marked[k] = 0
        loss = state.block_loss[k]
        # Y of this round: nothing has been added or solved yet.
        y = block_value(machine, store, k)
        state.top_paid += y * loss
        if machine.n_blocks == 1:
            # One block: there is nothing to choose on top, only the ledger needs its loss.
            state.whole += loss
        else:
            g = top_group_of(machine, k)
            state.owners[n_added] = g
            state.targets[n_added] = k
            state.amounts[n_added] = loss * group(store, g).rate
            n_added += 1
    for index in range(n_added):
        add(store, state.owners[index], state.targets[index], state.amounts[index])
    n_simplices = n_touched + (1 if machine.n_blocks > 1 else 0)
    varies = False
    # All sums first, then each touched simplex once: blocks, and last the one over the blocks. Untouched ones
    # keep their point, so a round costs what was revealed.
    for index in range(n_simplices):
        if index == n_touched:
            solve(store, 0)
        else:
            k = state.touched[index]
            solve(store, simplex_of(machine, k))
            if machine.n_adaptive > 0 and machine.adaptive[k] > 0.0:
                varies = True
                # After its solution: the exploration of the next round follows its distribution.
                state.roots[k] = root_sum(store, record_of_block(machine, k))
            if machine.any_spread and (machine.spread[k] > 0.0 or state.floor > 0.0):
                varies = True
                follow_spread(machine, state, store, k, owed_group(machine, store, k), n_inside)
    if varies:
        total_exploration(machine, state)


@inlined()
def settle_top(machine, state, store, k, y, loss):
    """`settle` for a block that is already at its new point."""
    # `y` was read before anything moved.
    state.top_paid += y * loss
    if machine.n_blocks == 1:
        state.whole += loss
        return
    move_top(machine, state, store, top_group_of(machine, k), k, loss)


@inlined()
def move_top(machine, state, store, g, k, loss):
    """Move the top simplex by the loss of one block, in group g."""
    amount = loss * group(store, g).rate
    # `move` is for simplices of one group; mixed ones need `solve_mixed`.
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
    # Added up afresh, blocks and root of the tree alike, so γ̄ always equals what `draw_explored` draws from.
    for index in range(machine.n_adaptive):
        block = machine.adaptive_blocks[index]
        total += machine.adaptive[block] * state.roots[block]
    state.adaptive_total = total
    if machine.any_spread:
        total += tree_total(machine.n_arms, state.spread_node, 0)
    state.gamma = state.fixed_total + total
