"""Potentials of mirror descent: the Tsallis family, which ends in negative entropy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import e, log

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.errors import InvalidOption

Numbers = float | Floats
"""One for all coordinates, or one for each."""


@dataclass(frozen=True, eq=False)
class Potential:
    """F(x) = −Σ xᵢʰ/(h(1−h)ηᵢ) for 0 < h < 1 and Σ xᵢ log xᵢ/ηᵢ at h = 1: the Hessian is x^{h−2}/η for every h.

    h and η may differ between coordinates. A kernel computes the x with ∇F(x) = θ from (`power`, `rate`):

        power q > 0:  x = (a·(−θ))^{−q}        power 0:  x = exp(a·θ − 1)        a = rate

    >>> Potential(0.5, 2.0).power, Potential(0.5, 2.0).rate, Potential(1.0, 2.0).power
    (2.0, 1.0, 0.0)
    """

    h: Numbers
    eta: Numbers  # learning rate

    def __post_init__(self) -> None:
        h, eta = np.asarray(self.h), np.asarray(self.eta)
        if not ((h > 0) & (h <= 1)).all():
            raise InvalidOption(f"a potential needs 0 < h ≤ 1, got h={self.h}")
        if not (np.isfinite(eta) & (eta > 0)).all():
            raise InvalidOption(f"a learning rate must be positive and finite, got {self.eta}")

    @classmethod
    def root(cls, step: Numbers) -> Potential:
        """The paper's −Σ √xᵢ / step, which is h = ½ with η = 4·step."""
        return cls(0.5, 4 * step)

    @property
    def power(self) -> Numbers:
        """q = 1/(1−h), 0 at h = 1."""
        gap = 1 - np.asarray(self.h)
        return _plain(np.where(gap > 0, 1 / np.where(gap > 0, gap, 1.0), 0.0))

    @property
    def rate(self) -> Numbers:
        """a = (1−h)η, η at h = 1."""
        gap = 1 - np.asarray(self.h)
        return _plain(np.where(gap > 0, gap, 1.0) * self.eta)

    def value(self, x: Floats) -> float:
        """F(x), zeros allowed."""
        h = np.broadcast_to(self.h, x.shape)
        inside = np.where(h < 1, h, 0.5)
        tsallis = -(x**inside) / (inside * (1 - inside))
        return float(np.sum(np.where(h < 1, tsallis, x * np.log(np.where(x > 0, x, 1.0))) / self.eta))


def _plain(numbers: Floats) -> Numbers:
    return numbers if np.ndim(numbers) else float(numbers)


def diameter(h: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """D_h(n) = (n^{1−h} − 1)/(h(1−h)), log n at h = 1: max − min of −Σ x^h/(h(1−h)) on the simplex.

    >>> [round(float(diameter(h, 16)), 6) for h in (0.5, 1.0)]
    [12.0, 2.772589]
    """
    h, logs = np.asarray(h, dtype=np.float64), np.log(np.asarray(n, dtype=np.float64))
    inside = np.where(h < 1, h, 0.5)
    return np.where(h < 1, np.expm1((1 - inside) * logs) / (inside * (1 - inside)), logs)


@lru_cache(maxsize=4096)
def one_diameter(h: float, n: int) -> float:
    """`diameter` as a plain number, for the inside of minimisers."""
    return float(diameter(h, n))


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


def entropy_height(n: int) -> float:
    """`height(1, n)` as a plain number, for the inside of minimisers."""
    return n / e if n <= 2 else log(n)
