"""The figures of a report as files, PNG for slides and PDF for papers, or embedded in a page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from sidelight._files import replacing
from sidelight.report.figures.canvas import save_figure, settle
from sidelight.report.figures.graph import graph_figure
from sidelight.report.figures.ledger import ledger_figure, timing_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure, scaling_figure
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
    floor = None if comparison is None else comparison.floor.value
    limit = None if section is None else section.long_runs.get(group.environment)
    figures = {
        "regret": regret_figure(group, floor, limit, width=width),
        "ledger": ledger_figure(group, width=width),
        "plays": plays_figure(group, partition, None if graph is None else graph.labels, width=width),
        "timing": timing_figure(group, width=width),
    }
    for kind, figure in figures.items():
        if figure is not None:
            title = f"{kind[0].upper()}{kind[1:]}: {group.title}"
            yield Drawn(title, album.write(figure, f"{name}-{kind}"))


MOST_SVG_BYTES = 400_000
"""A figure with more shapes than this is embedded as pixels."""
PIXELS_PER_INCH = 120
FOLDER = "figures"


class Picture(NamedTuple):
    """One figure of a page."""

    name: str
    source: str  # data: URI
    alt: str
    width: int  # pixels on the page
    height: int


class Album(NamedTuple):
    """Where the page is written, and as what each figure is saved beside it."""

    folder: Path
    forms: tuple[str, ...]  # of "png", "pdf"

    def picture(self, figure: Figure, name: str, alt: str) -> Picture:
        """Embed `figure`, and write figures/NAME.png and so on under the folder."""
        self.write(figure, name)
        width, height = (round(PIXELS_PER_INCH * float(inches)) for inches in figure.get_size_inches())
        return Picture(name, embedded(figure), alt, width, height)

    def write(self, figure: Figure, name: str) -> tuple[str, ...]:
        """Write figures/NAME.png and so on under the folder; the names of the files, from there."""
        settle(figure)
        files = tuple(f"{FOLDER}/{name}.{form}" for form in self.forms)
        for file, form in zip(files, self.forms, strict=True):
            (self.folder / FOLDER).mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / file) as stream:
                save_figure(figure, stream, form)
        return files


def embedded(figure: Figure) -> str:
    """A data: URI that shows the figure without any file or network; text is drawn as shapes."""
    content, kind = _saved(figure, "svg"), "svg+xml"
    if len(content) > MOST_SVG_BYTES:
        content, kind = _saved(figure, "png"), "png"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    save_figure(figure, file, form)
    return file.getvalue()


def slug(text: str) -> str:
    """A file name that any system takes.

    >>> slug("cliques:5x20, gap:0.2")
    'cliques-5x20-gap-0.2'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:60] or "unnamed"
