"""Where to draw the vertices of a small graph."""

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
    found: Floats = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(found, np.inf)
    return found


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
    found = nx.kamada_kawai_layout(nx.from_edgelist(zip(*links.coords, strict=True)))
    at = np.array([found[arm] for arm in range(n)])
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
    boxes = [piece.max(axis=0) - piece.min(axis=0) + 1.2 for _, piece in pieces]
    width = max(np.sqrt(1.9 * sum(box[0] * box[1] for box in boxes)), max(box[0] for box in boxes)) + 1e-9
    x = y = row_height = 0.0
    for (arms, piece), box in zip(pieces, boxes, strict=True):
        if x > 0 and x + box[0] > width:
            x, y, row_height = 0.0, y - row_height, 0.0
        corner = np.array([x, y - box[1]])
        at[arms] = piece - piece.min(axis=0) + 0.6 + corner
        x, row_height = x + box[0], max(row_height, box[1])
    return at
