"""Where a search starts: the partitions that come with the graph, and some that are made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sidelight._types import Longs
from sidelight.analysis import Domination, observability
from sidelight.errors import IllegalPartition
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.candidates import natural_partitions
from sidelight.planning.search.estimate import estimate, weak_rows


def natural_starts(graph: FeedbackGraph, seed: int = 0) -> Iterator[tuple[str, Partition]]:
    """Every natural partition that is legal, by name, each once."""
    seen: list[Partition] = []
    for name, partition in natural_partitions(graph, observability(graph).graph == "strong"):
        seen.append(partition)
        yield name, partition
    makers: dict[str, Callable[[], Partition]] = {
        "strongly connected": lambda: natural.strongly_connected(graph),
        "communities": lambda: natural.communities(graph, seed),
    }
    for name, make in makers.items():
        try:
            partition = make()
        except IllegalPartition:
            continue
        if partition not in seen:
            seen.append(partition)
            yield name, partition


def watched(graph: FeedbackGraph, cover: Domination) -> list[Partition]:
    """The arms that `cover` covers in one block with the arms that carry its weight, where that is legal."""
    labels = np.arange(1, graph.n_arms + 1)
    labels[cover.cover] = labels[cover.arms[cover.weights > 0]] = 0
    return _legal(graph, labels)


def hubs(graph: FeedbackGraph, horizon: int, most: int = 3) -> list[Partition]:
    """One block of what the k most revealing arms reveal, other arms on their own: the `most` best k by estimate.

    Arms that are not strongly observable are in the block, with greedy watchers. Hubs have self-loops, so each
    raises δ by one at most.
    """
    n = graph.n_arms
    base = np.zeros(n, dtype=bool)
    corrupted = natural.corrupted(graph)
    for k in corrupted.weak:
        base[corrupted.blocks[k]] = True
    entered = np.where(base, 0, n + 1)
    waiting = ~base & ~graph.is_universal
    chosen = [arm for arm in natural.greedy_cover(graph, waiting, least=2) if graph.has_loop[arm]]
    for rank, arm in enumerate(chosen, start=1):
        row = graph.out_indices[graph.out_indptr[arm] : graph.out_indptr[arm + 1]]
        entered[row[entered[row] > rank]] = rank
        entered[arm] = min(int(entered[arm]), rank)
    if not chosen:
        return []
    tried = np.unique(np.geomspace(1, len(chosen), 24).astype(np.int64))
    inside = entered <= tried[:, None]  # (k tried, n)
    sizes = inside.sum(axis=1).astype(np.float64)
    deltas = np.minimum(tried + base.sum(), sizes)
    sums = weak_rows(sizes, deltas)
    sums[:, 0], sums[:, 1] = (~inside & graph.has_loop).sum(axis=1), (~inside & ~graph.has_loop).sum(axis=1)
    best = np.argsort(estimate(sums, deltas, float(horizon)), kind="stable")[:most]
    return [made for i in best for made in _legal(graph, np.where(inside[i], 0, np.arange(1, n + 1)))]


def _legal(graph: FeedbackGraph, labels: Longs) -> list[Partition]:
    """The partition with these labels, or none."""
    try:
        return [Partition.from_labels(graph, labels)]
    except IllegalPartition:
        return []
