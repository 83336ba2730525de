"""One round of a rule, and many, around the steps that a rule consists of.

    choose(state)           the arm of this round
    update(state, count)    take in the losses state.losses[:count] of the arms state.targets[:count]
    weigh(state)            the distribution of the next round from sums and numbers, where the rule keeps one

`ask`, `tell` and compiled simulation call the same steps, so they agree.
"""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from sidelight.engine._numba.jit import kernel
from sidelight.engine.losses import cost_of, loss_of
from sidelight.engine.random import next_turn, round_word
from sidelight.engine.rules.state import PENDING, ROUND, list_revealed
from sidelight.engine.rules.steps import keep_none

choose: Any = None
update: Any = None
weigh: Any = None
"""Stand for the steps of a rule below; `rule_kernels` puts its own in their place."""


class Kernels(NamedTuple):
    """What Python calls."""

    start: Any
    ask: Any
    tell: Any
    play: Any


def rule_kernels(name: str, choose: Any, update: Any, weigh: Any = keep_none) -> Kernels:
    """The kernels of the rule `name`, with its steps inside.

    Each is a copy of one of the functions below with the steps as its globals. Under names of their own, rules are
    compiled and cached apart: whoever plays one waits for no other.
    """
    steps = {"choose": choose, "update": update, "weigh": weigh}

    def copied(function: Callable[..., Any]) -> Any:
        made = FunctionType(function.__code__, globals() | steps, f"{function.__name__}_{name}")
        made.__qualname__ = made.__name__
        return kernel()(made)

    return Kernels(copied(start), copied(ask), copied(tell), copied(play))


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
    for index in range(count):
        state.losses[index] = revealed[index]
        state.counts[state.targets[index]] += 1.0
    state.numbers[ROUND] += 1.0
    update(state, count)
    weigh(state)
    state.numbers[PENDING] = -1.0
    return True


def play(state, world, function, key, first, last, cost, plays):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss."""
    for t in range(first, last):
        next_turn(state.words)
        arm = choose(state)
        word = round_word(key, t)
        count = list_revealed(state, arm)
        for index in range(count):
            loss = loss_of(world, function, word, t, state.targets[index])
            if not 0.0 <= loss <= 1.0:
                return math.nan
            state.losses[index] = loss
        for index in range(count):
            state.counts[state.targets[index]] += 1.0
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        state.numbers[ROUND] += 1.0
        update(state, count)
        weigh(state)
    return cost
