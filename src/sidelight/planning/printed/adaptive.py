"""The adaptive realization: Tsallis entropy in every block, exploration that follows its distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cbrt, sqrt

import numpy as np

from sidelight.planning.potentials import Potential
from sidelight.planning.printed.restriction import BlockTuning, Restriction


@dataclass(frozen=True, eq=False)
class Adaptive(Restriction):
    """Φ_k = −Σ √x, γ(k, j) = (β/δ̄)·Σ_{i : parent(i) = j} √X_k(i). Source: Theorem adapt-realized-upper-bound.

    Every arm i is watched through one in-neighbour inside its block, its parent, so that it is seen with
    probability at least (β/δ̄)√X_k(i). Restriction regret of block k and cost of exploration:

        √n_k/η_k + 2η_k·T·δ̄/β    and    β·T·Σ √n_k/δ̄    (as Σ_i √X_k(i) ≤ √n_k).

    The printed β knows the size of the best arm's block; here the largest block stands for it.
    """

    name = "adaptive"

    def theorem(self, case: int) -> str:
        """Theorem adapt-realized-upper-bound: case 1 has no loop-less singletons, case 2 has."""
        return f"Theorem adapt-realized-upper-bound, case {case - 2}"

    def beta(self, T: float) -> float:
        """β = 2^{1/3}·δ̄·n_max^{1/6}/(T^{1/3}(Σ √n_k)^{2/3})."""
        return self.delta_bar * cbrt(2 * sqrt(self._largest) / (T * self._roots**2))

    def most(self, T: float) -> float:
        """β·Σ √n_k/δ̄, at uniform inner distributions; at most ½ from T = 16·√n_max·Σ √n_k."""
        return self.beta(T) * self._roots / self.delta_bar

    def least(self, T: float) -> float:
        """β·m2/δ̄, at corners: Σ_i √X_k(i) ≥ 1."""
        return self.beta(T) * len(self.sizes) / self.delta_bar

    def terms(self, T: float) -> dict[str, float]:
        """√(8Tδ̄√n_max/β) and β·T·Σ √n_k/δ̄, together 3(2·Σ √n_k)^{1/3}n_max^{1/6}T^{2/3}."""
        return {
            "restriction": sqrt(8 * T * self.delta_bar * sqrt(self._largest) / self.beta(T)),
            "global exploration": self.most(T) * T,
        }

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(β√n_k/(2Tδ̄))."""
        beta = self.beta(T)
        steps = np.sqrt(beta * np.sqrt(self.sizes) / (2 * T * self.delta_bar))
        m = len(self.sizes)
        return BlockTuning(
            Potential.root(steps),
            steps=steps,
            covering=np.zeros(m),
            adaptive=np.full(m, beta / self.delta_bar),
            parameters={"beta": beta},
        )

    @cached_property
    def _largest(self) -> float:
        return float(self.sizes.max())

    @cached_property
    def _roots(self) -> float:
        return float(np.sum(np.sqrt(self.sizes)))
