"""Uniform play as a plan: what is left when no plan that learns has a smaller bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.partition import Partition
from sidelight.planning.bounds.bound import NEVER, Bound
from sidelight.planning.tuning import Tuning

STANDSTILL = 2.0**-60
"""η·N·T: estimates are below N and add up to less than N·T, so weights change by less than rounding."""


UNIFORM = "uniform"
"""The realization of plans that do not learn."""


@dataclass(frozen=True, eq=False)
class UniformCandidate:
    """Every arm with probability 1/N in every round, whatever is seen: R ≤ (1 − 1/N)·T.

    In a round it pays at most the mean of N losses, of which one belongs to the best arm: ℓ̄ − ℓ* ≤ 1 − 1/N.
    Played as exponential weights at a rate that never moves them.
    """

    partition: Partition  # one block
    name: str = "single"
    realization: str = UNIFORM

    @property
    def choices(self) -> tuple[str, ...]:
        """How the block plays."""
        return ("uniform",)

    def _value(self, horizon: int) -> float:
        return (1 - 1 / self.partition.graph.n_arms) * horizon

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound, certified at every horizon."""
        return self._value(horizon), True

    def bound(self, horizon: int) -> Bound:
        """(1 − 1/N)·T: true, and never a sign of learning."""
        terms = {"uniform play": self._value(horizon)}
        return Bound(horizon, terms, "uniform play learns nothing: R ≤ (1 − 1/N)·T", (), 1, NEVER)

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """Negative entropy with a rate that is as good as zero."""
        n = self.partition.graph.n_arms
        rate = STANDSTILL / (n * float(horizon))
        zeros = np.zeros(n)
        tuning = Tuning.one_block(
            power=zeros, rate=np.full(n, rate), constant=zeros, spread=0.0, cover=zeros, load=zeros
        )
        return tuning, {"eta": rate, "gamma_bar": 0.0, "rho": 1.0}
