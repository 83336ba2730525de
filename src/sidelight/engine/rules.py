"""Rules, which draw from no simplex of the engine: their state, steps that they share, and the loop around the steps.

A rule consists of four steps:

    choose(state)                  the arm of this round
    note(state, count, record)     what learning from the arms state.targets[:count] will need
    update(state, count, record)   take in their losses, state.losses[:count], with what was noted of the draw
    weigh(state)                   the distribution of the next round from sums and numbers, where the rule keeps one

`ask`, `tell`, decisions that are answered later and compiled simulation call the same steps, so they agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined, internal, kernel
from sidelight.engine.calendar import NONE, WIDTH, enter, take
from sidelight.engine.graphs import graph_of
from sidelight.engine.graphs import list_revealed as listed
from sidelight.engine.losses import cost_of, hear
from sidelight.engine.random import next_turn, next_unit, round_word

NUMBERS = (
    "round",  # rounds that are decided, without one whose arm waits to be told of
    "total",  # a sum of the rule's own, such as ΣQ of Exp3-IX
)
"""RuleState.numbers."""

ADDED, N_RECORD = range(2)
SEEN, DIVISOR, PER_ARM = range(3)
"""What is noted of a draw: what its round adds to `total`; then for every arm that it reveals, in order, the
probability of being seen and what its loss is divided by."""

numbers_in = record_of("rule", NUMBERS)
seen_in = record_of("rule_arm", ("seen", "divisor"))


class RuleState(NamedTuple):
    """All that a rule reads and writes; `numbers` and what is below change while playing."""

    out_indptr: np.ndarray
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray
    universal: np.ndarray
    loops: np.ndarray
    numbers: np.ndarray  # by `NUMBERS`
    counts: np.ndarray  # (n,) observations
    sums: np.ndarray  # (n,) of observed losses, or of loss estimates
    probabilities: np.ndarray  # (n,) of the next play, where the rule keeps them
    own: np.ndarray  # what else the rule keeps, which begins as `Rule.own`
    words: np.ndarray  # (4,) random stream
    targets: np.ndarray  # scratch: the arms that one play reveals
    losses: np.ndarray  # scratch: their losses
    kept: np.ndarray  # scratch: what is noted of a draw that is learnt from at once


@inlined()
def numbers_of(state):
    """The numbers of a rule by name."""
    return numbers_in(state.numbers, 0)


@inlined()
def arm_in(record, index):
    """What was noted of the arm that is revealed as number `index`."""
    return seen_in(record, N_RECORD + PER_ARM * index)


@inlined()
def on_graph(state, graphs, k, probabilities):
    """The state on graph k of a list, where arms are drawn like this."""
    n = graphs.n_arms
    return RuleState(
        graphs.out_start[k * (n + 1) : (k + 1) * (n + 1)],
        graphs.out_arms,
        graphs.in_start[k * (n + 1) : (k + 1) * (n + 1)],
        graphs.in_arms,
        graphs.universal[graphs.universal_start[k] : graphs.universal_start[k + 1]],
        graphs.loops[k * n : (k + 1) * n],
        state.numbers,
        state.counts,
        state.sums,
        probabilities,
        state.own,
        state.words,
        state.targets,
        state.losses,
        state.kept,
    )


@inlined()
def list_revealed(state, arm):
    """Write the arms that `arm` reveals to state.targets, in order; return how many."""
    return listed(state.out_indptr, state.out_indices, state.universal, state.loops, arm, state.targets)


@inlined()
def seen(state, arm):
    """The probability that the next play reveals `arm`."""
    # Universal arms have no explicit edges: a closed form spares a sum over all arms.
    first, end = state.in_indptr[arm], state.in_indptr[arm + 1]
    if first == end:  # no explicit edges: every arm reveals it, or every other
        return 1.0 if state.loops[arm] else 1.0 - state.probabilities[arm]
    total = 0.0
    for edge in range(first, end):
        total += state.probabilities[state.in_indices[edge]]
    return total


# -- steps that several rules share -------------------------------------------------------------------


@inlined()
def keep_none(state):
    """`weigh` of rules that keep no distribution."""


@internal()
def draw(state):
    """An arm from state.probabilities."""
    left = next_unit(state.words)
    # Rounding may leave a little after the last arm: then it is the last that can be drawn at all.
    last = 0
    for i in range(state.probabilities.size):
        if state.probabilities[i] > 0.0:
            last = i
            left -= state.probabilities[i]
            if left < 0.0:
                break
    return last


@internal()
def note_certain(state, count, record):
    """For rules that draw from nothing: what is seen was sure to be, and counts as it is."""
    record[ADDED] = 0.0
    for index in range(count):
        arm = arm_in(record, index)
        arm.seen = 1.0
        arm.divisor = 1.0


@internal()
def note_seen(state, count, record):
    """For rules that add estimates ℓ/P, P the probability of being seen."""
    record[ADDED] = 0.0
    for index in range(count):
        arm = arm_in(record, index)
        arm.seen = seen(state, state.targets[index])
        arm.divisor = arm.seen


@internal()
def add_estimates(state, count, record):
    """Add the losses, divided by what was noted, to the sums."""
    for index in range(count):
        state.sums[state.targets[index]] += state.losses[index] / arm_in(record, index).divisor


@internal()
def add_losses(state, count, record):
    """Add the losses as they are, whatever was noted: for rules that draw from nothing."""
    for index in range(count):
        state.sums[state.targets[index]] += state.losses[index]


@inlined()
def least_sum(state):
    """The least of the sums; relative to it, powers and exponentials keep their digits."""
    least = math.inf
    for i in range(state.sums.size):
        least = min(least, state.sums[i])
    return least


@inlined()
def normalise(state):
    """Make the probabilities add up to one."""
    total = 0.0
    for i in range(state.probabilities.size):
        total += state.probabilities[i]
    for i in range(state.probabilities.size):
        state.probabilities[i] /= total


@inlined()
def count_round(state, record):
    """A round is decided."""
    now = numbers_of(state)
    now.round += 1.0
    now.total += record[ADDED]


@inlined()
def count_seen(state, count):
    """The arms state.targets[:count] were observed."""
    for index in range(count):
        state.counts[state.targets[index]] += 1.0


@inlined()
def take_down(state, count, revealed):
    """Take the losses of these arms as they were told."""
    for index in range(count):
        state.losses[index] = revealed[index]
    count_seen(state, count)


@inlined()
def all_are_losses(revealed):
    """Are all within [0, 1]?"""
    outside = 0
    for index in range(revealed.size):
        outside += 0 if 0.0 <= revealed[index] <= 1.0 else 1  # NaN is outside too
    return outside == 0


# -- the loop around them -----------------------------------------------------------------------------

choose: Any = None
note: Any = None
update: Any = None
weigh: Any = None
"""Stand for the steps of a rule below; `rule_kernels` puts its own in their place."""


class Kernels(NamedTuple):
    """What Python calls."""

    start: Any
    ask: Any
    tell: Any
    keep: Any
    go_on: Any
    observe: Any
    play: Any


def rule_kernels(
    name: str, choose: Any, note: Any, update: Any = add_estimates, weigh: Any = keep_none
) -> Kernels:
    """The kernels of the rule `name`, with its steps inside.

    Each is a copy of one of the functions below with the steps as its globals. Under names of their own, rules are
    compiled and cached apart: whoever plays one waits for no other.
    """
    # Globals are constants to the compiler: a copy with other globals is compiled with other steps inside.
    steps = {"choose": choose, "note": note, "update": update, "weigh": weigh}

    def copied(function: Callable[..., Any]) -> Any:
        own = FunctionType(function.__code__, globals() | steps, f"{function.__name__}_{name}")
        own.__qualname__ = own.__name__
        return kernel()(own)

    return Kernels(*(copied(function) for function in (start, ask, tell, keep, go_on, observe, play)))


def start(state):
    """The distribution that belongs to the sums: at the beginning, and when they were read from a file."""
    weigh(state)


def ask(state):
    """Draw an arm; its round is not over before `tell` or `go_on`."""
    next_turn(state.words)
    return choose(state)


def tell(state, arm, revealed):
    """Learn the losses that the arm drawn last revealed, in order; False, and no change, if one is outside [0, 1]."""
    if not all_are_losses(revealed):
        return False
    # What is noted speaks of the draw, so it comes before anything moves.
    count = list_revealed(state, arm)
    note(state, count, state.kept)
    count_round(state, state.kept)
    take_down(state, count, revealed)
    update(state, count, state.kept)
    weigh(state)
    return True


def keep(state, arm, record):
    """Write down what learning from an arm that was drawn from the present distribution will need."""
    note(state, list_revealed(state, arm), record)


def go_on(state, record):
    """Go on to the next round without the losses of the arm that was drawn last, of which this was noted."""
    count_round(state, record)
    weigh(state)


def observe(state, arm, revealed, record):
    """`tell` for an arm of an earlier round, with what was noted of it."""
    if not all_are_losses(revealed):
        return False
    count = list_revealed(state, arm)
    take_down(state, count, revealed)
    update(state, count, record)
    weigh(state)
    return True


def play(state, graphs, sequence, after, world, function, key, first, last, cost, plays, calendar):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss.

    Losses are heard of when the calendar says so. Rounds are on the rule's own graph, unless `graphs` has others: the
    rule's own is the first of them, and the graph of a round is known before it is played, or shown `after` it, with
    its losses. Then a record ends with the total before the round and the distribution that it was drawn from: from
    these follows what another graph, shown later, makes of the draw.
    """
    n, width = state.sums.size, calendar.counts[WIDTH]
    tail = width - n - 1
    changes = graphs.n_arms > 0
    now = numbers_of(state)
    for t in range(first, last):
        next_turn(state.words)
        arm = choose(state)
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        at = enter(calendar, t, arm)
        record = calendar.kept[at * width : (at + 1) * width]
        here = state
        if changes and not after:
            here = on_graph(state, graphs, 1 + graph_of(sequence, round_word(key, t), t), state.probabilities)
        note(here, list_revealed(here, arm), record)
        if changes and after:
            record[tail] = now.total
            for i in range(n):
                record[tail + 1 + i] = state.probabilities[i]
        count_round(state, record)
        # Answers are taken in before the next draw: delay 0 is the game without delays.
        due = take(calendar, t)
        while due != NONE:
            decided = calendar.round[due]
            word = round_word(key, decided)
            record = calendar.kept[due * width : (due + 1) * width]
            here = state
            if changes:
                here = on_graph(
                    state, graphs, 1 + graph_of(sequence, word, decided), record[tail + 1 : tail + 1 + n]
                )
            count = list_revealed(here, calendar.drawn[due])
            if not hear(world, function, word, decided, state.targets, state.losses, count):
                return math.nan
            if changes and after:
                # What the round added was that of the rule's own graph: replace it by that of its true graph.
                total, added = now.total, record[ADDED]
                now.total = record[tail]
                note(here, count, record)
                now.total = total + (record[ADDED] - added)
            count_seen(state, count)
            update(state, count, record)
            due = take(calendar, t)
        weigh(state)
    return cost
