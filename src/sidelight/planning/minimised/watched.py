"""Exponential weights that explore for the arms without self-loop, and for others as far as that pays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

from sidelight._types import Floats
from sidelight.analysis import PartialCover
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.minimised.round_cost import LARGEST, round_cost
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import Tuning


class Watching(NamedTuple):
    """The free parameters."""

    eta: float
    gamma: float
    corner: int  # the cover is that of this corner of the curve,
    odds: float = 0.0  # or lies between it and the next, these odds for the next


@dataclass(frozen=True)
class Watched(Problem[Watching]):
    """N arms; a cover of mass δ shows arms without self-loop, and others but for `missed` of them.

        R ≤ log N/η + T·max(½η·δ/γ, γ) + ½η·missed/(1−γ)·T

    Exploration γ·x/δ shows arm i with probability min(1, c_i)·γ/δ or more, c_i = Σ_{j ∈ Nin(i)} x_j, and an arm with
    self-loop shows itself: missed = Σ (1 − c_i)₊ over those. With x a dominating set this is Exp3.G on a weakly
    observable graph (Alon, Cesa-Bianchi, Dekel & Koren 2015), η and γ minimised at T. Proof:
    docs/theory/fixed-rates.md, Theorem 4.
    """

    n: int
    curve: tuple[tuple[float, float], ...]  # (δ, missed) at the corners; between two lies a cover as well

    def cover(self, x: Watching) -> tuple[float, float]:
        """δ and missed of the cover in use."""
        left = self.curve[x.corner]
        if not x.odds:
            return left
        right, share = self.curve[x.corner + 1], x.odds / (1 + x.odds)
        return (1 - share) * left[0] + share * right[0], (1 - share) * left[1] + share * right[1]

    def gamma_bar(self, x: Watching) -> float:
        """γ."""
        return x.gamma

    def terms(self, T: float, x: Watching) -> dict[str, float]:
        """Named terms; their sum is the bound."""
        mass, missed = self.cover(x)
        parts = {"diameter": log(self.n) / x.eta}
        if mass:
            parts["rounds"] = round_cost(0.5 * x.eta * mass / x.gamma, x.gamma) * T
        if missed:
            parts["self-loop arms"] = 0.5 * x.eta * missed / (1 - x.gamma) * T
        return parts

    def conditions(self, T: float, x: Watching) -> tuple[Condition, ...]:
        """γ ≤ ½."""
        return (Condition("γ̄ ≤ 1/2", x.gamma, MOST_EXPLORATION),)

    def starts(self, T: float) -> Iterator[Start]:
        """At every corner, and between it and the next, with the rate that suits its cover or what it misses."""
        size = log(self.n)
        for corner, (mass, missed) in enumerate(self.curve):
            rates = [size / (size * mass * T * T) ** (1 / 3)] if mass else []
            rates += [sqrt(2 * size / (missed * T))] if missed else []
            for eta in rates:
                yield Start({"eta": eta}, {"corner": corner})
                if corner + 1 < len(self.curve):
                    yield Start({"eta": eta, "odds": 1.0}, {"corner": corner})

    def complete(self, T: float, **chosen: Any) -> Watching:
        """The best γ for every η: where stability and exploration are even, or earlier for the sake of 1/(1−γ).

        Before they are even the derivative in γ is ½η(missed/(1−γ)² − δ/γ²).
        """
        x = Watching(gamma=0.0, **chosen)
        mass, missed = self.cover(x)
        even, early = sqrt(x.eta * mass / 2), sqrt(mass) / (sqrt(mass) + sqrt(missed)) if mass else 0.0
        return x._replace(gamma=min(even, early, LARGEST))


class WatchedCandidate(MinimisedCandidate):
    """One simplex under the entropy, exploration in proportion to a cover."""

    problem: Watched

    def __init__(self, partition: Partition, covers: list[PartialCover]) -> None:
        theorem = "Exp3.G with a fractional cover, minimised at T"
        super().__init__("watched", "flat", partition, theorem, ("flat h=1",))
        self.covers = covers
        self.problem = Watched(partition.graph.n_arms, tuple((cover.mass, cover.missed) for cover in covers))

    def tune(self, T: float, x: Watching) -> tuple[Tuning, dict[str, Any]]:
        """Negative entropy, and γ in proportion to the cover."""
        mass, missed = self.problem.cover(x)
        constant = x.gamma / mass * self._weights(x) if mass else 0.0
        tuning = Tuning.flat(self.problem.n, Potential(1.0, x.eta), constant=constant)
        return tuning, {"eta": x.eta, "delta": mass, "missed": missed}

    def _weights(self, x: Watching) -> Floats:
        left = self.covers[x.corner].weights
        if not x.odds:
            return left
        share = x.odds / (1 + x.odds)
        return (1 - share) * left + share * self.covers[x.corner + 1].weights
