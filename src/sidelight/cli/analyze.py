"""`sidelight analyze`: what a graph allows, and every bound for it side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sidelight.cli import options
from sidelight.cli.screen import columns, emit, emit_json, facts, safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    import sidelight as sl
    from sidelight.analysis import PackingSet
    from sidelight.cli.graphs import GraphRequest, LoadedGraph
    from sidelight.planning.bounds.comparison import Row


@click.command(short_help="What a graph allows; every bound side by side.")
@options.takes_graph
@options.horizon(default=100_000, show_default=True)
@options.as_json
def command(graph: GraphRequest, horizon: int, as_json: bool) -> None:
    """Observability, δ* with its certificate, independence number, packings, and every known bound at T."""
    import sidelight as sl

    loaded = graph.load()
    g = loaded.graph
    comparison = sl.compare_bounds(g, horizon)
    seen = sl.observability(g)
    domination = sl.fractional_domination(g)
    independence = sl.independence_number(g)
    packings = _packings(g)
    if as_json:
        emit_json(
            {
                "graph": loaded.to_dict() | {"class": seen.graph},
                "observability": {
                    kind: len(getattr(seen, kind)) for kind in ("strong", "weak", "unobservable")
                },
                "domination": {
                    "value": domination.value,
                    "lower": domination.lower,
                    "gap": domination.gap,
                    "exact": domination.exact,
                    "method": domination.method,
                },
                "independence": {
                    "lower": independence.lower,
                    "upper": independence.upper,
                    "exact": independence.exact,
                    "arms": independence.arms,
                },
                "packings": [
                    {"arms": found.arms, "t": found.t, "rate": found.rate, "exact": found.exact}
                    for found in packings
                ],
                "bounds": comparison.to_dict(),
            }
        )
        return
    emit(
        facts(f"Graph {safe(loaded.source)}", _graph_rows(loaded, seen, domination, independence, packings)),
        _bounds("Upper bounds", comparison.upper, horizon),
        _bounds("Lower bounds", comparison.lower, horizon),
    )


def _packings(g: sl.FeedbackGraph) -> list[PackingSet]:
    """Of the greatest rate, and of t = 1 where that is another set; none without a loop-less arm."""
    import sidelight as sl

    found = [sl.packing_independent_set(g), sl.packing_independent_set(g, t=1)]
    if found[0].t == 1 and len(found[0].arms) >= len(found[1].arms):
        found.pop()
    return [packing for packing in found if len(packing.arms)]


def _graph_rows(
    loaded: LoadedGraph,
    seen: sl.Observability,
    domination: sl.Domination,
    independence: sl.IndependenceNumber,
    packings: list[PackingSet],
) -> list[tuple[str, str]]:
    g = loaded.graph
    growth = {"strong": "√T", "weak": "T^⅔"}[seen.graph]
    proof = (
        "exact"
        if domination.exact
        else f"certified within {domination.gap:.2g}, at least {domination.lower:.6g}"
    )
    alpha = (
        f"{independence.lower:,} (exact)"
        if independence.exact
        else f"between {independence.lower:,} and {independence.upper:,}"
    )
    rows = [("changed", change) for change in loaded.changes]
    rows += [
        ("arms, edges", f"{g.n_arms:,}, {g.n_edges:,}"),
        ("class", f"{seen.graph}ly observable: regret grows like {growth}"),
        ("strong, weak arms", f"{len(seen.strong):,}, {len(seen.weak):,}"),
        ("fractional domination δ*", f"{domination.value:.6g} ({proof})"),
        ("independence number α", alpha),
    ]
    for found in packings:
        how = ", exact" if found.exact else ""
        size = f"{len(found.arms):,} {'arm' if len(found.arms) == 1 else 'arms'}"
        rows.append(
            ("packing set", f"{size}, at most {found.t} revealed at once (rate {found.rate:.4g}{how})")
        )
    return rows


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
    return "certified" if row.informative else "trivial"
