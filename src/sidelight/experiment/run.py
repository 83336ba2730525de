"""The result of simulated runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from sidelight._json import to_pandas
from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption
from sidelight.planning.bounds.bound import NOTHING, Happened
from sidelight.policy.certificate import LEDGER as LEDGER
from sidelight.policy.player import Playable, bound_given

if TYPE_CHECKING:
    import pyarrow
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sidelight.planning import Bound


MOST_OF_SEED = 2**16
"""Of all checkpoints of a seed, and so of a cell, which has them over all seeds: half a MiB."""
MOST_NUMBERS = 2**21
"""Of all seeds and checkpoints of one run: 16 MiB."""


class PlaysOver(NamedTuple):
    """Plays of each arm up to some of the checkpoints, from the first to the last."""

    rounds: Longs  # (P,) at least two; the last is that of the run
    counts: Longs  # (S, P, n) by seed, −1 where it did not get that far; of a cell (P, n), over all seeds


def kept_at(checkpoints: int, seeds: int, arms: int) -> Longs:
    """Positions of the checkpoints at which plays are kept, the last among them; none if only the end is.

    Where the budget of memory is too small for all checkpoints, every second, third, … is kept, counted back from the
    last; where it is too small for two of them, plays are known at the end alone.

    >>> kept_at(80, 20, 500).size, kept_at(80, 20, 10_000).tolist()
    (80, [9, 23, 37, 51, 65, 79])
    >>> kept_at(80, 20, 100_000).size
    0
    """
    most = min(checkpoints, MOST_OF_SEED // arms, MOST_NUMBERS // (seeds * arms)) if arms else 0
    if most < 2:
        return np.zeros(0, dtype=np.int64)
    stride = -(-checkpoints // most)
    return np.arange((checkpoints - 1) % stride, checkpoints, stride, dtype=np.int64)


def rounding(rounds: npt.ArrayLike, cost: npt.ArrayLike) -> Floats:
    """What rounding may put into a total of `cost` that was added up round by round: ε·rounds·cost/4.

    A sum S is off by half a unit in its last place after each addition, at most ε·S/2, and S grows evenly.
    """
    bound: Floats = np.finfo(np.float64).eps / 4 * np.asarray(rounds) * np.abs(np.asarray(cost))
    return bound


def regret_of(cost: Floats, best: Floats, rounds: Longs) -> Floats:
    """cost − best, or 0 where that is no more than what rounding may have put there."""
    difference: Floats = cost - best
    return np.where(np.abs(difference) <= rounding(rounds, cost), 0.0, difference)


@dataclass(frozen=True, eq=False)
class Run:
    """Regret of one plan against one environment, per seed and checkpoint.

    An interrupted run holds NaN where a seed did not get; `resume()` continues it to the same numbers that an
    uninterrupted run gives.
    """

    plan: Any  # what was played: a Plan, a Rule, or a policy of the user's own
    environment: str
    seeds: Longs  # (S,)
    checkpoints: Longs  # (C,) rounds played
    cost: Floats  # (S, C) total cost so far: means where they are known, else losses
    regret: Floats  # (S, C) cost minus that of the best fixed arm over the same rounds; 0 within rounding
    ledger: Floats  # (S, C, 4) parts of the estimated regret against the best arm; NaN without a ledger
    certificate: Floats  # (S, C) what the policy certifies by then, against every arm
    best_arm: Longs  # (S,) the arm of the ledger
    plays: Longs | None  # (S, n) how often each arm was played, if counted
    seconds: float  # of processor time spent playing, all seeds together
    start: int = 0  # rounds that the policy had played before these
    happened: Happened = NOTHING  # what the bound may not allow for, at worst over the seeds
    plays_over: PlaysOver | None = None  # `plays` up to checkpoints, where memory allows two or more
    _resume: Callable[[], Run] | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        """Did every seed reach the last checkpoint?"""
        return bool(np.isfinite(self.cost[:, -1]).all())

    @property
    def mean(self) -> Floats:
        """(C,) mean regret over the seeds that reached each checkpoint."""
        reached = np.isfinite(self.regret)
        total = np.where(reached, self.regret, 0.0).sum(axis=0)
        means: Floats = np.divide(
            total, reached.sum(axis=0), out=np.full(total.size, np.nan), where=reached.any(axis=0)
        )
        return means

    @property
    def rounds(self) -> int:
        """Rounds played up to the last recorded checkpoints, over all seeds."""
        played = np.where(np.isfinite(self.cost), self.checkpoints, 0).max(axis=1, initial=0)
        return int(played.sum())

    @property
    def nanoseconds_per_round(self) -> float:
        """Processor time per round."""
        return self.seconds / self.rounds * 1e9 if self.rounds else float("nan")

    def resume(self) -> Run:
        """Continue an interrupted run; a complete one is returned as it is."""
        return self if self.complete or self._resume is None else self._resume()

    def to_arrow(self) -> pyarrow.Table:
        """One row per seed and checkpoint."""
        import pyarrow

        shape = self.cost.shape
        columns: dict[str, Any] = {
            "seed": np.repeat(self.seeds, shape[1]),
            "round": np.tile(self.checkpoints, shape[0]),
            "cost": self.cost.ravel(),
            "regret": self.regret.ravel(),
            "certificate": self.certificate.ravel(),
        }
        for index, name in enumerate(LEDGER):
            columns[name.replace(" ", "_")] = self.ledger[:, :, index].ravel()
        return pyarrow.table(columns)

    def to_pandas(self) -> Any:
        """`to_arrow` as a pandas data frame; needs pandas, which the extra of that name brings."""
        return to_pandas(self.to_arrow())

    @property
    def bound(self) -> Bound | None:
        """What the plan promises about these very rounds; None without a promise.

        A plan with a horizon promises something about all of it and nothing about fewer or more rounds; one without
        promises something about the first t rounds, whatever t. No bound covers a game joined midway. Where losses
        came late, or on other graphs, than the bound allows for, it is not certified, and says why.
        """
        if self.start > 0 or not isinstance(self.plan, Playable):
            return None
        try:
            return bound_given(self.plan, int(self.checkpoints[-1]), self.happened)
        except InvalidOption:  # a plan for another number of rounds
            return None

    @overload
    def plot(self, axes: None = None) -> Figure: ...

    @overload
    def plot(self, axes: Axes) -> Axes: ...

    def plot(self, axes: Axes | None = None) -> Figure | Axes:
        """Mean regret with its 95 % interval, certificate and bound, as the report draws them.

        Without `axes`, a figure of its own that belongs to no window: a notebook shows it, and
        `figure.savefig("regret.pdf")` writes it. An interrupted run is shown as far as all seeds have got.
        """
        from sidelight.report.figures.regret import draw_run, run_figure

        return run_figure(self) if axes is None else draw_run(self, axes)

    def __repr__(self) -> str:
        state = "complete" if self.complete else "interrupted"
        promised, bound = self.bound, "no bound"
        if promised is not None:
            bound = f"bound {promised.value:,.1f}{'' if promised.certified else ', not certified'}"
        return (
            f"Run({len(self.seeds)} seeds, {self.checkpoints[-1]:,} rounds, mean regret "
            f"{self.mean[-1]:,.1f}, {bound}, {state})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from sidelight.report.notebook import run_html

        return run_html(self)
