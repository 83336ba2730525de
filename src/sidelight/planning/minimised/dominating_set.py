"""Exponential weights that explore on a few arms, which reveal every arm without self-loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.exploration import Solved, revealed_by
from sidelight.planning.minimised.price import even_strength, one_block, price
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning


class Exploring(NamedTuple):
    """The free parameters."""

    eta: float
    gamma: float


@dataclass(frozen=True)
class DominatingSet(Problem[Exploring]):
    """N arms; `size` arms explore evenly and reveal all but `alone` arms, which have self-loops.

        R ≤ log N/η + T·max(½η·size/γ, γ) + ½η·alone/(1−γ)·T

    An arm that is explored for is seen with probability at least γ/size, and pays ½η·size/γ for what it loses; any
    other sees itself, P ≥ (1−γ)x. This is Exp3.G on a weakly observable graph (Alon, Cesa-Bianchi, Dekel & Koren
    2015), with η and γ minimised at T. Proof: docs/theory/flat.md.
    """

    n: int
    size: int
    alone: int

    @classmethod
    def of(cls, solved: Solved) -> DominatingSet:
        """The problem of the graph's greedy set."""
        g, chosen = solved.graph, solved.dominating_set
        return cls(g.n_arms, chosen.size, int((~revealed_by(g, chosen)).sum()))

    def gamma_bar(self, x: Exploring) -> float:
        """γ."""
        return x.gamma

    def terms(self, T: float, x: Exploring) -> dict[str, float]:
        """Named terms; their sum is the bound."""
        parts = {
            "diameter": log(self.n) / x.eta,
            "rounds": price(0.5 * x.eta * self.size / x.gamma, x.gamma) * T,
        }
        if self.alone:
            parts["self-loop arms"] = 0.5 * x.eta * self.alone / (1 - x.gamma) * T
        return parts

    def conditions(self, T: float, x: Exploring) -> tuple[Condition, ...]:
        """γ ≤ ½."""
        return (Condition("γ̄ ≤ 1/2", x.gamma, MOST_EXPLORATION),)

    def starts(self, T: float) -> Iterator[Start]:
        """Where nobody is alone, and where only those are."""
        yield Start({"eta": log(self.n) * float(one_block(T, log(self.n) * self.size).step)})
        if self.alone:
            yield Start({"eta": sqrt(2 * log(self.n) / (self.alone * T))})

    def made(self, T: float, **chosen: Any) -> Exploring:
        """The best γ for every η: where stability and exploration are even, or earlier for the sake of 1/(1−γ).

        Before they are even the derivative in γ is ½η(alone/(1−γ)² − size/γ²).
        """
        eta, roots = chosen["eta"], sqrt(self.size) + sqrt(self.alone)
        return Exploring(eta, min(even_strength(eta * self.size, 1.0), sqrt(self.size) / roots))


class DominatingSetCandidate(MinimisedCandidate):
    """One simplex under the entropy, γ spread evenly over the set."""

    problem: DominatingSet

    def __init__(self, partition: Partition, solved: Solved) -> None:
        super().__init__("dominating set", "flat", partition, "Exp3.G, minimised at T", ("flat h=1",))
        self.chosen, self.problem = solved.dominating_set, DominatingSet.of(solved)

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """Negative entropy and even exploration."""
        x, n = self.problem.parameters(T), self.problem.n
        constant = np.zeros(n)
        constant[self.chosen] = x.gamma / self.chosen.size
        return Tuning.flat(n, Potential(1.0, x.eta), constant=constant), {"eta": x.eta} | self.common(T)
