"""Where to draw the vertices of a graph: a few by their distances, ten thousand in sunflowers, in linear time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from sidelight._types import Floats, Longs
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition


def layout(graph: FeedbackGraph) -> Floats:
    """(n, 2) positions in which drawn distances resemble numbers of edges; components side by side."""
    n_parts, part = csgraph.connected_components(_both_ways(graph), directed=False)
    pieces = [np.flatnonzero(part == k) for k in range(n_parts)]
    return _side_by_side(graph.n_arms, [(arms, _connected(graph, arms)) for arms in pieces])


def block_layout(partition: Partition) -> Floats:
    """(n, 2) positions of the arms: every block together, blocks placed by their incidence graph."""
    if partition.n_blocks == 1 or partition.weak.size == 0:
        return layout(partition.graph)
    centres = layout(partition.incidence_graph())
    pieces = [_piece(partition.graph, block) for block in partition.blocks]
    radii = np.array([max(np.linalg.norm(piece, axis=1).max(), 0.35) for piece in pieces])
    scale = float(((radii[:, None] + radii[None] + 0.9) / distances(centres)).max())
    at = np.empty((partition.graph.n_arms, 2))
    for centre, block, piece in zip(centres, partition.blocks, pieces, strict=True):
        at[block] = scale * centre + piece
    return at


def distances(at: Floats) -> Floats:
    """(n, n) between all positions, infinite to oneself."""
    between: Floats = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(between, np.inf)
    return between


def _piece(graph: FeedbackGraph, arms: Longs) -> Floats:
    at = layout(graph.subgraph(arms))
    centred: Floats = at - (at.max(axis=0) + at.min(axis=0)) / 2
    return centred


def _both_ways(graph: FeedbackGraph) -> sparse.csr_array:
    one_way = graph.to_sparse()
    return sparse.csr_array(one_way + one_way.T)


def _connected(graph: FeedbackGraph, arms: npt.NDArray[np.intp]) -> Floats:
    """Positions whose distances resemble numbers of edges (Kamada and Kawai), an edge about one long."""
    import networkx as nx

    n = arms.size
    links = sparse.triu(_both_ways(graph.subgraph(arms)), 1).tocoo()
    if n <= 2 or links.nnz >= 0.4 * n * (n - 1):  # nearly complete: nothing to see but a ring
        return _ring(n)
    placed = nx.kamada_kawai_layout(nx.from_edgelist(zip(*links.coords, strict=True)))
    at = np.array([placed[arm] for arm in range(n)])
    at /= np.linalg.norm(at[links.coords[0]] - at[links.coords[1]], axis=1).mean()
    nearest = float(np.quantile(distances(at).min(axis=1), 0.1))
    scaled: Floats = at * min(max(1.0 / max(nearest, 1e-9), 1.0), 2.5)  # not on top of each other
    return scaled


def _ring(n: int) -> Floats:
    """On a circle with neighbours one apart, the first on top, clockwise."""
    if n == 1:
        return np.zeros((1, 2))
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    at: Floats = 0.5 / np.sin(np.pi / n) * np.column_stack([np.cos(angle), np.sin(angle)])
    return at


def _side_by_side(n: int, pieces: list[tuple[npt.NDArray[np.intp], Floats]]) -> Floats:
    """Pieces in rows, in order, the whole somewhat wider than high."""
    at = np.empty((n, 2))
    boxes = np.array([piece.max(axis=0) - piece.min(axis=0) + 1.2 for _, piece in pieces])
    for (arms, piece), (x, y), box in zip(pieces, _corners(boxes, 1.9), boxes, strict=True):
        at[arms] = piece - piece.min(axis=0) + 0.6 + np.array([x, y - box[1]])
    return at


def _corners(boxes: Floats, flatness: float) -> list[tuple[float, float]]:
    """The upper left corners of boxes of these widths and heights, in rows from the top."""
    width = max(np.sqrt(flatness * boxes.prod(axis=1).sum()), boxes[:, 0].max()) + 1e-9
    corners = []
    x = y = row_height = 0.0
    for box in boxes:
        if x > 0 and x + box[0] > width:
            x, y, row_height = 0.0, y - row_height, 0.0
        corners.append((x, y))
        x, row_height = x + box[0], max(row_height, box[1])
    return corners


# -- many arms ----------------------------------------------------------------------------------------------


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
    radii = np.array([0.62 * np.sqrt(len(piece)) + 0.6 for piece in ordered])
    corners = _corners(np.column_stack([2 * radii, 2 * radii]), 1.7)
    for piece, radius, (x, y) in zip(ordered, radii, corners, strict=True):
        turn = np.arange(len(piece))
        ray = np.column_stack([np.cos(GOLDEN * turn), np.sin(GOLDEN * turn)])
        at[piece] = np.array([x + radius, y - radius]) + 0.62 * np.sqrt(turn)[:, None] * ray
    return at
