"""What a run or a sweep leaves behind: one record per cell, enough for every table and figure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sidelight._check import checked_path
from sidelight._files import replacing
from sidelight._json import to_pandas
from sidelight._types import Floats, Longs
from sidelight.experiment.run import PlaysOver, Run
from sidelight.graph import FeedbackGraph

if TYPE_CHECKING:
    import pyarrow
    from matplotlib.figure import Figure

Status = Literal["not applicable", "failed", "interrupted"]


@dataclass(frozen=True, eq=False)
class Named:
    """What a cell is, with numbers or without."""

    id: str  # stable: a function of what the cell is, not of where it stands in a spec
    graph: str
    policy: str
    environment: str
    horizon: int

    @property
    def names(self) -> dict[str, Any]:
        """The five by name."""
        return {field: getattr(self, field) for field in Named.__dataclass_fields__}


@dataclass(frozen=True, eq=False, repr=False)
class Cell(Named):
    """One policy on one graph against one environment, for all seeds."""

    seeds: Longs  # (S,)
    checkpoints: Longs  # (C,)
    regret: Floats  # (S, C)
    cost: Floats  # (S, C)
    ledger: Floats | None  # (S, C, 4), None for a policy that keeps none
    certificate: Floats | None  # (S, C) what the rounds so far certify, None where nothing does
    plays: Longs | None  # (n,) over all seeds, None where they were not counted
    bound: dict[str, Any] | None  # Bound.to_dict(), None without a bound for this horizon
    nanoseconds_per_round: float
    provenance: dict[str, Any] = field(default_factory=dict)  # version, spec hash, platform
    plays_over: PlaysOver | None = None  # `plays` up to checkpoints, None where only the end is known

    @property
    def mean(self) -> Floats:
        """(C,) mean regret over the seeds."""
        mean: Floats = self.regret.mean(axis=0)
        return mean

    def __repr__(self) -> str:
        return (
            f"Cell({self.policy!r} on {self.graph!r}, {self.environment!r}, {len(self.seeds)} seeds, "
            f"{self.horizon:,} rounds, mean regret {self.mean[-1]:,.1f})"
        )

    @property
    def standard_error(self) -> Floats:
        """(C,) of that mean; zero for a single seed."""
        if len(self.seeds) < 2:
            return np.zeros(len(self.checkpoints))
        error: Floats = self.regret.std(axis=0, ddof=1) / np.sqrt(len(self.seeds))
        return error


@dataclass(frozen=True, repr=False)
class Absent(Named):
    """A cell without numbers, and why.

    "not applicable" is a property of the cell (the policy does not play on this graph) and is kept;
    "failed" and "interrupted" cells are tried again when the sweep is run again.
    """

    status: Status
    reason: str
    provenance: dict[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return (
            f"Absent({self.policy!r} on {self.graph!r}, {self.environment!r}, {self.status}: {self.reason})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The finished cells of a run or sweep, in the order of its spec."""

    cells: tuple[Cell, ...]
    title: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()
    graphs: Mapping[str, FeedbackGraph] = field(default_factory=dict)  # by the names that cells give them
    manifest: dict[str, Any] = field(
        default_factory=dict
    )  # what was asked for, as a folder of results says it

    @property
    def complete(self) -> bool:
        """Has every cell its numbers, or a reason why it can have none?"""
        return all(cell.status == "not applicable" for cell in self.absent)

    def __repr__(self) -> str:
        lines = [f"Results({len(self.cells)} cells, {len(self.absent)} absent)"]
        return "\n".join([*lines, *(f"  {cell!r}" for cell in (*self.cells, *self.absent))])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from sidelight.report.notebook import results_html

        return results_html(self)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Results:
        """What a sweep has written to `folder` so far; a damaged file is an error that names it."""
        from sidelight.experiment.folder import read_results

        return read_results(folder)

    # -- taking them out ------------------------------------------------------------------------------

    def to_arrow(self, summary: bool = False) -> pyarrow.Table:
        """One row per cell, seed and checkpoint; with `summary`, one per cell: what tables and pages show of it."""
        if summary:
            from sidelight.report.tables import summary_table

            return summary_table(self)
        from sidelight.experiment.parquet import long_table

        return long_table(self.cells)

    def to_pandas(self, summary: bool = False) -> Any:
        """`to_arrow` as a pandas data frame; needs pandas, which the extra of that name brings.

        >>> import sidelight as sl
        >>> results = sl.compare("cycle:6", ["auto", "flat"], "gap:0.3", horizon=1000, seeds=3)
        >>> frame = results.to_pandas()  # doctest: +SKIP
        >>> frame.groupby("policy").regret.max()  # doctest: +SKIP
        """
        return to_pandas(self.to_arrow(summary))

    def to_latex(self, path: str | os.PathLike[str] | None = None, *, wide: bool | None = None) -> str:
        """A table for a paper (with booktabs): mean regret with its 95 % interval, the least in bold.

        `wide` has a row for each comparison and a column for each policy; else there is a row for each policy, with
        bound and certificate. By default a single comparison is shown in rows, several are shown wide. A `path` is
        written as well.
        """
        from sidelight.report.latex import results_latex

        text = results_latex(self, wide)
        if path is not None:
            with replacing(checked_path("a table in LaTeX", path)) as file:
                file.write(text.encode())
        return text

    def plot(
        self, *, graph: str | None = None, environment: str | None = None, horizon: int | None = None
    ) -> Figure:
        """Regret against rounds as the report draws it: one comparison large, several as panels.

        The arguments choose among comparisons. The figure belongs to no window: a notebook shows it, and
        `figure.savefig("regret.pdf")` writes it.
        """
        from sidelight.report.figures.regret import results_figure

        return results_figure(self, graph, environment, horizon)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        figures: bool = True,
        figure_width: str | float = "double",
    ) -> Path:
        """Everything that `sidelight run` writes into a folder: the page, figures, tables, cells and graphs.

        Figures are as wide as a "single" or "double" column of a paper, or so many inches.

        `Results.read` and `sidelight report` understand the folder. One that holds other results is refused
        (`SpecChanged`). Returns the path of report.html.
        """
        from sidelight.report.page import write_results

        return write_results(folder, self, figures=figures, figure_width=figure_width)


def results_of(outcomes: Sequence[Cell | Absent], **about: Any) -> Results:
    """Outcomes in the order of their spec."""
    return Results(
        cells=tuple(outcome for outcome in outcomes if isinstance(outcome, Cell)),
        absent=tuple(outcome for outcome in outcomes if isinstance(outcome, Absent)),
        **about,
    )


def cell_of(run: Run, provenance: dict[str, Any] | None = None, **names: Any) -> Cell:
    """The record of the seeds that a run has finished: of the cell with this id, graph, policy and environment."""
    done = np.isfinite(run.cost[:, -1])
    ledger, certificate = run.ledger[done], run.certificate[done]
    bound, over = run.bound, run.plays_over
    return Cell(
        **{"horizon": int(run.checkpoints[-1])} | names,
        provenance=provenance or {},
        seeds=run.seeds[done],
        checkpoints=run.checkpoints,
        regret=run.regret[done],
        cost=run.cost[done],
        ledger=ledger if np.isfinite(ledger).all() else None,
        certificate=certificate if np.isfinite(certificate).all() else None,
        plays=None if run.plays is None else run.plays[done].sum(axis=0),
        plays_over=None if over is None else over._replace(counts=over.counts[done].sum(axis=0)),
        bound=None if bound is None else bound.to_dict(),
        nanoseconds_per_round=run.nanoseconds_per_round,
    )


def joined(parts: Sequence[Cell], seeds: Sequence[int]) -> Cell:
    """One record of a cell that was played in parts, with its seeds in this order."""
    at = {int(seed): i for i, seed in enumerate(np.concatenate([part.seeds for part in parts]))}
    order = [at[seed] for seed in seeds if seed in at]

    def stacked(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)[order]

    def summed(values: list[Longs | None]) -> Any:
        return None if any(value is None for value in values) else np.sum(values, axis=0)  # type: ignore[arg-type]

    over = [part.plays_over for part in parts]
    counts = summed([None if each is None else each.counts for each in over])
    timed = [part for part in parts if part.nanoseconds_per_round > 0]  # not known of what a folder kept
    spent = sum(part.nanoseconds_per_round * len(part.seeds) for part in timed)
    return replace(
        parts[-1],
        **{name: stacked(name) for name in ("seeds", "regret", "cost", "ledger", "certificate")},
        plays=summed([part.plays for part in parts]),
        plays_over=None if counts is None or over[0] is None else over[0]._replace(counts=counts),
        nanoseconds_per_round=spent / sum(len(part.seeds) for part in timed) if timed else float("nan"),
    )
