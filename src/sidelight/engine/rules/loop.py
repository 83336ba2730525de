"""One round of a rule, and many, around the steps that a rule consists of.

    choose(state)                  the arm of this round
    note(state, count, kept)       what learning from the arms state.targets[:count] will need (see `state`)
    update(state, count, kept)     take in their losses, state.losses[:count], with what was kept of the draw
    weigh(state)                   the distribution of the next round from sums and numbers, where the rule keeps one

`ask`, `tell`, decisions that are answered later and compiled simulation call the same steps, so they agree.
"""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from sidelight.engine._numba.jit import kernel
from sidelight.engine.calendar import NONE, WIDTH, enter, take
from sidelight.engine.changing.loop import graph_of
from sidelight.engine.losses import cost_of, hear
from sidelight.engine.random import next_turn, round_word
from sidelight.engine.rules.state import (
    ADDED,
    PENDING,
    TOTAL,
    count_round,
    list_revealed,
    on_graph,
)
from sidelight.engine.rules.steps import add_kept, count_seen, keep_none, take_down

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
    play_late: Any
    play_changing: Any


def rule_kernels(
    name: str, choose: Any, note: Any, update: Any = add_kept, weigh: Any = keep_none
) -> Kernels:
    """The kernels of the rule `name`, with its steps inside.

    Each is a copy of one of the functions below with the steps as its globals. Under names of their own, rules are
    compiled and cached apart: whoever plays one waits for no other.
    """
    steps = {"choose": choose, "note": note, "update": update, "weigh": weigh}

    def copied(function: Callable[..., Any]) -> Any:
        made = FunctionType(function.__code__, globals() | steps, f"{function.__name__}_{name}")
        made.__qualname__ = made.__name__
        return kernel()(made)

    made = (start, ask, tell, keep, go_on, observe, play, play_late, play_changing)
    return Kernels(*(copied(function) for function in made))


def start(state):
    """The distribution that belongs to the sums: at the beginning, and when they were read from a file."""
    weigh(state)


def ask(state):
    """Draw an arm and leave it pending."""
    next_turn(state.words)
    arm = choose(state)
    state.numbers[PENDING] = float(arm)
    return arm


def tell(state, revealed):
    """Learn the losses that the pending arm revealed, in order; False, and no change, if one is outside [0, 1]."""
    for index in range(revealed.size):
        if not 0.0 <= revealed[index] <= 1.0:
            return False
    count = list_revealed(state, int(state.numbers[PENDING]))
    note(state, count, state.kept)
    count_round(state, state.kept)
    take_down(state, count, revealed)
    update(state, count, state.kept)
    weigh(state)
    state.numbers[PENDING] = -1.0
    return True


def keep(state, arm, kept):
    """Write down what learning from an arm that was drawn from the present distribution will need."""
    note(state, list_revealed(state, arm), kept)


def go_on(state, kept):
    """Go on to the next round without the losses of the arm that was drawn last, of which this is kept."""
    count_round(state, kept)
    weigh(state)
    state.numbers[PENDING] = -1.0


def observe(state, arm, revealed, kept):
    """`tell` for an arm of an earlier round, with what was kept of it."""
    for index in range(revealed.size):
        if not 0.0 <= revealed[index] <= 1.0:
            return False
    count = list_revealed(state, arm)
    take_down(state, count, revealed)
    update(state, count, kept)
    weigh(state)
    return True


def play(state, world, function, key, first, last, cost, plays):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss."""
    for t in range(first, last):
        next_turn(state.words)
        arm = choose(state)
        word = round_word(key, t)
        count = list_revealed(state, arm)
        if not hear(world, function, word, t, state.targets, state.losses, count):
            return math.nan
        count_seen(state, count)
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        note(state, count, state.kept)
        count_round(state, state.kept)
        update(state, count, state.kept)
        weigh(state)
    return cost


def play_late(state, world, function, key, first, last, cost, plays, calendar):
    """`play` where losses are heard of when the calendar says so."""
    for t in range(first, last):
        next_turn(state.words)
        arm = choose(state)
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        record = enter(calendar, t, arm)
        kept = calendar.kept[record * calendar.counts[WIDTH] : (record + 1) * calendar.counts[WIDTH]]
        note(state, list_revealed(state, arm), kept)
        count_round(state, kept)
        record = take(calendar, t)
        while record != NONE:
            decided = calendar.round[record]
            word = round_word(key, decided)
            count = list_revealed(state, calendar.drawn[record])
            if not hear(world, function, word, decided, state.targets, state.losses, count):
                return math.nan
            count_seen(state, count)
            kept = calendar.kept[record * calendar.counts[WIDTH] : (record + 1) * calendar.counts[WIDTH]]
            update(state, count, kept)
            record = take(calendar, t)
        weigh(state)
    return cost


def play_changing(state, graphs, sequence, after, world, function, key, first, last, cost, plays, calendar):
    """`play_late` on graphs that change: known before a round is played, or shown `after` it, with its losses.

    Of `graphs` the first is the rule's own. What is kept of a round ends with the total before it and the
    distribution it was drawn from: from these follows what another graph, shown later, makes of the draw.
    """
    n, width = state.sums.size, calendar.counts[WIDTH]
    tail = width - n - 1
    for t in range(first, last):
        next_turn(state.words)
        arm = choose(state)
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        record = enter(calendar, t, arm)
        kept = calendar.kept[record * width : (record + 1) * width]
        k = 0 if after else 1 + graph_of(sequence, round_word(key, t), t)
        here = on_graph(state, graphs, k, state.probabilities)
        note(here, list_revealed(here, arm), kept)
        kept[tail] = state.numbers[TOTAL]
        for i in range(n):
            kept[tail + 1 + i] = state.probabilities[i]
        count_round(state, kept)
        record = take(calendar, t)
        while record != NONE:
            decided = calendar.round[record]
            word = round_word(key, decided)
            kept = calendar.kept[record * width : (record + 1) * width]
            here = on_graph(state, graphs, 1 + graph_of(sequence, word, decided), kept[tail + 1 :])
            count = list_revealed(here, calendar.drawn[record])
            if not hear(world, function, word, decided, state.targets, state.losses, count):
                return math.nan
            if after:
                total, added = state.numbers[TOTAL], kept[ADDED]
                state.numbers[TOTAL] = kept[tail]
                note(here, count, kept)
                state.numbers[TOTAL] = total + (kept[ADDED] - added)
            count_seen(state, count)
            update(state, count, kept)
            record = take(calendar, t)
        weigh(state)
    return cost
