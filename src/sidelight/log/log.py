"""A log of decisions: checked once, grouped by decision, in the order of the rounds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._json import to_pandas
from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption
from sidelight.log.unit import Unit

if TYPE_CHECKING:
    import pyarrow

COLUMNS = ("decision_id", "round", "arm", "probability", "revealed", "seen", "rows", "version", "told_at")
"""Columns of the long format beside the value, which is called `loss` or `reward`."""


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Decisions and what they revealed, one row per revealed arm.

    | column        | what it holds                                                                        |
    |---------------|--------------------------------------------------------------------------------------|
    | `decision_id` | one value per decision of a version; without it every round is one decision          |
    | `round`       | when it was taken; without it the order of the decisions                             |
    | `arm`         | the arm that was played                                                              |
    | `probability` | with which it was played, where that is known                                        |
    | `revealed`    | the arm this row is about, empty if the play revealed nothing; by default `arm`      |
    | `loss`        | its loss (or `reward`)                                                               |
    | `seen`        | P, the probability at decision time that this arm would be seen; by default          |
    |               | `probability`, where an arm reveals nothing but itself                               |
    | `rows`        | how many rows the decision has, so that a lost one is noticed; optional              |
    | `version`     | of the policy; optional                                                              |
    | `told_at`     | seconds since 1970 at which the answer came; optional                                |

    Rows of one decision lie together: those of the t-th are start[t] … start[t+1]−1. A decision that revealed
    nothing has no rows here but counts as a round, or every estimate would be too large.

    >>> log = Log.from_table({"arm": [0, 1, 0], "loss": [0.2, 0.4, 0.6], "probability": [0.5, 0.5, 0.5]})
    >>> log
    Log(3 decisions, 3 rows, 2 arms, losses in [0, 1])
    """

    decision_id: npt.NDArray[Any]  # (n,)
    round: Longs  # (n,) increasing
    arm: Longs  # (n,)
    probability: Floats  # (n,) NaN where it is not known
    start: Longs  # (n+1,)
    revealed: Longs  # (rows,)
    value: Floats  # (rows,) in [low, high]
    seen: Floats  # (rows,) in (0, 1]
    n_arms: int
    unit: Unit
    labels: tuple[str, ...] | None = None
    version: tuple[str, ...] | None = None  # (n,)
    told_at: Floats | None = None  # (n,) NaN where it is not known
    counted: bool = False  # were the arms counted off the rows? Then there may be more

    @property
    def n_rounds(self) -> int:
        """Number of decisions."""
        return len(self.round)

    @property
    def n_rows(self) -> int:
        """Number of revealed values."""
        return len(self.value)

    @property
    def round_of_row(self) -> Longs:
        """(rows,) the position of the decision that each row belongs to."""
        return np.repeat(np.arange(self.n_rounds), np.diff(self.start))

    @property
    def only_played(self) -> bool:
        """Does every decision reveal its own arm and nothing else?"""
        return self.n_rows == self.n_rounds and bool((self.revealed == self.arm).all())

    def name_of(self, arm: int) -> str:
        """The label of an arm, or its number."""
        return str(arm) if self.labels is None else self.labels[arm]

    def arm_of(self, name: object) -> int:
        """The arm with this label or number."""
        if self.labels is not None and isinstance(name, str) and name in self.labels:
            return self.labels.index(name)
        if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < self.n_arms:
            return int(name)
        arms = f"arms 0..{self.n_arms - 1}" + (
            f" with labels {', '.join(self.labels[:10])}" if self.labels else ""
        )
        raise InvalidOption(
            f"arm {name!r} does not exist in this log, which has {arms}; if it has more arms than it shows, say "
            "n_arms= when making it"
        )

    def __repr__(self) -> str:
        unit = self.unit
        return (
            f"Log({self.n_rounds:,} decisions, {self.n_rows:,} rows, {self.n_arms:,} arms, "
            f"{unit.kind} in [{unit.low:g}, {unit.high:g}])"
        )

    # -- making one -------------------------------------------------------------------------------------

    @classmethod
    def from_table(
        cls,
        table: Mapping[str, Any] | Any,
        *,
        n_arms: int | None = None,
        labels: Sequence[str] | None = None,
        losses: Sequence[float] | None = None,
        rewards: Sequence[float] | None = None,
    ) -> Log:
        """A log from a mapping of columns, an Arrow table or a pandas data frame in the long format above.

        `losses=(low, high)` or `rewards=(low, high)` states the range; [0, 1] by default. Arms are numbers, or
        labels, which are numbered in alphabetical order unless `labels` gives the order.
        """
        from sidelight.log.table import columns_of, log_of

        return log_of(columns_of(table), n_arms=n_arms, labels=labels, losses=losses, rewards=rewards)

    @classmethod
    def from_obp(
        cls,
        feedback: Mapping[str, Any] | Any,
        *,
        position: int | None = None,
        n_arms: int | None = None,
        rewards: Sequence[float] | None = None,
    ) -> Log:
        """A log from the bandit feedback of Open Bandit Pipeline, a dict or a table; see `sidelight.log.obp`."""
        from sidelight.log.obp import from_obp

        return from_obp(feedback, position=position, n_arms=n_arms, rewards=rewards)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        n_arms: int | None = None,
        labels: Sequence[str] | None = None,
        losses: Sequence[float] | None = None,
        rewards: Sequence[float] | None = None,
    ) -> Log:
        """A log from a .csv or .parquet file, or from the folder of parquet parts that a `LogWriter` leaves.

        Files that sidelight wrote say their unit, arms and labels themselves. The columns of Open Bandit Pipeline
        (`action, reward, pscore`, or `item_id, click, propensity_score` of its data set) are understood as well.
        """
        from sidelight.log.files import read

        return read(path, n_arms=n_arms, labels=labels, losses=losses, rewards=rewards)

    # -- other forms ------------------------------------------------------------------------------------

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the long format to a .csv, .csv.gz or .parquet file, whole or not at all."""
        from sidelight.log.files import write

        write(self, path)

    def to_arrow(self) -> pyarrow.Table:
        """The long format as an Arrow table; a decision that revealed nothing is one row with empty `revealed`."""
        from sidelight.log.table import to_arrow

        return to_arrow(self)

    def to_pandas(self) -> Any:
        """The long format as a pandas data frame; needs pandas."""
        return to_pandas(self.to_arrow())

    def to_obp(self) -> dict[str, Any]:
        """Bandit feedback for Open Bandit Pipeline, one row per revealed arm; see `sidelight.log.obp`."""
        from sidelight.log.obp import to_obp

        return to_obp(self)
