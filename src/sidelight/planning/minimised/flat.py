"""The flat realization: one simplex for all arms, no partition needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import cbrt, exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.exploration import Cover, shared
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.minimised.round_cost import even_strength, one_block, peak, round_cost
from sidelight.planning.minimised.two_level import MOST_OVERSHOOT, SHIFT_PEAK
from sidelight.planning.potentials import Potential, entropy_height, height
from sidelight.planning.tuning import Tuning, lazy_factor


class Rates(NamedTuple):
    """The free parameters."""

    beta: float  # γ(j) = β·g_j(X): a covered arm is seen with probability at least β·X^{1−h}
    eta: float  # rate of Tsallis-h on the covered arms
    eta_loop: float = 0.0  # rate of −√x on the arms with a self-loop
    eta_loopless: float = 0.0  # rate of negative entropy on loop-less strong arms that are not covered
    extra: float = 0.0  # exploration that all of those see


@dataclass(frozen=True)
class Flat(Problem[Rates]):
    """W covered arms with Tsallis-h, S arms with self-loops and −√x, N loop-less strong arms with entropy.

        R ≤ D_Φ + T·max_z [M(1−z) + B√z] + shifts,    M = max(η/(2β), γ̄, ½ρφη_N),  B = 2ρη_S√n_S.

    Nothing is owed to S and N: an arm with a self-loop is seen when it is played, P_i ≥ (1−γ̄)X_i, a loop-less
    strong arm when any other is, P_i ≥ (1−γ̄)(1−X_i). Exploration is paid by arms that lose nothing, stability by
    those that do, so a round costs the larger. Proof: docs/theory/fixed-rates.md, section 4.
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

    def gamma_bar(self, x: Rates) -> float:
        """γ̄ ≤ βκδ^h + extra."""
        return x.beta * self.cost + x.extra

    def diameter(self, x: Rates) -> float:
        """D_Φ from above: the height of −Φ on W and S together, less the lowest corner.

        With mass z on S the two groups reach W(1−z) + (√n_S/η_S)·√z, and W(1−z) ≤ W(1) − slope·z by concavity.
        """
        eta, h, n = x.eta, self.h, self.n_cover
        if h < 1:
            height = n ** (1 - h) / (h * (1 - h) * eta)
            slope, corner = h * height, 1 / (h * (1 - h) * eta)
        else:
            height = entropy_height(n) / eta
            slope, corner = max(log(n) - 1, 0.0) / eta, 0.0
        if self.n_loop:
            height = peak(height, slope, sqrt(self.n_loop) / x.eta_loop)
            corner = min(corner, 1 / x.eta_loop)
        return float(height if self.n_loopless else height - corner)

    def round(self, x: Rates) -> float:
        """What stability and exploration cost a round together."""
        gamma_bar = self.gamma_bar(x)
        rho, a = 1 / (1 - gamma_bar), x.eta / (2 * x.beta)
        if self.n_loopless:
            a = max(a, 0.5 * rho * exp(x.eta_loopless / x.extra) * x.eta_loopless)
        return round_cost(a, gamma_bar, 2 * rho * x.eta_loop * sqrt(self.n_loop))

    def terms(self, T: float, x: Rates) -> dict[str, float]:
        """The bound, term by term, for parameters that satisfy the conditions."""
        rho = 1 / (1 - self.gamma_bar(x))
        terms = {"diameter": self.diameter(x), "rounds": self.round(x) * T}
        if self.n_loopless:
            terms["diameter of loop-less arms"] = entropy_height(self.n_loopless) / x.eta_loopless
            shift = 0.5 * x.eta * self._growth(x) * self.n_cover**self.h * self._overlap
            if self.n_loop:
                growth = (1 - self.overshoot(x)) ** -3
                shift += 2 * growth * SHIFT_PEAK * x.eta_loop * sqrt(self.n_loop)
            terms["loop-less shift"] = rho * shift * T
        return terms

    def overshoot(self, x: Rates) -> float:
        """2·η_S·√(ρ/p), by which the shift can lengthen 1/√x on S at most."""
        return 2 * x.eta_loop / sqrt((1 - self.gamma_bar(x)) * x.extra)

    def _growth(self, x: Rates) -> float:
        """How much x^{2−h} can grow on W under the shift: (1 − (1−h)η/p)^{−(2−h)/(1−h)}, e^{η/p} at h = 1."""
        u = x.eta / x.extra
        if self.h == 1:
            return exp(u)
        return float((1 - (1 - self.h) * u) ** (-(2 - self.h) / (1 - self.h)))

    @property
    def _overlap(self) -> float:
        """max over y of y²(1−y)^{1−h}: the shift is large only where W is small."""
        if self.h == 1:
            return 1.0
        return float((2 / (3 - self.h)) ** 2 * ((1 - self.h) / (3 - self.h)) ** (1 - self.h))

    def conditions(self, T: float, x: Rates) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = [Condition("γ̄ ≤ 1/2", self.gamma_bar(x), MOST_EXPLORATION)]
        if self.n_loopless:
            p = x.extra
            if self.n_loop:
                over = self.overshoot(x)
                conditions.append(Condition("2·η_S·√(ρ/p) ≤ 1/2", over, MOST_OVERSHOOT))
            conditions.append(Condition("η/p ≤ 1/2", x.eta / p, MOST_OVERSHOOT))
            conditions.append(Condition("η_N/p ≤ 1", x.eta_loopless / p, 2 * MOST_OVERSHOOT))
        return tuple(conditions)

    def closed_form(self, T: float) -> float:
        """3/2·(κ·height·δ^h)^{1/3}T^{2/3} + 4√(n_S·T) from γ̄ ≤ ½ on; ∞ before or with loop-less arms."""
        M = self._height * self.cost
        if self.n_loopless or 8 * M > T:
            return inf
        return 1.5 * cbrt(M * T * T) + 4 * sqrt(self.n_loop * T)

    def floor(self, T: float) -> float:
        """No more than the bound at T: height less corner for the diameter, and only covered arms to explore for."""
        corner = 0.0 if self.h == 1 else 1 / (self.h * (1 - self.h))
        size = self._height - corner
        return float(one_block(T, size * self.cost).value) if size > 0 else 0.0

    @cached_property
    def _height(self) -> float:
        return float(height(self.h, self.n_cover))

    slower = {"eta": 0.5, "eta_loop": 0.5, "growth": 0.5}  # noqa: RUF012 - never written to

    def starts(self, T: float) -> Iterator[Start]:
        """From the closed form."""
        step = float(one_block(T, self._height * self.cost).step)
        free = {"eta": self._height * step, "strength": 1.0}
        if self.n_loop:
            free["eta_loop"] = 1 / sqrt(4 * T)
        if self.n_loopless:
            eta = sqrt(entropy_height(self.n_loopless) / T)
            free |= {"growth": 0.5, "extra": 0.08 * min(1.0, 40 * eta)}
        yield Start(free)

    def complete(self, T: float, **chosen: Any) -> Rates:
        """Relative to what is even: β = strength·(the β that makes both halves of a round even), η_N = growth·p.

        So the kinks of the bound lie along axes, where the minimiser finds them.
        """
        eta, extra = chosen["eta"], chosen.get("extra", 0.0)
        beta = chosen["strength"] * even_strength(eta, self.cost, extra)
        eta_loopless = chosen.get("growth", 0.0) * extra
        return Rates(beta, eta, chosen.get("eta_loop", 0.0), eta_loopless, extra)


class FlatCandidate(MinimisedCandidate):
    """Covered arms W play Tsallis-h, `shifted` arms, which all others reveal, negative entropy, the rest −√x.

    `cover` says which arms are W; the rest have self-loops. The name says whether any arms are shifted.
    """

    problem: Flat

    def __init__(self, partition: Partition, cover: Cover, shifted: Longs) -> None:
        g, W, name = partition.graph, cover.covered, "shifted" if shifted.size else "covered"
        h = one_best_h(len(W), cover.mass, corners=False, played=g.n_arms)
        theorem = f"Flat plan with strong arms ({name}), minimised at T"
        super().__init__(name, "flat", partition, theorem, (f"flat h={h:.4g}",))
        self.cover, self.shifted = cover, np.zeros(g.n_arms, dtype=bool)
        self.shifted[shifted] = True
        lazy = float(lazy_factor(g.n_arms)) if h < 1 else 1.0
        counts = (len(W), g.n_arms - len(W) - shifted.size, shifted.size)
        self.problem = Flat(*counts, cover.mass, h, lazy)

    def floor(self, T: float) -> float:
        """The bound of the covered arms alone; what stands beside them costs something more."""
        return self.problem.floor(T)

    def order(self, x: Rates) -> float:
        """That of the covered arms."""
        return float(self.problem.h)

    def tune(self, T: float, x: Rates) -> tuple[Tuning, dict[str, Any]]:
        """One simplex of up to three kinds of arms."""
        problem = self.problem
        extra = np.where(self.shifted, 0.0, x.extra / int((~self.shifted).sum()))
        rates = (x.eta, x.eta_loop, x.eta_loopless)
        tuning = flat_tuning(self.partition, self.cover, problem.h, x.beta, rates, self.shifted, extra)
        parameters: dict[str, Any] = {"beta": x.beta, "eta": x.eta, "h": problem.h, "delta": problem.delta}
        parameters |= {"eta_loop": x.eta_loop} if problem.n_loop else {}
        parameters |= {"eta_loopless": x.eta_loopless, "extra": x.extra} if problem.n_loopless else {}
        return tuning, parameters


def flat_tuning(
    partition: Partition,
    cover: Cover,
    h: float,
    beta: float,
    rates: tuple[float, float, float],
    shifted: Bools | None = None,
    extra: Floats | float = 0.0,
) -> Tuning:
    """One simplex: Tsallis-h at rate η on the arms that `cover` covers, entropy at rate η_N on those that are
    `shifted` (n,), −√x/η_S on the rest; β·g explored for the covered, and `extra`."""
    g = partition.graph
    n, (eta, eta_loop, eta_loopless) = g.n_arms, rates
    covered = np.zeros(n, dtype=bool)
    covered[cover.covered] = True
    entropic = np.zeros(n, dtype=bool) if shifted is None else shifted
    powers = np.where(covered, h, np.where(entropic, 1.0, 0.5))
    potential = Potential(powers, np.where(covered, eta, np.where(entropic, eta_loopless, 4 * eta_loop)))
    entropy = np.full(n, h == 1)
    played = shared(g, partition.block_of, cover.weights, covered, np.full(n, beta), entropy)
    return Tuning.flat(
        n,
        potential,
        constant=played.constant + extra,
        spread=0.0 if h == 1 else beta,
        cover=played.cover,
        load=played.load,
    )
