"""Several policies on one graph, here and now."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sidelight._check import checked_count
from sidelight.environment import Environment
from sidelight.errors import InvalidOption, PolicyError, SidelightError, SolverError
from sidelight.experiment.kept import Kept
from sidelight.experiment.provenance import here
from sidelight.experiment.results import Absent, Cell, Results, cell_of
from sidelight.experiment.simulation import simulate
from sidelight.experiment.sweep.cell import absent
from sidelight.experiment.sweep.folder import ResultsFolder, manifest
from sidelight.experiment.sweep.graph_source import GraphSource, graph_digest
from sidelight.experiment.sweep.graphs import keep_graph
from sidelight.experiment.sweep.loss_source import LossSource
from sidelight.experiment.sweep.pieces import Batch, Pieces
from sidelight.experiment.sweep.reading import DEFAULT_CHECKPOINTS, Reader, shown
from sidelight.experiment.sweep.spec import CellSpec, Spec
from sidelight.graph import FeedbackGraph


def compare(
    graph: FeedbackGraph | str | os.PathLike[str],
    policies: Iterable[Any] | Mapping[str, Any] | str,
    environment: Environment | str,
    horizon: int,
    seeds: int | Iterable[int] = 20,
    *,
    checkpoints: int | Iterable[int] = DEFAULT_CHECKPOINTS,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Results:
    """Play `policies` on one graph against the same losses, one policy after the other.

    Args:
        graph: a graph, a family such as "cycle:100", or a graph file.
        policies: names, files of Python as "FILE.py:NAME", classes or functions of (graph, horizon, seed) that make a
            player with `ask()` and `tell(losses)`, or anything that `simulate` plays; or a mapping to these from what
            the results shall call them.
        environment: as text such as "gap:0.2", or made by `sidelight.environments`.
        horizon: rounds to play.
        seeds: how many, or which; the same for all policies, who therefore meet the same losses.
        checkpoints: how many on a logarithmic scale, or the rounds themselves.
        folder: where results are kept, as by `sl.sweep`: what it holds already is not played again, and what ctrl-C
            stops goes on from there.
        jobs, progress: as for `simulate`.

    A policy that does not apply to the graph, or in which something goes wrong, is listed in `Results.absent` with
    the reason; the others are played. Ctrl-C returns the policies that are finished.

    >>> import sidelight as sl
    >>> results = sl.compare("cycle:6", ["auto", "flat"], "gap:0.3", horizon=1000, seeds=3)
    >>> [(cell.policy, cell.regret.shape[0]) for cell in results.cells]
    [('auto', 3), ('flat', 3)]
    """
    if jobs is not None:
        checked_count("jobs", jobs)
    reader = Reader()
    source, played = _graph(reader, graph)
    rounds = reader.horizon("horizon", horizon)
    listed = [policies] if isinstance(policies, str) else _plain(policies)
    wanted = reader.policies(listed, Path.cwd(), kept=folder is not None)
    if folder is not None and isinstance(environment, Environment):
        raise InvalidOption(
            f"{environment!r} cannot be known again when the folder is read: give the environment as text, such as"
            " 'gap:0.2', 'replay:FILE' or 'FILE.py:NAME', or leave the folder out and use results.write(folder)"
        )
    losses, world = _environment(reader, environment, played, rounds)
    chosen = reader.seeds(_plain(seeds))
    points = reader.checkpoints(_plain(checkpoints), rounds)
    spec = Spec(wanted, (source,), (losses,), (rounds,), chosen, points, title=source.name)
    provenance: dict[str, Any] = dict(here())
    outcomes: list[Cell | Absent] = []
    with contextlib.ExitStack() as held:
        store, done = None, dict[str, Cell | Absent]()
        if folder is not None:
            store = held.enter_context(ResultsFolder(folder, manifest(spec)))
            pieces = held.enter_context(contextlib.closing(Pieces(store.folder)))
            keep_graph(store.folder, source.name, played)
            done, _ = store.finished()
            provenance["folder"] = str(folder)
        stopped = False
        for cell in spec.cells:
            if cell.id in done:
                outcomes.append(done[cell.id])
                continue
            if stopped:
                outcomes.append(absent(cell, "interrupted", "stopped before this policy"))
                continue
            batch = Batch(partial(pieces.add, cell.id)) if store is not None else None
            kept = None if batch is None else pieces.kept(cell.id, batch)
            outcome = _outcome(cell, played, world, jobs, progress, kept)
            stopped = isinstance(outcome, Absent) and outcome.status == "interrupted"
            if batch is not None and isinstance(outcome, Absent):
                batch.hand_on()
            if store is not None and (isinstance(outcome, Cell) or outcome.status == "not applicable"):
                store.write(outcome)
                pieces.drop(outcome.id)
            outcomes.append(outcome)
    return Results(
        tuple(outcome for outcome in outcomes if isinstance(outcome, Cell)),
        source.name,
        provenance,
        tuple(outcome for outcome in outcomes if isinstance(outcome, Absent)),
        {source.name: played},
        manifest(spec),
    )


def _outcome(
    cell: CellSpec,
    graph: FeedbackGraph,
    environment: Environment,
    jobs: int | None,
    progress: bool | None,
    kept: Kept | None,
) -> Cell | Absent:
    """All seeds of one policy, or why it has no numbers."""
    options: dict[str, Any] = {"checkpoints": cell.rounds.tolist(), "jobs": jobs, "progress": progress}
    try:
        made = cell.policy.make(graph, cell.horizon)
        run = simulate(made, environment, cell.seeds, cell.horizon, **options, _kept=kept)
    except SolverError:
        raise  # a matter of numbers, not of the policy
    except PolicyError as error:
        return absent(cell, "failed", str(error), here())
    except SidelightError as error:
        return absent(cell, "not applicable", str(error), here())
    if run.complete:
        return cell_of(run, here(), **cell.names)
    return absent(cell, "interrupted", "stopped while it was played")


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
    if isinstance(environment, list | tuple):
        reader.fail("environment", f"must be a single one, got {shown(environment)}; sl.sweep plays several")
    source = LossSource.from_text(reader.text("environment", environment), Path.cwd())
    made = source.make(graph, horizon)
    return source.checked(), made


def _plain(values: object) -> Any:
    """Ranges, arrays and other sequences as lists of Python's own numbers; all else as it is."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        return values
    return [value.item() if hasattr(value, "item") else value for value in values]
