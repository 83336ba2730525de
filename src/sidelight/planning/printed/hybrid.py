"""The hybrid realization: every block plays clustered or adaptive, with balanced weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cbrt, sqrt

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.planning.potentials import Potential
from sidelight.planning.printed.restriction import BlockTuning, Restriction


@dataclass(frozen=True, eq=False)
class Hybrid(Restriction):
    """Clustered on the blocks with `entropy`, adaptive on the others. Source: section Remark on Realization.

    The weights give every block the same restriction regret √(2T/b), so that nothing depends on the
    unknown block of the best arm:

        clustered   γ(k, j) = β_k·x*_j                  β_k = b·log n_k    log n_k/η_k + η_k·T/(2β_k)
        adaptive    γ(k, j) = c_k·Σ_{parent(i)=j} √X_k(i)    c_k = 4b·√n_k      √n_k/η_k + 2η_k·T/c_k

    Exploration costs b·M·T with M = Σ_clustered δ_k log n_k + Σ_adaptive 4n_k. Never above either theorem.
    """

    entropy: Bools  # (m2,) does the block play clustered?

    name = "hybrid"

    @classmethod
    def best(cls, sizes: Floats, deltas: Floats) -> Hybrid:
        """Each block takes the smaller share of M: clustered iff δ_k log n_k ≤ 4n_k."""
        return cls(sizes, deltas, deltas * np.log(sizes) <= 4 * sizes)

    def theorem(self, case: int) -> str:
        """The regret decomposition with the lemmas of both theorems."""
        return f"Theorem general regret with balanced weights (Remark on Realization), case {case}"

    def b(self, T: float) -> float:
        """b = (2T)^{−1/3}M^{−2/3}, the minimiser of √(2T/b) + b·M·T."""
        return 1 / cbrt(2 * T * self._demand**2)

    def most(self, T: float) -> float:
        """b·M; at most ½ from T = 4M."""
        return self.b(T) * self._demand

    def least(self, T: float) -> float:
        """b·(Σ_clustered δ_k log n_k + Σ_adaptive 4√n_k), as Σ_i √X_k(i) ≥ 1."""
        shares = np.where(self.entropy, self.deltas * np.log(self.sizes), 4 * np.sqrt(self.sizes))
        return self.b(T) * float(np.sum(shares))

    def terms(self, T: float) -> dict[str, float]:
        """√(2T/b) and b·M·T, together 3·2^{−1/3}M^{1/3}T^{2/3}."""
        return {"restriction": sqrt(2 * T / self.b(T)), "global exploration": self.most(T) * T}

    def blocks(self, T: float) -> BlockTuning:
        """η_k = √(2β_k log n_k/T) or √(√n_k·c_k/(2T))."""
        b = self.b(T)
        logs, roots = np.log(self.sizes), np.sqrt(self.sizes)
        covering = np.where(self.entropy, b * logs, 0.0)
        adaptive = np.where(self.entropy, 0.0, 4 * b * roots)
        steps = np.where(self.entropy, np.sqrt(2 * covering * logs / T), np.sqrt(roots * adaptive / (2 * T)))
        return BlockTuning(
            Potential(np.where(self.entropy, 1.0, 0.5), np.where(self.entropy, 1, 4) * steps),
            steps=steps,
            covering=covering,
            adaptive=adaptive,
            parameters={"b": b},
        )

    @cached_property
    def _demand(self) -> float:
        return float(np.sum(np.where(self.entropy, self.deltas * np.log(self.sizes), 4 * self.sizes)))
