"""Uniform play as a plan, for those who ask for it: it learns nothing, and says so."""

from __future__ import annotations

from typing import Any

from sidelight._realizations import UNIFORM
from sidelight.partition import Partition
from sidelight.planning.baselines.rules import uniform_bound
from sidelight.planning.bounds.bound import NEVER, Bound
from sidelight.planning.plan import Candidate
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import Tuning

STANDSTILL = 2.0**-60
"""η·N·T: estimates are below N and add up to less than N·T, so weights change by less than rounding."""


class UniformCandidate(Candidate):
    """Every arm with probability 1/N in every round, whatever is seen, of one block.

    Played as exponential weights at a rate that never moves them.
    """

    source, title = "exact worst case", "uniform play"
    learns = False

    def __init__(self, partition: Partition) -> None:
        theorem = "uniform play learns nothing: R ≤ (1 − 1/N)·T"
        super().__init__("single", UNIFORM, partition, theorem, ("uniform",))

    def terms(self, T: float) -> dict[str, float]:
        """(1 − 1/N)·T."""
        return {"uniform play": uniform_bound(self.partition.graph.n_arms, T)}

    def bound(self, horizon: int) -> Bound:
        """True at every horizon, and never a sign of learning."""
        return Bound(horizon, self.terms(float(horizon)), self.theorem, (), 1, NEVER)

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """Negative entropy with a rate that is as good as zero."""
        n = self.partition.graph.n_arms
        rate = STANDSTILL / (n * T)
        return Tuning.flat(n, Potential(1.0, rate)), {"eta": rate, "gamma_bar": 0.0, "rho": 1.0}
