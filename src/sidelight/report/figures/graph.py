"""The graph: arm by arm where that can be read, else as a picture of its matrix and degrees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.report.figures.layout import block_layout, distances, layout
from sidelight.report.figures.matrix import (
    block_counts,
    draw_block_sizes,
    draw_degrees,
    draw_matrix,
    is_regular,
    sizes,
)
from sidelight.report.style import COLOURS, DARK, GREY, INK, NARROW, PAGE, new_figure, styled
from sidelight.report.text import number, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARMS_DRAWN = 150
MOST_EDGES_DRAWN = 3000
MOST_ARROWS_DRAWN = 500
"""Beyond these a drawing is a black blot."""
MOST_LABELS = 60
MOST_SIZES = 40
MOST_BLOCKS_DRAWN = 60
POINTS_ACROSS = 200
"""About how many points wide a drawing is."""

MOST_LETTERS, LETTER = 16, 3.2
"""Of a label, and how wide one is in points."""
SIDES = ((0, -1), (0, 1), (1, 0), (-1, 0))
"""Where a label may stand beside its dot, the first unless another has more room."""
OUTLINE: dict[str, Any] = {"edgecolors": INK, "linewidths": 0.6}
CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}


def is_drawable(graph: FeedbackGraph) -> bool:
    """Can the graph be drawn arm by arm?"""
    if graph.n_arms > MOST_ARMS_DRAWN or graph.n_edges > MOST_EDGES_DRAWN:
        return False
    edges = graph.to_sparse()
    return bool(graph.n_edges - edges.multiply(edges.T).nnz <= MOST_ARROWS_DRAWN)


@styled()
def graph_figure(graph: FeedbackGraph, partition: Partition | None = None, *, width: float = PAGE) -> Figure:
    """The graph coloured by block, beside its blocks and their incidence graph if they add anything."""
    drawable = is_drawable(graph)
    panels: list[Callable[[Axes], None]]
    panels = [partial(draw_graph if drawable else draw_matrix, graph=graph, partition=partition)]
    if not drawable and not is_regular(graph):
        panels.append(partial(draw_degrees, graph=graph))
    if partition is not None and 1 < partition.n_blocks < graph.n_arms:
        few = partition.n_blocks <= MOST_BLOCKS_DRAWN
        panels.append(partial(draw_incidence if few else draw_block_sizes, partition=partition))
    height = 3.3 if drawable or len(panels) < 3 else 2.7
    if len(panels) == 1:
        figure, shape = new_figure(min(width, 3.4), height), (1, 1)
    elif width < NARROW:
        figure, shape = new_figure(width, len(panels) * min(height, 0.95 * width)), (len(panels), 1)
    else:
        figure, shape = new_figure(width, height), (1, len(panels))
    for axes, draw in zip(np.atleast_1d(figure.subplots(*shape)), panels, strict=True):
        draw(axes)
    return figure


def draw_graph(axes: Axes, graph: FeedbackGraph, partition: Partition | None = None) -> None:
    """A dot for each arm in the colour of its block (white: alone), a ring where it reveals itself.

    A line joins arms that reveal each other, an arrow points at what is revealed one way only.
    """
    at = layout(graph) if partition is None else block_layout(partition)
    colours = [COLOURS[0]] * graph.n_arms if partition is None else _block_colours(partition)
    size = _dot_size(at)
    edges = graph.edges()
    rings = np.where(graph.has_loop, 2.1 * size, size)
    _draw_edges(axes, at, edges[edges[:, 0] != edges[:, 1]], rings)
    loops = at[graph.has_loop]
    axes.scatter(loops[:, 0], loops[:, 1], 2.1 * size, "white", zorder=2, **OUTLINE)
    axes.scatter(at[:, 0], at[:, 1], size, colours, zorder=3, **OUTLINE)
    if graph.n_arms <= MOST_LABELS and size >= 55:
        for arm, (x, y) in enumerate(at):
            ink = "white" if colours[arm] in DARK else INK
            axes.text(x, y, str(arm), fontsize=6 if size > 80 else 5, color=ink, **CENTRED)
    if graph.labels is not None and graph.n_arms <= MOST_LABELS:
        letters = max(len(short(label, MOST_LETTERS)) for label in graph.labels)
        if LETTER * letters <= _spacing(at):
            _draw_labels(axes, graph, at, rings)
    _finish(axes, at, sizes(graph))


def _draw_labels(axes: Axes, graph: FeedbackGraph, at: Floats, rings: Floats) -> None:
    """The label of every arm below its dot, or above or beside it if edges leave more room there."""
    from matplotlib.patheffects import withStroke

    assert graph.labels is not None
    halo = [withStroke(linewidth=1.2, foreground="white")]  # an edge does not cross it out
    for arm, label in enumerate(graph.labels):
        others = np.concatenate([graph.out_neighbors(arm), graph.in_neighbors(arm)])
        towards = at[others[others != arm]] - at[arm]
        towards /= np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 1e-9)
        x, y = min(SIDES, key=lambda side: max((towards @ np.array(side)).tolist(), default=0.0))
        away = np.sqrt(rings[arm]) / 2 + 2
        axes.annotate(
            short(label, MOST_LETTERS),
            at[arm],
            xytext=(x * away, y * away),
            textcoords="offset points",
            ha={0: "center", 1: "left", -1: "right"}[x],
            va={0: "center", 1: "bottom", -1: "top"}[y],
            fontsize=6 if graph.n_arms <= 30 else 5,
            zorder=5,
            path_effects=halo,
        )


def draw_incidence(axes: Axes, partition: Partition) -> None:
    """A disc for each block, its area growing with its size; an edge where one reveals into another."""
    incidence = partition.incidence_graph()
    at = layout(incidence)
    limit = 3.2 * _dot_size(at)
    area = limit * (0.3 + 0.7 * np.sqrt(partition.sizes / partition.sizes.max()))
    _draw_edges(axes, at, incidence.edges(), area)
    colours = np.empty(partition.n_blocks, dtype=object)
    for blocks, label, colour in (
        (partition.strong_loop, "reveals itself", "#FFFFFF"),
        (partition.strong_loopless, "revealed by all others", "#F3D98B"),
        (partition.weak, "weak block", "#9CC7E8"),
    ):
        colours[blocks] = colour
        if len(blocks):
            axes.scatter([], [], s=40, c=colour, label=label, **OUTLINE)
    axes.scatter(at[:, 0], at[:, 1], area, colours.tolist(), zorder=3, **OUTLINE)
    if partition.n_blocks <= MOST_SIZES:
        for (x, y), size in zip(at, partition.sizes, strict=True):
            axes.text(x, y, number(int(size)), fontsize=6 if limit > 150 else 5, **CENTRED)
    _finish(axes, at, ", ".join(block_counts(partition)))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, handletextpad=0.2, columnspacing=1)


def _draw_edges(axes: Axes, at: Floats, edges: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> None:
    """Lines, with heads where an edge goes one way only; `sizes` are the areas of all dots."""
    from matplotlib.collections import LineCollection, PolyCollection

    if not len(edges):
        return
    n = len(at)
    keys = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    mutual = np.isin(edges[:, 1].astype(np.int64) * n + edges[:, 0], keys)
    fade = float(np.clip(60 / len(edges), 0.25, 0.8))
    lines = edges[~mutual | (edges[:, 0] < edges[:, 1])]
    axes.add_collection(LineCollection(list(at[lines]), colors=GREY, linewidths=0.7, alpha=fade, zorder=1))
    if not mutual.all():
        heads = _heads(at, edges[~mutual], sizes)
        axes.add_collection(PolyCollection(list(heads), facecolors=GREY, linewidths=0, alpha=0.8, zorder=1))


def _heads(at: Floats, edges: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Floats:
    """(E, 3, 2) triangles that point at dots of these sizes; polygons are drawn much quicker than arrows."""
    radius = np.sqrt(sizes[edges[:, 1], None]) / 2
    length = float(np.clip(0.35 * np.sqrt(sizes.min()), 2.5, 4))
    point = _extent(at) / POINTS_ACROSS
    target = at[edges[:, 1]]
    towards = target - at[edges[:, 0]]
    along = towards / np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 1e-9) * point
    across = along[:, ::-1] * np.array([-1, 1])
    tip = target - (radius + 1.5) * along
    tail = tip - length * along
    heads: Floats = np.stack([tip, tail + 0.4 * length * across, tail - 0.4 * length * across], axis=1)
    return heads


def _extent(at: Floats) -> float:
    return float((at.max(axis=0) - at.min(axis=0)).max()) + 1.0


def _dot_size(at: Floats) -> float:
    """Area in square points: dots fill about half of the way to their neighbours."""
    return float(np.clip((0.55 * _spacing(at)) ** 2, 12, 160))


def _spacing(at: Floats) -> float:
    """How far, in points, most dots are from any other at least."""
    if len(at) == 1:
        return float(POINTS_ACROSS)
    return POINTS_ACROSS * float(np.quantile(distances(at).min(axis=1), 0.1)) / _extent(at)


def _block_colours(partition: Partition) -> list[Any]:
    """The colour of every arm: that of its block, white where it is alone."""
    large = partition.sizes > 1
    index = np.cumsum(large) - 1
    return ["white" if not large[k] else COLOURS[index[k] % (len(COLOURS) - 1)] for k in partition.block_of]


def _finish(axes: Axes, at: Floats, title: str) -> None:
    """Show all dots, in a frame no flatter than 3 : 5, without axes."""
    low, high = at.min(axis=0), at.max(axis=0)
    half = max(float((high - low).max()) / 2, 0.5)
    reach = np.array([half, max(float((high - low)[1]) / 2, 0.6 * half)]) + 0.12 * half + 0.25
    (left, bottom), (right, top) = (low + high) / 2 - reach, (low + high) / 2 + reach
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set_axis_off()
    axes.set_title(title)
