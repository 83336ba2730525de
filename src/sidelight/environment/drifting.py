"""An oblivious adversary that moves smoothly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.engine.losses import DRIFTING
from sidelight.environment.coins import leading_means, written_turns
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import GAP, Written, spelled

__all__ = ["Drifting", "drifting"]


@dataclass(frozen=True, eq=False, repr=False)
class Drifting(KnownMeans):
    """Coins whose means are means[r] in round r·period and go to the next row in a straight line.

    After the last row comes the first one again. Regret is pseudo-regret: costs are the means of the round.
    """

    means: Floats  # (rows, n) in [0, 1]
    period: int = 1
    name: str = "drifting"
    kind = DRIFTING

    def row(self, round_: int) -> Floats:
        """The means of the round."""
        leg = round_ // self.period
        share = (round_ - leg * self.period) / self.period
        rows = len(self.means)
        means: Floats = (1.0 - share) * self.means[leg % rows] + share * self.means[(leg + 1) % rows]
        return means

    def in_force(self, rounds: Longs) -> Floats:
        """(len(rounds), rows) weight of each row: m rounds after row r give m(m−1)/(2·period) to row r+1.

        That is Σ s/period over s < m; the rest of the m rounds goes to row r itself.
        """
        spent = super().in_force(rounds)  # in the leg that starts with each row
        cycles, left = np.divmod(spent, self.period)
        onwards = (cycles * (self.period - 1) + left * (left - 1) / self.period) / 2
        return np.asarray(spent - onwards + np.roll(onwards, 1, axis=1), dtype=np.float64)


def _read(written: Written) -> Drifting:
    return drifting(**written_turns(written))


@spelled("drifting[:PERIOD[,GAP]]", _read)
def drifting(
    n_arms: int, period: int, arms: Sequence[int] | None = None, gap: float = GAP, others: float = 0.5
) -> Drifting:
    """The lead passes gradually from one of `arms` to the next, in `period` rounds; by default as in `switching`.

    Own paths: `Drifting(means, period)` with one row of means for every `period` rounds.

    >>> drifting(3, period=10).row(5).tolist()
    [0.4, 0.4, 0.5]
    """
    return Drifting(leading_means(n_arms, arms, gap, others), period=period)
