"""The realization for well-clustered graphs: negative entropy and constant exploration in every block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cbrt, sqrt

import numpy as np

from sidelight.planning.potentials import Potential
from sidelight.planning.printed.restriction import BlockTuning, Restriction


@dataclass(frozen=True, eq=False)
class Clustered(Restriction):
    """Φ_k = negative entropy, γ(k, j) = β·x*_j·log n_k/δ̄. Source: Theorem realized-upper-bound.

    Restriction regret of block k and cost of exploration, before the choice of η_k and β:

        log n_k/η_k + η_k·δ̄·T/(2β·log n_k)    and    β·T·Σ δ_k log n_k/δ̄.
    """

    name = "clustered"

    def theorem(self, case: int) -> str:
        """Theorem realized-upper-bound; cases 3 and 4 have weak blocks."""
        return f"Theorem realized-upper-bound, case {case}"

    def beta(self, T: float) -> float:
        """β = δ̄/((2T)^{1/3}(Σ δ_k log n_k)^{2/3})."""
        return self.delta_bar / cbrt(2 * T * self._demand**2)

    def most(self, T: float) -> float:
        """β·Σ δ_k log n_k/δ̄; at most ½ from T = 4·Σ δ_k log n_k."""
        return self.beta(T) * self._demand / self.delta_bar

    least = most  # exploration is constant

    def terms(self, T: float) -> dict[str, float]:
        """√(2Tδ̄/β) and β·T·Σ δ_k log n_k/δ̄, together 3·2^{−1/3}(Σ δ_k log n_k)^{1/3}T^{2/3}."""
        return {
            "restriction": sqrt(2 * T * self.delta_bar / self.beta(T)),
            "global exploration": self.most(T) * T,
        }

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(2β)·log n_k/√(δ̄T)."""
        beta = self.beta(T)
        logs = np.log(self.sizes)
        steps = sqrt(2 * beta / (self.delta_bar * T)) * logs
        return BlockTuning(
            Potential(1.0, steps),
            steps=steps,
            covering=beta * logs / self.delta_bar,
            adaptive=np.zeros(len(self.sizes)),
            parameters={"beta": beta},
        )

    @cached_property
    def _demand(self) -> float:
        return float(np.sum(self.deltas * np.log(self.sizes)))
