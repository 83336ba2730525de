"""Random losses with known means: what such environments share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count
from sidelight._types import Floats, Longs
from sidelight.engine.losses import World
from sidelight.environment.base import Environment, arm_units
from sidelight.environment.checks import checked_unit_table

__all__ = ["KnownMeans"]


class KnownMeans(Environment):
    """Losses 1 or 0 whose expectations are means[row], row = (round // period) mod rows.

    Costs are the means, the same for every seed, so regret is pseudo-regret.
    """

    means: Floats  # (rows, n) in [0, 1]
    period: int
    kind: ClassVar[int]  # what the kernels call it, see engine/losses.py

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", checked_unit_table(self.means, "means"))
        checked_count("period", self.period)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """Number of arms."""
        return int(self.means.shape[1])

    def row(self, round_: int) -> Floats:
        """The means in force in a round."""
        means: Floats = self.means[(round_ // self.period) % len(self.means)]
        return means

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Coin flips of `arms` in this round."""
        chosen = np.asarray(arms, dtype=np.int64)
        return (arm_units(seed, round_, chosen) < self.row(round_)[chosen]).astype(np.float64)

    def costs(self, seed: int, round_: int, arm: int) -> float:
        """The mean of the arm in this round."""
        return float(self.row(round_)[arm])

    def in_force(self, rounds: Longs) -> Floats:
        """(len(rounds), rows) how often each row counts in the rounds before each of `rounds`."""
        rows = len(self.means)
        cycle = rows * self.period
        within = np.clip(rounds[:, None] % cycle - np.arange(rows) * self.period, 0, self.period)
        return np.asarray((rounds // cycle)[:, None] * self.period + within, dtype=np.float64)

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total means of every arm over the rounds before each of `rounds`."""
        totals: Floats = self.in_force(rounds) @ self.means
        return totals

    def best_totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """Least total mean of one arm, one checkpoint at a time: there may be a million arms."""
        if len(self.means) == 1:
            return np.asarray(rounds * self.means.min(), dtype=np.float64)
        return np.array([self.totals(rounds[i : i + 1]).min() for i in range(rounds.size)])

    @property
    def world(self) -> World:
        """The same losses for the kernels."""
        return World(self.kind, self.period, len(self.means), self.means)
