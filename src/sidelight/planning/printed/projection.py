"""The top level: learning rates over the blocks, local exploration, exploration of the singletons."""

from __future__ import annotations

from dataclasses import dataclass
from math import cbrt, log, sqrt

from sidelight.planning.bounds.bound import Condition

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
