"""The figures of a report as files: PNG for slides, PDF for papers, at the width of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sidelight.report.album import Album, slug
from sidelight.report.figures.graph import graph_figure
from sidelight.report.figures.ledger import ledger_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure
from sidelight.report.figures.scaling import scaling_figure
from sidelight.report.figures.timing import timing_figure
from sidelight.report.groups import Group, Scaling
from sidelight.report.section import GraphSection
from sidelight.report.style import PAGE

MOST_GROUPS_DRAWN = 12
MOST_GRAPHS_DRAWN = 12
"""Drawing takes a second or so for each; a long sweep draws its first ones, the page has all of them."""


class Drawn(NamedTuple):
    """One figure on disk."""

    title: str
    files: tuple[str, ...]  # relative to the page


def draw_all(
    album: Album,
    groups: tuple[Group, ...],
    sections: Mapping[str, GraphSection],
    scalings: tuple[Scaling, ...],
    width: float = PAGE,
) -> Iterator[Drawn]:
    """Every figure of the first graphs, comparisons and growths, written into the album."""
    for index, (name, section) in enumerate(list(sections.items())[:MOST_GRAPHS_DRAWN], 1):
        figure = graph_figure(section.graph, section.partition, width=width)
        yield Drawn(f"Graph {name}", album.write(figure, f"graph-{index:02d}-{slug(name)}"))
    for index, group in enumerate(groups[:MOST_GROUPS_DRAWN], 1):
        yield from _draw_group(album, index, group, sections.get(group.graph), width)
    for index, scaling in enumerate(scalings[:MOST_GRAPHS_DRAWN], 1):
        figure = scaling_figure(scaling, width=width)
        name = f"scaling-{index:02d}-{slug(f'{scaling.graph} {scaling.environment}')}"
        yield Drawn(f"Growth with {scaling.variable}: {scaling.title}", album.write(figure, name))


def _draw_group(
    album: Album, index: int, group: Group, section: GraphSection | None, width: float
) -> Iterator[Drawn]:
    name = f"{index:02d}-{slug(f'{group.graph} {group.environment}')}-{group.horizon}"
    comparison = None if section is None else section.at(group.horizon)
    graph, partition = (None, None) if section is None else (section.graph, section.partition)
    figures = {
        "regret": regret_figure(group, None if comparison is None else comparison.floor.value, width=width),
        "ledger": ledger_figure(group, width=width),
        "plays": plays_figure(group, partition, None if graph is None else graph.labels, width=width),
        "timing": timing_figure(group, width=width),
    }
    for kind, figure in figures.items():
        if figure is not None:
            title = f"{kind[0].upper()}{kind[1:]}: {group.title}"
            yield Drawn(title, album.write(figure, f"{name}-{kind}"))
