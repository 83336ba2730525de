"""The numbers the engine plays from: a plan with all theory taken out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.errors import InvalidOption

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MOST_EXPLORATION = 0.5
"""The proofs need γ̄ ≤ ½; below their horizons exploration is scaled down to it."""


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """Two levels of mirror descent with fixed potentials, and the exploration mixed into them.

    Arm j of block k is played with probability (1−γ̄)·Y_k·X̃_k(j) + γ(j), where

        X̃_k = (1 − Σ local)·X_k + local
        γ(j) = global(j) + adaptive_k·Σ_{i : parent(i) = j} √X_k(i),      γ̄ = Σ_j γ(j) ≤ ½.

    A potential is a pair (power q, rate a): with S_i the cumulative loss estimates and Λ the multiplier,
    x_i = (a(Λ+S_i))^{−q}, or exp(−1−a(Λ+S_i)) where q = 0. Singletons have no inner potential: (0, 0).
    """

    block_start: IntArray  # (m+1,)
    block_arms: IntArray  # (n,) arms of block k: block_arms[block_start[k]:block_start[k+1]]
    top_power: FloatArray  # (m,)
    top_rate: FloatArray  # (m,)
    block_power: FloatArray  # (m,)
    block_rate: FloatArray  # (m,)
    global_exploration: FloatArray  # (n,) constant part of γ
    local_exploration: FloatArray  # (n,)
    adaptive: FloatArray  # (m,) coefficient of the adaptive part of γ, 0 for none
    parent: IntArray  # (n,) −1 where the block is not adaptive

    def __post_init__(self) -> None:
        m, n = len(self.block_start) - 1, len(self.block_arms)
        shapes = {"block_start": m + 1} | dict.fromkeys(
            ("block_arms", "global_exploration", "local_exploration", "parent"), n
        )
        whole = ("block_start", "block_arms", "parent")
        for field in fields(self):
            dtype = np.int64 if field.name in whole else np.float64
            array: npt.NDArray[Any] = np.array(getattr(self, field.name), dtype=dtype)
            if array.shape != (shapes.get(field.name, m),):
                raise InvalidOption(
                    f"{field.name} has shape {array.shape}, not {(shapes.get(field.name, m),)}"
                )
            if field.name not in whole and not ((array >= 0) & np.isfinite(array)).all():
                raise InvalidOption(f"{field.name} must be finite and not negative")
            array.flags.writeable = False
            object.__setattr__(self, field.name, array)
        if self.block_start[0] != 0 or self.block_start[-1] != n or (np.diff(self.block_start) < 1).any():
            raise InvalidOption(f"block_start must rise from 0 to the number of arms {n}")
        if not ((self.parent >= -1) & (self.parent < n)).all():
            raise InvalidOption(f"parent must be an arm in 0..{n - 1}, or −1")
        if not (self.top_rate > 0).all():
            raise InvalidOption("every block needs a positive rate on the top simplex")
        if self.most_exploration > MOST_EXPLORATION * (1 + 1e-9):
            raise InvalidOption(f"total exploration may reach {self.most_exploration}, more than ½")

    @property
    def n_arms(self) -> int:
        """Number of arms n."""
        return len(self.block_arms)

    @property
    def n_blocks(self) -> int:
        """Number of blocks m."""
        return len(self.block_start) - 1

    @property
    def sizes(self) -> IntArray:
        """(m,) number of arms of each block."""
        return np.diff(self.block_start)

    @property
    def most_exploration(self) -> float:
        """The largest γ̄ can be: Σ √X_k is at most √n_k."""
        return float(self.global_exploration.sum() + np.sum(self.adaptive * np.sqrt(self.sizes)))

    def exploration(self, inner: FloatArray) -> FloatArray:
        """(n,) γ when the distributions inside the blocks put inner[j] on arm j of their block."""
        gamma = self.global_exploration.copy()
        watched = np.flatnonzero(self.parent >= 0)
        coefficient = np.empty(self.n_arms)
        coefficient[self.block_arms] = np.repeat(self.adaptive, self.sizes)
        np.add.at(gamma, self.parent[watched], coefficient[watched] * np.sqrt(inner[watched]))
        return gamma

    def __repr__(self) -> str:
        return f"Tuning(n_arms={self.n_arms}, n_blocks={self.n_blocks}, γ̄ ≤ {self.most_exploration:.4g})"
