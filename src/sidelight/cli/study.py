"""How `run`, `sweep`, `report` and `demo` end: a report in the folder, a table on the screen, an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli.files import written
from sidelight.cli.screen import emit, emit_json, safe
from sidelight.errors import InfeasibleRequest

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.cli.graphs import LoadedGraph
    from sidelight.experiment.sweep.graph_source import GraphSource
    from sidelight.report.section import GraphSection

GRAPHS = "graphs"
"""Where a folder of results keeps its graphs, so that the report can be written again without the files."""

MOST_LINES = 10
"""Cells without numbers that are listed one by one."""


def source_of(folder: Path, loaded: LoadedGraph) -> GraphSource:
    """The graph as a cell of `folder` names it, where `store_graph` will put it."""
    from sidelight.experiment.sweep.graph_source import GraphSource, graph_digest

    digest = graph_digest(loaded.graph)
    return GraphSource(loaded.source, path=_place(folder, digest).absolute(), digest=digest)


def store_graph(folder: Path, graph: sl.FeedbackGraph) -> Path:
    """The file with the graph, written if need be; reports do not show it before `keep_graph` names it."""
    import sidelight as sl
    from sidelight.experiment.sweep.graph_source import graph_digest

    file = _place(folder, graph_digest(graph))
    with written(folder):
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            sl.write_graph(graph, file)
    return file


def keep_graph(folder: Path, name: str, graph: sl.FeedbackGraph) -> None:
    """Store the graph as what results call `name`: only in a folder that a sweep has accepted."""
    from sidelight._files import replacing

    file = store_graph(folder, graph)
    index = file.with_name("names.json")
    with written(folder):
        known = _names(index)
        if known.get(name) != file.name:
            with replacing(index, pack=False) as stream:
                stream.write(json.dumps(known | {name: file.name}, indent=1, ensure_ascii=False).encode())


def _place(folder: Path, digest: str) -> Path:
    return folder / GRAPHS / f"{digest[:16]}.npz"


def kept_graphs(folder: Path) -> dict[str, sl.FeedbackGraph]:
    """The stored graphs by name."""
    import sidelight as sl

    return {
        name: sl.read_graph(folder / GRAPHS / file)
        for name, file in _names(folder / GRAPHS / "names.json").items()
    }


def _names(index: Path) -> dict[str, str]:
    try:
        names = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(name): str(file) for name, file in names.items()} if isinstance(names, dict) else {}


def sections(graphs: Mapping[str, sl.FeedbackGraph], results: sl.Results) -> dict[str, GraphSection]:
    """Every graph of the results with its bounds at every horizon that was played."""
    import sidelight as sl
    from sidelight.report.section import GraphSection

    def section(name: str, graph: sl.FeedbackGraph) -> GraphSection:
        horizons = sorted({cell.horizon for cell in results.cells if cell.graph == name})
        if not horizons or sl.observability(graph).graph == "unobservable":
            return GraphSection(graph)
        return GraphSection.of(*(sl.compare_bounds(graph, horizon) for horizon in horizons))

    return {name: section(name, graph) for name, graph in graphs.items()}


def finish(
    folder: Path,
    results: sl.Results,
    graphs: Mapping[str, sl.FeedbackGraph],
    *,
    figures: bool,
    as_json: bool,
    quiet: bool,
    said: Iterable[str] = (),
) -> None:
    """Write the report and print the table, or one JSON object."""
    from sidelight.report.page import write_report
    from sidelight.report.tables import results_rows, results_table

    report = None
    if results.cells:
        with written(folder):
            report = write_report(folder, results, sections(graphs, results), files=figures)
    if as_json:
        emit_json(
            {
                "folder": str(folder),
                "report": None if report is None else str(report),
                "complete": results.complete,
                "notes": list(said),
                "results": results_rows(results, graphs),
                "absent": [
                    cell.names | {"status": cell.status, "reason": cell.reason} for cell in results.absent
                ],
            }
        )
    elif not quiet:
        parts: list[Any] = [safe(line) for line in said]
        parts += [results_table(results)] if results.cells else []
        parts += [safe(line) for line in _favourites(results, graphs)]
        parts += [safe(line) for line in _missing(results)]
        parts += [] if report is None else [f"report: [bold]{safe(str(report))}[/bold]"]
        emit(*parts)


def _favourites(results: sl.Results, graphs: Mapping[str, sl.FeedbackGraph]) -> list[str]:
    """Where arms have names, a line for each comparison about the arms that were played most."""
    from sidelight.report.groups import groups_of
    from sidelight.report.sentences import most_played

    groups = groups_of(results)
    lines = []
    for group in groups[:MOST_LINES]:
        graph = graphs.get(group.graph)
        if graph is not None and graph.labels is not None and (line := most_played(group, graph)):
            lines.append(line if len(groups) == 1 else f"{group.title}: {line}")
    return lines


def _missing(results: sl.Results) -> list[str]:
    """A line for each cell without numbers, as long as there are few."""
    lines = [
        f"{cell.policy} on {cell.graph}, {cell.environment}, T = {cell.horizon:,}: {cell.status}: {cell.reason}"
        for cell in results.absent
    ]
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more:,} more cells without numbers"]


def leave(folder: Path, results: sl.Results) -> None:
    """End with the exit code that freshly played results deserve."""
    states = [cell.status for cell in results.absent]
    if "interrupted" in states:
        click.echo(f"finished cells are in {folder}; the same command continues", err=True)
        raise click.Abort
    if "failed" in states:
        failed = next(cell for cell in results.absent if cell.status == "failed")
        raise InfeasibleRequest(
            f"{states.count('failed')} of {len(states) + len(results.cells)} cells failed, the first of them:"
            f" {failed.policy} on {failed.graph}: {failed.reason}; the same command tries them again"
        )
    if not results.cells:
        raise InfeasibleRequest(
            f"no policy applies: {results.absent[0].reason}" if results.absent else "nothing was asked for"
        )
