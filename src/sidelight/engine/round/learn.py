"""Learning from what a play revealed: importance-weighted estimates (ℓ − c)/P are added to their sums, and the
simplices that they touch move to their new points.

`learn_edges` works for any graph; frequent shapes have faster versions. `losses` are in engine order (see `round`).
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.fields import (
    ALL_OTHERS,
    EVERYTHING,
    OWN_BLOCK,
    OWN_LOSS,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
)
from sidelight.engine.round.indexing import block_of, group_of, out_edges, record_of_block, top_group_of
from sidelight.engine.round.learn_all import learn_all, learn_block
from sidelight.engine.round.learn_single import LARGEST_ESTIMATE, estimate_of, learn_single
from sidelight.engine.round.probabilities import block_value, seen_by_edges, varying
from sidelight.engine.round.settle import count_paid, count_round, list_estimate, move_top, settle, touch
from sidelight.engine.self_tuning.charge import (
    charge,
    count_kept,
    estimated_cost,
    is_due,
    is_known,
    known_cost,
    leader_sum,
    log_weights,
)
from sidelight.engine.self_tuning.retune import retune
from sidelight.engine.simplex.point import inverse_value, value
from sidelight.engine.simplex.store import group


@inlined()
def learn(machine, state, store, slot, losses):
    """Take in what playing `slot` revealed and move to the next round."""
    # Before anything moves: a round is charged for the distribution that it was drawn from.
    leader = 0.0
    known = is_known(machine, store)
    weights = log_weights(store) if known else (1.0, 0.0, 0.0)
    if machine.self_tunes:
        if not known:
            charge(machine, state, estimated_cost(machine, state, store, slot))
        leader = leader_sum(state, store)
    rest = count_round(state)
    before = state.top_paid
    if known:  # what X pays in this round alone has more digits than a difference of sums
        state.top_paid = 0.0
    # From the most special shape to the general one. Each is kept for a measured gain (docs/decisions/0011)
    # and compared with the naive twin in the tests.
    if machine.shape == OWN_LOSS:
        if losses[0] != 0.0:
            learn_own(machine, state, store, slot, losses[0], rest)
    elif machine.shape == OWN_BLOCK:
        learn_block(machine, state, store, slot, losses, rest)
    elif machine.shape == ALL_OTHERS or machine.shape == EVERYTHING:
        learn_all(machine, state, store, losses, rest)
    elif machine.single:
        learn_single(machine, state, store, slot, losses, rest)
    else:
        learn_edges(machine, state, store, slot, losses, rest)
    if known:
        charge(machine, state, known_cost(state, store, state.top_paid, weights))
        state.top_paid += before
    count_paid(state, rest, before)
    if machine.self_tunes:
        count_kept(state, state.on_leader, state.shift + leader_sum(state, store) - leader)
        state.shifts += state.shift
        if is_due(state, store):
            retune(machine, state, store)


@inlined()
def learn_own(machine, state, store, slot, loss, rest):
    """`learn` where every arm is a singleton and reveals itself alone: a bandit."""
    g = top_group_of(machine, slot)
    if machine.n_fixed > 0:
        y = value(store, g, slot)
        estimate = min(loss / (rest * y + machine.fixed[slot]), LARGEST_ESTIMATE)
        state.top_paid += y * estimate
    else:  # nothing is explored: rest is 1
        estimate = min(loss * inverse_value(store, g, slot), LARGEST_ESTIMATE)
        # y·ℓ/y: without exploration the estimated loss of the play is the loss itself.
        state.top_paid += loss
    move_top(machine, state, store, g, slot, estimate)


@internal()
def learn_edges(machine, state, store, slot, losses, rest):
    """`learn` on any graph: one revealed arm after another."""
    noinline()
    row = out_edges(machine, slot)
    n_explicit = len(row)
    n_touched = 0
    n_added = 0
    at = 0
    current = -1  # the block whose numbers are at hand: revealed arms tend to share one
    record = -1
    y = whole = 0.0
    # All estimates first: they use this round's distribution.
    for index in range(n_explicit + machine.n_universal):
        if index < n_explicit:
            v = machine.out_indices[row.start + index]
        else:
            v = machine.universal[index - n_explicit]
            if v == slot and machine.seen_how[v] == SEEN_BY_OTHERS:
                continue  # it does not reveal itself
        amount = losses[at] - state.shift
        at += 1
        # An estimate of 0 changes no sum; P, the costly part, is never computed for it.
        if amount == 0.0:
            continue
        k = block_of(machine, v)
        g = group_of(machine, k, v)
        if k != current:
            current = k
            y = block_value(machine, store, k)
            if g >= 0:
                record = record_of_block(machine, k)
                # The probability that anything in the block is played: (1 − γ̄)·Y_k plus all exploration
                # inside it. X̃ adds up to 1, so no arm has to be visited. Spread exploration has no such
                # total: blocks with it are seen along edges.
                whole = rest * y
                if machine.n_fixed > 0:
                    whole += group(store, record).held
                if machine.n_adaptive > 0:
                    whole += machine.adaptive[k] * state.roots[k]
                n_touched = touch(state, k, n_touched)
        inside = mixed = 1.0
        if g >= 0:
            inside = value(store, g, machine.n_blocks + v)
            mixed = inside
            if machine.any_local:
                # X̃, what the block really plays; its loss is charged with X̃, the regret inside it with X.
                mixed = group(store, record).share * inside + machine.local[v]
        how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[v]
        # Closed forms of P = Σ Z over the in-neighbours wherever those are everyone or a whole block.
        if how == SEEN_BY_ALL:
            probability = 1.0
        elif how == SEEN_BY_EDGES:
            probability = seen_by_edges(machine, state, store, v, rest)
        else:
            probability = rest * y * mixed + varying(machine, state, store, v, k)
            if machine.n_fixed > 0:
                probability += machine.fixed[v]
            if how == SEEN_BY_BLOCK:
                # All others of its block reveal it. The subtraction loses digits only if the arm itself has
                # nearly all of the mass, and exploration keeps P away from 0.
                probability = whole - probability
            elif how == SEEN_BY_OTHERS:
                probability = 1.0 - probability
        estimate = estimate_of(amount, probability)
        if g < 0:  # a singleton: its estimate is its block's loss
            state.top_paid += y * estimate
        n_added = list_estimate(machine, state, store, k, g, v, inside, mixed, estimate, n_added)
    if n_added > 0:
        settle(machine, state, store, n_touched, n_added)
