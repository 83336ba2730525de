"""Partitions that come with the graph: nothing is searched, everything takes about O(n + edges)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Bools, Longs
from sidelight.analysis.observability import observability
from sidelight.errors import UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.colours import colours
from sidelight.graph.names import names
from sidelight.partition.communities import louvain, mended
from sidelight.partition.hypercube import hypercube
from sidelight.partition.partition import Partition

__all__ = [
    "communities",
    "components",
    "corrupted",
    "hypercube",
    "single",
    "singletons",
    "strongly_connected",
]


def single(graph: FeedbackGraph) -> Partition:
    """One block of all arms: legal for every observable graph."""
    _require_observable(graph)
    return Partition(graph, [np.arange(graph.n_arms)])


def singletons(graph: FeedbackGraph) -> Partition:
    """Every arm on its own: legal exactly for strongly observable graphs."""
    _require_observable(graph)
    return Partition.from_labels(graph, np.arange(graph.n_arms))


def components(graph: FeedbackGraph) -> Partition:
    """Weakly connected components: legal for every observable graph, as no edge crosses."""
    _require_observable(graph)
    return Partition.from_labels(graph, _component_labels(graph, "weak"))


def strongly_connected(graph: FeedbackGraph) -> Partition:
    """Strongly connected components: legal when those of one arm are strongly observable."""
    _require_observable(graph)
    return Partition.from_labels(graph, _component_labels(graph, "strong"))


def communities(graph: FeedbackGraph, seed: int = 0) -> Partition:
    """Groups of arms with many edges inside and few between, merged until they are legal; drawn by `seed`."""
    _require_observable(graph)
    return Partition.from_labels(graph, mended(graph, louvain(graph, np.random.default_rng(seed))))


def corrupted(graph: FeedbackGraph) -> Partition:
    """The C arms that are not strongly observable in one block of at most 2C arms, the rest singletons.

    An arm that nothing in the block reveals pulls in one of its in-neighbours, the one that helps most
    such arms first (ties: by colour, then the smallest arm), so fewer than C are pulled in where they share.
    C = 0 gives singletons. Source: proof of Theorem c-corrupted of He & Zhang.
    """
    _require_observable(graph)
    block = np.zeros(graph.n_arms, dtype=bool)
    block[observability(graph).weak] = True
    target = graph.in_targets
    revealed = np.zeros(graph.n_arms, dtype=bool)
    revealed[target[block[graph.in_indices]]] = True
    block[greedy_cover(graph, block & ~revealed)] = True
    labels = np.arange(graph.n_arms)
    if block.any():
        labels[block] = np.flatnonzero(block)[0]
    return Partition.from_labels(graph, labels)


def greedy_cover(graph: FeedbackGraph, waiting: Bools, least: int = 1) -> list[int]:
    """Arms that together reveal every waiting arm, none of these universal: the most helpful one first.

    Each reveals `least` more, or the cover stops short of the rest. Ties: by colour, so that labels matter only among
    arms that look alike, and then the smallest arm.
    """
    waiting = waiting.copy()
    if not waiting.any():
        return []
    target, colour = graph.in_targets, colours(graph, waiting)
    gains = np.bincount(graph.in_indices[waiting[target]], minlength=graph.n_arms)
    helpers = np.flatnonzero(gains)
    queue = list(zip((-gains[helpers]).tolist(), colour[helpers].tolist(), helpers.tolist(), strict=True))
    heapify(queue)
    chosen: list[int] = []
    left = int(waiting.sum())
    while left and queue[0][0] <= -least:
        promised, seen, arm = heappop(queue)
        row = graph.out_indices[graph.out_indptr[arm] : graph.out_indptr[arm + 1]]
        helped = row[waiting[row]]
        if helped.size == -promised:
            chosen.append(arm)
            waiting[helped] = False
            left -= helped.size
        elif helped.size:  # gains only shrink, so an outdated promise goes back with its true value
            heappush(queue, (-int(helped.size), seen, arm))
    return chosen


def _component_labels(graph: FeedbackGraph, connection: Literal["weak", "strong"]) -> Longs:
    """(n,) smallest arm of each arm's component, which orders the components."""
    n = graph.n_arms
    rows, columns = graph.out_sources, graph.out_indices
    if graph.universal.size:  # all arms → hub → universal arms: the same paths as their n−1 edges each
        rows = np.concatenate([rows, np.arange(n), np.full(graph.universal.size, n)])
        columns = np.concatenate([columns, np.full(n, n, dtype=np.int32), graph.universal])
    matrix = sparse.csr_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(n + 1, n + 1))
    _, label = connected_components(matrix, directed=True, connection=connection)
    _, first, inverse = np.unique(label[:n], return_index=True, return_inverse=True)
    smallest: Longs = first[inverse]
    return smallest


def _require_observable(graph: FeedbackGraph) -> None:
    hidden = observability(graph).unobservable
    if hidden.size:
        raise UnobservableGraph(
            f"no partition is legal: no arm reveals {names(graph, hidden.tolist())};"
            " add an edge into each or leave them out",
            hidden.tolist(),
        )
