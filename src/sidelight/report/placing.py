"""Where to put ten thousand arms: every block a sunflower, neighbours near each other, in linear time."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from sidelight._types import Floats, Longs
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition

MOST_DISCS = 1500
"""More blocks than this share one sunflower, in their order."""
GOLDEN = np.pi * (3 - np.sqrt(5))


def packed_layout(graph: FeedbackGraph, partition: Partition | None = None) -> Floats:
    """(n, 2) positions about one apart; the large blocks of a partition are discs, all single arms share one."""
    order = _walk(graph)
    if partition is None:
        return _filled(graph.n_arms, [order])
    owner = np.where(partition.sizes > 1, np.arange(partition.n_blocks), partition.n_blocks)[
        partition.block_of
    ]
    by_block = order[np.argsort(owner[order], kind="stable")]
    members = np.split(by_block, np.flatnonzero(np.diff(owner[by_block])) + 1)
    return _filled(graph.n_arms, members if len(members) <= MOST_DISCS else [by_block])


def _walk(graph: FeedbackGraph) -> Longs:
    """All arms, breadth first over explicit edges in both directions, component after component."""
    n = graph.n_arms
    shape = (n, n)
    ones = np.ones(graph.out_indices.size, dtype=np.int8)
    one_way = sparse.csr_array((ones, graph.out_indices, graph.out_indptr), shape=shape)
    both = sparse.csr_matrix(one_way + one_way.T)
    order: Longs = csgraph.reverse_cuthill_mckee(both, symmetric_mode=True)[::-1].astype(np.int64)
    return order


def _filled(n: int, pieces: list[Longs]) -> Floats:
    """Discs in rows, the largest first."""
    at = np.empty((n, 2))
    ordered = sorted(pieces, key=len, reverse=True)
    radii = [0.62 * np.sqrt(len(piece)) + 0.6 for piece in ordered]
    width = max(np.sqrt(1.7 * sum((2 * radius) ** 2 for radius in radii)), 2 * radii[0]) + 1e-9
    x = y = height = 0.0
    for piece, radius in zip(ordered, radii, strict=True):
        if x > 0 and x + 2 * radius > width:
            x, y, height = 0.0, y - height, 0.0
        turn = np.arange(len(piece))
        reach = 0.62 * np.sqrt(turn)
        centre = np.array([x + radius, y - radius])
        at[piece] = centre + reach[:, None] * np.column_stack([np.cos(GOLDEN * turn), np.sin(GOLDEN * turn)])
        x, height = x + 2 * radius, max(height, 2 * radius)
    return at
