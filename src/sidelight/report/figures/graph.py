"""The graph: arm by arm where that can be read, else as a picture of its matrix, degrees and blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from sidelight._types import Floats
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.report.figures.axes import log_axis, thousands
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.figures.layout import block_layout, distances, layout
from sidelight.report.style import COLOURS, DARK, GREY, INK, NARROW, PAGE
from sidelight.report.text import counted, number

MOST_ARMS_DRAWN = 150
MOST_EDGES_DRAWN = 3000
MOST_ARROWS_DRAWN = 500
"""Beyond these a drawing is a black blot."""
MOST_NUMBERED = 60
MOST_SIZES = 40
MOST_BLOCKS_DRAWN = 60
POINTS_ACROSS = 200
"""About how many points wide a drawing is."""

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
    if graph.n_arms <= MOST_NUMBERED and size >= 55:
        for arm, (x, y) in enumerate(at):
            ink = "white" if colours[arm] in DARK else INK
            axes.text(x, y, str(arm), fontsize=6 if size > 80 else 5, color=ink, **CENTRED)
    _finish(axes, at, sizes(graph))


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


# -- graphs too large to draw arm by arm --------------------------------------------------------------------


PIXELS = 160
"""Most rows and columns of a matrix picture."""


def is_regular(graph: FeedbackGraph) -> bool:
    """Do all arms reveal equally many, and are they revealed by equally many?"""
    return all(bool((degree == degree[0]).all()) for degree in (graph.out_degree, graph.in_degree))


def sizes(graph: FeedbackGraph) -> str:
    """Arms and edges, as titles have them."""
    edges = counted(graph.n_edges, "edge") if graph.n_edges < 10**7 else f"{number(graph.n_edges)} edges"
    return f"{counted(graph.n_arms, 'arm')}, {edges}"


def block_counts(partition: Partition) -> tuple[str, str]:
    """How many blocks, and how many edges between them."""
    edges = partition.incidence_graph().n_edges
    return counted(
        partition.n_blocks, "block"
    ), f"{counted(edges, 'edge') if edges else 'no edge'} between them"


def draw_matrix(axes: Axes, graph: FeedbackGraph, partition: Partition | None = None) -> None:
    """Which arms (rows) reveal which (columns), arms ordered by block; darker where more pairs are edges."""
    side = graph.n_arms
    shown = np.ma.masked_equal(matrix_shares(graph, partition), 0.0)
    least = float(shown.min()) if shown.count() else 1.0
    norm = LogNorm(vmin=min(least, 0.1), vmax=1.0)
    axes.imshow(shown, cmap="Blues", norm=norm, extent=(0, side, side, 0), interpolation="nearest")
    axes.set(xlabel="arm revealed", ylabel="arm played")
    thousands(axes.xaxis)
    thousands(axes.yaxis)
    axes.locator_params(nbins=4)
    axes.spines[:].set_visible(True)
    title = sizes(graph)
    if is_regular(graph):
        title += f"; every arm\nreveals {graph.out_degree[0]:,} and is revealed by {graph.in_degree[0]:,}"
    axes.set_title(title)


def matrix_shares(graph: FeedbackGraph, partition: Partition | None = None) -> Floats:
    """Share of pairs that are edges in each cell of a coarse grid over the matrix.

    Arms are ordered by block. Costs O(n + explicit edges): nothing of size n² is made.
    """
    n = graph.n_arms
    place = np.arange(n)
    if partition is not None:
        place[np.argsort(partition.block_of, kind="stable")] = np.arange(n)
    cells = min(n, PIXELS)
    cell = place * cells // n
    height = np.bincount(cell, minlength=cells).astype(float)
    rows = np.repeat(cell, np.diff(graph.out_indptr))
    hits = np.bincount(rows * cells + cell[graph.out_indices], minlength=cells * cells)
    counts = hits.reshape(cells, cells) + np.outer(
        height, np.bincount(cell[graph.universal], minlength=cells)
    )
    loopless = graph.universal[~graph.has_loop[graph.universal]]
    counts[np.arange(cells), np.arange(cells)] -= np.bincount(cell[loopless], minlength=cells)
    shares: Floats = counts / np.outer(height, height)
    return shares


def draw_degrees(axes: Axes, graph: FeedbackGraph) -> None:
    """How many arms an arm reveals, and how many reveal it: share of arms with at least that many."""
    most = float(max(graph.out_degree.max(), graph.in_degree.max(), 1))
    log_axis(axes, "x", 0.8, 1.5 * max(most, 2.0))
    for degrees, label, colour, dash in (
        (graph.out_degree, "reveals", COLOURS[0], "-"),
        (graph.in_degree, "is revealed by", COLOURS[1], "--"),
    ):
        values, counts = np.unique(np.maximum(degrees, 0.8), return_counts=True)
        share = np.cumsum(counts[::-1])[::-1] / graph.n_arms
        x = np.concatenate([[0.8], values, values[-1:]])
        y = np.concatenate([[1.0], share, [0.0]])
        axes.step(x, y, where="pre", color=colour, linestyle=dash, label=label)
    axes.set(ylim=(0, 1.05), xlabel="at least so many arms", ylabel="share of all arms")
    axes.set_title("degrees")
    axes.grid(visible=True)
    axes.legend(loc="best")


def draw_block_sizes(axes: Axes, partition: Partition) -> None:
    """How many blocks there are of each size, where there are too many to draw."""
    sizes, counts = np.unique(partition.sizes, return_counts=True)
    log_axis(axes, "x", 0.7, max(2.0, 1.4 * float(sizes.max())))
    log_axis(axes, "y", 0.7, 2.0 * float(counts.max()))
    axes.vlines(sizes, 0.7, counts, color=COLOURS[0], linewidth=1.5 if sizes.size > 20 else 4)
    axes.set(xlabel="arms in a block", ylabel="blocks")
    blocks, across = block_counts(partition)
    axes.set_title(f"{blocks},\n{across}")
    axes.grid(axis="y")
