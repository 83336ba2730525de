"""The family between clustered and adaptive: diameters of Tsallis-h, and the h that suits a block best."""

from __future__ import annotations

from math import e, log

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.planning.tuning import lazy_factor

LEAST_H = 1 / 64
"""Smallest h tried; the optimum is far above it for every block."""

LARGEST_H = 63 / 64
"""Largest h below 1 that is tried: x^{1−h} needs a power q = 1/(1−h) that the engine can take roots of."""

GRID, REFINEMENTS = 127, 60


def diameter(h: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """D_h(n) = (n^{1−h} − 1)/(h(1−h)), log n at h = 1: max − min of −Σ x^h/(h(1−h)) on the simplex.

    >>> [round(float(diameter(h, 16)), 6) for h in (0.5, 1.0)]
    [12.0, 2.772589]
    """
    h, logs = np.asarray(h, dtype=np.float64), np.log(np.asarray(n, dtype=np.float64))
    inside = np.where(h < 1, h, 0.5)
    return np.where(h < 1, np.expm1((1 - inside) * logs) / (inside * (1 - inside)), logs)


def height(h: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """max of Σ x^h/(h(1−h)) over x ≥ 0 with Σ x ≤ 1: n^{1−h}/(h(1−h)), or that of −Σ x log x at h = 1.

    This is what a group of n arms adds to a diameter when its corners are not the only ones. At h = 1 it is
    log n from n = 3 on; one or two arms peak inside, at n/e.

    >>> [round(float(height(1.0, n)), 6) for n in (1, 2, 3)]
    [0.367879, 0.735759, 1.098612]
    """
    h, n = np.asarray(h, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = np.where(h < 1, h, 0.5)
    entropy = np.where(n <= 2, n / e, np.log(np.maximum(n, 1.0)))
    return np.where(h < 1, n ** (1 - inside) / (inside * (1 - inside)), entropy)


def best_h(sizes: Floats, deltas: Floats, *, corners: bool = True, played: Floats | None = None) -> Floats:
    """(m2,) the h ∈ [1/64, 63/64] ∪ {1} that minimises κ·D_h(n)·δ^h for each block; 1 on ties.

    κ is the factor of lazy play, 1 at h = 1; without `corners` the height stands for the diameter.

    A grid finds the valley and golden sections its bottom, the same for equal blocks. `played` is the number
    of arms of the block that plays, where `sizes` counts only those that are covered.

    >>> best_h(np.array([2.0, 50.0, 400.0]), np.array([2.0, 50.0, 1.1])).round(3)
    array([1.   , 0.654, 1.   ])
    """
    lazy = lazy_factor(sizes if played is None else played)
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


def entropy_height(n: int) -> float:
    """`height(1, n)` as a plain number: how high −Σ y log y gets on n coordinates of total at most 1."""
    return n / e if n <= 2 else log(n)
