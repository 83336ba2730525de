"""Policies whose rates fall with the rounds: what changes when an epoch begins.

Inside an epoch nothing changes, so rounds run at full speed. Between two epochs every sum is scaled to its new
rate, exploration to its new size, and the points that belong to them are found afresh, in O(n). There are
about 16·log t epochs in t rounds.

A doubling plan starts anew instead: each of its stages is a plan of its own, and the `Past` keeps what finished
stages owe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Floats
from sidelight.engine import certificate
from sidelight.engine.build import coordinate_groups
from sidelight.engine.fields import ROUND, Memory, switch, views
from sidelight.engine.round import round as engine
from sidelight.engine.simplex.store import HELD, N_SCALARS, RATE, SHIFT
from sidelight.planning.minimised.uniform import UNIFORM
from sidelight.planning.schedule import epoch_start, next_epoch

if TYPE_CHECKING:
    from sidelight.planning import Plan, Tuning


def rounds_left(tuning: Tuning, done: int) -> int | None:
    """Rounds that may still be played before `turn`, after `done` rounds; None if there are no epochs."""
    return None if tuning.schedule is None else next_epoch(done + 1) - 1 - done


def turn(memory: Memory, tuning: Tuning, done: int) -> None:
    """Bring the numbers to those of the next round, if an epoch begins with it."""
    schedule = tuning.schedule
    t = done + 1
    if schedule is None or t == 1 or epoch_start(t) != t:
        return
    (rate, exploration), (last_rate, last_exploration) = schedule.factors(t), schedule.factors(t - 1)
    if exploration == last_exploration and np.array_equal(rate, last_rate):
        return
    named = views(memory)
    for name in ("fixed", "adaptive", "spread"):
        named[name] *= exploration / last_exploration
    scalars = named["scalars"]
    scalars[HELD::N_SCALARS] *= exploration / last_exploration
    groups = coordinate_groups(tuning)
    for g, (first, end, arm) in enumerate(groups):
        if arm is None:  # the top level has one rate for all rounds
            continue
        fall = rate[arm] / last_rate[arm]
        named["key"][first:end] *= fall
        scalars[g * N_SCALARS + RATE] *= fall
        scalars[g * N_SCALARS + SHIFT] *= fall
        if len(groups) > 1:  # one multiplier for several rates (plans with epochs have one block)
            named["scale"][g] *= fall
    engine.start(memory)


def stage(plan: Plan, done: int) -> Plan:
    """What is played after `done` rounds: the plan itself, unless it plays one plan after another."""
    return plan.stage_of(done + 1)


def uniform_terms(memory: Memory) -> Floats:
    """(4,) the certificate of uniform play: t rounds cost at most (1 − 1/N)·t more than any arm.

    Its rate is all but zero, so the sums would certify next to nothing.
    """
    rounds = float(views(memory)["numbers"][ROUND])
    return np.array([0.0, (1.0 - 1.0 / switch(memory, "n_arms")) * rounds, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Past:
    """Finished stages: their rounds, and the four terms of ledger and certificate against every arm."""

    rounds: int
    ledgers: Floats  # (n, 4); empty while nothing is finished
    certificates: Floats  # (n, 4)

    @classmethod
    def none(cls) -> Past:
        """Before the first stage ends."""
        return cls(0, np.zeros((0, 4)), np.zeros((0, 4)))

    def with_stage(self, stage: Plan, memory: Memory) -> Past:
        """This and what is in `memory`, which plays `stage`."""
        n = switch(memory, "n_arms")
        ledgers, certificates = np.empty((n, 4)), np.empty((n, 4))
        certificate.fill_terms(memory, ledgers.ravel(), certificates.ravel())
        if stage.realization == UNIFORM:
            certificates[:] = uniform_terms(memory)
        if self.rounds:
            ledgers += self.ledgers
            certificates += self.certificates
        return Past(self.rounds + int(views(memory)["numbers"][ROUND]), ledgers, certificates)
