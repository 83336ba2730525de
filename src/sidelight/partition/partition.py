"""The legal partition: the data structure the two-level algorithm runs on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Longs, frozen
from sidelight.errors import IllegalPartition, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import Edges
from sidelight.partition.legality import Members, Violation, judge, read_members

SHOWN_VIOLATIONS = 10
"""How many violations an error message spells out; `IllegalPartition.violations` has all of them."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Partition:
    """Disjoint blocks covering every arm of `graph`, legal for the two-level algorithm.

    Blocks keep the order given. Singletons are strongly observable arms (U1, with self-loop U1S, without
    U1N); every larger block reveals each of its arms from inside (U2). Anything else raises
    `IllegalPartition`, which lists every reason. Source: section 3.1 of He & Zhang.

    >>> square = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> Partition(square, [[0, 1], [2, 3]])
    Partition(n_arms=4, n_blocks=2, U1S=0, U1N=0, U2=2)
    """

    graph: FeedbackGraph
    blocks: tuple[Longs, ...]  # sorted arms of each block, read-only
    block_of: Longs  # (n,) index of the block of each arm

    def __init__(self, graph: FeedbackGraph, blocks: Iterable[Iterable[int]]) -> None:
        self._settle(graph, read_members(blocks))

    def _settle(self, graph: FeedbackGraph, members: Members) -> None:
        violations = judge(graph, members)
        if violations:
            raise IllegalPartition(_refusal(graph, violations), violations)
        block_of = np.empty(graph.n_arms, dtype=np.int64)
        block_of[members.arm] = members.block
        arms = frozen(np.argsort(block_of, kind="stable"), np.int64)
        stops = np.cumsum(np.bincount(block_of)).tolist()
        blocks = tuple(arms[a:b] for a, b in zip([0, *stops[:-1]], stops, strict=True))
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "blocks", blocks)
        object.__setattr__(self, "block_of", frozen(block_of, np.int64))

    @classmethod
    def from_labels(cls, graph: FeedbackGraph, block_of: Sequence[int] | npt.NDArray[Any]) -> Partition:
        """Arms with the same whole number in `block_of` form a block; blocks in the order of the numbers.

        >>> square = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
        >>> Partition.from_labels(square, [1, 1, 0, 0]).blocks
        (array([2, 3]), array([0, 1]))
        """
        labels = np.asarray(block_of)
        if labels.shape != (graph.n_arms,) or labels.dtype.kind not in "iu":
            raise InvalidOption(
                f"block_of must hold one whole number for each of the {graph.n_arms} arms,"
                f" got {labels.dtype} of shape {labels.shape}"
            )
        numbers, compact = np.unique(labels, return_inverse=True)
        arms = np.argsort(compact, kind="stable")
        partition = cls.__new__(cls)
        partition._settle(graph, Members(numbers.size, compact[arms], arms, ()))
        return partition

    @property
    def n_blocks(self) -> int:
        """Number of blocks m."""
        return len(self.blocks)

    @cached_property
    def sizes(self) -> Longs:
        """(m,) number of arms of each block."""
        return frozen(np.fromiter(map(len, self.blocks), dtype=np.int64, count=self.n_blocks), np.int64)

    @cached_property
    def strong_loop(self) -> Longs:
        """U1S: blocks that are one arm with a self-loop."""
        return self._singletons(with_loop=True)

    @cached_property
    def strong_loopless(self) -> Longs:
        """U1N: blocks that are one arm without self-loop, revealed by every other arm."""
        return self._singletons(with_loop=False)

    @cached_property
    def weak(self) -> Longs:
        """U2: blocks of two arms or more, played as weakly observable graphs of their own."""
        return frozen(np.flatnonzero(self.sizes > 1), np.int64)

    def _singletons(self, with_loop: bool) -> Longs:
        arms = np.flatnonzero((self.sizes == 1)[self.block_of] & (self.graph.has_loop == with_loop))
        return frozen(np.sort(self.block_of[arms]), np.int64)

    def incidence_graph(self) -> FeedbackGraph:
        """H: an edge (k, l), k ≠ l, when some arm of block k reveals some arm of block l. O(n + edges)."""
        g = self.graph
        owner = self.block_of.astype(np.int32)
        source = np.repeat(owner, np.diff(g.out_indptr))
        target = owner[g.out_indices]
        across = source != target
        everywhere = np.unique(owner[g.universal])  # every other block reveals the block of a universal arm
        return FeedbackGraph._of(
            Edges(
                self.n_blocks,
                source[across],
                target[across],
                universal=everywhere,
                universal_loops=np.zeros(everywhere.size, dtype=bool),
            )
        )

    @cached_property
    def _canonical(self) -> Longs:
        """`block_of` with blocks renumbered by their smallest arm: equal for equal sets of blocks."""
        rank = np.empty(self.n_blocks, dtype=np.int64)
        first = np.fromiter((block[0] for block in self.blocks), dtype=np.int64, count=self.n_blocks)
        rank[np.argsort(first)] = np.arange(self.n_blocks)
        return frozen(rank[self.block_of], np.int64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        if self.n_blocks != other.n_blocks or self.graph != other.graph:
            return False
        return np.array_equal(self._canonical, other._canonical)

    def __hash__(self) -> int:
        return hash((self.graph, self._canonical[:64].tobytes()))

    def __repr__(self) -> str:
        return (
            f"Partition(n_arms={self.graph.n_arms}, n_blocks={self.n_blocks}, U1S={self.strong_loop.size},"
            f" U1N={self.strong_loopless.size}, U2={self.weak.size})"
        )


def _refusal(graph: FeedbackGraph, violations: tuple[Violation, ...]) -> str:
    reasons = "; ".join(violation.in_words(graph) for violation in violations[:SHOWN_VIOLATIONS])
    rest = len(violations) - SHOWN_VIOLATIONS
    more = f"; … and {rest} more, all in `.violations`" if rest > 0 else ""
    return f"not a legal partition: {reasons}{more}"
