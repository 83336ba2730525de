"""A whole folder of results, as `sidelight run` leaves it and `results.write` writes it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from sidelight._check import checked_path, written
from sidelight._files import replacing
from sidelight.analysis import observability
from sidelight.experiment.folder import keep_graph, write_cells
from sidelight.experiment.results import Results
from sidelight.planning import compare_bounds
from sidelight.report.analysis import Analysis
from sidelight.report.exports import summary_csv
from sidelight.report.latex import results_latex
from sidelight.report.page import write_report
from sidelight.report.section import GraphSection

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
        for file, made in TABLES.items():
            with replacing(place / file, pack=False) as stream:
                stream.write(made(results).encode())
    return page


def _is(place: Path, folder: object) -> bool:
    """Were the results played into this folder, or read from it?"""
    return isinstance(folder, str) and place.resolve() == Path(folder).resolve()


def sections(results: Results) -> dict[str, GraphSection]:
    """Every graph of the results with its bounds at every horizon that was played."""

    def section(name: str) -> GraphSection:
        graph = results.graphs[name]
        horizons = sorted({cell.horizon for cell in results.cells if cell.graph == name})
        if not horizons or observability(graph).graph == "unobservable":
            return GraphSection(graph)
        facts = tuple(Analysis.of(graph).rows())
        return GraphSection.of(*(compare_bounds(graph, horizon) for horizon in horizons), facts=facts)

    return {name: section(name) for name in results.graphs}
