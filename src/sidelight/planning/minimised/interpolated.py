"""The interpolated realization: every weak block plays Tsallis-h with an h of its own, and balanced weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cbrt, sqrt

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.planning.minimised.interpolation import best_h, diameter
from sidelight.planning.tuning import lazy_factor


@dataclass(frozen=True, eq=False)
class Interpolated:
    """Φ_k = −Σ x^h/(h(1−h)), γ(k, j) = β_k·g_j(X_k), β_k = b·D_k, η_k = D_k·√(2b/T).

        g_j(X) = x*_j·max_{i ∈ Nout(j) ∩ V_k} X_i^{1−h}/c_i,      c_i = Σ_{j ∈ Nin(i) ∩ V_k} x*_j ≥ 1

    sees arm i with probability at least β_k·X_i^{1−h} and costs at most β_k·δ_k^h: every block has restriction
    regret √(2T/b), and exploration costs b·M with M = Σ κ_k·D_k·δ_k^h, κ_k ≥ 1 the factor of lazy play.
    Blocks that are `pruned` explore through parents instead, at β_k·√n_k with h = ½. Proof:
    docs/theory/interpolated.md.
    """

    sizes: Floats  # (m2,) n_k
    deltas: Floats  # (m2,) δ_k
    h: Floats  # (m2,)
    pruned: Bools  # (m2,) h = ½ through parents, as in the adaptive realization

    @classmethod
    def best(cls, sizes: Floats, deltas: Floats) -> Interpolated:
        """Each block takes the h with the smallest share of M.

        Parents serve blocks whose arms share no watchers (δ near n) as well, and are never played lazily.
        """
        h = best_h(sizes, deltas)
        lazy = np.where(h < 1, lazy_factor(sizes), 1.0)
        pruned = diameter(0.5, sizes) * np.sqrt(sizes) < (1 - 1e-12) * lazy * diameter(h, sizes) * deltas**h
        return cls(sizes, deltas, np.where(pruned, 0.5, h), pruned)

    @classmethod
    def chosen(cls, sizes: Floats, deltas: Floats, choices: list[str]) -> Interpolated:
        """ "clustered" is h = 1, "adaptive" is h = ½ through parents, "interpolated" whatever is best."""
        best, by_name = cls.best(sizes, deltas), np.array(choices)
        h = np.where(by_name == "adaptive", 0.5, np.where(by_name == "clustered", 1.0, best.h))
        pruned = np.where(by_name == "interpolated", best.pruned, by_name == "adaptive")
        return cls(sizes, deltas, h, pruned)

    @cached_property
    def diameters(self) -> Floats:
        """(m2,) D_k = D_{h_k}(n_k)."""
        return diameter(self.h, self.sizes)

    @cached_property
    def lazy(self) -> Floats:
        """(m2,) κ_k: only a spread is played lazily."""
        return np.where((self.h < 1) & ~self.pruned, lazy_factor(self.sizes), 1.0)

    @cached_property
    def demand(self) -> float:
        """M: exploration is at most b·M."""
        costs = np.where(self.pruned, np.sqrt(self.sizes), self.lazy * self.deltas**self.h)
        return float(np.sum(self.diameters * costs))

    @cached_property
    def supply(self) -> float:
        """Exploration is at least b times this: some arm has X_i ≥ 1/n_k, and is watched for it."""
        least = np.where(self.pruned, 1.0, self.sizes ** (self.h - 1))
        return float(np.sum(self.diameters * least))

    def b(self, T: float) -> float:
        """(2T)^{−1/3}M^{−2/3}, which minimises √(2T/b) + b·M·T."""
        return 1 / cbrt(2 * T * self.demand**2)

    def steps(self, b: float, T: float) -> Floats:
        """(m2,) η_k = √(2D_kβ_k/T)."""
        return self.diameters * sqrt(2 * b / T)

    @property
    def choices(self) -> tuple[str, ...]:
        """How each block plays, in words."""
        return tuple(
            f"interpolated h={h:.4g}{' through parents' if pruned else ''}"
            for h, pruned in zip(self.h, self.pruned, strict=True)
        )
