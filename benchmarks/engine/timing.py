"""How things are timed: processor time of this thread, the least of several interleaved repetitions.

Other work on the machine slows a measurement down and never speeds it up, so the minimum is the figure; taking
turns spreads a busy spell over everything that is compared. Processor time leaves out waiting for a core.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import sidelight as sl
from sidelight.engine.play import play
from sidelight.environment.base import environment_key
from sidelight.experiment.simulation import MOST_COUNTED_ARMS


@dataclass
class Measurement:
    """Something that plays rounds; `start(seed)` gives a function that plays so many more of them."""

    who: str  # engine, prototype, dense, numpy
    instance: str
    n: int
    start: Callable[[int], Callable[[int], None]]
    horizon: int
    seconds: float  # at most about this long per repetition
    rounds: int = 0
    each: list[float] = field(default_factory=list)  # ns per round of each repetition

    @property
    def nanoseconds(self) -> float:
        return min(self.each)

    def calibrate(self) -> None:
        """Compile, then choose how many rounds fit into the time."""
        run = self.start(0)
        run(1)
        rounds, spent = 1, 0.0
        while spent < 0.02 and rounds < self.horizon:
            rounds = min(4 * rounds, self.horizon)
            spent = timed(run, rounds)
        self.rounds = int(max(1, min(self.horizon, rounds * self.seconds / max(spent, 1e-9))))

    def repeat(self, seed: int) -> None:
        self.each.append(timed(self.start(seed), self.rounds) / self.rounds * 1e9)


def timed(run: Callable[[int], None], rounds: int) -> float:
    """Seconds of this thread's processor time."""
    before = time.thread_time()
    run(rounds)
    return time.thread_time() - before


def interleaved(measurements: list[Measurement], repetitions: int) -> None:
    """All of them once, then all of them again."""
    for measurement in measurements:
        measurement.calibrate()
    equal_rounds(measurements)
    for repetition in range(repetitions):
        for measurement in measurements:
            measurement.repeat(repetition + 1)


def equal_rounds(measurements: list[Measurement]) -> None:
    """Engine and prototype play equally long: what a round costs depends on how far the game has come."""
    kept = [measurement for measurement in measurements if measurement.who in ("engine", "prototype")]
    for one in kept:
        one.rounds = min(other.rounds for other in kept if (other.instance, other.n) == (one.instance, one.n))


def engine_start(plan: sl.Plan, environment: sl.environments.Coins) -> Callable[[int], Callable[[int], None]]:
    """The compiled loop as `sl.simulate` calls it, for the clock of the calling thread.

    `simulate` itself plays on threads of its own, where this thread's clock does not run, and its first call
    would be timed with the copying of the policy. `bench_engine` checks that both play the same game.
    """
    policy = plan.policy(seed=0)
    world, function = environment.world, environment.function
    n = plan.graph.n_arms

    def start(seed: int) -> Callable[[int], None]:
        clone = policy.copy(seed)
        scratch = clone._game.scratch
        plays = np.zeros(n if n <= MOST_COUNTED_ARMS else 0, dtype=np.int64)
        key = environment_key(seed)
        at = 0

        def run(rounds: int) -> None:
            nonlocal at
            run.cost += play(clone._game.memory, world, function, key, at, at + rounds, 0.0, scratch, plays)
            at += rounds

        run.cost = 0.0
        return run

    return start
