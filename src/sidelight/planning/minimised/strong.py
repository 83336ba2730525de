"""Strongly observable graphs on one simplex: Hedge, EXP3, q-FTRL and what lies between, minimised at the actual T."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.cliques import CliqueCover, directed_bound, generous_arms, growth
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.potentials import Numbers, Potential, one_diameter
from sidelight.planning.tuning import Tuning


class OneSimplex(NamedTuple):
    """The free parameters."""

    h: float  # Tsallis-h for all arms, negative entropy at 1
    eta: float
    gamma: float = 0.0  # even exploration of the arms that `evenly` names
    wide: bool = False  # do universal arms that do not reveal everyone carry it too?


@dataclass(frozen=True)
class Strong(Problem[OneSimplex]):
    """n_S arms with self-loops and n_N loop-less arms that every other arm reveals, one potential for all.

        R ≤ D_h(n)/η + ½η·ρ^{2−h}·Q^h·T + γT          n_N = 0,  ρ = 1/(1−γ)
        R ≤ log(n)/η + ρ(C(Q−1) + max(C, γ))·T         n_N > 0, h = 1,  C = ½ηφ(η/p), p = γ, or γ(n−1)/n if n_S = 0
        R ≤ log(n)/η + η·T/8                          full feedback, h = 1 (Hoeffding)

    Q bounds Σ x_i/P_i over the arms with self-loops and Σ x_i over the others. If all arms are universal, Q = 1 and
    ρ = 1, or 1/(1 − γ/n) if n_S = 0. Proof: docs/theory/strong.md.
    """

    n_loop: int
    n_loopless: int
    full: bool  # does every arm reveal all arms?
    cliques: int  # Q without exploration
    alpha: int  # α(G) ≤ alpha, for the bound for directed graphs; 0 where cliques say all
    n_plain: int  # arms that are not universal
    n_reserved: int  # universal arms that do not reveal everyone
    apart: bool  # is one of these loop-less? Then only arms that are not universal can carry exploration

    @classmethod
    def of(cls, cover: CliqueCover) -> Strong:
        """All that a bound on this strongly observable graph depends on."""
        g, reserved = cover.graph, cover.reserved
        n_loop = int(g.has_loop.sum())
        full = bool(g.universal.size == g.n_arms and g.has_loop.all())
        alpha = 0 if cover.symmetric or cover.value <= 1 else cover.alpha
        apart = not bool(g.has_loop[reserved].all())
        return cls(n_loop, g.n_arms - n_loop, full, cover.value, alpha, cover.arms.size, reserved.size, apart)

    @property
    def n(self) -> int:
        """Number of arms."""
        return self.n_loop + self.n_loopless

    @property
    def widths(self) -> tuple[bool, ...]:
        """Who may carry exploration: see `OneSimplex.wide`."""
        return (False, True) if self.alpha and self.n_reserved and not self.apart else (False,)

    def seen(self, gamma: Numbers, wide: bool = False) -> Numbers:
        """Q with exploration γ spread evenly over its carriers."""
        if not self.alpha or (gamma <= 0 if isinstance(gamma, float) else np.min(gamma) <= 0):
            return float(self.cliques)
        carriers = self.n_plain + (self.n_reserved if wide else 0)
        beside = 0 if wide else int(self.n_reserved > 0)
        directed = directed_bound(self.alpha, carriers, gamma / carriers) + beside
        few = float(self.cliques)
        return min(few, directed) if isinstance(directed, float) else np.minimum(few, directed)

    def hidden(self, gamma: float) -> float:
        """p: exploration shows every loop-less arm at least so often."""
        return gamma if self.n_loop else gamma * (self.n - 1) / self.n

    def played(self, gamma: Numbers) -> Numbers:
        """ρ: Σ X_i/P_i is at most ρ times what it would be at what is played."""
        if self.n_plain:
            return 1 / (1 - gamma)
        return 1.0 if self.n_loop else 1 / (1 - gamma / self.n)

    def stability(self, x: OneSimplex) -> Numbers:
        """What the learning rate multiplies in a round: the sum of squared estimates, from above."""
        if self.n_loopless:
            return self._beside_loopless(x)[0]
        if self.full and x.h == 1:
            return 0.125
        return 0.5 * self.played(x.gamma) ** (2 - x.h) * self.seen(x.gamma, x.wide) ** x.h

    def exploration(self, x: OneSimplex) -> Numbers:
        """What exploration adds to a round beside stability."""
        return self._beside_loopless(x)[1] if self.n_loopless else x.gamma

    def _beside_loopless(self, x: OneSimplex) -> tuple[Numbers, Numbers]:
        """Stability by the rate, and what exploration adds: the last clique pays the larger of the two halves."""
        p, gamma, eta = self.hidden(x.gamma), x.gamma, x.eta
        if p <= 0:
            return inf, 0.0
        rho, half = self.played(gamma), 0.5 * growth(eta / p)
        left = np.maximum(gamma - eta * half, 0.0)
        if not self.n_plain:  # then all arms pay for what they lose, and γ is taken from all
            return rho * half, np.maximum(gamma - eta * rho * half, 0.0)
        Q, directed = float(self.cliques), self.seen(gamma, x.wide)
        better = eta * rho * half * (Q - directed) + rho * left <= gamma
        return rho * half * np.where(better, Q, directed), np.where(better, rho * left, gamma)

    def terms(self, T: float, x: OneSimplex) -> dict[str, float]:
        """The bound, term by term."""
        explored = float(self.exploration(x)) * T
        terms = {
            "diameter": one_diameter(x.h, self.n) / x.eta,
            "stability": float(x.eta * self.stability(x) * T),
        }
        return terms | ({"exploration": explored} if explored > 0 else {})

    def conditions(self, T: float, x: OneSimplex) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        seen = Condition("Σ x/P ≤ Q by cliques", float(self.seen(x.gamma, x.wide)), float(self.cliques))
        return (Condition("γ̄ ≤ 1/2", x.gamma, MOST_EXPLORATION), seen)

    def gamma_bar(self, x: OneSimplex) -> float:
        """γ."""
        return x.gamma

    def starts(self, T: float) -> Iterator[Start]:
        """Every power worth trying; γ only where it helps, from the tuning of Exp3.G."""
        if self.n_loopless:
            eta, gamma = exp3g(self, T)
            even = sqrt(2 * log(self.n) / (self.cliques * T))
            yield Start({}, {"h": 1.0, "eta": eta, "gamma": gamma})
            yield Start({"eta": eta, "ratio": eta / gamma}, {"h": 1.0})
            yield Start({"eta": min(even, 0.1), "ratio": 0.5}, {"h": 1.0})
            return
        for h in powers(self.n, float(self.cliques)):
            yield Start({}, {"h": h, "gamma": 0.0})
        if self.alpha:
            gamma = min(1 / sqrt(self.alpha * T), 0.4)
            for h in powers(self.n, min(float(self.seen(gamma, wide)) for wide in self.widths)):
                yield Start({"gamma": gamma}, {"h": h})

    def complete(self, T: float, **chosen: Any) -> OneSimplex:
        """The best η is known unless it shifts the others: the bound is a/η + bη + c. So is who carries γ.

        Beside loop-less arms γ is given by ratio = η/γ: where both halves of a round are even depends on that alone.
        """
        x = with_ratio(**({"eta": 1.0} | chosen))
        if len(self.widths) > 1:
            x = x._replace(wide=bool(self.seen(x.gamma, True) < self.seen(x.gamma, False)))
        if "eta" in chosen or x.gamma > MOST_EXPLORATION:
            return x
        return x._replace(eta=sqrt(one_diameter(x.h, self.n) / (float(self.stability(x)) * T)))


def with_ratio(ratio: float | None = None, **chosen: Any) -> OneSimplex:
    """The parameters, γ = η/ratio if there is one."""
    return OneSimplex(**chosen) if ratio is None else OneSimplex(gamma=chosen["eta"] / ratio, **chosen)


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

    def order(self, x: OneSimplex) -> float:
        """h."""
        return float(x.h)

    def tune(self, T: float, x: OneSimplex) -> tuple[Tuning, dict[str, Any]]:
        """Every arm a singleton."""
        problem, g = self.problem, self.partition.graph
        parameters: dict[str, Any] = {"h": x.h, "eta": x.eta}
        parameters |= {"clique_bound": float(problem.seen(x.gamma, x.wide))} if problem.n_loop else {}
        parameters |= {"alpha_upper": float(problem.alpha)} if problem.alpha else {}
        return Tuning.singletons(g.n_arms, Potential(x.h, x.eta), evenly(g, x)), parameters


def evenly(g: FeedbackGraph, x: OneSimplex) -> Floats:
    """(n,) γ shared by the arms that are not universal, or not generous if `wide`; else by loops, or by all."""
    carriers = ~g.is_universal
    if x.wide:
        carriers = np.ones(g.n_arms, dtype=bool)
        carriers[generous_arms(g)] = False
    if not carriers.any():
        carriers = g.has_loop if g.has_loop.any() else np.ones(g.n_arms, dtype=bool)
    return np.where(carriers, x.gamma / int(carriers.sum()), 0.0)
