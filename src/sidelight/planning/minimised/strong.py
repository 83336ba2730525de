"""Strongly observable graphs on one simplex: Hedge, EXP3, q-FTRL and what lies between, minimised at the actual T."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np

from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound, Condition, bound_at
from sidelight.planning.cliques import CliqueCover, clique_cover, directed_bound, growth
from sidelight.planning.minimised.interpolation import best_h, diameter
from sidelight.planning.minimised.minimise import Vector, minimise
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning

# -- the bound ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StrongLevers:
    """The free parameters: any that satisfy the conditions give a bound."""

    h: float  # Tsallis-h for all arms, negative entropy at 1
    eta: float
    gamma: float = 0.0  # uniform exploration of the arms with self-loops, or of all arms if there are none


@dataclass(frozen=True)
class Strong:
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
    alpha: int  # α(G) ≤ alpha, for directed sight; 0 where cliques say all

    @property
    def n(self) -> int:
        """Number of arms."""
        return self.n_loop + self.n_loopless

    def seen(self, gamma: float) -> float:
        """Q with exploration γ spread evenly over the arms with self-loops."""
        if not (self.alpha and gamma > 0 and self.n_loop):
            return float(self.cliques)
        return min(float(self.cliques), float(directed_bound(self.alpha, self.n_loop, gamma / self.n_loop)))

    def hidden(self, gamma: float) -> float:
        """p: exploration shows every loop-less arm at least so often."""
        return gamma if self.n_loop else gamma * (self.n - 1) / self.n

    def stability(self, levers: StrongLevers) -> float:
        """What the learning rate multiplies, T rounds aside: the sum of squared estimates, from above."""
        rho = 1 / (1 - levers.gamma)
        if self.n_loopless:
            p = self.hidden(levers.gamma)
            loops = self.seen(levers.gamma) if self.n_loop else 0.0
            return 0.5 * rho * growth(levers.eta / p) * (loops + 1) if p > 0 else inf
        if self.full and levers.h == 1:
            return 0.125
        return 0.5 * float(rho ** (2 - levers.h) * self.seen(levers.gamma) ** levers.h)

    def terms(self, T: float, levers: StrongLevers) -> dict[str, float]:
        """The bound, term by term."""
        terms = {
            "diameter": float(diameter(levers.h, self.n)) / levers.eta,
            "stability": levers.eta * self.stability(levers) * T,
        }
        return terms | ({"exploration": levers.gamma * T} if levers.gamma > 0 else {})

    def conditions(self, T: float, levers: StrongLevers) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = [Condition("γ̄ ≤ 1/2", levers.gamma, MOST_EXPLORATION)]
        if self.n_loop:
            conditions.append(Condition("Σ x/P ≤ Q by cliques", self.seen(levers.gamma), float(self.cliques)))
        return tuple(conditions)

    def value(self, T: float, levers: StrongLevers) -> float:
        """The bound at these parameters, ∞ where they are not allowed."""
        if levers.gamma > MOST_EXPLORATION:
            return inf
        total = sum(self.terms(T, levers).values())
        return total if isfinite(total) else inf

    def levers(self, T: float) -> StrongLevers:
        """The parameters with the smallest bound found at T."""
        return _strong_levers(self, T)

    def exp3g(self, T: float) -> StrongLevers:
        """γ = min(√(1/(αT)), ½), η = 2γ as Alon, Cesa-Bianchi, Dekel & Koren (2015) tune Exp3.G."""
        gamma = min(1 / sqrt(max(self.alpha, self.cliques if not self.alpha else 1, 1) * T), 0.5)
        return StrongLevers(1.0, 2 * gamma, gamma)


def q_of_ftrl(ratio: float) -> float:
    """q = ½(1 + L/(√(L² + 4) + 2)), L = log(N/α): the tuning of q-FTRL (Eldowa et al. 2023)."""
    L = log(ratio)
    return 0.5 * (1 + L / (sqrt(L * L + 4) + 2))


@lru_cache(maxsize=4096)
def _strong_levers(problem: Strong, T: float) -> StrongLevers:
    tried = _with_shift(problem, T) if problem.n_loopless else _without_shift(problem, T)
    return min(tried, key=lambda levers: problem.value(T, levers))


def _without_shift(problem: Strong, T: float) -> list[StrongLevers]:
    n = problem.n

    def tuned(h: float, gamma: float) -> StrongLevers:
        even = StrongLevers(h, 1.0, gamma)
        return StrongLevers(h, sqrt(float(diameter(h, n)) / (problem.stability(even) * T)), gamma)

    tried = [tuned(h, 0.0) for h in powers(n, float(problem.cliques))]
    if problem.alpha:
        start = min(1 / sqrt(problem.alpha * T), 0.4)
        for h in powers(n, problem.seen(start)):

            def value(point: Vector, h: float = h) -> float:
                return problem.value(T, tuned(h, point[0])) if point[0] <= MOST_EXPLORATION else inf

            tried.append(tuned(h, minimise(value, (start,))[0]))
    return tried


def _with_shift(problem: Strong, T: float) -> list[StrongLevers]:
    def made(point: Vector) -> StrongLevers:
        return StrongLevers(1.0, *point)

    def value(point: Vector) -> float:
        return problem.value(T, made(point)) if point[1] <= MOST_EXPLORATION else inf

    printed = problem.exp3g(T)
    even = sqrt(2 * log(problem.n) / ((problem.cliques + 1) * T))
    starts = [(printed.eta, printed.gamma), (min(even, 0.1), min(2 * even, 0.2))]
    return [printed, *(made(minimise(value, start)) for start in starts)]


def powers(n: int, Q: float) -> set[float]:
    """The h worth trying where Σ x/P ≤ Q: entropy, −√x, q-FTRL's and the one that minimises D_h(n)·Q^h."""
    return {1.0, 0.5, q_of_ftrl(max(n / Q, 1.0)), _least_h(n, Q)}


def _least_h(n: int, Q: float) -> float:
    """The h that minimises D_h(n)·Q^h."""
    return float(best_h(np.array([float(n)]), np.array([Q]), played=np.ones(1))[0])


# -- the candidate -----------------------------------------------------------------------------------------


def strong_problem(cover: CliqueCover) -> Strong:
    """All that a bound on a strongly observable graph depends on."""
    g = cover.graph
    n_loop = int(g.has_loop.sum())
    return Strong(
        n_loop=n_loop,
        n_loopless=g.n_arms - n_loop,
        full=bool(g.universal.size == g.n_arms and g.has_loop.all()),
        cliques=cover.value,
        alpha=0 if cover.symmetric or cover.value <= 1 else cover.alpha,
    )


@dataclass(frozen=True, eq=False)
class StrongCandidate:
    """All arms as singletons of one simplex with one potential; conditions hold at every horizon."""

    partition: Partition  # singletons
    name: str = "singletons"
    realization: str = "flat"

    @property
    def choices(self) -> tuple[str, ...]:
        """There are no weak blocks."""
        return ()

    @cached_property
    def cliques(self) -> CliqueCover:
        """The clique cover that the bound rests on."""
        return clique_cover(self.partition.graph)

    @cached_property
    def problem(self) -> Strong:
        """All that the bound depends on."""
        return strong_problem(self.cliques)

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified."""
        T, problem = float(horizon), self.problem
        levers = problem.levers(T)
        return sum(problem.terms(T, levers).values()), all(c.holds for c in problem.conditions(T, levers))

    def bound(self, horizon: int) -> Bound:
        """The bound at its smallest."""
        problem = self.problem
        return bound_at(
            horizon,
            "One simplex on a strongly observable graph, minimised at T",
            lambda T: problem.terms(T, problem.levers(T)),
            lambda T: problem.conditions(T, problem.levers(T)),
        )

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at `horizon` and its parameters by name."""
        problem, g, n = self.problem, self.partition.graph, self.partition.graph.n_arms
        levers = problem.levers(float(horizon))
        h, eta = levers.h, levers.eta
        carriers = g.has_loop if problem.n_loop else np.ones(n, dtype=bool)
        zeros = np.zeros(n)
        tuning = Tuning(
            block_start=np.arange(n + 1),
            block_arms=np.concatenate(self.partition.blocks),
            top_power=np.full(n, 1 / (1 - h) if h < 1 else 0.0),
            top_rate=np.full(n, (1 - h) * eta if h < 1 else eta),
            inner_power=zeros,
            inner_rate=zeros,
            global_exploration=np.where(carriers, levers.gamma / int(carriers.sum()), 0.0),
            local_exploration=zeros,
            adaptive=zeros,
            parent=np.full(n, -1),
            spread=zeros,
            cover=zeros,
            load=zeros,
        )
        parameters: dict[str, Any] = {"h": h, "eta": eta}
        if problem.n_loop:
            parameters["sight"] = float(problem.seen(levers.gamma))
        parameters |= {"alpha_upper": float(problem.alpha)} if problem.alpha else {}
        return tuning, parameters | {"gamma_bar": levers.gamma, "rho": 1 / (1 - levers.gamma)}
