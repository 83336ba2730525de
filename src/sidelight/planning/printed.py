"""The paper's theorems as printed: what plays inside a block, what projects, and the candidate made of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import cbrt, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.exploration import WeakBlocks, parents
from sidelight.planning.minimised.round_cost import round_cost
from sidelight.planning.plan import Candidate, Offer
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.tuning import Tuning

# -- inside a block --------------------------------------------------------------------------------------
# What a realization of the paper is: how the weakly observable blocks play inside, as functions of the horizon.


class BlockTuning(NamedTuple):
    """How each weak block plays inside; arrays run over the weak blocks."""

    potential: Potential
    steps: Floats  # the paper's η_k
    covering: Floats  # γ(k, j) = covering_k · x*_j
    adaptive: Floats  # γ(k, j) = adaptive_k · Σ_{i : parent(i) = j} √X_k(i)
    parameters: dict[str, float]  # the paper's names and values


@dataclass(frozen=True, eq=False)
class Restriction(ABC):
    """The restriction instances: inner potentials and the global exploration that feeds them.

    Laws: total exploration is between `least(T)` and `most(T)` whatever the inner distributions, and `most` falls
    with T.
    """

    sizes: Floats  # (m2,) n_k
    deltas: Floats  # (m2,) δ_k

    name: ClassVar[str]
    source: ClassVar[str]  # the theorem that proves the bound
    before: ClassVar[int] = 0  # cases of Theorem realized-upper-bound that it does not have

    @abstractmethod
    def regret(self, T: float) -> float:
        """Restriction regret of the worst block."""

    @abstractmethod
    def most(self, T: float) -> float:
        """Largest total global exploration of the weak blocks."""

    @abstractmethod
    def blocks(self, T: float) -> BlockTuning:
        """Tuning of every weak block."""

    def least(self, T: float) -> float:
        """Smallest total global exploration of the weak blocks: the largest, where it is constant."""
        return self.most(T)

    def terms(self, T: float) -> dict[str, float]:
        """Restriction regret and cost of global exploration."""
        return {"restriction": self.regret(T), "global exploration": self.most(T) * T}

    @cached_property
    def delta_bar(self) -> float:
        """δ̄ = Σ δ_k."""
        return float(np.sum(self.deltas))


class Clustered(Restriction):
    """Φ_k = negative entropy, γ(k, j) = β·x*_j·log n_k/δ̄. Source: Theorem realized-upper-bound.

    Restriction regret of block k and cost of exploration, before the choice of η_k and β:

        log n_k/η_k + η_k·δ̄·T/(2β·log n_k)    and    β·T·Σ δ_k log n_k/δ̄.

    Both together are 3·2^{−1/3}(Σ δ_k log n_k)^{1/3}T^{2/3}.
    """

    name, source = "clustered", "Theorem realized-upper-bound"

    def beta(self, T: float) -> float:
        """β = δ̄/((2T)^{1/3}(Σ δ_k log n_k)^{2/3})."""
        return self.delta_bar / cbrt(2 * T * self._demand**2)

    def most(self, T: float) -> float:
        """β·Σ δ_k log n_k/δ̄; at most ½ from T = 4·Σ δ_k log n_k."""
        return self.beta(T) * self._demand / self.delta_bar

    def regret(self, T: float) -> float:
        """√(2Tδ̄/β)."""
        return sqrt(2 * T * self.delta_bar / self.beta(T))

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(2β)·log n_k/√(δ̄T)."""
        beta, logs = self.beta(T), np.log(self.sizes)
        steps = sqrt(2 * beta / (self.delta_bar * T)) * logs
        covering = beta * logs / self.delta_bar
        return BlockTuning(Potential(1.0, steps), steps, covering, np.zeros(len(logs)), {"beta": beta})

    @cached_property
    def _demand(self) -> float:
        return float(np.sum(self.deltas * np.log(self.sizes)))


class NoWeakBlocks(Clustered):
    """U2 = ∅: nothing is restricted, and the top level plays alone, whatever the realization."""

    def __init__(self) -> None:
        super().__init__(np.zeros(0), np.zeros(0))

    def most(self, T: float) -> float:
        """0."""
        return 0.0

    def terms(self, T: float) -> dict[str, float]:
        """None."""
        return {}

    def blocks(self, T: float) -> BlockTuning:
        """None."""
        none = np.zeros(0)
        return BlockTuning(Potential(none, none), none, none, none, {})


class Adaptive(Restriction):
    """Φ_k = −Σ √x, γ(k, j) = (β/δ̄)·Σ_{i : parent(i) = j} √X_k(i). Source: Theorem adapt-realized-upper-bound.

    Every arm i is watched through one in-neighbour inside its block, its parent, so that it is seen with
    probability at least (β/δ̄)√X_k(i). Restriction regret of block k and cost of exploration:

        √n_k/η_k + 2η_k·T·δ̄/β    and    β·T·Σ √n_k/δ̄    (as Σ_i √X_k(i) ≤ √n_k),

    together 3(2·Σ √n_k)^{1/3}n_max^{1/6}T^{2/3}. The printed β knows the size of the best arm's block; here the
    largest block stands for it.
    """

    name, source, before = "adaptive", "Theorem adapt-realized-upper-bound", 2

    def beta(self, T: float) -> float:
        """β = 2^{1/3}·δ̄·n_max^{1/6}/(T^{1/3}(Σ √n_k)^{2/3})."""
        return self.delta_bar * cbrt(2 * self._largest / (T * self._roots**2))

    def most(self, T: float) -> float:
        """β·Σ √n_k/δ̄, at uniform inner distributions; at most ½ from T = 16·√n_max·Σ √n_k."""
        return self.beta(T) * self._roots / self.delta_bar

    def least(self, T: float) -> float:
        """β·m2/δ̄, at corners: Σ_i √X_k(i) ≥ 1."""
        return self.beta(T) * len(self.sizes) / self.delta_bar

    def regret(self, T: float) -> float:
        """√(8Tδ̄√n_max/β)."""
        return sqrt(8 * T * self.delta_bar * self._largest / self.beta(T))

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(β√n_k/(2Tδ̄))."""
        beta, m = self.beta(T), len(self.sizes)
        steps = np.sqrt(beta * np.sqrt(self.sizes) / (2 * T * self.delta_bar))
        adaptive = np.full(m, beta / self.delta_bar)
        return BlockTuning(Potential.root(steps), steps, np.zeros(m), adaptive, {"beta": beta})

    @cached_property
    def _largest(self) -> float:
        return sqrt(float(self.sizes.max()))

    @cached_property
    def _roots(self) -> float:
        return float(np.sum(np.sqrt(self.sizes)))


@dataclass(frozen=True, eq=False)
class Hybrid(Restriction):
    """Clustered on the blocks with `entropy`, adaptive on the others. Source: section Remark on Realization.

    The weights give every block the same restriction regret √(2T/b), so that nothing depends on the
    unknown block of the best arm:

        clustered   γ(k, j) = β_k·x*_j                  β_k = b·log n_k    log n_k/η_k + η_k·T/(2β_k)
        adaptive    γ(k, j) = c_k·Σ_{parent(i)=j} √X_k(i)    c_k = 4b·√n_k      √n_k/η_k + 2η_k·T/c_k

    Exploration costs b·M·T with M = Σ_clustered δ_k log n_k + Σ_adaptive 4n_k, so both are 3·2^{−1/3}M^{1/3}T^{2/3}.
    Never above either theorem.
    """

    entropy: Bools  # (m2,) does the block play clustered?

    name: ClassVar[str] = "hybrid"
    source: ClassVar[str] = "Theorem general regret with balanced weights (Remark on Realization)"

    @classmethod
    def best(cls, sizes: Floats, deltas: Floats) -> Hybrid:
        """Each block takes the smaller share of M: clustered iff δ_k log n_k ≤ 4n_k."""
        return cls(sizes, deltas, deltas * np.log(sizes) <= 4 * sizes)

    def b(self, T: float) -> float:
        """b = (2T)^{−1/3}M^{−2/3}, the minimiser of √(2T/b) + b·M·T."""
        return 1 / cbrt(2 * T * self._shares(self.sizes) ** 2)

    def most(self, T: float) -> float:
        """b·M; at most ½ from T = 4M."""
        return self.b(T) * self._shares(self.sizes)

    def least(self, T: float) -> float:
        """b·(Σ_clustered δ_k log n_k + Σ_adaptive 4√n_k), as Σ_i √X_k(i) ≥ 1."""
        return self.b(T) * self._shares(np.sqrt(self.sizes))

    def regret(self, T: float) -> float:
        """√(2T/b)."""
        return sqrt(2 * T / self.b(T))

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(2β_k log n_k/T) or √(√n_k·c_k/(2T))."""
        b, logs, roots = self.b(T), np.log(self.sizes), np.sqrt(self.sizes)
        covering = np.where(self.entropy, b * logs, 0.0)
        adaptive = np.where(self.entropy, 0.0, 4 * b * roots)
        steps = np.where(self.entropy, np.sqrt(2 * covering * logs / T), np.sqrt(roots * adaptive / (2 * T)))
        potential = Potential(np.where(self.entropy, 1.0, 0.5), np.where(self.entropy, 1, 4) * steps)
        return BlockTuning(potential, steps, covering, adaptive, {"b": b})

    def _shares(self, adaptive: Floats) -> float:
        return float(np.sum(np.where(self.entropy, self.deltas * np.log(self.sizes), 4 * adaptive)))


# -- projection ------------------------------------------------------------------------------------------
# The top level: learning rates over the blocks, local exploration, exploration of the singletons.


OVERSHOOT = 0.0426
"""max(η, η_S)·ρ below this keeps the factor (1 − √(ηρ))^{−3} of the stability terms at most 2."""


@dataclass(frozen=True)
class Projection:
    """Everything the theorems choose over the blocks, as functions of the horizon T.

    Potential of the top simplex: −√y/η on U2, −√y/η_S on U1S, y·log(y)/η_N on U1N. One block alone
    needs no top level: nothing is projected, so nothing is explored locally either (α = 0).
    Source: Lemma realized-regretY and the proof of Theorem realized-upper-bound, sharing its cases

        1: U2 = ∅, U1N = ∅     2: U2 = ∅, U1N ≠ ∅     3: U2 ≠ ∅, U1N = ∅     4: U2 ≠ ∅, U1N ≠ ∅.
    """

    n_loop: int  # |U1S|, singletons with a self-loop
    n_loopless: int  # |U1N|, singletons without
    n_weak: int  # m2 = |U2|
    squares: float  # Q = Σ δ_k² over U2

    @property
    def case(self) -> int:
        """Which line of Theorem realized-upper-bound applies, 1 to 4."""
        return 1 + (self.n_loopless > 0) + 2 * (self.n_weak > 0)

    @property
    def alone(self) -> bool:
        """Is there one block only, of two arms or more?"""
        return self.n_weak == 1 and self.n_loop == self.n_loopless == 0

    # -- parameters -----------------------------------------------------------------------------------

    def alpha(self, T: float) -> float:
        """Local exploration α = 2^{2/3}(m2·Q)^{1/6}T^{−1/3}, with 2^{4/3} in case 4."""
        if self.n_weak == 0 or self.alone:
            return 0.0
        return cbrt((16 if self.case == 4 else 4) * sqrt(self.n_weak * self.squares) / T)

    def eta(self, T: float, alpha: float) -> float:
        """Rate on U2 given α: η = ½(m2/Q)^{1/4}(α/T)^{1/2}, with ¼ in case 4."""
        if self.n_weak == 0 or self.alone:
            return 0.0
        return (0.25 if self.case == 4 else 0.5) * sqrt(sqrt(self.n_weak / self.squares) * alpha / T)

    def eta_loop(self, T: float) -> float:
        """Rate on U1S: η_S = 1/√(cT) with c = 2, 24, 4, 24 in cases 1 to 4 (γ̄ ≤ ½, so ρ ≤ 2)."""
        return 1 / sqrt((2, 24, 4, 24)[self.case - 1] * T)

    def eta_loopless(self, T: float) -> float:
        """Rate on U1N: η_N = √(log(n_N+1)/(10T)), lowered to η_S for a single such arm in case 2.

        A single loop-less arm is not explored itself. Without weak blocks it is only certain to be seen with
        probability 4η_S, and 4η_N must not exceed that. Lowering η_N to η_S leaves its printed term an
        upper bound: log(2)/η_S + 2η_S·T < 2√(10·log(2)·T).
        """
        if self.n_loopless == 0:
            return 0.0
        eta = sqrt(log(self.n_loopless + 1) / (10 * T))
        return min(eta, self.eta_loop(T)) if self.case == 2 and self.n_loopless == 1 else eta

    def loop_exploration(self, T: float) -> float:
        """Total global exploration of U1S, 4η_S; needed only if U1N ≠ ∅."""
        return 4 * self.eta_loop(T) if self.n_loop and self.n_loopless else 0.0

    def loopless_exploration(self, T: float) -> float:
        """Total global exploration of U1N, 4η_N·n_N/(n_N−1); none for a single arm."""
        n = self.n_loopless
        return 4 * self.eta_loopless(T) * n / (n - 1) if n > 1 else 0.0

    # -- certificate ----------------------------------------------------------------------------------

    def terms(self, T: float) -> dict[str, float]:
        """What the top level adds to the regret bound, term by term."""
        terms: dict[str, float] = {}
        if self.n_weak and not self.alone:
            local = self.alpha(T) * T  # the projection costs 2αT, whatever the case: α is its minimiser
            terms["projection of weak blocks"] = 2 * local
            terms["local exploration"] = local
        if self.n_loop:
            terms["self-loop arms"] = 2 * sqrt(self.n_loop) / self.eta_loop(T)
        if self.n_loopless:
            terms["loop-less arms"] = 2 * sqrt(10 * log(self.n_loopless + 1) * T)
            if self.n_weak:
                # 8η√m2·T = 4T^{1/3}m2^{5/6}/(2^{1/3}Q^{1/6})
                terms["loop-less shift on weak blocks"] = 4 * cbrt(
                    T / 2 * sqrt(self.n_weak**5 / self.squares)
                )
            if self.n_loop:  # 4η_S·T = (√6/3)√T, which the theorem rounds up to √T where U2 = ∅
                terms["exploration of self-loop arms"] = sqrt(T) if self.case == 2 else sqrt(6 * T) / 3
        return terms

    def conditions(self, T: float, most: float, least: float) -> tuple[Condition, ...]:
        """What "sufficiently large T" means, given that weak blocks explore between `least` and `most`.

        ρ = 1/(1−γ̄) is at most 2 by the condition on γ̄; in case 2 that value is used throughout.
        """
        if self.case == 1:
            return ()
        conditions: list[Condition] = []
        alpha = self.alpha(T)
        if self.n_weak and not self.alone:
            conditions.append(Condition("α ≤ 1", alpha, 1.0))
        gamma_bar = self.loop_exploration(T) + self.loopless_exploration(T) + most
        conditions.append(Condition("γ̄ ≤ 1/2", gamma_bar, 0.5))
        if self.n_loopless:
            rates = {"η": self.eta(T, alpha)} if self.n_weak else {}
            if self.n_loop:
                rates["η_S"] = self.eta_loop(T)
            rho = 2.0 if self.case == 2 else 1 / (1 - min(gamma_bar, 0.5))
            if rates:
                name = f"max({', '.join(rates)})·ρ ≤ {OVERSHOOT}"
                conditions.append(Condition(name, max(rates.values()) * rho, OVERSHOOT))
            rates["η_N"] = self.eta_loopless(T)
            seen = self.loop_exploration(T) + least + (4 * rates["η_N"] if self.n_loopless > 1 else 0.0)
            conditions += [
                Condition(f"4·{name} ≤ least chance to see a loop-less arm", 4 * rate, seen)
                for name, rate in rates.items()
            ]
        return tuple(conditions)


# -- the candidate ---------------------------------------------------------------------------------------
# A partition with one of the paper's realizations.


class PrintedCandidate(Candidate):
    """Projection over the blocks of a partition, restriction inside them: the theorems as printed."""

    source = "He & Zhang"

    def __init__(self, weak: WeakBlocks, inner: Restriction, realization: str) -> None:
        p = weak.partition
        squares = float(np.sum(weak.deltas**2))
        self.weak, self.inner = weak, inner
        self.top = Projection(p.strong_loop.size, p.strong_loopless.size, p.weak.size, squares)
        follows = inner.blocks(1.0).adaptive > 0
        choices = tuple("adaptive" if yes else "clustered" for yes in follows)
        theorem = f"{inner.source}, case {self.top.case - inner.before}"
        super().__init__(weak.name, realization, p, theorem, choices)

    @property
    def title(self) -> str:
        """Realization and partition."""
        return f"{self.realization}, {self.name}"

    def offer(self, T: float) -> Offer:
        """Projection and restriction; conditions say what "sufficiently large T" means."""
        top, inner = self.top, self.inner
        conditions = top.conditions(T, inner.most(T), inner.least(T))
        return Offer(top.terms(T) | inner.terms(T), lambda: self.tune(T), conditions, self._sharper(T))

    def _sharper(self, T: float) -> dict[str, float]:
        """One block alone: D/η + T·max(η/(2β), γ̄), with the numbers that are played."""
        if not (self.top.alone and self.weak.sizes.size):
            return {}
        inner, wanted = self.inner.blocks(T), self.inner.most(T)
        scale = min(1.0, MOST_EXPLORATION / wanted)
        h, eta = (float(np.ravel(number)[0]) for number in (inner.potential.h, inner.potential.eta))
        beta = scale * float(inner.covering[0] + inner.adaptive[0])
        size = float(diameter(h, self.weak.sizes[0]))
        return {"diameter": size / eta, "rounds": T * round_cost(eta / (2 * beta), scale * wanted)}

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at T and its parameters by name.

        Below the thresholds of the theorem it is still a tuning: all global exploration is scaled by one
        factor down to γ̄ = ½, and α is cut at 1.
        """
        top, p, weak, inner = self.top, self.partition, self.weak, self.inner.blocks(T)
        loop, loopless = top.loop_exploration(T), top.loopless_exploration(T)
        wanted = loop + loopless + self.inner.most(T)
        scale = min(1.0, MOST_EXPLORATION / wanted) if wanted > 0 else 1.0
        alpha = min(top.alpha(T), 1.0)
        rates = {
            "eta": top.eta(T, alpha),
            "eta_loop": top.eta_loop(T) if top.n_loop else 0.0,
            "eta_loopless": top.eta_loopless(T),
        }
        h, eta = np.full(p.n_blocks, 0.5), np.empty(p.n_blocks)
        # One block alone is always played: any potential does, and only its positivity matters.
        eta[p.weak] = 4 * (top.eta_loop(T) if top.alone else rates["eta"])
        eta[p.strong_loop] = 4 * rates["eta_loop"]
        h[p.strong_loopless], eta[p.strong_loopless] = 1.0, rates["eta_loopless"]
        singles = np.zeros(p.n_blocks)  # singletons share their totals evenly
        singles[p.strong_loop] = loop / max(p.strong_loop.size, 1)
        singles[p.strong_loopless] = loopless / max(p.strong_loopless.size, 1)
        tuning = Tuning.blocks(
            *weak.layout,
            Potential(h, eta),
            weak.inside(inner.potential),
            constant=scale * (singles[p.block_of] + weak.per_arm(inner.covering) * weak.cover),
            local=weak.per_arm(alpha / weak.deltas) * weak.cover,
            adaptive=scale * weak.per_block(inner.adaptive),
            parent=parents(p, p.weak[inner.adaptive > 0]),
        )
        gamma_bar = min(wanted, MOST_EXPLORATION)
        parameters: dict[str, Any] = {"alpha": alpha} | inner.parameters
        parameters |= {name: rate for name, rate in rates.items() if rate > 0}
        parameters |= {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar), "exploration_scale": scale}
        parameters |= {"eta_blocks": inner.steps.tolist(), "delta_blocks": weak.deltas.tolist()}
        return tuning, parameters
