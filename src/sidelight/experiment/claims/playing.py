"""Playing a plan in hard environments: the worst mean regret, with replicates for its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.environment import Environment
from sidelight.errors import SidelightError
from sidelight.experiment.claims.claim import Estimate
from sidelight.experiment.claims.fitting import interval, resampled_worst
from sidelight.experiment.simulation import simulate
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.policy import names as registry

Make = Callable[[FeedbackGraph, int], Plan]

BOOTSTRAP_SEED = 20_231


@dataclass(frozen=True, eq=False)
class Played:
    """Final regret of one player in several environments, one number per seed."""

    regrets: Mapping[str, Floats]  # environment → (seeds,)

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean regret by environment."""
        return {name: float(regret.mean()) for name, regret in self.regrets.items()}

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(self.means.values())

    @property
    def hardest(self) -> str:
        """Where it was suffered."""
        return max(self.means, key=lambda name: self.means[name])

    @cached_property
    def replicates(self) -> Floats:
        """Bootstrap replicates of `worst`."""
        return resampled_worst(list(self.regrets.values()), np.random.default_rng(BOOTSTRAP_SEED))

    @property
    def estimate(self) -> Estimate:
        """`worst` with its interval."""
        return interval(self.worst, self.replicates)

    def over(self, other: Played) -> Estimate:
        """Our worst regret over theirs."""
        if min(other.worst, float(other.replicates.min())) <= 0:
            return Estimate(float("nan"), float("nan"), float("nan"))
        return interval(self.worst / other.worst, self.replicates / other.replicates)


def play(player: Any, environments: Mapping[str, Environment], seeds: int, horizon: int) -> Played:
    """Any player in every environment, `seeds` times each. An interrupt ends the claim, not just the run."""
    regrets = {}
    for name, environment in environments.items():
        run = simulate(
            player, environment, seeds=range(seeds), horizon=horizon, checkpoints=[horizon], progress=False
        )
        if not run.complete:
            raise KeyboardInterrupt
        regrets[name] = run.regret[:, -1]
    return Played(regrets)


def play_rivals(
    names: tuple[str, ...], graph: FeedbackGraph, environments: Mapping[str, Environment], seeds: int, T: int
) -> tuple[dict[str, Played], dict[str, str]]:
    """Those baselines that are known and apply to the graph, and why the others did not play."""
    played, skipped = {}, {}
    for name in names:
        if name not in registry.names():
            skipped[name] = "no policy of this name in this version"
            continue
        try:
            player = registry.make(name, graph, T)
        except SidelightError as error:
            skipped[name] = str(error)
            continue
        played[name] = play(player, environments, seeds, T)
    return played, skipped
