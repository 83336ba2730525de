"""One self-contained page from finished results: no network, no script, nothing run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sidelight._check import checked_path
from sidelight._version import __version__
from sidelight.experiment.results import Results
from sidelight.experiment.statistics import LEAST_SEEDS
from sidelight.graph import FeedbackGraph
from sidelight.planning import Comparison
from sidelight.report.album import Album, Picture, slug
from sidelight.report.figures.graph import MOST_LABELS, graph_figure, is_drawable
from sidelight.report.figures.ledger import ledger_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure
from sidelight.report.figures.scaling import scaling_figure
from sidelight.report.figures.timing import timing_figure
from sidelight.report.groups import Group, Scaling, groups_of, scalings_of
from sidelight.report.section import GraphSection
from sidelight.report.sentences import bounds_sentence, most_played, verdict
from sidelight.report.series import regret_curves, scaling_curves
from sidelight.report.tables import bounds_rows, result_row, result_texts
from sidelight.report.template import write_page
from sidelight.report.text import counted, number

MOST_GROUPS_DRAWN = 12
MOST_GRAPHS_DRAWN = 12
"""A page stays small and quick however long the sweep; what is not drawn is still in its tables."""

ARMS = (
    "Dots are arms; a line joins two arms that reveal each other, an arrow points at what is revealed "
    "one way only, a ring marks an arm that reveals itself."
)
MATRIX = "Too large to draw arm by arm: rows reveal columns, darker where more pairs do, on a log scale."
REGRET = (
    "Mean regret with its 95 % interval. Dotted in the same colour: what the rounds so far certify, in the mean. "
    "Triangles at the right edge are bounds at T. Above the dashed line a bound says nothing. Curves that coincide "
    "are drawn as stripes."
)
SCALING = (
    "Mean regret at the end of runs of different length, each planned for its own T, with 95 % intervals. T^a is "
    "fitted to all horizons, its interval a bootstrap over the seeds they share, "
    f"if these are {LEAST_SEEDS} or more. Dashed: bounds, where certified."
)
LEDGER = (
    "The regret as the theory takes it apart, estimated from what the policy saw. Exploration is charged a full "
    "loss per exploring play, as in the proof, so that the parts together may exceed the regret (dot, line)."
)
PLAYS = "Where the plays went, over all seeds, on a log scale."
TIMING = "Processor time per round, environment included."


def write_report(
    folder: str | PathLike[str],
    results: Results,
    graphs: Mapping[str, GraphSection] | None = None,
    *,
    files: bool = True,
) -> Path:
    """Write FOLDER/report.html and, with `files`, every figure as FOLDER/figures/*.png and *.pdf.

    Args:
        folder: made if missing; an older report there is replaced once the new one is complete.
        results: finished cells, as runs and sweeps leave them.
        graphs: what is known about each graph, by the name that its cells carry.
        files: also write the figures for papers; the page itself needs none of them.

    Returns:
        The path of the page.
    """
    folder = checked_path("the folder of a report", folder)
    folder.mkdir(parents=True, exist_ok=True)
    album = Album(folder, ("png", "pdf") if files else ())
    sections = dict(graphs or {})
    groups, scalings = groups_of(results), scalings_of(results)[:MOST_GRAPHS_DRAWN]
    content = {
        "title": results.title or "Regret report",
        "summary": _summary(results, groups),
        "graphs": [_graph(album, k, *named) for k, named in enumerate(sections.items(), 1)],
        "groups": [_group(album, k, group, sections.get(group.graph)) for k, group in enumerate(groups, 1)],
        "scalings": [_scaling(album, k, scaling) for k, scaling in enumerate(scalings, 1)],
        "provenance": list(_provenance(results)),
        "most_graphs": MOST_GRAPHS_DRAWN,
        "most_groups": MOST_GROUPS_DRAWN,
        "least_seeds": LEAST_SEEDS,
        "number": number,
    }
    write_page(folder / "report.html", "report.html.j2", content)
    return folder / "report.html"


def _summary(results: Results, groups: tuple[Group, ...]) -> str:
    runs = sum(len(cell.seeds) for cell in results.cells)
    rounds = sum(len(cell.seeds) * cell.horizon for cell in results.cells)
    policies = len({cell.policy for cell in results.cells})
    return (
        f"{counted(policies, 'policy')} in {counted(len(groups), 'comparison')}: "
        f"{counted(runs, 'run')}, {number(rounds)} rounds in all. Sidelight {__version__}."
    )


# -- graphs -----------------------------------------------------------------------------------------------


def _graph(album: Album, index: int, name: str, section: GraphSection) -> dict[str, Any]:
    drawn, partition = None, section.partition
    if index <= MOST_GRAPHS_DRAWN:
        blocks = "" if partition is None else f", {counted(partition.n_blocks, 'block')}"
        drawn = album.picture(
            graph_figure(section.graph, partition),
            f"graph-{index:02d}-{slug(name)}",
            f"The feedback graph {name}: {_size(section.graph)}{blocks}.",
            _graph_caption(section),
        )
    return {
        "anchor": f"graph-{index}",
        "name": name,
        "facts": list(_facts(section)),
        "figure": drawn,
        "bounds": [
            {"horizon": found.horizon, "sentence": bounds_sentence(found), "rows": bounds_rows(found)}
            for found in section.comparisons
        ],
    }


def _size(graph: FeedbackGraph) -> str:
    return f"{counted(graph.n_arms, 'arm')}, {counted(graph.n_edges, 'edge')}"


def _graph_caption(section: GraphSection) -> str:
    graph, partition = section.graph, section.partition
    text = ARMS if is_drawable(graph) else MATRIX
    if text is MATRIX and partition is not None and partition.n_blocks > 1:
        text += " Arms are ordered by block."
    if partition is None:
        return text
    if partition.n_blocks == 1:
        return f"{text} The plan plays all arms as one block."
    if partition.n_blocks == graph.n_arms:
        return f"{text} The plan plays every arm as a block of its own, so the incidence graph is the graph itself."
    return f"{text} Colours are blocks. Beside it the blocks, and who reveals into whom: the incidence graph."


def _facts(section: GraphSection) -> Iterator[tuple[str, str]]:
    graph, plan = section.graph, section.plan
    yield "size", _size(graph)
    yield "self-loops", f"{int(graph.has_loop.sum()):,}"
    if graph.labels is not None and graph.n_arms <= MOST_LABELS:
        yield "arms", ", ".join(f"{arm} {label!r}" for arm, label in enumerate(graph.labels))
    if plan is None:
        return
    p = plan.partition
    singles = f"{p.strong_loop.size:,} single arms that reveal themselves"
    others = f"{p.strong_loopless.size:,} that all others reveal"
    yield "blocks of the plan", f"{p.n_blocks:,}: {p.weak.size:,} weak, {singles}, {others}"
    rounds = "any number of rounds" if plan.horizon is None else counted(plan.horizon, "round")
    yield "plan", f"{plan.realization}, for {rounds}"
    parameters = {name: value for name, value in plan.parameters.items() if isinstance(value, float)}
    if parameters:
        yield "parameters", ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items())


# -- groups of cells --------------------------------------------------------------------------------------


def _group(album: Album, index: int, group: Group, section: GraphSection | None) -> dict[str, Any]:
    comparison = None if section is None else section.at(group.horizon)
    rows = [result_row(cell) | {"least": cell is group.ranked[0]} for cell in group.cells]
    drawn = _pictures(album, index, group, section, comparison) if index <= MOST_GROUPS_DRAWN else ()
    return {
        "anchor": f"comparison-{index}",
        "title": group.title,
        "verdict": verdict(group, comparison),
        "rows": [row | {"texts": result_texts(row)} for row in rows],
        "figures": list(drawn),
    }


def _pictures(
    album: Album, index: int, group: Group, section: GraphSection | None, comparison: Comparison | None
) -> Iterator[Picture]:
    name = f"{index:02d}-{slug(f'{group.graph} {group.environment}')}-{group.horizon}"
    ends = "; ".join(f"{c.label}, {number(float(c.mean[-1]))} at T" for c in regret_curves(group))
    alt = f"Regret against rounds on log axes for {group.title}: {ends}."
    floor = None if comparison is None else comparison.floor.value
    yield album.picture(regret_figure(group, floor), f"{name}-regret", alt, REGRET)
    if ledger := ledger_figure(group):
        alt = f"The four parts of the estimated regret for {group.title}, stacked."
        yield album.picture(ledger, f"{name}-ledger", alt, LEDGER)
    graph, partition = (None, None) if section is None else (section.graph, section.partition)
    if plays := plays_figure(group, partition, None if graph is None else graph.labels):
        alt = f"Share of plays of each arm for {group.title}."
        caption = PLAYS if graph is None else f"{PLAYS} {most_played(group, graph)}"
        yield album.picture(plays, f"{name}-plays", alt, caption)
    if timing := timing_figure(group):
        times = "; ".join(f"{cell.policy} {number(cell.nanoseconds_per_round)}" for cell in group.cells)
        alt = f"Nanoseconds per round for {group.title}: {times}."
        yield album.picture(timing, f"{name}-timing", alt, TIMING)


def _scaling(album: Album, index: int, scaling: Scaling) -> dict[str, Any]:
    lines = "; ".join(curve.label for curve in scaling_curves(scaling))
    drawn = album.picture(
        scaling_figure(scaling),
        f"scaling-{index:02d}-{slug(f'{scaling.graph} {scaling.environment}')}",
        f"Final regret against the horizon for {scaling.title}: {lines}.",
        SCALING,
    )
    return {"anchor": f"scaling-{index}", "title": f"{scaling.title}: growth with T", "figure": drawn}


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
