"""One decision, its answer, and many rounds at once, on graphs that change."""

import math

from sidelight.engine._numba.jit import inlined, internal, kernel, noinline
from sidelight.engine.calendar import NONE, WIDTH, enter, take
from sidelight.engine.changing.choose import choose, show
from sidelight.engine.changing.learn import learn, scale
from sidelight.engine.changing.state import (
    N_KEPT,
    OTHERS,
    REPAIR,
)
from sidelight.engine.graphs import (
    FIRST_OTHER,
    OTHER,
    OWN,
    SAME,
    UNKNOWN,
    drop_failed,
    graph_of,
    list_revealed_in,
)
from sidelight.engine.losses import cost_of, hear
from sidelight.engine.random import next_turn, next_unit, round_word


@kernel()
def decide(state, graphs, k, relation, kept):
    """Draw an arm for a round on graph k, and keep what learning from it will need."""
    next_turn(state.words)
    note_known(state, relation)
    choose(state, graphs, k, kept)
    return draw(state, kept)


@kernel()
def weigh(state, graphs, k, kept):
    """`decide` without drawing."""
    choose(state, graphs, k, kept)


@kernel()
def reconsider(state, graphs, k, relation, kept):
    """A draw that was kept turns out to have been one on graph k, which is this to the plan's own."""
    show(state, graphs, k, kept)
    note_shown(state, relation)


@kernel()
def observe(state, graphs, k, arm, revealed, kept):
    """Learn losses in increasing order of arms; False, and no change, if one is outside [0, 1]."""
    for index in range(revealed.size):
        if not 0.0 <= revealed[index] <= 1.0:  # also NaN
            return False
        state.losses[index] = revealed[index]
    learn(state, list_revealed_in(graphs, k, arm, state.targets), kept)
    return True


@kernel()
def start(state):
    """After the sums were read from elsewhere."""
    scale(state)


@internal()
def draw(state, kept):
    """An arm from the distribution that was kept."""
    noinline()
    n = state.sums.size
    left = next_unit(state.words)
    last = 0
    for i in range(n):
        if kept[N_KEPT + n + i] > 0.0:
            last = i
            left -= kept[N_KEPT + n + i]
            if left < 0.0:
                break
    return last


@inlined()
def note_known(state, relation):
    """A round was decided on a graph that is this to the plan's own."""
    if relation != SAME:
        state.numbers[OTHERS] = 1.0


@inlined()
def note_shown(state, relation):
    """A graph was shown afterwards that is this to the plan's own."""
    if relation == OTHER:
        state.numbers[OTHERS] = state.numbers[REPAIR] = 1.0


@kernel()
def play(state, graphs, sequence, after, world, function, key, first, last, cost, plays, calendar):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss.

    Graphs are known before a round is played, or shown `after` it, with its losses, when the calendar says so.
    """
    width = calendar.counts[WIDTH]
    for t in range(first, last):
        next_turn(state.words)
        record = enter(calendar, t, 0)
        kept = calendar.kept[record * width : (record + 1) * width]
        k = UNKNOWN if state.numbers[REPAIR] != 0.0 else OWN
        if not after:
            k = FIRST_OTHER + graph_of(sequence, round_word(key, t), t)
            note_known(state, graphs.relation[k])
        choose(state, graphs, k, kept)
        arm = draw(state, kept)
        calendar.drawn[record] = arm
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        record = take(calendar, t)
        while record != NONE:
            decided = calendar.round[record]
            word = round_word(key, decided)
            k = FIRST_OTHER + graph_of(sequence, word, decided)
            kept = calendar.kept[record * width : (record + 1) * width]
            count = list_revealed_in(graphs, k, calendar.drawn[record], state.targets)
            if not hear(world, function, word, decided, state.targets, state.losses, count):
                return math.nan
            if graphs.out_chance.size > 0:
                drop_failed(graphs, k, word, calendar.drawn[record], state.targets, state.losses, count)
            if after:
                show(state, graphs, k, kept)
                note_shown(state, graphs.relation[k])
            learn(state, count, kept)
            record = take(calendar, t)
    return cost
