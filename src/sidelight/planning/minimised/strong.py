"""Strongly observable graphs on one simplex: Hedge, EXP3, q-FTRL and what lies between, minimised at the actual T."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.cliques import CliqueCover, directed_bound, growth
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.potentials import Numbers, Potential, diameter
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning


class OneSimplex(NamedTuple):
    """The free parameters."""

    h: float  # Tsallis-h for all arms, negative entropy at 1
    eta: float
    gamma: float = 0.0  # uniform exploration of the arms with self-loops, or of all arms if there are none


@dataclass(frozen=True)
class Strong(Problem[OneSimplex]):
    """n_S arms with self-loops and n_N loop-less arms that every other arm reveals, one potential for all.

        R ≤ D_h(n)/η + ½η·ρ^{2−h}·Q^h·T + γT                  n_N = 0,  ρ = 1/(1−γ)
        R ≤ log(n)/η + ½ηρ·φ(η/p)·(Q·[n_S > 0] + 1)·T + γT    n_N > 0, h = 1,  p = γ, or γ(n−1)/n if n_S = 0
        R ≤ log(n)/η + η·T/8                                  full feedback, h = 1 (Hoeffding)

    Q bounds Σ x_i/P_i over the arms with self-loops. Proof: docs/theory/strong.md.
    """

    n_loop: int
    n_loopless: int
    full: bool  # does every arm reveal all arms?
    cliques: int  # Q without exploration
    alpha: int  # α(G) ≤ alpha, for the bound for directed graphs; 0 where cliques say all

    @classmethod
    def of(cls, cover: CliqueCover) -> Strong:
        """All that a bound on this strongly observable graph depends on."""
        g = cover.graph
        n_loop = int(g.has_loop.sum())
        full = bool(g.universal.size == g.n_arms and g.has_loop.all())
        alpha = 0 if cover.symmetric or cover.value <= 1 else cover.alpha
        return cls(n_loop, g.n_arms - n_loop, full, cover.value, alpha)

    @property
    def n(self) -> int:
        """Number of arms."""
        return self.n_loop + self.n_loopless

    def seen(self, gamma: Numbers) -> Numbers:
        """Q with exploration γ spread evenly over the arms with self-loops."""
        if not (self.alpha and self.n_loop) or np.min(gamma) <= 0:
            return float(self.cliques)
        return np.minimum(float(self.cliques), directed_bound(self.alpha, self.n_loop, gamma / self.n_loop))

    def hidden(self, gamma: float) -> float:
        """p: exploration shows every loop-less arm at least so often."""
        return gamma if self.n_loop else gamma * (self.n - 1) / self.n

    def stability(self, x: OneSimplex, slow: Numbers = 1.0) -> Numbers:
        """What the learning rate multiplies in a round: the sum of squared estimates, from above.

        Many rounds at once, in which η and γ are `slow` times as large: both fall alike, so η/p, on which the shift
        by loop-less arms depends, is the same in all.
        """
        gamma = x.gamma * slow
        rho, seen = 1 / (1 - gamma), self.seen(gamma) if self.n_loop else 0.0
        if self.n_loopless:
            p = self.hidden(x.gamma)
            return 0.5 * rho * growth(x.eta / p) * (seen + 1) if p > 0 else inf
        if self.full and x.h == 1:
            return 0.125
        return 0.5 * rho ** (2 - x.h) * seen**x.h

    def terms(self, T: float, x: OneSimplex) -> dict[str, float]:
        """The bound, term by term."""
        terms = {
            "diameter": float(diameter(x.h, self.n)) / x.eta,
            "stability": float(x.eta * self.stability(x) * T),
        }
        return terms | ({"exploration": x.gamma * T} if x.gamma > 0 else {})

    def conditions(self, T: float, x: OneSimplex) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = [Condition("γ̄ ≤ 1/2", x.gamma, MOST_EXPLORATION)]
        if self.n_loop:
            conditions.append(
                Condition("Σ x/P ≤ Q by cliques", float(self.seen(x.gamma)), float(self.cliques))
            )
        return tuple(conditions)

    def gamma_bar(self, x: OneSimplex) -> float:
        """γ."""
        return x.gamma

    def starts(self, T: float) -> Iterator[Start]:
        """Every power worth trying; γ only where it helps, from the tuning of Exp3.G."""
        if self.n_loopless:
            eta, gamma = exp3g(self, T)
            even = sqrt(2 * log(self.n) / ((self.cliques + 1) * T))
            yield Start({}, {"h": 1.0, "eta": eta, "gamma": gamma})
            yield Start({"eta": eta, "gamma": gamma}, {"h": 1.0})
            yield Start({"eta": min(even, 0.1), "gamma": min(2 * even, 0.2)}, {"h": 1.0})
            return
        for h in powers(self.n, float(self.cliques)):
            yield Start({}, {"h": h, "gamma": 0.0})
        if self.alpha:
            gamma = min(1 / sqrt(self.alpha * T), 0.4)
            for h in powers(self.n, float(self.seen(gamma))):
                yield Start({"gamma": gamma}, {"h": h})

    def made(self, T: float, **chosen: Any) -> OneSimplex:
        """The best η is known unless it shifts the others: the bound is a/η + bη + c."""
        x = OneSimplex(**({"eta": 1.0} | chosen))
        if "eta" in chosen or x.gamma > MOST_EXPLORATION:
            return x
        return x._replace(eta=sqrt(float(diameter(x.h, self.n) / (self.stability(x) * T))))


def exp3g(problem: Strong, T: float) -> tuple[float, float]:
    """η = 2γ and γ = min(√(1/(αT)), ½) as Alon, Cesa-Bianchi, Dekel & Koren (2015) tune Exp3.G."""
    gamma = min(1 / sqrt(max(problem.alpha or problem.cliques, 1) * T), 0.5)
    return 2 * gamma, gamma


def q_of_ftrl(ratio: float) -> float:
    """q = ½(1 + L/(√(L² + 4) + 2)), L = log(N/α): the tuning of q-FTRL (Eldowa et al. 2023)."""
    L = log(ratio)
    return 0.5 * (1 + L / (sqrt(L * L + 4) + 2))


def powers(n: int, Q: float) -> set[float]:
    """The h worth trying where Σ x/P ≤ Q: entropy, −√x, q-FTRL's and the one that minimises D_h(n)·Q^h."""
    return {1.0, 0.5, q_of_ftrl(max(n / Q, 1.0)), one_best_h(n, Q, played=1.0)}


class StrongCandidate(MinimisedCandidate):
    """All arms as singletons of one simplex with one potential; conditions hold at every horizon."""

    problem: Strong

    def __init__(self, partition: Partition, cover: CliqueCover) -> None:
        theorem = "One simplex on a strongly observable graph, minimised at T"
        super().__init__("singletons", "flat", partition, theorem)
        self.problem = Strong.of(cover)

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at T and its parameters by name."""
        problem, g, x = self.problem, self.partition.graph, self.problem.parameters(T)
        tuning = Tuning.singletons(g.n_arms, Potential(x.h, x.eta), evenly(g, x.gamma))
        parameters: dict[str, Any] = {"h": x.h, "eta": x.eta}
        parameters |= {"clique_bound": float(problem.seen(x.gamma))} if problem.n_loop else {}
        parameters |= {"alpha_upper": float(problem.alpha)} if problem.alpha else {}
        return tuning, parameters | self.common(T)


def evenly(g: FeedbackGraph, gamma: float) -> Floats:
    """(n,) γ shared by the arms with self-loops, or by all if there are none."""
    carriers = g.has_loop if g.has_loop.any() else np.ones(g.n_arms, dtype=bool)
    return np.where(carriers, gamma / int(carriers.sum()), 0.0)
