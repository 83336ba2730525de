"""Replay of recorded losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Longs
from sidelight.engine.losses import TABLE, World
from sidelight.environment.base import Environment, checked_unit_table
from sidelight.errors import InvalidOption

__all__ = ["Matrix", "matrix"]


@dataclass(frozen=True, eq=False)
class Matrix(Environment):
    """Round t reveals entries of row t; every seed meets the same losses. Memory maps are read in place."""

    table: Floats  # (rounds, n) in [0, 1]
    repeat: bool = False
    name: str = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", checked_unit_table(self.table, self._called))

    @property
    def _called(self) -> str:
        return "the loss matrix" if self.name == "matrix" else self.name

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """Number of arms."""
        return int(self.table.shape[1])

    def check_horizon(self, horizon: int) -> None:
        """Refuse horizons beyond the last row, unless the matrix repeats."""
        if horizon > len(self.table) and not self.repeat:
            raise InvalidOption(
                f"{self._called} has {len(self.table)} rows, not enough for {horizon} rounds; "
                "shorten the horizon or pass repeat=True"
            )

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Entries of the round's row."""
        row: Floats = self.table[round_ % len(self.table)]
        return row[np.asarray(arms, dtype=np.int64)]

    def costs(self, seed: int, round_: int, arm: int) -> float:
        """The loss itself."""
        return float(self.table[round_ % len(self.table), arm])

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total loss of every arm over the rounds before each of `rounds`."""
        rows = len(self.table)
        cycles, within = np.divmod(rounds, rows)
        out = np.empty((rounds.size, self.n_arms))
        running = np.zeros(self.n_arms)
        reached = 0
        for index in np.argsort(within, kind="stable"):
            running = running + self.table[reached : within[index]].sum(axis=0)
            reached = int(within[index])
            out[index] = running
        if cycles.any():
            out += cycles[:, None] * (running + self.table[reached:].sum(axis=0))
        return out

    @property
    def world(self) -> World:
        """The same table for the kernels."""
        return World(TABLE, 1, len(self.table), self.table)


def matrix(table: npt.ArrayLike, repeat: bool = False) -> Matrix:
    """Environment that replays a loss matrix (rounds, arms) with entries in [0, 1].

    >>> matrix([[0.0, 1.0], [1.0, 1.0]]).best_arm(horizon=2)
    0
    """
    return Matrix(table, repeat=repeat)  # type: ignore[arg-type]
