"""One simplex for all arms: the bound of a flat plan whose arms are seen in different ways."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cbrt, exp, inf, isfinite, log, sqrt

from sidelight.planning.bounds.bound import Condition
from sidelight.planning.minimised.interpolation import entropy_height
from sidelight.planning.minimised.minimise import Vector, minimise
from sidelight.planning.minimised.minimised import feasible_value
from sidelight.planning.minimised.two_level import MOST_OVERSHOOT, SHIFT_PEAK
from sidelight.planning.tuning import MOST_EXPLORATION


@dataclass(frozen=True)
class FlatLevers:
    """The free parameters: any that satisfy the conditions give a bound."""

    beta: float  # γ(j) = β·g_j(X): a covered arm is seen with probability at least β·X^{1−h}
    eta: float  # rate of Tsallis-h on the covered arms
    eta_loop: float = 0.0  # rate of −√x on the arms with a self-loop
    eta_loopless: float = 0.0  # rate of negative entropy on loop-less strong arms that are not covered
    extra: float = 0.0  # exploration that all of those see


@dataclass(frozen=True)
class Mixed:
    """W covered arms with Tsallis-h, S arms with self-loops and −√x, N loop-less strong arms with entropy.

        R ≤ D_Φ + T·max_x [A(1−x) + B√x] + γ̄T + (N) ½ρφη_N·T + shifts,    A = η/(2β),  B = 2ρη_S√n_S.

    Nothing is owed to S and N: an arm with a self-loop is seen when it is played, P_i ≥ (1−γ̄)X_i, a loop-less
    strong arm when any other is, P_i ≥ (1−γ̄)(1−X_i). Proof: docs/theory/flat.md.
    """

    n_cover: int  # |W| ≥ 1
    n_loop: int  # |S|
    n_loopless: int  # |N|; not both 0
    delta: float  # δ_W, the mass of the cover
    h: float
    lazy: float  # κ ≥ 1, the factor of lazy play

    @property
    def cost(self) -> float:
        """Exploration is at most β times this: κ·δ^h."""
        return float(self.lazy * self.delta**self.h)

    def gamma_bar(self, levers: FlatLevers) -> float:
        """γ̄ ≤ βκδ^h + extra."""
        return levers.beta * self.cost + levers.extra

    def diameter(self, levers: FlatLevers) -> float:
        """D_Φ from above: the height of −Φ on W and S together, less the lowest corner.

        With mass z on S the two groups reach W(1−z) + (√n_S/η_S)·√z, and W(1−z) ≤ W(1) − slope·z by concavity.
        """
        eta, h, n = levers.eta, self.h, self.n_cover
        if h < 1:
            height = n ** (1 - h) / (h * (1 - h) * eta)
            slope, corner = h * height, 1 / (h * (1 - h) * eta)
        else:
            height = entropy_height(n) / eta
            slope, corner = max(log(n) - 1, 0.0) / eta, 0.0
        if self.n_loop:
            height = _peak(height, slope, sqrt(self.n_loop) / levers.eta_loop)
            corner = min(corner, 1 / levers.eta_loop)
        return float(height if self.n_loopless else height - corner)

    def stability(self, levers: FlatLevers) -> float:
        """max over the mass x on S of A(1−x) + B√x, per round."""
        a = levers.eta / (2 * levers.beta)
        b = 2 * levers.eta_loop * sqrt(self.n_loop) / (1 - self.gamma_bar(levers))
        return _peak(a, a, b)

    def terms(self, T: float, levers: FlatLevers) -> dict[str, float]:
        """The bound, term by term, for parameters that satisfy the conditions."""
        rho = 1 / (1 - self.gamma_bar(levers))
        terms = {
            "diameter": self.diameter(levers),
            "stability": self.stability(levers) * T,
            "global exploration": levers.beta * self.cost * T,
        }
        if self.n_loopless:
            eta, p = levers.eta_loopless, levers.extra
            learning = entropy_height(self.n_loopless) / eta + 0.5 * rho * exp(eta / p) * eta * T
            terms["loop-less arms"] = learning
            terms["exploration for loop-less arms"] = p * T
            shift = 0.5 * levers.eta * self._growth(levers) * self.n_cover**self.h * self._overlap
            if self.n_loop:
                growth = (1 - self.overshoot(levers)) ** -3
                shift += 2 * growth * SHIFT_PEAK * levers.eta_loop * sqrt(self.n_loop)
            terms["loop-less shift"] = rho * shift * T
        return terms

    def overshoot(self, levers: FlatLevers) -> float:
        """2·η_S·√(ρ/p), by which the shift can lengthen 1/√x on S at most."""
        return 2 * levers.eta_loop / sqrt((1 - self.gamma_bar(levers)) * levers.extra)

    def _growth(self, levers: FlatLevers) -> float:
        """How much x^{2−h} can grow on W under the shift: (1 − (1−h)η/p)^{−(2−h)/(1−h)}, e^{η/p} at h = 1."""
        u = levers.eta / levers.extra
        if self.h == 1:
            return exp(u)
        return float((1 - (1 - self.h) * u) ** (-(2 - self.h) / (1 - self.h)))

    @property
    def _overlap(self) -> float:
        """max over y of y²(1−y)^{1−h}: the shift is large only where W is small."""
        if self.h == 1:
            return 1.0
        return float((2 / (3 - self.h)) ** 2 * ((1 - self.h) / (3 - self.h)) ** (1 - self.h))

    def conditions(self, T: float, levers: FlatLevers) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = [Condition("γ̄ ≤ 1/2", self.gamma_bar(levers), MOST_EXPLORATION)]
        if self.n_loopless:
            p = levers.extra
            if self.n_loop:
                over = self.overshoot(levers)
                conditions.append(Condition("2·η_S·√(ρ/p) ≤ 1/2", over, MOST_OVERSHOOT))
            conditions.append(Condition("η/p ≤ 1/2", levers.eta / p, MOST_OVERSHOOT))
            conditions.append(Condition("η_N/p ≤ 1", levers.eta_loopless / p, 2 * MOST_OVERSHOOT))
        return tuple(conditions)

    def levers(self, T: float) -> FlatLevers:
        """The parameters with the smallest bound found at T."""
        return _flat_levers(self, T)

    def closed_form(self, T: float) -> float:
        """3·2^{−1/3}(κ·height·δ^h)^{1/3}T^{2/3} + 4√(n_S·T) from γ̄ ≤ ½ on; ∞ before or with loop-less arms."""
        M = self._height * self.cost
        if self.n_loopless or 4 * M > T:
            return inf
        return 3 * cbrt(M * T * T / 2) + 4 * sqrt(self.n_loop * T)

    @property
    def _height(self) -> float:
        h, n = self.h, self.n_cover
        return float(n ** (1 - h) / (h * (1 - h))) if h < 1 else entropy_height(n)

    def _names(self) -> list[str]:
        names = ["beta", "eta"]
        names += ["eta_loop"] if self.n_loop else []
        return names + (["eta_loopless", "extra"] if self.n_loopless else [])

    def _start(self, T: float) -> dict[str, float]:
        b = min(1 / cbrt(2 * T * (self._height * self.cost) ** 2), 0.4 / (self._height * self.cost))
        beta = b * self._height
        eta_loopless = sqrt(entropy_height(self.n_loopless) / T) if self.n_loopless else 0.0
        return {
            "beta": beta,
            "eta": sqrt(2 * self._height * beta / T),
            "eta_loop": 1 / sqrt(4 * T),
            "eta_loopless": min(eta_loopless, 0.05),
            "extra": 0.08 * min(1.0, 40 * eta_loopless),
        }

    def _evaluate(self, T: float, levers: FlatLevers) -> float:
        if self.gamma_bar(levers) > MOST_EXPLORATION:
            return inf
        return feasible_value(self.conditions(T, levers), lambda: self.terms(T, levers))


def _peak(base: float, slope: float, root: float) -> float:
    """max over z ∈ [0, 1] of base − slope·z + root·√z."""
    return base + root * root / (4 * slope) if root < 2 * slope else base - slope + root


@lru_cache(maxsize=4096)
def _flat_levers(problem: Mixed, T: float) -> FlatLevers:
    names, start = problem._names(), problem._start(T)

    def value(point: Vector) -> float:
        return problem._evaluate(T, FlatLevers(**dict(zip(names, point, strict=True))))

    point: Vector = tuple(start[name] for name in names)
    for _ in range(60):  # slower learning is feasible in the end, whatever T
        if isfinite(value(point)):
            break
        point = tuple(
            x * (0.5 if name.startswith("eta") else 1.0) for name, x in zip(names, point, strict=True)
        )
    return FlatLevers(**dict(zip(names, minimise(value, point), strict=True)))
