"""The page of finished results: one file that needs no network, and figures for papers beside it. Nothing is run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight._check import checked_path
from sidelight._version import __version__
from sidelight.experiment.results import Results
from sidelight.experiment.statistics import LEAST_SEEDS
from sidelight.graph import FeedbackGraph
from sidelight.report import assets
from sidelight.report.data import page_data
from sidelight.report.finding import finding
from sidelight.report.groups import Group, groups_of, scalings_of
from sidelight.report.leaderboard import leaderboard
from sidelight.report.section import GraphSection
from sidelight.report.sentences import bounds_sentence, most_played, verdict
from sidelight.report.style import PAGE, checked_width, stroke_numbers
from sidelight.report.tables import bounds_rows, result_row, result_texts
from sidelight.report.template import embedded, rendered, write_page
from sidelight.report.text import counted, number

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_LABELS = 60
"""More labels than these are not listed, but still found on the graph."""


def write_report(
    folder: str | PathLike[str],
    results: Results,
    graphs: Mapping[str, GraphSection] | None = None,
    *,
    files: bool = True,
    figure_width: str | float = PAGE,
) -> Path:
    """Write FOLDER/report.html and, with `files`, every figure as FOLDER/figures/*.png and *.pdf.

    Args:
        folder: made if missing; an older report there is replaced once the new one is complete.
        results: finished cells, as runs and sweeps leave them.
        graphs: what is known about each graph, by the name that its cells carry.
        files: also write the figures for papers; the page itself needs none of them.
        figure_width: of those, "single" or "double" (the columns of a paper) or inches.

    Returns:
        The path of the page.
    """
    folder = checked_path("the folder of a report", folder)
    sections = dict(graphs or {})
    drawn: list[Any] = []
    if files:
        from sidelight.report import drawing
        from sidelight.report.album import Album

        width = checked_width(figure_width)
        folder.mkdir(parents=True, exist_ok=True)
        album, groups, scalings = (
            Album(folder, ("png", "pdf")),
            groups_of(results),
            _scalings(results, sections),
        )
        drawn = list(drawing.draw_all(album, groups, sections, scalings, width))
    folder.mkdir(parents=True, exist_ok=True)
    write_page(folder / "report.html", "report.html.j2", _content(results, sections, assets.inlined(), drawn))
    return folder / "report.html"


def report_html(
    results: Results, graphs: Mapping[str, GraphSection] | None = None, *, prefix: str | None = None
) -> str:
    """The page as text: complete in itself, or with `prefix` for a server that has the assets below it."""
    parts = assets.inlined() if prefix is None else assets.linked(prefix)
    return rendered("report.html.j2", _content(results, dict(graphs or {}), parts, []))


def _scalings(results: Results, sections: Mapping[str, GraphSection]) -> Any:
    return scalings_of(results, {name: section.graph.n_arms for name, section in sections.items()})


def _content(
    results: Results, sections: dict[str, GraphSection], parts: tuple[Markup, Markup], drawn: list[Any]
) -> dict[str, Any]:
    groups = groups_of(results)
    anchors = [f"comparison-{k}" for k in range(1, len(groups) + 1)]
    policies = list(dict.fromkeys(cell.policy for cell in results.cells))
    data = page_data(results, groups, sections, _scalings(results, sections))
    return {
        "head": parts[0],
        "scripts": parts[1],
        "title": results.title or "Regret report",
        "summary": _summary(results, groups),
        "finding": finding(groups),
        "policies": policies,
        "looks": stroke_numbers(policies),
        "lines": leaderboard(groups, anchors),
        "comparisons": [
            _comparison(anchor, group, sections.get(group.graph))
            for anchor, group in zip(anchors, groups, strict=True)
        ],
        "graphs": [_graph(k, *named) for k, named in enumerate(sections.items(), 1)],
        "growth": data["growth"],
        "figures": drawn,
        "absent": results.absent,
        "provenance": list(_provenance(results)),
        "least_seeds": LEAST_SEEDS,
        "number": number,
        "data": embedded(data),
    }


def _summary(results: Results, groups: tuple[Group, ...]) -> str:
    runs = sum(len(cell.seeds) for cell in results.cells)
    rounds = sum(len(cell.seeds) * cell.horizon for cell in results.cells)
    policies = len({cell.policy for cell in results.cells})
    return (
        f"{counted(policies, 'policy')} in {counted(len(groups), 'comparison')}: "
        f"{counted(runs, 'run')}, {number(rounds)} rounds in all. Sidelight {__version__}."
    )


def _comparison(anchor: str, group: Group, section: GraphSection | None) -> dict[str, Any]:
    comparison = None if section is None else section.at(group.horizon)
    rows = [result_row(cell) | {"least": cell is group.ranked[0]} for cell in group.ranked]
    return {
        "anchor": anchor,
        "title": group.title,
        "verdict": verdict(group, comparison),
        "rows": [row | {"texts": result_texts(row)} for row in rows],
        "played": "" if section is None else most_played(group, section.graph),
    }


# -- graphs -----------------------------------------------------------------------------------------------


def _graph(index: int, name: str, section: GraphSection) -> dict[str, Any]:
    return {
        "anchor": f"graph-{index}",
        "name": name,
        "facts": list(_facts(section)),
        "bounds": [
            {"horizon": found.horizon, "sentence": bounds_sentence(found), "rows": bounds_rows(found)}
            for found in section.comparisons
        ],
    }


def _size(graph: FeedbackGraph) -> str:
    return f"{counted(graph.n_arms, 'arm')}, {counted(graph.n_edges, 'edge')}"


def _facts(section: GraphSection) -> Iterator[tuple[str, str]]:
    graph, plan = section.graph, section.plan
    yield "size", _size(graph)
    yield "self-loops", f"{int(graph.has_loop.sum()):,}"
    yield from ((name, value) for name, value in section.facts if name != "arms, edges")
    if graph.labels is not None and graph.n_arms <= MOST_LABELS:
        yield "arms", ", ".join(f"{arm} {label!r}" for arm, label in enumerate(graph.labels))
    if plan is None:
        return
    p = plan.partition
    singles = f"{p.strong_loop.size:,} single arms that reveal themselves"
    others = f"{p.strong_loopless.size:,} that all others reveal"
    yield "blocks of the plan", f"{p.n_blocks:,}: {p.weak.size:,} weak, {singles}, {others}"
    rounds = "any number of rounds" if plan.horizon is None else counted(plan.horizon, "round")
    yield "realization", f"{plan.realization}, for {rounds}"
    parameters = {name: value for name, value in plan.parameters.items() if isinstance(value, float)}
    if parameters:
        yield "parameters", ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items())


# -- provenance -------------------------------------------------------------------------------------------


def _provenance(results: Results) -> Iterator[tuple[str, str]]:
    yield "written by", f"Sidelight {__version__}"
    yield "cells", f"{len(results.cells):,}"
    for name, value in results.provenance.items():
        yield str(name), _plain(value)
    of_cells: dict[str, dict[str, None]] = {}
    for cell in results.cells:
        for name, value in cell.provenance.items():
            of_cells.setdefault(str(name), {})[_plain(value)] = None
    for name, values in of_cells.items():
        if name in results.provenance and list(values) == [_plain(results.provenance[name])]:
            continue
        shown = list(values)[:6]
        more = f" and {len(values) - 6:,} more" if len(values) > 6 else ""
        yield f"{name} of cells" if name in results.provenance else name, "; ".join(shown) + more


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
