"""The page of finished results: one file that needs no network, and figures for papers beside it. Nothing is run.

A whole folder of results has cells, graphs and tables too, as `sidelight run` leaves it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sidelight._check import checked_path, written
from sidelight._files import replacing
from sidelight._version import __version__
from sidelight.experiment.folder import keep_graph, write_cells
from sidelight.experiment.results import Results
from sidelight.experiment.statistics import LEAST_SEEDS
from sidelight.graph import FeedbackGraph
from sidelight.report.data import page_data
from sidelight.report.groups import Group, groups_of, scalings_of
from sidelight.report.latex import results_latex
from sidelight.report.section import GraphSection, sections
from sidelight.report.sentences import bounds_sentence, finding, most_played, verdict
from sidelight.report.style import PAGE, checked_width, stroke_numbers
from sidelight.report.tables import bounds_rows, ranked_rows, summary_csv
from sidelight.report.template import embedded, inlined, write_page
from sidelight.report.text import counted, number

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
    width = checked_width(figure_width)
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Any] = []
    if files:
        from sidelight.report.drawing import Album, draw_all

        album, scalings = Album(folder, ("png", "pdf")), _scalings(results, sections)
        drawn = list(draw_all(album, groups_of(results), sections, scalings, width))
    write_page(folder / "report.html", "report.html.j2", _content(results, sections, drawn))
    return folder / "report.html"


def _scalings(results: Results, sections: Mapping[str, GraphSection]) -> Any:
    return scalings_of(results, {name: section.graph.n_arms for name, section in sections.items()})


def _content(results: Results, sections: dict[str, GraphSection], drawn: list[Any]) -> dict[str, Any]:
    head, scripts = inlined()
    groups = groups_of(results)
    policies = list(dict.fromkeys(cell.policy for cell in results.cells))
    data = page_data(results, groups, sections, _scalings(results, sections))
    return {
        "head": head,
        "scripts": scripts,
        "title": results.title or "Regret report",
        "summary": _summary(results, groups),
        "finding": finding(groups),
        "policies": policies,
        "looks": stroke_numbers(policies),
        "comparisons": [
            _comparison(f"comparison-{k}", group, sections.get(group.graph))
            for k, group in enumerate(groups, 1)
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
    rows = ranked_rows(group)
    return {
        "anchor": anchor,
        "graph": group.graph,
        "environment": group.environment,
        "horizon": group.horizon,
        "title": group.title,
        "verdict": verdict(
            group, comparison, None if section is None else section.long_runs.get(group.environment)
        ),
        "rows": rows,
        "entries": {row["policy"]: row for row in rows},
        "played": "" if section is None else most_played(group, section.graph),
    }


# -- graphs -----------------------------------------------------------------------------------------------


def _graph(index: int, name: str, section: GraphSection) -> dict[str, Any]:
    return {
        "anchor": f"graph-{index}",
        "name": name,
        "facts": list(_facts(section)),
        "bounds": [
            {
                "horizon": comparison.horizon,
                "sentence": bounds_sentence(comparison),
                "rows": bounds_rows(comparison),
            }
            for comparison in section.comparisons
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


# -- folders ------------------------------------------------------------------------------------------------

TABLES = {"table.csv": summary_csv, "table.tex": results_latex}
"""Small files beside the page, for other programs and for papers."""


def write_results(
    folder: str | PathLike[str],
    results: Results,
    *,
    figures: bool = True,
    figure_width: str | float = "double",
) -> Path:
    """Cells, graphs, page, tables and figures of `results`; the path of the page.

    Results that were played into this folder are there already; a folder of others is refused.
    """
    place = checked_path("the folder of results", folder)
    if not _is(place, results.provenance.get("folder")):
        write_cells(place, results)
    for name, graph in results.graphs.items():
        keep_graph(place, name, graph)
    with written(place):
        page = write_report(place, results, sections(results), files=figures, figure_width=figure_width)
        for file, text_of in TABLES.items():
            with replacing(place / file, pack=False) as stream:
                stream.write(text_of(results).encode())
    return page


def _is(place: Path, folder: object) -> bool:
    """Were the results played into this folder, or read from it?"""
    return isinstance(folder, str) and place.resolve() == Path(folder).resolve()
