"""Dominations of blocks and covers of sets of arms in one graph, each solved once whoever asks."""

from __future__ import annotations

from sidelight._types import Longs
from sidelight.analysis import Domination, block_dominations, fractional_domination
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.candidate import WeakBlocks


class Dominations:
    """What has been solved so far; partitions share the blocks they have in common."""

    def __init__(self, g: FeedbackGraph) -> None:
        self._graph = g
        self._blocks: dict[bytes, Domination] = {}
        self._covers: dict[bytes, Domination] = {}

    def solve(self, name: str, partition: Partition) -> WeakBlocks:
        """The partition with the dominations of its weak blocks."""
        blocks = [partition.blocks[k] for k in partition.weak]
        keys = [block.tobytes() for block in blocks]
        new = [i for i, key in enumerate(keys) if key not in self._blocks]
        solved = block_dominations(self._graph, [blocks[i] for i in new]) if new else []
        self._blocks |= {keys[i]: found for i, found in zip(new, solved, strict=True)}
        return WeakBlocks(name, partition, [self._blocks[key] for key in keys])

    def cover(self, targets: Longs) -> Domination:
        """The cheapest cover of `targets` from any arm."""
        if targets.size == self._graph.n_arms:
            return self.solve("single", Partition(self._graph, [targets])).dominations[0]
        key = targets.tobytes()
        if key not in self._covers:
            self._covers[key] = fractional_domination(self._graph, cover=targets)
        return self._covers[key]

    def unsolved(self, partition: Partition) -> int:
        """Arms in the weak blocks that `solve` would have to work on."""
        blocks = (partition.blocks[k] for k in partition.weak)
        return sum(block.size for block in blocks if block.tobytes() not in self._blocks)
