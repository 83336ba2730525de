"""Many rounds of the engine against losses made on demand."""

import math

from sidelight.engine._numba.jit import inlined, kernel
from sidelight.engine._numba.pointers import pointer, prefetch
from sidelight.engine.calendar import NONE, WIDTH, enter, take
from sidelight.engine.constants import FAILED
from sidelight.engine.fields import EVERYTHING, MANY_SHAPES, OWN_BLOCK, OWN_LOSS, opened
from sidelight.engine.losses import COINS, FUNCTION, cost_of, flip_coins, loss_of, row_of
from sidelight.engine.random import round_word
from sidelight.engine.round.indexing import arm_at, block_of, is_own, out_edges, slots_of
from sidelight.engine.round.late import learn_late, list_revealed, note
from sidelight.engine.round.learn import learn
from sidelight.engine.round.prefetch import fetch_members, fetch_parent, fetch_slot, proposed, slot_of_member
from sidelight.engine.round.probabilities import works
from sidelight.engine.round.round import ask
from sidelight.engine.simplex.store import POWER_BUCKETS, first_of


@inlined()
def reveal(machine, state, world, function, word, t, slot, losses):
    """Write what `slot` reveals in engine order, the shift where that fails; False if a loss is outside [0, 1]."""
    # The same order as `round.learn` reads them in: engine order, see `round`.
    if machine.shape == OWN_LOSS:
        losses[0] = loss_of(world, function, word, t, arm_at(machine, slot))
        return 0.0 <= losses[0] <= 1.0
    if machine.shape != MANY_SHAPES:
        return reveal_run(machine, state, world, function, word, t, slot, losses)
    at = 0
    row = out_edges(machine, slot)
    n_explicit = len(row)
    for index in range(n_explicit + machine.n_universal):
        if index < n_explicit:
            v = machine.out_indices[row.start + index]
        else:
            v = machine.universal[index - n_explicit]
            if is_own(machine, slot, v):
                continue
        # Only what is revealed is computed: a loss is a hash of seed, round and arm, so the others need not
        # exist.
        if not works(machine, word, slot, v):
            losses[at] = state.shift
            at += 1
            continue
        loss = loss_of(world, function, word, t, arm_at(machine, v))
        # Written so that NaN fails too.
        if not 0.0 <= loss <= 1.0:
            return False
        losses[at] = loss
        at += 1
    return True


@inlined()
def reveal_run(machine, state, world, function, word, t, slot, losses):
    """`reveal` where a play reveals a run of slots, with or without itself."""
    first, size = 0, machine.n_arms
    if machine.shape == OWN_BLOCK:
        k = block_of(machine, slot)
        run = slots_of(machine, k)
        first, size = run.start, len(run)
    if world.kind == COINS and machine.in_order:
        # Slots are arms in order and losses are coins: the whole run vectorises, and coins are never out of
        # range.
        flip_coins(row_of(world, t), word, first, size, losses)
    else:
        for i in range(size):
            losses[i] = loss_of(world, function, word, t, arm_at(machine, first + i))
            # The played arm is not revealed here, so its loss is not the learner's business, unless
            # everything is revealed.
            if not 0.0 <= losses[i] <= 1.0 and (first + i != slot or machine.shape == EVERYTHING):
                return False
    if machine.shape != EVERYTHING:
        # In engine order the played arm keeps its place in the run, with a loss that changes nothing.
        losses[slot - first] = state.shift
    return True


@kernel()
def play(memory, world, function, key, first, last, cost, losses, plays):
    """Play rounds first..last and return `cost` plus what they cost; NaN if a loss is outside [0, 1].

    Ends early, before the next draw, where the game has to go on with another potential (`state.fallen`). A round
    costs the mean of its arm where that is known, else its loss. Adding to the cost so far makes the sum independent
    of where a game is split into calls.

    `losses` is scratch for what one arm reveals and one more; `plays`, unless empty, counts plays by arm.
    """
    machine, state, store = opened(memory)
    revealed = pointer(losses, 0, losses.size)
    counts = pointer(plays, 0, plays.size)
    table = row_of(world, 0)
    one_row = world.kind != FUNCTION and world.rows == 1
    # If simplex 0 is one bucketed group, one random number tells which member a later round will propose
    # first.
    proposes = machine.fetches and store.form[0] == POWER_BUCKETS and store.first_group[1] == 1
    # members that are proposed three, four and five rounds from now
    far = further = furthest = first_of(store, 0) if proposes else 0
    soon = later = -1  # slots of the next two rounds
    for t in range(first, last):
        if machine.self_tunes and state.fallen != 0.0:
            break
        slot = ask(machine, state, store)
        arm = arm_at(machine, slot)
        # A pipeline over rounds: each step reads what the step before, a round or more ago, has asked for.
        if proposes:
            soon, later = later, slot_of_member(machine, state, store, far, 2)
            far, further, furthest = further, furthest, proposed(machine, state, store, 5)
            fetch_parent(machine, store, far)
            fetch_members(machine, state, store, soon)
            if one_row and machine.in_order and later >= 0:
                prefetch(table, later)
                if machine.shape == OWN_BLOCK:
                    # A block revealed as a run may lie across two cache lines.
                    prefetch(table, later + 8)
        if machine.fetches:
            fetch_slot(machine, store, slot)
            if plays.size > 0:
                prefetch(counts, arm)
        # The losses of a round do not depend on the arm played or on the player's random numbers (an
        # oblivious adversary).
        word = round_word(key, t)
        if not reveal(machine, state, world, function, word, t, slot, revealed):
            return math.nan
        cost += cost_of(world, function, t, arm)
        learn(machine, state, store, slot, revealed)
        if plays.size > 0:  # only now: its memory, asked for above, has had time to come
            counts[arm] += 1
    return cost


@kernel()
def play_late(memory, world, function, key, first, last, cost, losses, plays, calendar):
    """`play` where losses are heard of when the calendar says so."""
    machine, state, store = opened(memory)
    revealed = pointer(losses, 0, losses.size)
    width, size = calendar.counts[WIDTH], calendar.kept.size
    for t in range(first, last):
        if machine.self_tunes and state.fallen != 0.0:
            break
        slot = ask(machine, state, store)
        arm = arm_at(machine, slot)
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        record = enter(calendar, t, arm)
        calendar.learnt[record] = int(state.round)
        note(machine, state, store, slot, pointer(calendar.kept, record * width, size))
        record = take(calendar, t)
        while record != NONE:
            decided = calendar.round[record]
            played = int(machine.slot_of[int(calendar.drawn[record])])
            word = round_word(key, decided)
            for i in range(list_revealed(machine, state, played)):
                if not works(machine, word, played, state.targets[i]):
                    revealed[i] = FAILED
                    continue
                loss = loss_of(world, function, word, decided, arm_at(machine, state.targets[i]))
                if not 0.0 <= loss <= 1.0:
                    return math.nan
                revealed[i] = loss
            kept = pointer(calendar.kept, record * width, size)
            moved = calendar.learnt[record] != int(state.round)
            learn_late(machine, state, store, played, revealed, kept, moved)
            record = take(calendar, t)
    return cost


@kernel()
def total_losses(function, first, last, totals):
    """Add the losses of every arm in rounds first..last to totals; return how many were outside [0, 1]."""
    outside = 0.0
    for t in range(first, last):
        for arm in range(totals.size):
            loss = function(t, arm)
            if not (0.0 <= loss <= 1.0):
                # Counted, not refused: errors are raised by the caller, outside compiled code.
                outside += 1.0
            totals[arm] += loss
    return outside
