"""The instances that the engine is measured on, from ten arms to a million."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import sidelight as sl

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
CUBES = (4, 7, 10, 13, 17, 20)
"""Dimensions of the hypercubes that stand beside SIZES."""


@dataclass(frozen=True)
class Instance:
    """A family of graphs, how they are partitioned, and the realization that plays on them."""

    name: str
    about: str
    graph: Callable[[int], sl.FeedbackGraph]
    partition: Callable[[sl.FeedbackGraph], sl.Partition]
    realization: str
    sizes: tuple[int, ...] = SIZES

    def horizon(self, n: int) -> int:
        """T = max(10⁶, 100 n): long enough that every condition of the bounds holds."""
        return max(1_000_000, 100 * n)

    def plan(self, n: int) -> sl.Plan:
        graph = self.graph(n)
        return sl.plan(graph, self.horizon(n), partition=self.partition(graph), realization=self.realization)


def clique_sizes(n: int) -> list[int]:
    """Cliques of ten; two of five where there are only ten arms."""
    return [10] * (n // 10) if n > 10 else [n // 2] * 2


def means(n: int) -> np.ndarray:
    """Every arm loses half the time, except one that loses less often."""
    values = np.full(n, 0.5)
    values[n // 3] = 0.3
    return values


INSTANCES = {
    instance.name: instance
    for instance in (
        Instance(
            "A",
            "loop-less cliques of 10, clustered",
            lambda n: sl.families.cliques(clique_sizes(n)),
            sl.partitions.components,
            "clustered",
        ),
        Instance("B", "cycle as one block, adaptive", sl.families.cycle, sl.partitions.single, "adaptive"),
        Instance("C", "bandit, Tsallis", sl.families.mab, sl.partitions.singletons, "clustered"),
        Instance(
            "D",
            "loop-less clique, entropy",
            sl.families.loopless_clique,
            sl.partitions.singletons,
            "clustered",
        ),
        Instance(
            "E",
            "hypercube in Hamming blocks, clustered",
            lambda n: sl.families.hypercube(n.bit_length() - 1),
            sl.partitions.hypercube,
            "clustered",
            tuple(2**d for d in CUBES),
        ),
    )
}
