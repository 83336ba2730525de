"""Communities of a graph by Louvain's method, and how groups of arms become legal blocks."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Longs
from sidelight.analysis.observability import observability
from sidelight.graph import FeedbackGraph
from sidelight.partition._communities_kernels import move_vertices

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
