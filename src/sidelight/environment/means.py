"""What environments with known means share: pseudo-regret, and totals in closed form."""

from __future__ import annotations

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.environment.base import Environment

__all__ = ["KnownMeans"]


class KnownMeans(Environment):
    """Random losses whose expectations are means[row], row = (round // period) mod rows.

    Costs are the means, the same for every seed, so regret is pseudo-regret.
    """

    means: Floats  # (rows, n) in [0, 1]
    period: int

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """Number of arms."""
        return int(self.means.shape[1])

    def row(self, round_: int) -> Floats:
        """The means in force in a round."""
        means: Floats = self.means[(round_ // self.period) % len(self.means)]
        return means

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
