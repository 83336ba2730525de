"""Decisions whose losses come later: what has to be kept of a draw, and learning from that.

While a decision is open others are learnt from, so the distribution that it was drawn from is gone when its losses
come. An estimate ℓ/P is unbiased only with the P of the draw, the block's loss Σ X̃·ℓ̂ and the ledger speak of the X, Y
and γ̄ of the draw. `note` writes these down, a few numbers for every arm that is revealed; `learn_late` uses them in
place of today's. Sums, rates and points are today's: estimates join the sums when they come.

A record has the revealed arms in increasing order:

    γ̄, ĉ, κ, position, Z, c      what was explored in all; of a self-tuning plan its charge, what of γ̄ it kept on the
                                 leader, and where that is among the revealed arms, −1 if nowhere (0 for other plans);
                                 the probability of the arm itself; the shift
    P, X, Y of each arm          the probability of being seen, the arm's share of its block, the share of its block
"""

from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined, internal, kernel, noinline
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.constants import FAILED
from sidelight.engine.fields import ALL_OTHERS, EVERYTHING, OWN_BLOCK, opened
from sidelight.engine.round.indexing import (
    arm_at,
    block_of,
    group_of,
    is_own,
    out_edges,
    record_of_block,
    slots_of,
)
from sidelight.engine.round.learn_single import estimate_of
from sidelight.engine.round.probabilities import block_value, is_told, played, seen_probability
from sidelight.engine.round.settle import list_estimate, settle, touch
from sidelight.engine.self_tuning.charge import (
    charge,
    count_kept,
    estimated_cost,
    is_due,
    is_known,
    known_cost,
    log_weights,
)
from sidelight.engine.self_tuning.retune import retune
from sidelight.engine.simplex.point import value
from sidelight.engine.simplex.store import group

EXPLORED, COST, ON_LEADER, POSITION, PLAYED, SHIFT, N_KEPT = range(7)
SEEN, INSIDE, BLOCK, PER_ARM = range(4)
"""Where these are in a record: six numbers of the draw, then three for every revealed arm."""

draw_in = record_of("draw", ("explored", "cost", "on_leader", "position", "played", "shift"))
arm_in = record_of("draw_arm", ("seen", "inside", "block"))


@inlined()
def list_revealed(machine, state, slot):
    """Write the slots that `slot` reveals to state.targets, in increasing order of arms; return how many."""
    targets = state.targets
    n = 0
    if machine.shape == OWN_BLOCK or machine.shape == ALL_OTHERS or machine.shape == EVERYTHING:
        first, end = 0, machine.n_arms
        if machine.shape == OWN_BLOCK:
            run = slots_of(machine, block_of(machine, slot))
            first, end = run.start, run.stop
        for v in range(first, end):
            if v != slot or machine.shape == EVERYTHING:
                targets[n] = v
                n += 1
        return n
    row = out_edges(machine, slot)
    edge, end = row.start, row.stop
    u = 0
    while edge < end or u < machine.n_universal:  # both rows are sorted by arm: merge them
        from_row = u == machine.n_universal
        if not from_row and edge < end:
            from_row = arm_at(machine, machine.out_indices[edge]) < arm_at(machine, machine.universal[u])
        if from_row:
            targets[n] = machine.out_indices[edge]
            edge += 1
            n += 1
        else:
            if not is_own(machine, slot, machine.universal[u]):
                targets[n] = machine.universal[u]
                n += 1
            u += 1
    return n


@internal()
def note(machine, state, store, slot, record):
    """Write down what learning from a draw of `slot` from the present distribution will need."""
    noinline()
    # Everything in probabilities of now: estimates, ledger and charge are those of this draw whenever they come.
    rest = 1.0 - state.gamma
    draw = draw_in(record, 0)
    draw.explored = state.gamma
    draw.cost = draw.on_leader = draw.position = 0.0
    draw.played = played(machine, state, store, slot, rest)
    draw.shift = state.shift
    leader = -1
    if machine.self_tunes:
        draw.cost = estimated_cost(machine, state, store, slot)
        draw.on_leader = state.on_leader
        draw.position = -1.0
        leader = int(state.leader)
    for i in range(list_revealed(machine, state, slot)):
        v = state.targets[i]
        if v == leader:
            draw.position = float(i)
        k = block_of(machine, v)
        g = group_of(machine, k, v)
        z = played(machine, state, store, v, rest)
        arm = arm_in(record, N_KEPT + PER_ARM * i)
        arm.seen = seen_probability(machine, state, store, v, z, rest)
        arm.inside = value(store, g, machine.n_blocks + v) if g >= 0 else 1.0
        arm.block = block_value(machine, store, k)


@internal()
def learn_late(machine, state, store, slot, losses, record, after_others):
    """`learn` from the losses that `slot` revealed, in increasing order of arms, with the record of its draw.

    `after_others`: were rounds learnt from since it was drawn?
    """
    noinline()
    draw = draw_in(record, 0)
    known = is_known(machine, store)
    weights = log_weights(store) if known else (1.0, 0.0, 0.0)
    if machine.self_tunes and not known:
        charge(machine, state, draw.cost)
    before, paid, of_leader, paid_now = state.top_paid, 0.0, 0.0, 0.0
    n_touched = n_added = 0
    for i in range(list_revealed(machine, state, slot)):
        amount = losses[i] - draw.shift
        if amount == 0.0 or (machine.fails and losses[i] == FAILED):
            continue
        # Read before the list of changes, which is never longer, grows over it.
        v = state.targets[i]
        k = block_of(machine, v)
        g = group_of(machine, k, v)
        arm = arm_in(record, N_KEPT + PER_ARM * i)
        estimate = estimate_of(amount, arm.seen)
        if i == int(draw.position):
            of_leader = estimate
        mixed = 1.0
        if g >= 0:
            n_touched = touch(state, k, n_touched)
            mixed = arm.inside
            if machine.any_local:
                mixed = group(store, record_of_block(machine, k)).share * arm.inside + machine.local[v]
        paid += arm.block * mixed * estimate
        if known:  # stability is that of the step that is made, from today's point
            paid_now += value(store, g, machine.n_blocks + v) * amount
        n_added = list_estimate(machine, state, store, k, g, v, arm.inside, mixed, estimate, n_added)
    if n_added > 0:
        settle(machine, state, store, n_touched, n_added)
    if known:
        charge(machine, state, known_cost(state, store, paid_now, weights))
    # The ledger of the round that was played: with the Y and the γ̄ of its draw, not those of today.
    state.top_paid = before + paid
    state.exploration_cost += draw.explored * (1.0 - draw.shift - paid)
    if machine.self_tunes:
        count_kept(state, draw.on_leader, draw.shift + of_leader)
        state.shifts += draw.shift
    state.round += 1.0
    if after_others:
        state.late += 1.0
    if machine.self_tunes and is_due(state, store):
        retune(machine, state, store)


# -- entry points -------------------------------------------------------------------------------------


@kernel()
def note_once(memory, arm, record):
    """`note` for an arm that was drawn from the present distribution."""
    machine, state, store = opened(memory)
    note(machine, state, store, int(machine.slot_of[arm]), pointer(record, 0, record.size))


@kernel()
def observe_once(memory, arm, revealed, record):
    """Learn from losses in increasing order of arms; False, and no change, if one is outside [0, 1]."""
    machine, state, store = opened(memory)
    for i in range(revealed.size):
        if not is_told(machine, revealed[i]):
            return False
    slot = int(machine.slot_of[arm])
    losses = pointer(revealed, 0, revealed.size)
    learn_late(machine, state, store, slot, losses, pointer(record, 0, record.size), True)
    return True
