"""One cell, from its description to its numbers: the same in every process and on every machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sidelight.errors import (
    IllegalPartition,
    InfeasibleRequest,
    InvalidOption,
    MissingData,
    PolicyError,
    UnobservableGraph,
)
from sidelight.experiment.kept import Kept
from sidelight.experiment.provenance import here
from sidelight.experiment.results import Absent, Cell, Status, cell_of
from sidelight.experiment.simulation import simulate
from sidelight.experiment.sweep.graph_source import built
from sidelight.experiment.sweep.policy_source import PolicySource
from sidelight.experiment.sweep.spec import CellSpec
from sidelight.graph import FeedbackGraph

Outcome = Cell | Absent

UNFIT = (InfeasibleRequest, UnobservableGraph, IllegalPartition)
"""What a policy or an environment says that cannot be played on this graph, whatever is tried."""


def execute(
    cell: CellSpec, spec_hash: str, shipped: FeedbackGraph | None = None, kept: Kept | None = None
) -> Outcome:
    """Play all seeds of `cell`, one after the other on one core.

    A policy or an environment that refuses the graph or the horizon makes the cell "not applicable", for good;
    anything else that goes wrong, missing data among it, makes it "failed", to be tried again. `shipped` is the
    graph for a worker that cannot reach its file; `kept` knows what was played before, and hears of what is played.
    """
    provenance = {**here(), "spec": spec_hash}
    try:
        graph = built(cell.graph) if shipped is None else shipped
        cell.environment.verify()
        try:
            environment = cell.environment.make(graph, cell.horizon)
            environment.check_horizon(cell.horizon)
            policy = _made(cell.policy, graph, cell.horizon)
        except InvalidOption as error:
            if not _lasting(error):
                raise
            raise InfeasibleRequest(str(error)) from error
        options: dict[str, Any] = {"checkpoints": cell.rounds, "jobs": 1, "progress": False, "_kept": kept}
        run = simulate(policy, environment, cell.seeds, cell.horizon, **options)
    except UNFIT as error:
        return absent(cell, "not applicable", cell.environment.told(str(error)), provenance)
    except PolicyError as error:
        return absent(cell, "failed", str(error), provenance)
    except Exception as error:
        return absent(cell, "failed", f"{type(error).__name__}: {error}", provenance)
    if not run.complete:
        raise KeyboardInterrupt  # simulate returns what it has, and has told `kept` of it
    return cell_of(run, provenance, **cell.names)


def absent(cell: CellSpec, status: Status, reason: str, provenance: dict[str, Any] | None = None) -> Absent:
    """The record of a cell without numbers."""
    return Absent(**cell.names, status=status, reason=reason, provenance=provenance or {})


def _lasting(error: InvalidOption) -> bool:
    """Is it about the cell? Not if data are missing, or if something broke while they were read."""
    cause = error.__cause__
    return not isinstance(error, MissingData) and (cause is None or type(cause) is ValueError)


@lru_cache(maxsize=16)
def _made(source: PolicySource, graph: FeedbackGraph, horizon: int) -> Any:
    """The policy, remembered: cells that differ in their environment share it."""
    return source.make(graph, horizon)
