"""Where a search starts: the partitions that come with the graph, and blocks around the arms that reveal most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight.analysis import observability
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.candidates import natural_partitions
from sidelight.planning.search.floor import LOOP, LOOPLESS, floors, weak_rows


def natural_starts(graph: FeedbackGraph, seed: int = 0) -> Iterator[tuple[str, Partition]]:
    """Every natural partition that is legal, by name, each once."""
    more = {
        "strongly connected": natural.strongly_connected,
        "communities": lambda g: natural.communities(g, seed),
    }
    return natural_partitions(graph, observability(graph).graph == "strong", **more)


def hubs(graph: FeedbackGraph, horizon: int, most: int = 3) -> list[Partition]:
    """What the k most revealing self-loop arms reveal, in one block or in k, others on their own: the best by floor.

    Arms that are not strongly observable are in a block with greedy watchers, which the one block takes in. A hub
    reveals its own block, so each adds one to δ at most.
    """
    n, corrupted = graph.n_arms, natural.corrupted(graph)
    base = np.isin(corrupted.block_of, corrupted.weak)
    entered = np.where(base, 0, n + 1)  # rank of the hub that takes the arm in
    waiting = ~base & ~graph.is_universal
    chosen = [arm for arm in natural.greedy_cover(graph, waiting, least=2) if graph.has_loop[arm]]
    if not chosen:
        return []
    for rank, arm in enumerate(chosen, start=1):
        row = graph.out_indices[graph.out_indptr[arm] : graph.out_indptr[arm + 1]]
        home = 0 if base[arm] else rank
        entered[row[entered[row] > n]] = home
        entered[arm] = home
    tried = np.unique(np.geomspace(1, len(chosen), 24).astype(np.int64))
    inside = entered <= tried[:, None]  # (k tried, n)
    outside = np.outer((~inside & graph.has_loop).sum(axis=1), LOOP)
    outside += np.outer((~inside & ~graph.has_loop).sum(axis=1), LOOPLESS)
    sizes = inside.sum(axis=1).astype(np.float64)
    together = outside + weak_rows(sizes, np.minimum(tried + base.sum(), sizes))
    blocks = np.bincount(entered, minlength=n + 2)[: len(chosen) + 1].astype(np.float64)
    each = weak_rows(
        np.maximum(blocks, 2.0), np.where(np.arange(blocks.size) > 0, 1.0, np.maximum(blocks, 1.0))
    )
    apart = outside + np.cumsum(np.where(blocks[:, None] > 0, each, 0.0), axis=0)[tried]
    values = floors(np.concatenate([together, apart]), float(horizon))
    best = np.argsort(values, kind="stable")[:most].tolist()
    alone = n + np.arange(n)
    return [
        Partition.from_labels(graph, np.where(inside[i % tried.size], entered * (i >= tried.size), alone))
        for i in best
    ]
