"""Partitions that come with the graph: nothing is searched, everything takes about O(n + edges)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Bools, Longs
from sidelight.analysis.observability import observability
from sidelight.errors import InfeasibleRequest, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.colours import colours
from sidelight.graph.names import named, names
from sidelight.partition._communities_kernels import move_vertices
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


# -- the Hamming code of the hypercube ----------------------------------------------------------------------


def hypercube(graph: FeedbackGraph) -> Partition:
    """The cube Q_d in 2^{d−k} blocks of 2^k ≤ 2d arms with δ ≤ 2 each, where 2^k − 1 ≤ d < 2^{k+1} − 1.

    Arms are numbered by bit strings: i and j reveal each other exactly when they differ in one bit, as
    in `families.hypercube(d)`; any other graph raises `InfeasibleRequest`.

    The syndrome of an arm is the exclusive or of the columns c(b) of its set bits, where c(b) = b + 1 for
    the first 2^k − 1 bits and all later bits share the last column, 2^k − 1: that is the Hamming code of
    Q_{2^k−1}, extended bit by bit (…1 → …01, …10; …0 → …00, …11). The arms of syndrome 0, each with its
    neighbour across bit 0, which has syndrome 1, are the dominating pairs. Every other arm has syndrome
    s ≥ 2 and joins the pair of its neighbour across bit s − 1, whose syndrome is 0. Of the neighbours the
    lemma lets an arm choose from, this one makes all blocks equal: a centre and its 2^k − 1 neighbours
    across the first bits. Weight 1 on both arms of the pair covers the block.

    Source: section 5.4 of He & Zhang (Theorem hypercube), on the Hamming code of JP90.
    """
    d = _dimension(graph)
    k = (d + 1).bit_length() - 1
    last = 2**k - 1
    arms = np.arange(graph.n_arms)
    syndrome = np.zeros_like(arms)
    for b in range(d):
        syndrome ^= np.where(arms >> b & 1, min(b + 1, last), 0)
    centre = np.where(syndrome == 0, arms, arms ^ (1 << np.maximum(syndrome - 1, 0)))
    return Partition.from_labels(graph, centre)


def _dimension(graph: FeedbackGraph) -> int:
    """The d of which `graph` is the hypercube, or an error that says what does not fit."""
    n = graph.n_arms
    d = n.bit_length() - 1
    if n != 2**d or d < 1:
        raise InfeasibleRequest(f"a hypercube has 2, 4, 8, … arms, this graph has {n}; use another partition")
    arms, source = np.arange(n), graph.out_sources
    fits = ~graph.has_loop & (graph.out_degree == d)
    fits[source[_several_bits(source ^ graph.out_indices)]] = False
    for everywhere in graph.universal[:1].tolist():
        fits &= ~_several_bits(arms ^ everywhere)
    if not fits.all():
        arm = int(np.argmin(fits))
        reveals, wanted = graph.out_neighbors(arm).tolist(), sorted(arm ^ 1 << b for b in range(d))
        raise InfeasibleRequest(
            f"not a hypercube numbered by bit strings: arm {named(graph, arm)} reveals {names(graph, reveals)}, "
            f"not {names(graph, wanted)};"
            " number the arms as families.hypercube does, or use another partition"
        )
    return d


def _several_bits(numbers: Longs) -> Bools:
    """Which of the numbers have more than one bit set?"""
    several: Bools = numbers & (numbers - 1) != 0
    return several


# -- communities by Louvain's method, and how groups of arms become legal blocks ----------------------------


PASSES = 10
"""Passes over the vertices on each level; later ones move next to nothing."""


def louvain(graph: FeedbackGraph, rng: np.random.Generator) -> Longs:
    """(n,) community of each arm; directions do not count, universal arms only by what they reveal.

    Vertices move to the neighbouring community that gains most modularity, communities become vertices, until nothing
    moves (Blondel, Guillaume, Lambiotte & Lefebvre 2008).
    """
    n = graph.n_arms
    source = graph.out_sources
    ones = np.ones(source.size)
    matrix = sparse.coo_array((ones, (source, graph.out_indices)), shape=(n, n)).tocsr()
    matrix = (matrix + matrix.T).tocsr()
    labels = np.arange(n)
    while matrix.nnz:
        label = _moved(matrix, rng)
        numbers, label = np.unique(label, return_inverse=True)
        labels = label[labels]
        if numbers.size == label.size:
            break
        groups = sparse.csr_array(
            (np.ones(label.size), (label, np.arange(label.size))), shape=(numbers.size, label.size)
        )
        matrix = (groups @ matrix @ groups.T).tocsr()
    return labels


def _moved(matrix: sparse.csr_array, rng: np.random.Generator) -> Longs:
    """(n,) community of each vertex after local moves."""
    n = matrix.shape[0]
    strength = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    plain = matrix.tocoo()
    apart = plain.row != plain.col
    edges = sparse.coo_array((plain.data[apart], (plain.row[apart], plain.col[apart])), shape=(n, n)).tocsr()
    label = np.arange(n)
    total, links = strength.copy(), np.zeros(n)
    order = rng.permutation(n)
    for _ in range(PASSES):
        moved = move_vertices(
            edges.indptr.astype(np.int64),
            edges.indices.astype(np.int64),
            edges.data.astype(np.float64),
            strength,
            order,
            label,
            total,
            links,
        )
        if moved <= n // 1000:
            break
    return label


def mended(graph: FeedbackGraph, labels: Longs) -> Longs:
    """(n,) `labels` with blocks merged until they are legal, in an observable graph.

    A block that does not reveal one of its arms joins the block of a watcher of that arm. All blocks in need
    do so at once, so the number of those in need falls by half at least in every round. O(n + edges) each.
    """
    n = graph.n_arms
    strong = np.zeros(n, dtype=bool)
    strong[observability(graph).strong] = True
    watcher, target = graph.in_indices.astype(np.int64), graph.in_targets
    while True:
        _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        alone = sizes[labels] == 1
        seen = np.where(alone, strong, graph.is_universal | graph.has_loop)
        seen[target[(labels[watcher] == labels[target]) & ~alone[target]]] = True
        needy = ~seen[target]
        if not needy.any():
            return labels
        a, b = labels[target[needy]], labels[watcher[needy]]
        a, first = np.unique(a, return_index=True)
        links = sparse.coo_array((np.ones(a.size), (a, b[first])), shape=(sizes.size, sizes.size))
        labels = connected_components(links, directed=False)[1].astype(np.int64)[labels]
