"""Large independent sets of a graph whose directions and loops do not matter: peeled, improved by swaps, searched."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Longs
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import grouped

# -- the graph ----------------------------------------------------------------------------------------------


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


# -- peeling: exactly, while some neighbourhood is a clique, and greedily after that ------------------------


WIDEST = 32
"""Largest neighbourhood that is tested for being a clique: the test is quadratic in it."""


def peel_exactly(graph: Adjacency) -> tuple[list[int], list[list[int]], Longs]:
    """Take vertices v whose remaining neighbours N(v) form a clique, until there are none (of degree ≤ WIDEST).

    Gives (chosen, cliques, kernel): the vertices taken, their N[v], which cover all that was removed, and the sorted
    vertices that are left. Some largest independent set contains v, so α = len(chosen) + α(kernel).
    """
    indptr, indices = graph.indptr.tolist(), graph.flat
    degree: list[int] = graph.degree.tolist()
    alive = bytearray(b"\x01") * graph.n
    waiting = np.flatnonzero(graph.degree <= WIDEST)
    queue: list[int] = waiting[np.argsort(-graph.degree[waiting], kind="stable")].tolist()
    chosen: list[int] = []
    cliques: list[list[int]] = []
    while queue:
        v = queue.pop()
        if not alive[v] or degree[v] > WIDEST:
            continue
        near = [u for u in indices[indptr[v] : indptr[v + 1]] if alive[u]]
        if not _all_adjacent(near, indptr, indices):
            continue
        chosen.append(v)
        cliques.append([v, *near])
        alive[v] = 0
        for u in near:
            alive[u] = 0
        for u in near:
            for w in indices[indptr[u] : indptr[u + 1]]:
                if alive[w]:
                    degree[w] -= 1
                    if degree[w] <= WIDEST:
                        queue.append(w)
    return chosen, cliques, np.flatnonzero(np.frombuffer(alive, dtype=np.uint8))


def _all_adjacent(vertices: list[int], indptr: Sequence[int], indices: Sequence[int]) -> bool:
    """Do the sorted `vertices` form a clique?"""
    for k, u in enumerate(vertices):
        low, high = indptr[u], indptr[u + 1]
        for w in vertices[k + 1 :]:
            low = bisect_left(indices, w, low, high)
            if low == high or indices[low] != w:
                return False
    return True


def greedy_set(graph: Adjacency) -> list[int]:
    """An independent set: always a vertex of least remaining degree next."""
    indptr, indices = graph.indptr.tolist(), graph.flat
    degree: list[int] = graph.degree.tolist()
    alive = bytearray(b"\x01") * graph.n
    queue = [(d, 0, v) for v, d in enumerate(degree)]  # of equal degrees, those that changed last come first
    heapify(queue)
    chosen = []
    while queue:
        promised, _, v = heappop(queue)
        if not alive[v] or degree[v] != promised:
            continue
        chosen.append(v)
        alive[v] = 0
        near = [u for u in indices[indptr[v] : indptr[v + 1]] if alive[u]]
        for u in near:
            alive[u] = 0
        for u in near:
            for w in indices[indptr[u] : indptr[u + 1]]:
                if alive[w]:
                    degree[w] -= 1
                    heappush(queue, (degree[w], -len(chosen), w))
    return chosen


def greedy_cover(graph: Adjacency, order: Longs) -> list[list[int]]:
    """Cliques that cover the graph: each vertex joins the largest clique it is adjacent to all of, or its own."""
    indptr, indices = graph.indptr.tolist(), graph.flat
    clique_of = [-1] * graph.n
    cliques: list[list[int]] = []
    for v in order.tolist():
        seen: dict[int, int] = {}
        for u in indices[indptr[v] : indptr[v + 1]]:
            c = clique_of[u]
            if c >= 0:
                seen[c] = seen.get(c, 0) + 1
        joined, size = -1, 0
        for c, count in seen.items():
            if count > size and count == len(cliques[c]):
                joined, size = c, count
        if joined < 0:
            joined = len(cliques)
            cliques.append([])
        cliques[joined].append(v)
        clique_of[v] = joined
    return cliques


# -- local search: one member out, two in (Andrade, Resende & Werneck 2012) ---------------------------------


def swapped(graph: Adjacency, start: list[int]) -> list[int]:
    """A maximal independent set that no swap of one member for two improves; vertices of `start` come in first."""
    indptr, indices = graph.indptr.tolist(), graph.flat
    inside = bytearray(graph.n)
    tight = [0] * graph.n  # how many neighbours are members

    def move(v: int, step: int) -> None:
        inside[v] = step > 0
        for u in indices[indptr[v] : indptr[v + 1]]:
            tight[u] += step

    for v in chain(start, range(graph.n)):
        if not inside[v] and tight[v] == 0:
            move(v, 1)

    waiting = [v for v in range(graph.n) if inside[v]]
    while waiting:
        x = waiting.pop()
        if not inside[x]:
            continue
        freed = [u for u in indices[indptr[x] : indptr[x + 1]] if tight[u] == 1]
        pair = _apart(freed, indptr, indices)
        if pair is None:
            continue
        move(x, -1)
        for v in (*pair, *freed):
            if not inside[v] and tight[v] == 0:
                move(v, 1)
                waiting.append(v)
        for u in indices[indptr[x] : indptr[x + 1]]:
            if tight[u] == 1:  # a neighbour that only one member still holds: that member may be swapped now
                waiting += [v for v in indices[indptr[u] : indptr[u + 1]] if inside[v]]
    return [v for v in range(graph.n) if inside[v]]


def _apart(vertices: list[int], indptr: list[int], indices: Sequence[int]) -> tuple[int, int] | None:
    """Two vertices that are not adjacent, if there are any."""
    others = set(vertices)
    for u in vertices:
        others.discard(u)
        rest = others.difference(indices[indptr[u] : indptr[u + 1]])
        if rest:
            return u, min(rest)
    return None


# -- branch and bound on bit sets ---------------------------------------------------------------------------


class Search:
    """Branches on a vertex of greatest degree; peels what is forced and bounds by a clique cover at every node.

    `nodes` counts down; a search that runs out stops with the best set so far, the same on every machine.
    """

    def __init__(self, graph: Adjacency, nodes: int) -> None:
        self.near = [0] * graph.n
        for v in range(graph.n):
            for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist():
                self.near[v] |= 1 << u
        self.everyone = (1 << graph.n) - 1
        self.nodes = nodes
        self.best: list[int] = []

    def larger_than(self, start: list[int]) -> bool:
        """Search for a set larger than `start`, kept in `best`; True if the search was finished."""
        self.best = start
        return self._visit(self.everyone, [])

    def _visit(self, left: int, chosen: list[int]) -> bool:
        """Explore all ways to extend `chosen` within `left`; False when out of nodes."""
        chosen = list(chosen)
        while True:
            if self.nodes <= 0:
                return False
            self.nodes -= 1
            left, busiest = self._peeled(left, chosen)
            if len(chosen) > len(self.best):
                self.best = list(chosen)
            if not left or len(chosen) + self._cover(left, len(self.best) - len(chosen)) <= len(self.best):
                return True
            if not self._visit(left & ~self.near[busiest] & ~(1 << busiest), [*chosen, busiest]):
                return False
            left &= ~(1 << busiest)

    def _peeled(self, left: int, chosen: list[int]) -> tuple[int, int]:
        """Move vertices with at most one neighbour, or two adjacent ones, to `chosen`; (rest, its busiest)."""
        near = self.near
        changed = True
        while changed:
            changed, busiest, most = False, -1, -1
            for v in members(left):
                if not left >> v & 1:
                    continue
                around = near[v] & left
                degree = around.bit_count()
                if degree > most:
                    busiest, most = v, degree
                if degree <= 1 or (degree == 2 and near[around.bit_length() - 1] & around):
                    chosen.append(v)
                    left &= ~(around | 1 << v)
                    changed = True
        return left, busiest

    def _cover(self, left: int, enough: int) -> int:
        """Size of a greedy clique cover of `left`; stops counting above `enough`."""
        count = 0
        while left and count <= enough:
            count += 1
            candidates = left
            while candidates:
                v = candidates & -candidates
                left ^= v
                candidates &= self.near[v.bit_length() - 1]
        return count


def members(bits: int) -> Iterator[int]:
    """Positions of the ones, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
