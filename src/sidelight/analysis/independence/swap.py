"""Local search on an independent set: one member out, two in (Andrade, Resende & Werneck 2012)."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.analysis.independence.graph import Adjacency


def swapped(graph: Adjacency, start: list[int]) -> list[int]:
    """A maximal independent set, at least as large, that no swap of one member for two improves."""
    indptr, indices = graph.indptr.tolist(), graph.flat
    inside = bytearray(graph.n)
    tight = [0] * graph.n  # how many neighbours are members

    def move(v: int, step: int) -> None:
        inside[v] = step > 0
        for u in indices[indptr[v] : indptr[v + 1]]:
            tight[u] += step

    for v in start:
        move(v, 1)
    for v in range(graph.n):
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
