"""`sidelight analyze`: what a graph allows, and every bound for it side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sidelight.cli import options
from sidelight.cli.screen import columns, emit, emit_json, facts, safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sidelight.cli.graphs import LoadedGraph
    from sidelight.planning.bounds.comparison import Row


@click.command(short_help="Say what a graph allows, and list every known bound.")
@options.takes_graph
@options.horizon(100_000)
@options.as_json
def command(graph: LoadedGraph, horizon: int, as_json: bool) -> None:
    """Say what a graph allows: how its arms can be observed, its domination number δ*, its independence number α,
    packing sets, and every upper and lower bound that is known for its regret in T rounds."""
    import sidelight as sl
    from sidelight.report.section import Analysis

    comparison = sl.compare_bounds(graph.graph, horizon)
    analysis = Analysis.of(graph.graph)
    if as_json:
        named = graph.to_dict() | {"class": analysis.observability.graph}
        emit_json({"graph": named, **analysis.to_dict(), "bounds": comparison.to_dict()})
        return
    changed = [("changed", change) for change in graph.changes]
    emit(
        facts(f"Graph {safe(graph.source)}", [*changed, *analysis.rows(safe)]),
        _bounds("Upper bounds", comparison.upper, horizon),
        _bounds("Lower bounds", comparison.lower, horizon),
    )


def _bounds(title: str, rows: tuple[Row, ...], horizon: int) -> RenderableType:
    def cells(row: Row) -> list[str]:
        value = "" if row.value is None else f"{row.value:,.1f}"
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        return [safe(row.name), value, ratio, _status(row), safe(f"{row.theorem}  ({row.source})")]

    heads = ("name", ">regret", ">ratio", "status", "theorem (source)")
    return columns(f"{title} on the regret of {horizon:,} rounds", heads, [cells(row) for row in rows])


def _status(row: Row) -> str:
    if row.value is None:
        return "no constant"
    if not row.certified:
        return "not valid at T"
    return row.lack or "certified"
