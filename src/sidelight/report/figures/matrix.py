"""Graphs too large to draw arm by arm: their matrix, their degrees, the sizes of their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Floats
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.report.figures.axes import log_axis, thousands
from sidelight.report.style import COLOURS
from sidelight.report.text import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib.colors import LogNorm

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
