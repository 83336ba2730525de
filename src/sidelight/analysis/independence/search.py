"""The largest independent set of a small graph, by branch and bound on bit sets."""

from __future__ import annotations

from collections.abc import Iterator

from sidelight.analysis.independence.graph import Adjacency


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
