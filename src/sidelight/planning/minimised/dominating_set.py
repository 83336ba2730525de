"""Exponential weights that explore on a few arms, which reveal every arm without self-loop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import cbrt, exp, inf, log, sqrt
from typing import Any

import numpy as np

from sidelight._types import Bools, Longs
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.partition.natural import greedy_cover
from sidelight.planning.bounds.bound import Bound, Condition
from sidelight.planning.minimised.minimised import least_bound, score_at
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning


def dominating_set(g: FeedbackGraph, targets: Bools | None = None) -> Longs:
    """Arms that together reveal all arms, or all `targets` (n,), of which there must be some.

    Greedily: the arm that reveals most of the missing ones first.

    >>> from sidelight.graph import families
    >>> dominating_set(families.cycle(6)).size
    4
    """
    wanted = np.ones(g.n_arms, dtype=bool) if targets is None else targets
    chosen = list(greedy_cover(g, wanted & ~g.is_universal))
    if g.universal.size and not chosen:
        chosen.append(int(g.universal[0]))
    first = chosen[0]
    if len(chosen) == 1 and wanted[first] and g.is_universal[first] and not g.has_loop[first]:
        chosen.append(int((first + 1) % g.n_arms))  # the only arm that it does not reveal is itself
    return np.sort(np.array(chosen, dtype=np.int64))


def revealed_by(g: FeedbackGraph, arms: Longs) -> Bools:
    """(n,) which arms these reveal together."""
    seen = np.zeros(g.n_arms, dtype=bool)
    for arm in arms.tolist():
        seen[g.out_neighbors(arm)] = True
    return seen


@dataclass(frozen=True)
class WatchedLevers:
    """The free parameters."""

    eta: float
    gamma: float


@dataclass(frozen=True)
class Watched:
    """N arms; `size` arms explore evenly and reveal all but `alone` arms, which have self-loops.

        R ≤ log N/η + ½η(size/γ + alone/(1−γ))·T + γT

    An arm that is explored for is seen with probability at least γ/size, so these contribute size/γ to Σ x/P; any
    other sees itself, P ≥ (1−γ)x. This is Exp3.G on a weakly observable graph (Alon, Cesa-Bianchi, Dekel & Koren
    2015), with η and γ minimised at T.
    """

    n: int
    size: int
    alone: int

    def exp3g(self, T: float) -> WatchedLevers:
        """The tuning of the literature: γ = min((size·log N/T)^{1/3}, ½), η = γ²/size."""
        gamma = min(self.exp3g_gamma(T), MOST_EXPLORATION)
        return WatchedLevers(gamma * gamma / self.size, gamma)

    def exp3g_gamma(self, T: float) -> float:
        """(size·log N/T)^{1/3}; the bound of Exp3.G needs it to be at most ½."""
        return cbrt(self.size * log(self.n) / T)

    def exp3g_terms(self, T: float) -> dict[str, float]:
        """The bound with that tuning, 1/(1−γ) ≤ 2: 5/2·γT + γ²·(alone/size)·T."""
        gamma = self.exp3g_gamma(T)
        parts = {"diameter": gamma * T, "stability": gamma * T / 2, "exploration": gamma * T}
        return parts | ({"self-loop arms": gamma * gamma * self.alone * T / self.size} if self.alone else {})

    def _variance(self, gamma: float) -> float:
        return self.size / gamma + self.alone / (1 - gamma)

    @lru_cache(maxsize=256)  # noqa: B019 - small, frozen, and asked again and again
    def levers(self, T: float) -> WatchedLevers:
        """Best η for every γ in closed form; γ by a scan of its logarithm, then by thirds."""

        def value(z: float) -> float:
            gamma = exp(z)
            return sqrt(2 * log(self.n) * self._variance(gamma) * T) + gamma * T

        steps = np.linspace(log(MOST_EXPLORATION) - 40.0, log(MOST_EXPLORATION), 161)
        values = [value(float(z)) for z in steps]
        at = int(np.argmin(values))
        low, high = float(steps[max(at - 1, 0)]), float(steps[min(at + 1, 160)])
        for _ in range(100):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if value(left) <= value(right) else (left, high)
        gamma = min(exp(0.5 * (low + high)), MOST_EXPLORATION)
        return WatchedLevers(sqrt(2 * log(self.n) / (self._variance(gamma) * T)), gamma)

    def terms(self, T: float, levers: WatchedLevers) -> dict[str, float]:
        """Named terms; their sum is the bound."""
        parts = {
            "diameter": log(self.n) / levers.eta,
            "stability": 0.5 * levers.eta * self.size / levers.gamma * T,
            "global exploration": levers.gamma * T,
        }
        if self.alone:
            parts["self-loop arms"] = 0.5 * levers.eta * self.alone / (1 - levers.gamma) * T
        return parts

    def conditions(self, T: float, levers: WatchedLevers) -> tuple[Condition, ...]:
        """γ ≤ ½."""
        return (Condition("γ̄ ≤ 1/2", levers.gamma, MOST_EXPLORATION),)

    def closed_form(self, T: float) -> float:
        """None is claimed."""
        return inf


@dataclass(frozen=True, eq=False)
class WatchedCandidate:
    """The way to play it."""

    partition: Partition  # one block
    name: str = "watched"
    realization: str = "flat"

    @cached_property
    def watchers(self) -> Longs:
        """The arms that explore."""
        return dominating_set(self.partition.graph, ~self.partition.graph.has_loop)

    @cached_property
    def problem(self) -> Watched:
        """What the bound depends on."""
        g = self.partition.graph
        alone = int((~revealed_by(g, self.watchers)).sum())
        return Watched(g.n_arms, self.watchers.size, alone)

    @property
    def choices(self) -> tuple[str, ...]:
        """How the block plays."""
        return ("flat h=1",)

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound and whether it is certified."""
        return score_at(self.problem, horizon)

    def bound(self, horizon: int) -> Bound:
        """The bound at `horizon`."""
        return least_bound(self.problem, horizon, "Exp3.G, minimised at T")

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """One simplex under the entropy, γ spread evenly over the watchers."""
        levers = self.problem.levers(float(horizon))
        n = self.partition.graph.n_arms
        zeros, constant = np.zeros(n), np.zeros(n)
        constant[self.watchers] = levers.gamma / self.watchers.size
        tuning = Tuning.one_block(
            power=zeros, rate=np.full(n, levers.eta), constant=constant, spread=0.0, cover=zeros, load=zeros
        )
        rho = 1 / (1 - levers.gamma)
        return tuning, {"eta": levers.eta, "gamma_bar": levers.gamma, "rho": rho}
