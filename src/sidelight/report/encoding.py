"""Graphs and shares of plays as the scripts of a page read them: packed as base64, as far as they fit."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Longs
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import Plan
from sidelight.report.figures.layout import block_layout, layout, packed_layout

SHADES_PER_OCTAVE, LARGEST_SHADE = 2048, 2**16 - 1
"""All plays are the largest shade, half of them so many less, none are 0: rounding moves a share by 0.02 %."""
MOST_GRAPH_NUMBERS = 600_000
"""Of all graphs of a page."""
MOST_ARMS_PLACED = 20_000
MOST_ARMS_LAID_OUT = 150
MOST_RUNS = 150_000
"""Of consecutive arms that are revealed: a graph with more is shown without its edges."""


def packed(values: npt.ArrayLike, kind: str = "<f4") -> str:
    """An array as base64 of its little-endian numbers.

    >>> packed([1.0, -2.0])
    'AACAPwAAAMA='
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


class Budget:
    """How much may still be stored."""

    def __init__(self, most: int) -> None:
        self.left = most

    def takes(self, count: int) -> bool:
        """Is there room for `count` numbers? If so they are spent."""
        fits = count <= self.left
        self.left -= count if fits else 0
        return fits


def shaded(counts: Longs) -> npt.NDArray[np.uint16]:
    """Shares of all plays of each row in 16 bits, as `S.shares` of core.js reads them.

    >>> shaded(np.array([[0, 1, 1, 2]])).tolist()
    [[0, 61439, 61439, 63487]]
    """
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    octaves = np.log2(shares, out=np.zeros(shares.shape), where=shares > 0)
    shades = np.maximum(np.rint(LARGEST_SHADE + SHADES_PER_OCTAVE * octaves), 1)
    return np.where(shares > 0, shades, 0).astype(np.uint16)


def graph_data(
    graph: FeedbackGraph,
    partition: Partition | None = None,
    plan: Plan | None = None,
    takes: Callable[[int], bool] = lambda numbers: True,
) -> dict[str, Any]:
    """Positions, blocks, exploration and edges, as far as they fit."""
    data: dict[str, Any] = {"arms": graph.n_arms, "edges": graph.n_edges}
    if graph.n_arms > MOST_ARMS_PLACED or not takes(5 * graph.n_arms):
        return data
    starts, lengths, offsets = revealed_runs(graph)
    kind = "<u2" if graph.n_arms <= 2**16 - 1 else "<u4"
    at = _positions(graph, partition)
    data |= {
        "x": packed(at[:, 0]),
        "y": packed(-at[:, 1]),  # downwards, as screens have it
        "loop": packed(graph.has_loop, "u1"),
        "universal": graph.universal.tolist(),
        "labels": None if graph.labels is None else list(graph.labels),
    }
    if partition is not None:
        data["block"] = packed(partition.block_of, "<u4")
        data["blocks"] = partition.n_blocks
    if plan is not None:
        sizes = plan.tuning.sizes[plan.tuning.block_of]
        data["exploration"] = packed(plan.tuning.exploration(graph, 1.0 / sizes))
    if starts.size <= MOST_RUNS and takes(starts.size):
        data["runs"] = {
            "bytes": 2 if kind == "<u2" else 4,
            "offsets": packed(offsets, "<u4"),
            "starts": packed(starts, kind),
            "lengths": packed(lengths, kind),
        }
    return data


def _positions(graph: FeedbackGraph, partition: Partition | None) -> Floats:
    if graph.n_arms > MOST_ARMS_LAID_OUT:
        return packed_layout(graph, partition)
    return _laid_out(graph, partition)


@lru_cache(maxsize=64)
def _laid_out(graph: FeedbackGraph, partition: Partition | None) -> Floats:
    """Remembered: it takes up to a tenth of a second, and everyone who watches a policy asks for the same."""
    return layout(graph) if partition is None else block_layout(partition)


def revealed_runs(graph: FeedbackGraph) -> tuple[Longs, Longs, Longs]:
    """What each arm reveals, as runs of consecutive arms: starts, lengths, and where each arm's runs begin.

    Arms that everyone reveals are left out. Runs keep cliques and full feedback small.
    """
    sources, targets = graph.out_sources, graph.out_indices.astype(np.int64)
    if targets.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(graph.n_arms + 1, np.int64)
    fresh = np.ones(targets.size, dtype=bool)
    fresh[1:] = (np.diff(targets) != 1) | (np.diff(sources) != 0)
    first = np.flatnonzero(fresh)
    lengths = np.diff(np.append(first, targets.size))
    offsets = np.searchsorted(sources[first], np.arange(graph.n_arms + 1))
    return targets[first], lengths.astype(np.int64), offsets.astype(np.int64)
