"""The interpolated realization: every weak block plays Tsallis-h with an h of its own, and balanced weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.planning.potentials import diameter, height
from sidelight.planning.tuning import lazy_factor

LEAST_H = 1 / 64
"""Smallest h tried; the optimum is far above it for every block."""

LARGEST_H = 63 / 64
"""Largest h below 1 that is tried: x^{1−h} needs a power q = 1/(1−h) that the engine can take roots of."""

GRID, REFINEMENTS = 127, 60


def best_h(
    sizes: Floats, deltas: Floats, *, corners: bool = True, played: Floats | float | None = None
) -> Floats:
    """(m2,) the h ∈ [1/64, 63/64] ∪ {1} that minimises κ·D_h(n)·δ^h for each block; 1 on ties.

    κ is the factor of lazy play, 1 at h = 1; without `corners` the height stands for the diameter. `played` is
    the number of arms of the block that plays, where `sizes` counts only those that are covered.

    A grid finds the valley and golden sections its bottom, for thousands of blocks at once and the same for equal
    ones: a search for partitions asks for all it meets, which is why this is not SciPy's scalar minimiser.

    >>> best_h(np.array([2.0, 50.0, 400.0]), np.array([2.0, 50.0, 1.1])).round(3)
    array([1.   , 0.654, 1.   ])
    """
    lazy = np.broadcast_to(lazy_factor(sizes if played is None else played), sizes.shape)
    pairs, inverse = np.unique(np.column_stack([sizes, deltas, lazy]), axis=0, return_inverse=True)
    n, logs, factor = pairs[:, 0], np.log(pairs[:, 1]), pairs[:, 2]
    size = diameter if corners else height

    def cost(h: Floats) -> Floats:
        return np.asarray(np.log(size(h, n)) + h * logs)

    grid = np.linspace(LEAST_H, LARGEST_H, GRID)
    values = np.stack([cost(np.full(len(n), h)) for h in grid])
    bottom = np.argmin(values, axis=0)
    low, high = grid[np.maximum(bottom - 1, 0)], grid[np.minimum(bottom + 1, GRID - 1)]
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(REFINEMENTS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        goes_left = cost(left) <= cost(right)
        low, high = np.where(goes_left, low, left), np.where(goes_left, right, high)
    h = (low + high) / 2
    ends = np.ones(len(n))
    chosen = np.where(cost(h) + np.log(factor) < cost(ends) - 1e-12, h, ends)
    return np.asarray(chosen)[np.asarray(inverse).ravel()]


@lru_cache(maxsize=8192)
def one_best_h(n: float, delta: float, *, corners: bool = True, played: float | None = None) -> float:
    """`best_h` of one block."""
    return float(best_h(np.array([float(n)]), np.array([float(delta)]), corners=corners, played=played)[0])


@dataclass(frozen=True, eq=False)
class Interpolated:
    """Φ_k = −Σ x^h/(h(1−h)), γ(k, j) = β_k·g_j(X_k), β_k = b·D_k, η_k = D_k·√(2b/T).

        g_j(X) = x*_j·max_{i ∈ Nout(j) ∩ V_k} X_i^{1−h}/c_i,      c_i = Σ_{j ∈ Nin(i) ∩ V_k} x*_j ≥ 1

    sees arm i with probability at least β_k·X_i^{1−h} and costs at most β_k·δ_k^h: every block has restriction
    regret √(2T/b), and exploration costs b·M with M = Σ κ_k·D_k·δ_k^h, κ_k ≥ 1 the factor of lazy play. One block
    alone pays the larger of stability and exploration, and has other numbers (Theorem 1 of the page below).
    Blocks that are `pruned` explore through parents instead, at β_k·√n_k with h = ½. Proof:
    docs/theory/fixed-rates.md, Theorem 5.
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
    def demands(self) -> Floats:
        """(m2,) exploration of a block is at most b times this; only a spread is played lazily."""
        lazy = np.where((self.h < 1) & ~self.pruned, lazy_factor(self.sizes), 1.0)
        return self.diameters * np.where(self.pruned, np.sqrt(self.sizes), lazy * self.deltas**self.h)

    @cached_property
    def supplies(self) -> Floats:
        """(m2,) exploration is at least b times this: some arm has X_i ≥ 1/n_k, and is watched for it."""
        return self.diameters * np.where(self.pruned, 1.0, self.sizes ** (self.h - 1))

    @property
    def demand(self) -> float:
        """M: exploration is at most b·M."""
        return float(np.sum(self.demands))

    @property
    def choices(self) -> tuple[str, ...]:
        """How each block plays, in words."""
        return tuple(
            f"interpolated h={h:.4g}{' through parents' if pruned else ''}"
            for h, pruned in zip(self.h, self.pruned, strict=True)
        )
