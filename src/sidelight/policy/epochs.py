"""Policies whose rates fall with the rounds: what changes when an epoch begins.

Inside an epoch nothing changes, so rounds run at full speed. Between two epochs every sum is scaled to its new
rate, exploration to its new size, and the points that belong to them are found afresh, in O(n). There are
about 16·log t epochs in t rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight._check import MOST_ROUNDS
from sidelight._types import Floats
from sidelight.engine.fields import Memory, switch, views
from sidelight.engine.round import round as engine
from sidelight.engine.state import Rates, scale_rates
from sidelight.planning.baselines.rules import uniform_bound
from sidelight.planning.schedule import epoch_start, next_epoch

if TYPE_CHECKING:
    from sidelight.planning import Tuning


def rounds_to_turn(tuning: Tuning, done: int) -> int:
    """Rounds that may still be played in this epoch, after `done` rounds; any number if there are no epochs."""
    return MOST_ROUNDS if tuning.schedule is None else next_epoch(done + 1) - 1 - done


def rates_after(tuning: Tuning, done: int) -> Rates | None:
    """By how much rates have fallen for the round after `done` rounds; None if they do not."""
    return None if tuning.schedule is None else Rates(*tuning.schedule.factors(done + 1))


def advance_epoch(memory: Memory, tuning: Tuning, done: int) -> bool:
    """Bring the numbers to those of the next round, if an epoch begins with it; did they change?"""
    t = done + 1
    if tuning.schedule is None or t == 1 or epoch_start(t) != t:
        return False
    (rate, exploration), (last_rate, last_exploration) = (tuning.schedule.factors(s) for s in (t, t - 1))
    if exploration == last_exploration and np.array_equal(rate, last_rate):
        return False
    scale_rates(memory, tuning, Rates(rate / last_rate, exploration / last_exploration))
    engine.start(memory)
    return True


def uniform_terms(memory: Memory) -> Floats:
    """(4,) the certificate of uniform play: t rounds cost at most (1 − 1/N)·t more than any arm.

    Its rate is all but zero, so the sums would certify next to nothing.
    """
    rounds = float(views(memory)["round"])
    return np.array([0.0, uniform_bound(switch(memory, "n_arms"), rounds), 0.0, 0.0])
