"""Peeling vertices off a graph: exactly, while some neighbourhood is a clique, and greedily after that."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from sidelight._types import Longs
from sidelight.analysis.independence.graph import Adjacency

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
