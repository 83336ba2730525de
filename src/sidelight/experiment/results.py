"""What a run or a sweep leaves behind: one record per cell, enough for every table and figure."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sidelight._types import Floats, Longs

if TYPE_CHECKING:
    from sidelight.experiment.run import Run

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


@dataclass(frozen=True)
class Absent(Named):
    """A cell without numbers, and why.

    "not applicable" is a property of the cell (the policy does not play on this graph) and is kept;
    "failed" and "interrupted" cells are tried again when the sweep is run again.
    """

    status: Status
    reason: str
    provenance: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The finished cells of a run or sweep, in the order of its spec."""

    cells: tuple[Cell, ...]
    title: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()

    @property
    def complete(self) -> bool:
        """Has every cell its numbers, or a reason why it can have none?"""
        return all(cell.status == "not applicable" for cell in self.absent)

    def __repr__(self) -> str:
        lines = [f"Results({len(self.cells)} cells, {len(self.absent)} absent)"]
        return "\n".join([*lines, *(f"  {cell!r}" for cell in self.cells)])

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Results:
        """What a sweep has written to `folder` so far; a damaged file is an error that names it."""
        from sidelight.experiment.sweep.folder import read_results

        return read_results(folder)


def cell_of(run: Run, provenance: dict[str, Any] | None = None, **names: Any) -> Cell:
    """The record of a complete run: of the cell with this id, graph, policy and environment."""
    kept = np.isfinite(run.ledger).all()
    bound = run.bound
    return Cell(
        **{"horizon": int(run.checkpoints[-1])} | names,
        provenance=provenance or {},
        seeds=run.seeds,
        checkpoints=run.checkpoints,
        regret=run.regret,
        cost=run.cost,
        ledger=run.ledger if kept else None,
        certificate=run.certificate if np.isfinite(run.certificate).all() else None,
        plays=None if run.plays is None else run.plays.sum(axis=0),
        bound=None if bound is None else bound.to_dict(),
        nanoseconds_per_round=run.nanoseconds_per_round,
    )
