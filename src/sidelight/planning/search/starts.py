"""Where a search starts: the partitions that come with the graph, and blocks around the arms that reveal most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight.analysis import observability
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.candidates import natural_partitions
from sidelight.planning.search.floor import floors, weak_rows


def natural_starts(graph: FeedbackGraph, seed: int = 0) -> Iterator[tuple[str, Partition]]:
    """Every natural partition that is legal, by name, each once."""
    more = {
        "strongly connected": natural.strongly_connected,
        "communities": lambda g: natural.communities(g, seed),
    }
    return natural_partitions(graph, observability(graph).graph == "strong", **more)


def hubs(graph: FeedbackGraph, horizon: int, most: int = 3) -> list[Partition]:
    """Blocks of what each of the k most revealing self-loop arms reveals, others on their own: the best k by floor.

    Arms that are not strongly observable are in a block with greedy watchers, and with what these reveal if they are
    hubs. A hub reveals its own block, so δ is 1.
    """
    n, corrupted = graph.n_arms, natural.corrupted(graph)
    base = np.isin(corrupted.block_of, corrupted.weak)
    rank = np.where(base, 0, n)  # of the hub that takes the arm in
    cover = natural.greedy_cover(graph, ~base & ~graph.is_universal, least=2)
    chosen = [arm for arm in cover if graph.has_loop[arm]]
    for k, arm in enumerate(chosen, start=1):
        row = graph.out_indices[graph.out_indptr[arm] : graph.out_indptr[arm + 1]]
        rank[row[rank[row] == n]] = rank[arm] = 0 if base[arm] else k
    tried = np.unique(np.geomspace(1, max(len(chosen), 1), 24).astype(np.int64))[: len(chosen)]
    inside = rank <= tried[:, None]  # (k tried, n)
    sizes = np.bincount(rank, minlength=n + 1)[: len(chosen) + 1].astype(np.float64)
    deltas = np.where(np.arange(sizes.size) > 0, 1.0, np.maximum(sizes, 1.0))
    rows = np.where(sizes[:, None] > 0, weak_rows(np.maximum(sizes, 2.0), deltas), 0.0)
    sums = np.cumsum(rows, axis=0)[tried]
    sums[:, 0], sums[:, 1] = (~inside & graph.has_loop).sum(axis=1), (~inside & ~graph.has_loop).sum(axis=1)
    best = np.argsort(floors(sums, float(horizon)), kind="stable")[:most]
    return [Partition.from_labels(graph, np.where(inside[i], rank, n + np.arange(n))) for i in best]
