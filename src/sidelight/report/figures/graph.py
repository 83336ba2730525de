"""The graph: arm by arm where that can be read, else as a picture of its matrix and degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.report.figures.axes import log_axis, thousands
from sidelight.report.figures.layout import block_layout, layout
from sidelight.report.style import COLOURS, GREY, INK, new_figure, styled
from sidelight.report.text import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARMS_DRAWN = 150
MOST_EDGES_DRAWN = 3000
MOST_ARROWS_DRAWN = 500
"""Beyond these a drawing is a black blot."""
MOST_LABELS = 60
MOST_BLOCKS_DRAWN = 60
POINTS_ACROSS = 200
"""About how many points wide a drawing is."""
PIXELS = 160
"""Most rows and columns of a matrix picture."""


def is_drawable(graph: FeedbackGraph) -> bool:
    """Can the graph be drawn arm by arm?"""
    if graph.n_arms > MOST_ARMS_DRAWN or graph.n_edges > MOST_EDGES_DRAWN:
        return False
    edges = graph.to_sparse()
    return bool(graph.n_edges - edges.multiply(edges.T).nnz <= MOST_ARROWS_DRAWN)


def is_regular(graph: FeedbackGraph) -> bool:
    """Do all arms reveal equally many, and are they revealed by equally many?"""
    return bool(
        (graph.out_degree == graph.out_degree[0]).all() and (graph.in_degree == graph.in_degree[0]).all()
    )


def graph_figure(graph: FeedbackGraph, partition: Partition | None = None) -> Figure:
    """The graph coloured by block, beside its blocks and their incidence graph if they add anything."""
    with styled():
        blocks = partition is not None and 1 < partition.n_blocks < graph.n_arms
        drawable = is_drawable(graph)
        regular = is_regular(graph)
        panels = (1 if drawable or regular else 2) + blocks
        figure = new_figure(3.4 if panels == 1 else 7.2, 3.3 if drawable or panels < 3 else 2.7)
        row = list(np.atleast_1d(figure.subplots(1, panels)))
        if drawable:
            draw_graph(row.pop(0), graph, partition)
        else:
            draw_matrix(row.pop(0), graph, partition)
            if not regular:
                draw_degrees(row.pop(0), graph)
        if partition is not None and blocks:
            if partition.n_blocks <= MOST_BLOCKS_DRAWN:
                draw_incidence(row[0], partition)
            else:
                draw_block_sizes(row[0], partition)
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
    axes.scatter(loops[:, 0], loops[:, 1], s=2.1 * size, c="white", edgecolors=INK, linewidths=0.6, zorder=2)
    axes.scatter(at[:, 0], at[:, 1], s=size, c=colours, edgecolors=INK, linewidths=0.6, zorder=3)
    if graph.n_arms <= MOST_LABELS and size >= 55:
        for arm, (x, y) in enumerate(at):
            dark = colours[arm] != "white" and _is_dark(colours[arm])
            ink = "white" if dark else INK
            small = 6 if size > 80 else 5
            axes.text(x, y, str(arm), ha="center", va="center", fontsize=small, color=ink, zorder=4)
    _finish(axes, at, _title(graph))


def draw_incidence(axes: Axes, partition: Partition) -> None:
    """A disc for each block, its area growing with its size; an edge where one reveals into another."""
    incidence = partition.incidence_graph()
    at = layout(incidence)
    sizes = partition.sizes
    limit = 3.2 * _dot_size(at)
    area = limit * (0.3 + 0.7 * np.sqrt(sizes / sizes.max()))
    edges = incidence.edges()
    _draw_edges(axes, at, edges, area)
    colours = [_kind_colour(partition, k) for k in range(partition.n_blocks)]
    axes.scatter(at[:, 0], at[:, 1], s=area, c=colours, edgecolors=INK, linewidths=0.6, zorder=3)
    if partition.n_blocks <= 40:
        for (x, y), size in zip(at, sizes, strict=True):
            text = number(int(size))
            axes.text(x, y, text, ha="center", va="center", fontsize=6 if limit > 150 else 5, zorder=4)
    across = counted(len(edges), "edge") if len(edges) else "no edge"
    _finish(axes, at, f"{counted(partition.n_blocks, 'block')}, {across} between them")
    _kind_legend(axes, partition)


def draw_block_sizes(axes: Axes, partition: Partition) -> None:
    """How many blocks there are of each size, where there are too many to draw."""
    sizes, counts = np.unique(partition.sizes, return_counts=True)
    log_axis(axes, "x", 0.7, max(2.0, 1.4 * float(sizes.max())))
    log_axis(axes, "y", 0.7, 2.0 * float(counts.max()))
    axes.vlines(sizes, 0.7, counts, color=COLOURS[0], linewidth=1.5 if sizes.size > 20 else 4)
    axes.set_xlabel("arms in a block")
    axes.set_ylabel("blocks")
    links = partition.incidence_graph().n_edges
    across = counted(links, "edge") if links else "no edge"
    axes.set_title(f"{counted(partition.n_blocks, 'block')},\n{across} between them")
    axes.grid(axis="y")


def draw_matrix(axes: Axes, graph: FeedbackGraph, partition: Partition | None = None) -> None:
    """Which arms (rows) reveal which (columns), arms ordered by block; darker where more pairs are edges."""
    from matplotlib.colors import LogNorm

    shares, side = matrix_shares(graph, partition)
    shown = np.ma.masked_equal(shares, 0.0)
    least = float(shown.min()) if shown.count() else 1.0
    norm = LogNorm(vmin=min(least, 0.1), vmax=1.0)
    axes.imshow(shown, cmap="Blues", norm=norm, extent=(0, side, side, 0), interpolation="nearest")
    axes.set_xlabel("arm revealed")
    axes.set_ylabel("arm played")
    thousands(axes.xaxis)
    thousands(axes.yaxis)
    axes.locator_params(nbins=4)
    for spine in axes.spines.values():
        spine.set_visible(True)
    axes.set_title(_title(graph))


def matrix_shares(graph: FeedbackGraph, partition: Partition | None = None) -> tuple[Floats, int]:
    """Share of pairs that are edges in each cell of a coarse grid over the matrix, and the matrix's side.

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
    hits = np.bincount(rows * cells + cell[graph.out_indices], minlength=cells * cells).astype(float)
    counts = hits.reshape(cells, cells)
    everywhere = np.bincount(cell[graph.universal], minlength=cells).astype(float)
    counts += np.outer(height, everywhere)
    loopless = graph.universal[~graph.has_loop[graph.universal]]
    counts[np.arange(cells), np.arange(cells)] -= np.bincount(cell[loopless], minlength=cells)
    shares: Floats = counts / np.outer(height, height)
    return shares, n


def draw_degrees(axes: Axes, graph: FeedbackGraph) -> None:
    """How many arms an arm reveals, and how many reveal it: share of arms with at least that many."""
    n = graph.n_arms
    most = float(max(graph.out_degree.max(), graph.in_degree.max(), 1))
    log_axis(axes, "x", 0.8, 1.5 * max(most, 2.0))
    ways = (
        (graph.out_degree, "reveals", COLOURS[0], "-"),
        (graph.in_degree, "is revealed by", COLOURS[1], "--"),
    )
    for degrees, label, colour, dash in ways:
        values, counts = np.unique(np.maximum(degrees, 0.8), return_counts=True)
        share = np.cumsum(counts[::-1])[::-1] / n
        x = np.concatenate([[0.8], values, values[-1:]])
        y = np.concatenate([[1.0], share, [0.0]])
        axes.step(x, y, where="pre", color=colour, linestyle=dash, label=label)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("at least so many arms")
    axes.set_ylabel("share of all arms")
    axes.set_title("degrees")
    axes.grid(visible=True)
    axes.legend(loc="best")


# -- parts ------------------------------------------------------------------------------------------------


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
    source, target = at[edges[:, 0]], at[edges[:, 1]]
    along = (
        (target - source) / np.maximum(np.linalg.norm(target - source, axis=1, keepdims=True), 1e-9) * point
    )
    across = along[:, ::-1] * np.array([-1, 1])
    tip = target - (radius + 1.5) * along
    tail = tip - length * along
    heads: Floats = np.stack([tip, tail + 0.4 * length * across, tail - 0.4 * length * across], axis=1)
    return heads


def _extent(at: Floats) -> float:
    return float((at.max(axis=0) - at.min(axis=0)).max()) + 1.0


def _dot_size(at: Floats) -> float:
    """Area in square points: dots fill about half of the way to their neighbours."""
    if len(at) == 1:
        return 160.0
    drawn = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(drawn, np.inf)
    points = POINTS_ACROSS * float(np.quantile(drawn.min(axis=1), 0.1)) / _extent(at)
    return float(np.clip((0.55 * points) ** 2, 12, 160))


def _block_colours(partition: Partition) -> list[Any]:
    """The colour of every arm: that of its block, white where it is alone."""
    large = partition.sizes > 1
    index = np.cumsum(large) - 1
    return ["white" if not large[k] else COLOURS[index[k] % (len(COLOURS) - 1)] for k in partition.block_of]


KINDS = (
    ("strong_loop", "reveals itself", "#FFFFFF"),
    ("strong_loopless", "revealed by all others", "#F3D98B"),
    ("weak", "weak block", "#9CC7E8"),
)


def _kind_colour(partition: Partition, block: int) -> str:
    return next(colour for name, _, colour in KINDS if block in getattr(partition, name))


def _kind_legend(axes: Axes, partition: Partition) -> None:
    for name, label, colour in KINDS:
        if len(getattr(partition, name)):
            axes.scatter([], [], s=40, c=colour, edgecolors=INK, linewidths=0.6, label=label)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, handletextpad=0.2, columnspacing=1)


def _is_dark(colour: Any) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.55


def _title(graph: FeedbackGraph) -> str:
    edges = counted(graph.n_edges, "edge") if graph.n_edges < 10**7 else f"{number(graph.n_edges)} edges"
    sizes = f"{counted(graph.n_arms, 'arm')}, {edges}"
    if is_drawable(graph) or not is_regular(graph):
        return sizes
    return f"{sizes}; every arm\nreveals {graph.out_degree[0]:,} and is revealed by {graph.in_degree[0]:,}"


def _finish(axes: Axes, at: Floats, title: str) -> None:
    low, high = at.min(axis=0), at.max(axis=0)
    half = max(float((high - low).max()) / 2, 0.5) * 1.0
    pad = 0.12 * half + 0.25
    middle = (low + high) / 2
    axes.set_xlim(middle[0] - half - pad, middle[0] + half + pad)
    span = float((high - low)[1]) / 2
    axes.set_ylim(middle[1] - max(span, 0.6 * half) - pad, middle[1] + max(span, 0.6 * half) + pad)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title)
