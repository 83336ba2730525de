"""Several policies on one graph, here and now."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sidelight._check import checked_jobs
from sidelight.environment import Environment
from sidelight.errors import InvalidOption
from sidelight.experiment.cells import Outcome, Part, collected, here, here_and_now
from sidelight.experiment.folder import ResultsFolder, keep_graph, manifest
from sidelight.experiment.results import Results, results_of
from sidelight.experiment.sources import GraphSource, LossSource
from sidelight.experiment.spec import DEFAULT_CHECKPOINTS, Reader, Spec, shown
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
        folder: where results are kept, as by `sl.sweep`: what it holds already is not played again, the seeds that
            were finished before ctrl-C among it.
        jobs, progress: as for `simulate`.

    A policy that does not apply to the graph, or in which something goes wrong, is listed in `Results.absent` with
    the reason; the others are played. Ctrl-C returns the policies that are finished.

    >>> import sidelight as sl
    >>> results = sl.compare("cycle:6", ["auto", "flat"], "gap:0.3", horizon=1000, seeds=3)
    >>> [(cell.policy, cell.regret.shape[0]) for cell in results.cells]
    [('auto', 3), ('flat', 3)]
    """
    workers = checked_jobs(jobs)
    reader = Reader()
    source, built = _graph(reader, graph)
    rounds = reader.horizon("horizon", horizon)
    listed = [policies] if isinstance(policies, str) else _plain(policies)
    wanted = reader.policies(listed, Path.cwd(), stored=folder is not None)
    spec = Spec(
        policies=wanted,
        graphs=(source,),
        environments=(_losses(reader, environment, built, rounds, stored=folder is not None),),
        horizons=(rounds,),
        seeds=reader.seeds(_plain(seeds)),
        checkpoints=reader.checkpoints(_plain(checkpoints), rounds),
        title=source.name,
    )

    def play(parts: Iterator[Part]) -> Generator[Outcome, None, None]:
        return here_and_now(parts, {}, workers, progress)

    provenance: dict[str, Any] = dict(here())
    with contextlib.ExitStack() as held:
        store = None
        if folder is not None:
            store = held.enter_context(ResultsFolder(folder, manifest(spec)))
            keep_graph(store.folder, source.name, built)
            provenance["folder"] = str(folder)
        # a part of as many seeds as there may be: all cores share them
        outcomes, _ = collected(spec, play, store, part_rounds=rounds * len(spec.seeds))
    header = {"title": source.name, "provenance": provenance, "manifest": manifest(spec)}
    return results_of(outcomes, graphs={source.name: built}, **header)


def _graph(reader: Reader, graph: object) -> tuple[GraphSource, FeedbackGraph]:
    if isinstance(graph, FeedbackGraph):
        source = GraphSource(f"graph with {graph.n_arms} arms", digest=graph.digest, value=graph)
        return source, graph
    entry = {"file": os.fspath(graph)} if isinstance(graph, os.PathLike) else graph
    return reader.source("graph", entry, Path.cwd()).checked()


def _losses(
    reader: Reader, environment: object, graph: FeedbackGraph, horizon: int, stored: bool
) -> LossSource:
    if isinstance(environment, Environment):
        if stored:
            raise InvalidOption(
                f"{environment!r} cannot be known again when the folder is read: give the environment as text, such"
                " as 'gap:0.2', 'replay:FILE' or 'FILE.py:NAME', or leave the folder out and use"
                " results.write(folder)"
            )
        return LossSource(getattr(environment, "name", type(environment).__name__), value=environment)
    if isinstance(environment, list | tuple):
        reader.fail("environment", f"must be a single one, got {shown(environment)}; sl.sweep plays several")
    source = LossSource.from_text(reader.text("environment", environment), Path.cwd())
    source.make(graph, horizon)  # a mistake in it is one of the caller, not of a policy
    return source.checked()


def _plain(values: object) -> Any:
    """Ranges, arrays and other sequences as lists of Python's own numbers; all else as it is."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        return values
    return [value.item() if hasattr(value, "item") else value for value in values]
