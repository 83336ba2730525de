"""Who is adjacent to whom when direction and loops do not matter, without the arms adjacent to everyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Longs
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import grouped


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A simple undirected graph in CSR form with sorted rows."""

    indptr: Longs  # (n+1,)
    indices: Longs  # both directions of every edge

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @cached_property
    def degree(self) -> Longs:
        """(n,) number of neighbours."""
        return np.diff(self.indptr)

    @cached_property
    def flat(self) -> Sequence[int]:
        """`indices` for plain loops: as plain integers, without the room that a list of them takes."""
        view: Any = memoryview(cast(Any, self.indices))
        return cast(Sequence[int], view)

    def matrix(self) -> sparse.csr_array:
        """Adjacency matrix of ones."""
        ones = np.ones(len(self.indices), dtype=np.int32)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=(self.n, self.n))

    def induced(self, vertices: Longs) -> Adjacency:
        """The graph on `vertices`, renumbered in the order given; ascending within connected components."""
        part = self.matrix()[vertices][:, vertices]
        part.sort_indices()
        return Adjacency(part.indptr.astype(np.int64), part.indices.astype(np.int64))

    def components(self) -> Iterator[tuple[Longs, Adjacency]]:
        """(vertices, graph on them) of every connected component, in time linear in the whole."""
        if self.n == 0:
            return
        count, label = connected_components(self.matrix(), directed=False)
        order, starts = grouped(label, count)
        sorted_graph = self.induced(order.astype(np.int64))
        for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            indptr = sorted_graph.indptr[low : high + 1]
            yield (
                order[low:high].astype(np.int64),
                Adjacency(indptr - indptr[0], sorted_graph.indices[indptr[0] : indptr[-1]] - low),
            )


def adjacency(g: FeedbackGraph) -> tuple[Longs, Adjacency]:
    """(arms that are not universal, adjacency among them), in linear time."""
    n = g.n_arms
    arms = np.flatnonzero(~g.is_universal)
    sources = g.out_sources
    targets = g.out_indices.astype(np.int64)
    keep = (sources != targets) & ~g.is_universal[sources]
    ones = np.ones(2 * int(keep.sum()), dtype=np.int8)
    both = np.concatenate([sources[keep], targets[keep]]), np.concatenate([targets[keep], sources[keep]])
    matrix = sparse.coo_array((ones, both), shape=(n, n)).tocsr()  # sorted rows, every neighbour once
    whole = Adjacency(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))
    return arms, whole if len(arms) == n else whole.induced(arms)
