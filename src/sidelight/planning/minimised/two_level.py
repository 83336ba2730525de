"""The right-hand side of Theorem general regret for two levels, with every constant exact at the actual T."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import cbrt, exp, inf, isfinite, sqrt
from typing import Any

from sidelight.planning.bounds.bound import Condition
from sidelight.planning.minimised.interpolation import entropy_height
from sidelight.planning.minimised.minimise import Vector, minimise
from sidelight.planning.minimised.minimised import feasible_value
from sidelight.planning.tuning import MOST_EXPLORATION

SHIFT_PEAK = 16 / (25 * sqrt(5))
"""max of y²·√(1−y): how much the shift by the loop-less arms can weigh on the other coordinates."""

MOST_OVERSHOOT = 0.5
"""Coordinates may grow by a shift: 2η√(ρ/p) stays below this, η_N/p below twice this."""


@dataclass(frozen=True)
class Levers:
    """The free parameters: any that satisfy the conditions give a bound."""

    b: float = 0.0  # exploration of the weak blocks is between b·supply and b·M
    alpha: float = 0.0  # local exploration of each weak block
    scale: float = 0.0  # 1/η_k = scale·√(2ρT·w_k/α) on U2, w_k = δ_k if weighted, else √(Σ δ_k²/m2)
    scale_loop: float = 0.0  # 1/η_S = scale_loop·√(2ρT) on U1S
    eta_loopless: float = 0.0  # rate of negative entropy on U1N
    extra: float = 0.0  # chance to see any loop-less arm by exploration meant for them
    weighted: bool = True  # does the top level weigh its blocks by δ_k?


@dataclass(frozen=True)
class TwoLevel:
    """What the bound depends on, and nothing else. Proofs: docs/theory/weighted-projection.md, tight-constants.md.

    With M, m2, δ̄ = Σ δ_k over the weak blocks U2, n_S and n_N singletons with and without self-loop:

        R ≤ √(2T/b) + γ̄T + αT + D_Ψ + 2ρT·‖η·d‖ + (U1N) ½ρφη_N·T + 2ρf·C·‖η‖·T

    where d_k = δ_k/α on U2 and 1 on U1S. Weighting minimises ‖1/η‖·‖η·d‖; where blocks are few and unequal, equal
    rates can still win, because D_Ψ = ‖1/η‖ − min 1/η. Both are tried.
    """

    n_loop: int
    n_loopless: int
    deltas: tuple[float, float, float, float]  # Σ δ_k, Σ 1/δ_k, min δ_k, Σ δ_k² over U2; zeros if U2 = ∅
    n_weak: int
    demand: float  # M
    supply: float

    @property
    def alone(self) -> bool:
        """Is there one block only? Then there is no top level."""
        return self.n_weak + self.n_loop + self.n_loopless == 1

    # -- the right-hand side --------------------------------------------------------------------------

    def gamma_bar(self, levers: Levers) -> float:
        """γ̄ ≤ b·M + what is explored for loop-less arms."""
        return levers.b * self.demand + self.paid(levers)

    def paid(self, levers: Levers) -> float:
        """Mass that gives every loop-less arm `extra`: n/(n−1) times it if only loop-less arms can carry it."""
        n = self.n_loopless
        only = n > 1 and self.n_weak + self.n_loop == 0
        return levers.extra * n / (n - 1) if only else levers.extra

    def seen(self, levers: Levers) -> float:
        """p: every loop-less arm is seen at least so often by exploration."""
        return levers.extra + levers.b * self.supply

    def weights(self, levers: Levers) -> tuple[float, float, float]:
        """Σ w_k, Σ 1/w_k and min w_k over U2."""
        total, reciprocal, least, squares = self.deltas
        if levers.weighted:
            return total, reciprocal, least
        mean = sqrt(squares / self.n_weak)
        return self.n_weak * mean, self.n_weak / mean, mean

    def norms(self, T: float, levers: Levers) -> tuple[float, float, float, float]:
        """‖1/η‖, min 1/η, ‖η·d‖ and ‖η‖ over U2 and U1S."""
        unit = 2 * T / (1 - self.gamma_bar(levers))
        inverse = least = steep = rates = 0.0
        if self.n_loop:
            square = levers.scale_loop**2 * unit
            inverse, least, steep = self.n_loop * square, square, self.n_loop / square
            rates = self.n_loop / square
        if self.n_weak:
            square = levers.scale**2 * unit
            total, reciprocal, smallest = self.weights(levers)
            inverse += square * total / levers.alpha
            steep += total / levers.alpha / square  # Σ d_k²/w_k·α is Σ w_k/α for both kinds of weights
            rates += reciprocal * levers.alpha / square
            corner = square * smallest / levers.alpha
            least = min(least, corner) if self.n_loop else corner
        return sqrt(inverse), sqrt(least), sqrt(steep), sqrt(rates)

    def terms(self, T: float, levers: Levers) -> dict[str, float]:
        """The bound, term by term, for parameters that satisfy the conditions."""
        rho = 1 / (1 - self.gamma_bar(levers))
        terms: dict[str, float] = {}
        if self.n_weak:
            terms["restriction"] = sqrt(2 * T / levers.b)
            terms["global exploration"] = levers.b * self.demand * T
        if self.alone:
            return terms or {"one arm": 0.0}
        if self.n_weak:
            terms["local exploration"] = levers.alpha * T
        norm, least, steep, rates = self.norms(T, levers)
        if self.n_weak + self.n_loop:
            diameter = norm if self.n_loopless else norm - least
            terms["projection"] = diameter + 2 * rho * T * steep
        if self.n_loopless:
            p, eta = self.seen(levers), levers.eta_loopless
            learning = entropy_height(self.n_loopless) / eta + 0.5 * rho * exp(eta / p) * eta * T
            terms["loop-less arms"] = learning
            terms["exploration for loop-less arms"] = self.paid(levers) * T
            if rates:
                growth = (1 - self.overshoot(T, levers)) ** -3
                terms["loop-less shift"] = 2 * rho * growth * SHIFT_PEAK * rates * T
        return terms

    def conditions(self, T: float, levers: Levers) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = []
        if self.n_weak or self.n_loopless:
            conditions.append(Condition("γ̄ ≤ 1/2", self.gamma_bar(levers), MOST_EXPLORATION))
        if self.n_weak and not self.alone:
            conditions.append(Condition("α ≤ 1", levers.alpha, 1.0))
        if self.n_loopless:
            p = self.seen(levers)
            if self.n_weak + self.n_loop:
                over = self.overshoot(T, levers)
                conditions.append(Condition("2·max η·√(ρ/p) ≤ 1/2", over, MOST_OVERSHOOT))
            growth = levers.eta_loopless / p
            conditions.append(Condition("η_N/p ≤ 1", growth, 2 * MOST_OVERSHOOT))
        return tuple(conditions)

    def overshoot(self, T: float, levers: Levers) -> float:
        """2·max η·√(ρ/p), by which a shift can lengthen 1/√y at most."""
        _, least, _, _ = self.norms(T, levers)
        return 2 / least * sqrt(1 / ((1 - self.gamma_bar(levers)) * self.seen(levers)))

    # -- choosing -------------------------------------------------------------------------------------

    def levers(self, T: float) -> Levers:
        """The parameters with the smallest bound found at T."""
        return _levers(self, T)

    def closed_form(self, T: float) -> float:
        """The bound with ρ = 2 and round numbers, from T = max(4M, 4δ̄) on; ∞ before or with loop-less arms.

        3·2^{−1/3}M^{1/3}T^{2/3} + 3·2^{2/3}δ̄^{1/3}T^{2/3} + 4√(n_S·T), the middle term only beside other blocks.
        """
        if self.n_loopless:
            return inf
        if self.n_weak == 0:
            return 2 * sqrt(2 * self.n_loop * T)
        if max(4 * self.demand, 0.0 if self.alone else 4 * self.deltas[0]) > T:
            return inf
        value = 3 * cbrt(self.demand * T * T / 2)
        if not self.alone:
            value += 3 * cbrt(4 * self.deltas[0] * T * T) + 4 * sqrt(self.n_loop * T)
        return value

    def _names(self) -> list[str]:
        names = ["b"] if self.n_weak else []
        if not self.alone:
            names += ["alpha"] if self.n_weak else []
            names += ["scale"] if self.n_weak and self.n_loopless else []
            names += ["scale_loop"] if self.n_loop and (self.n_weak or self.n_loopless) else []
            names += ["eta_loopless", "extra"] if self.n_loopless else []
        return names

    def _start(self, T: float) -> dict[str, float]:
        b = min(1 / cbrt(2 * T * self.demand**2), 0.4 / self.demand) if self.n_weak else 0.0
        eta = sqrt(entropy_height(self.n_loopless) / T) if self.n_loopless else 0.0
        return {
            "b": b,
            "alpha": min(cbrt(4 * self.deltas[0] / T), 1.0),
            "scale": 4.0 if self.n_loopless else 1.0,
            "scale_loop": 4.0 if self.n_loopless else 1.0,
            "eta_loopless": min(eta, 0.05),
            "extra": 0.08 * min(1.0, 40 * eta),
        }

    def _evaluate(self, T: float, levers: Levers) -> float:
        if self.gamma_bar(levers) > MOST_EXPLORATION:
            return inf
        return feasible_value(self.conditions(T, levers), lambda: self.terms(T, levers))


@lru_cache(maxsize=4096)
def _levers(problem: TwoLevel, T: float) -> Levers:
    if problem.alone and problem.n_weak:  # √(2T/b) + b·M·T has its minimum in closed form
        return Levers(b=min(1 / cbrt(2 * T * problem.demand**2), MOST_EXPLORATION / problem.demand))
    if problem.alone:
        return Levers()
    kinds = (True, False) if problem.n_weak > 1 else (True,)
    found = [_least(problem, T, weighted) for weighted in kinds]
    return min(found, key=lambda levers: problem._evaluate(T, levers))


def _least(problem: TwoLevel, T: float, weighted: bool) -> Levers:
    names, start = problem._names(), problem._start(T)
    even = Levers(scale=1.0, scale_loop=1.0, weighted=weighted)

    def made(point: Vector) -> Levers:
        chosen: dict[str, Any] = dict(zip(names, point, strict=True))
        levers = replace(even, **chosen)
        if problem.n_loopless or problem.gamma_bar(levers) > MOST_EXPLORATION:
            return levers
        norm, least, steep, _ = problem.norms(T, levers)  # s·D + S/s is least at s = √(S/D)
        s = sqrt(2 * T / (1 - problem.gamma_bar(levers)) * steep / (norm - least))
        return replace(levers, scale=s * levers.scale, scale_loop=s * levers.scale_loop)

    def value(point: Vector) -> float:
        return problem._evaluate(T, made(point))

    point = tuple(start[name] for name in names)
    slower = {"scale": 2.0, "scale_loop": 2.0, "eta_loopless": 0.5}
    for _ in range(60):  # slower learning is feasible in the end, whatever T
        if isfinite(value(point)):
            break
        point = tuple(x * slower.get(name, 1.0) for name, x in zip(names, point, strict=True))
    return made(minimise(value, point))
