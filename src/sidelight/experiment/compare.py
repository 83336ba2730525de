"""Several policies on one graph, here and now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sidelight.environment import Environment
from sidelight.errors import SidelightError, SolverError
from sidelight.experiment.provenance import here
from sidelight.experiment.results import Absent, Cell, Results, cell_of
from sidelight.experiment.simulation import simulate
from sidelight.experiment.sweep.cell import absent
from sidelight.experiment.sweep.graph_source import GraphSource, graph_digest
from sidelight.experiment.sweep.loss_source import LossSource
from sidelight.experiment.sweep.reading import DEFAULT_CHECKPOINTS, Reader
from sidelight.experiment.sweep.spec import CellSpec
from sidelight.graph import FeedbackGraph
from sidelight.policy import names as registry


def compare(
    graph: FeedbackGraph | str | os.PathLike[str],
    policies: Iterable[str] | Mapping[str, Any],
    environment: Environment | str,
    horizon: int,
    seeds: int | Iterable[int] = 20,
    *,
    checkpoints: int | Iterable[int] = DEFAULT_CHECKPOINTS,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Results:
    """Play `policies` on one graph against the same losses, one policy after the other.

    Args:
        graph: a graph, a family such as "cycle:100", or a graph file.
        policies: names; or a mapping from what the results shall call it to a name, or to anything that
            `simulate` plays.
        environment: as text such as "gap:0.2", or made by `sidelight.environments`.
        horizon: rounds to play.
        seeds: how many, or which; the same for all policies, who therefore meet the same losses.
        checkpoints: how many on a logarithmic scale, or the rounds themselves.
        jobs, progress: as for `simulate`.

    A policy that does not apply to the graph is listed in `Results.absent` with the reason. Ctrl-C returns the
    policies that are finished.

    >>> import sidelight as sl
    >>> results = sl.compare("cycle:6", ["auto", "flat"], "gap:0.3", horizon=1000, seeds=3)
    >>> [(cell.policy, cell.regret.shape[0]) for cell in results.cells]
    [('auto', 3), ('flat', 3)]
    """
    reader = Reader()
    source, played = _graph(reader, graph)
    rounds = reader.horizon("horizon", horizon)
    wanted = _policies(reader, policies)
    losses, world = _environment(reader, environment, played, rounds)
    chosen = reader.seeds(_plain(seeds))
    points = reader.checkpoints(_plain(checkpoints), rounds)
    points = points if isinstance(points, int) else tuple(sorted({*points, rounds}))
    cells: list[Cell] = []
    missing: list[Absent] = []
    stopped = False
    for name, policy in wanted.items():
        cell = CellSpec(source, name, losses, rounds, chosen, points)
        if stopped:
            missing.append(absent(cell, "interrupted", "stopped before this policy"))
            continue
        try:
            made = registry.make(policy, played, rounds) if isinstance(policy, str) else policy
            run = simulate(
                made, world, chosen, rounds, checkpoints=cell.rounds.tolist(), jobs=jobs, progress=progress
            )
        except SolverError:
            raise  # a matter of numbers, not of the policy
        except SidelightError as error:
            missing.append(absent(cell, "not applicable", str(error), here()))
            continue
        if run.complete:
            cells.append(cell_of(run, here(), **cell.names))
        else:
            stopped = True
            missing.append(absent(cell, "interrupted", "stopped while it was played"))
    return Results(tuple(cells), source.name, here(), tuple(missing))


def _graph(reader: Reader, graph: object) -> tuple[GraphSource, FeedbackGraph]:
    if isinstance(graph, FeedbackGraph):
        name = f"graph with {graph.n_arms} arms"
        return GraphSource(name, digest=graph_digest(graph)), graph
    entry = {"file": os.fspath(graph)} if isinstance(graph, os.PathLike) else graph
    return reader.source("graph", entry, Path.cwd()).checked()


def _environment(
    reader: Reader, environment: object, graph: FeedbackGraph, horizon: int
) -> tuple[LossSource, Environment]:
    if isinstance(environment, Environment):
        return LossSource(getattr(environment, "name", type(environment).__name__)), environment
    source = LossSource.from_text(reader.text("environment", environment), Path.cwd())
    made = source.make(graph, horizon)
    return source.checked(), made


def _policies(reader: Reader, policies: object) -> dict[str, Any]:
    if isinstance(policies, Mapping):
        names = {str(name): value for name, value in policies.items()}
        return {
            name: value if hasattr(value, "graph") else reader.policy(f"policies[{name!r}]", value)
            for name, value in names.items()
        }
    listed = reader.listed("policies", _plain(policies), reader.policy)
    return {name: name for name in listed}


def _plain(values: object) -> Any:
    """Ranges, arrays and other sequences as lists of Python's own numbers; all else as it is."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        return values
    return [value.item() if hasattr(value, "item") else value for value in values]
