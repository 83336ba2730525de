"""Two levels with interpolated blocks and weighted projection, every constant exact at the actual T."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cbrt, exp, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.exploration import WeakBlocks, parents, shared
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.problem import MinimisedCandidate, Problem, Start
from sidelight.planning.minimised.round_cost import one_block, round_cost
from sidelight.planning.potentials import Potential, entropy_height
from sidelight.planning.tuning import Tuning

SHIFT_PEAK = 16 / (25 * sqrt(5))
"""max of y²·√(1−y): how much the shift by the loop-less arms can weigh on the other coordinates."""

MOST_OVERSHOOT = 0.5
"""Coordinates may grow by a shift: 2η√(ρ/p) stays below this, η_N/p below twice this."""


class Weights(NamedTuple):
    """The free parameters."""

    b: float = 0.0  # exploration of the weak blocks is between b·supply and b·M
    step: float = 0.0  # η_k = step·D_k inside the weak blocks: √(2b/T), unless there is one block only
    alpha: float = 0.0  # local exploration of each weak block
    scale: float = 0.0  # 1/η_k = scale·√(2ρT·w_k/α) on U2, w_k = δ_k if weighted, else √(Σ δ_k²/m2)
    scale_loop: float = 0.0  # 1/η_S = scale_loop·√(2ρT) on U1S
    eta_loopless: float = 0.0  # rate of negative entropy on U1N
    extra: float = 0.0  # chance to see any loop-less arm by exploration meant for them
    weighted: bool = True  # does the top level weigh its blocks by δ_k?


@dataclass(frozen=True)
class TwoLevel(Problem[Weights]):
    """What the bound depends on, and nothing else. Proof: docs/theory/fixed-rates.md, section 6.

    With M, m2, δ̄ = Σ δ_k over the weak blocks U2, n_S and n_N singletons with and without self-loop:

        R ≤ √(2T/b) + γ̄T + αT + D_Ψ + 2ρT·‖η·d‖ + (U1N) ½ρφη_N·T + 2ρf·C·‖η‖·T

    where d_k = δ_k/α on U2 and 1 on U1S. Weighting minimises ‖1/η‖·‖η·d‖; where blocks are few and unequal, equal
    rates can still win, because D_Ψ = ‖1/η‖ − min 1/η. Both are tried. One block alone pays 1/step + T·max(step/(2b),
    bM) instead (Theorem 1 there; section 5 shows why several do not).
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

    def gamma_bar(self, x: Weights) -> float:
        """γ̄ ≤ b·M + what is explored for loop-less arms."""
        return x.b * self.demand + self.paid(x)

    def paid(self, x: Weights) -> float:
        """Mass that gives every loop-less arm `extra`: n/(n−1) times it if only loop-less arms can carry it."""
        n = self.n_loopless
        only = n > 1 and self.n_weak + self.n_loop == 0
        return x.extra * n / (n - 1) if only else x.extra

    def seen(self, x: Weights) -> float:
        """p: every loop-less arm is seen at least so often by exploration."""
        return x.extra + x.b * self.supply

    def weights(self, x: Weights) -> tuple[float, float, float]:
        """Σ w_k, Σ 1/w_k and min w_k over U2."""
        total, reciprocal, least, squares = self.deltas
        if x.weighted:
            return total, reciprocal, least
        mean = sqrt(squares / self.n_weak)
        return self.n_weak * mean, self.n_weak / mean, mean

    def norms(self, T: float, x: Weights) -> tuple[float, float, float, float]:
        """‖1/η‖, min 1/η, ‖η·d‖ and ‖η‖ over U2 and U1S."""
        unit = 2 * T / (1 - self.gamma_bar(x))
        inverse = least = steep = rates = 0.0
        if self.n_loop:
            square = x.scale_loop**2 * unit
            inverse, least, steep = self.n_loop * square, square, self.n_loop / square
            rates = self.n_loop / square
        if self.n_weak:
            square = x.scale**2 * unit
            total, reciprocal, smallest = self.weights(x)
            inverse += square * total / x.alpha
            steep += total / x.alpha / square  # Σ d_k²/w_k·α is Σ w_k/α for both kinds of weights
            rates += reciprocal * x.alpha / square
            corner = square * smallest / x.alpha
            least = min(least, corner) if self.n_loop else corner
        return sqrt(inverse), sqrt(least), sqrt(steep), sqrt(rates)

    def terms(self, T: float, x: Weights) -> dict[str, float]:
        """The bound, term by term, for parameters that satisfy the conditions."""
        rho = 1 / (1 - self.gamma_bar(x))
        terms: dict[str, float] = {}
        if self.alone:
            if not self.n_weak:
                return {"one arm": 0.0}
            return {"diameter": 1 / x.step, "rounds": T * round_cost(x.step / (2 * x.b), x.b * self.demand)}
        if self.n_weak:
            terms["restriction"] = 1 / x.step + x.step / (2 * x.b) * T
            terms["global exploration"] = x.b * self.demand * T
            terms["local exploration"] = x.alpha * T
        norm, least, steep, rates = self.norms(T, x)
        if self.n_weak + self.n_loop:
            diameter = norm if self.n_loopless else norm - least
            terms["projection"] = diameter + 2 * rho * T * steep
        if self.n_loopless:
            p, eta = self.seen(x), x.eta_loopless
            learning = entropy_height(self.n_loopless) / eta + 0.5 * rho * exp(eta / p) * eta * T
            terms["loop-less arms"] = learning
            terms["exploration for loop-less arms"] = self.paid(x) * T
            if rates:
                growth = (1 - self.overshoot(T, x)) ** -3
                terms["loop-less shift"] = 2 * rho * growth * SHIFT_PEAK * rates * T
        return terms

    def conditions(self, T: float, x: Weights) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""
        conditions = []
        if self.n_weak or self.n_loopless:
            conditions.append(Condition("γ̄ ≤ 1/2", self.gamma_bar(x), MOST_EXPLORATION))
        if self.n_weak and not self.alone:
            conditions.append(Condition("α ≤ 1", x.alpha, 1.0))
        if self.n_loopless:
            p = self.seen(x)
            if self.n_weak + self.n_loop:
                over = self.overshoot(T, x)
                conditions.append(Condition("2·max η·√(ρ/p) ≤ 1/2", over, MOST_OVERSHOOT))
            growth = x.eta_loopless / p
            conditions.append(Condition("η_N/p ≤ 1", growth, 2 * MOST_OVERSHOOT))
        return tuple(conditions)

    def overshoot(self, T: float, x: Weights) -> float:
        """2·max η·√(ρ/p), by which a shift can lengthen 1/√y at most."""
        _, least, _, _ = self.norms(T, x)
        return 2 / least * sqrt(1 / ((1 - self.gamma_bar(x)) * self.seen(x)))

    # -- choosing -------------------------------------------------------------------------------------

    def closed_form(self, T: float) -> float:
        """The bound with ρ = 2 and round numbers, from T = max(4M, 4δ̄) on; ∞ before or with loop-less arms.

        3·2^{−1/3}M^{1/3}T^{2/3} + 3·2^{2/3}δ̄^{1/3}T^{2/3} + 4√(n_S·T); one block alone 3/2·M^{1/3}T^{2/3} from 8M on.
        """
        if self.n_loopless:
            return inf
        if self.n_weak == 0:
            return 2 * sqrt(2 * self.n_loop * T)
        if self.alone:
            return 1.5 * cbrt(self.demand * T * T) if 8 * self.demand <= T else inf
        if 4 * max(self.demand, self.deltas[0]) > T:
            return inf
        blocks = cbrt(self.demand * T * T / 2) + cbrt(4 * self.deltas[0] * T * T)
        return 3 * blocks + 4 * sqrt(self.n_loop * T)

    slower = {"scale": 2.0, "scale_loop": 2.0, "eta_loopless": 0.5}  # noqa: RUF012 - never written to

    def starts(self, T: float) -> Iterator[Start]:
        """From the closed forms, with weights δ_k and with equal ones where there are several."""
        if self.alone:
            best = one_block(T, self.demand) if self.n_weak else None
            yield Start({}, {"b": best.b, "step": best.step} if best else {})
            return
        free = {}
        if self.n_weak:
            b = min(1 / cbrt(2 * T * self.demand**2), 0.4 / self.demand)  # minimises √(2T/b) + b·M·T
            free = {"b": b, "alpha": min(cbrt(4 * self.deltas[0] / T), 1.0)}
        if self.n_weak and self.n_loopless:
            free["scale"] = 4.0
        if self.n_loop and (self.n_weak or self.n_loopless):
            free["scale_loop"] = 4.0 if self.n_loopless else 1.0
        if self.n_loopless:
            eta = sqrt(entropy_height(self.n_loopless) / T)
            free |= {"eta_loopless": min(eta, 0.05), "extra": 0.08 * min(1.0, 40 * eta)}
        for weighted in (True, False) if self.n_weak > 1 else (True,):
            yield Start(free, {"weighted": weighted})

    def complete(self, T: float, **chosen: Any) -> Weights:
        """Without loop-less arms one factor s on all rates of the top is known: s·D + S/s is least at √(S/D)."""
        x = Weights(**({"scale": 1.0, "scale_loop": 1.0} | chosen))
        if not self.alone:
            x = x._replace(step=sqrt(2 * x.b / T))
        if self.alone or self.n_loopless or self.gamma_bar(x) > MOST_EXPLORATION:
            return x
        norm, least, steep, _ = self.norms(T, x)
        s = sqrt(2 * T / (1 - self.gamma_bar(x)) * steep / (norm - least))
        return x._replace(scale=s * x.scale, scale_loop=s * x.scale_loop)


class TwoLevelCandidate(MinimisedCandidate):
    """Every weak block interpolated, the top level weighted by δ_k; conditions hold at every horizon."""

    problem: TwoLevel

    def __init__(self, weak: WeakBlocks, inner: Interpolated, realization: str = "interpolated") -> None:
        p, deltas = weak.partition, weak.deltas
        theorem = "Theorem general regret with interpolated blocks, minimised at T"
        super().__init__(weak.name, realization, p, theorem, inner.choices)
        self.weak, self.inner = weak, inner
        least = float(deltas.min()) if deltas.size else 0.0
        self.problem = TwoLevel(
            n_loop=p.strong_loop.size,
            n_loopless=p.strong_loopless.size,
            deltas=(float(deltas.sum()), float((1 / deltas).sum()), least, float((deltas**2).sum())),
            n_weak=p.weak.size,
            demand=inner.demand,
            supply=float(inner.supplies.sum()),
        )

    def tune(self, T: float, x: Weights) -> tuple[Tuning, dict[str, Any]]:
        """Blocks below a weighted top level."""
        p, weak, inner, problem = self.partition, self.weak, self.inner, self.problem
        beta, steps, top = x.b * inner.diameters, x.step * inner.diameters, self._top(T, x)
        played = shared(
            p.graph,
            p.block_of,
            weak.cover,
            targets=weak.per_arm(np.where(inner.pruned, 0.0, 1.0)) > 0,
            beta=weak.per_arm(beta),
            constant=weak.per_arm(np.where((inner.h < 1) & ~inner.pruned, 0.0, 1.0)) > 0,
        )
        tuning = Tuning.blocks(
            *weak.layout,
            top,
            weak.inside(Potential(inner.h, steps)),
            constant=played.constant + self._for_loopless(x),
            local=weak.per_arm(x.alpha / weak.deltas) * weak.cover,
            adaptive=weak.per_block(np.where(inner.pruned, beta, 0.0)),
            parent=parents(p, p.weak[inner.pruned]),
            spread=weak.per_block(np.where((inner.h < 1) & ~inner.pruned, beta, 0.0)),
            cover=played.cover,
            load=played.load,
        )
        parameters: dict[str, Any] = {"alpha": x.alpha} | ({"b": x.b} if p.weak.size else {})
        if p.weak.size and not problem.alone:
            parameters |= {"eta_top": (tuning.top_rate[p.weak] / 2).tolist(), "weighted": x.weighted}
        if p.strong_loop.size and not problem.alone:
            parameters["eta_loop"] = float(tuning.top_rate[p.strong_loop[0]] / 2)
        if p.strong_loopless.size:
            parameters |= {"eta_loopless": x.eta_loopless, "extra": x.extra}
        parameters |= {"h_blocks": inner.h.tolist(), "eta_blocks": steps.tolist()}
        return tuning, parameters | {"delta_blocks": weak.deltas.tolist()}

    def _top(self, T: float, x: Weights) -> Potential:
        """−√y/η on U2 and U1S, entropy on U1N; alone, any potential does."""
        p = self.partition
        h, step = np.full(p.n_blocks, 0.5), np.full(p.n_blocks, 0.5)
        if not self.problem.alone:
            unit = sqrt(2 * T / (1 - self.problem.gamma_bar(x)))
            if p.weak.size:
                weights = self.weak.deltas if x.weighted else self.problem.weights(x)[2]
                step[p.weak] = np.sqrt(x.alpha / weights) / (x.scale * unit)
            if p.strong_loop.size:
                step[p.strong_loop] = 1 / (x.scale_loop * unit)
            h[p.strong_loopless], step[p.strong_loopless] = 1.0, x.eta_loopless / 4
        return Potential(h, 4 * step)

    def _for_loopless(self, x: Weights) -> Floats:
        """Exploration that every loop-less singleton sees: outside of them, if there is an outside."""
        p = self.partition
        if p.weak.size:
            return np.asarray(x.extra * self.weak.cover / float(self.weak.deltas.sum()))
        carriers = p.strong_loop if p.strong_loop.size else p.strong_loopless
        shares = np.zeros(p.n_blocks)
        shares[carriers] = self.problem.paid(x) / carriers.size
        return np.asarray(shares[p.block_of])
