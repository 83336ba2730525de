"""Where a search starts: the partitions that come with the graph, and some that are made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight.analysis import fractional_domination, observability
from sidelight.errors import IllegalPartition, InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.candidate import WeakBlocks

IntArray = npt.NDArray[np.int64]

LOUVAIN_EDGES = 2_000
"""Communities of graphs with at most so many listed edges are found by Louvain's method, others by voting."""

VOTES = 12
"""Rounds of voting."""


def natural_starts(graph: FeedbackGraph) -> Iterator[tuple[str, Partition]]:
    """Every natural partition that is legal, by name, each once."""
    strong = observability(graph).graph == "strong"
    makers: dict[str, Callable[[FeedbackGraph], Partition]] = {"single": natural.single}
    makers["singletons" if strong else "corrupted"] = natural.singletons if strong else natural.corrupted
    makers |= {"components": natural.components, "hypercube": natural.hypercube}
    makers["strongly connected"] = natural.strongly_connected
    seen: list[Partition] = []
    for name, make in makers.items():
        try:
            partition = make(graph)
        except (IllegalPartition, InfeasibleRequest):
            continue
        if partition not in seen:
            seen.append(partition)
            yield name, partition


def communities(graph: FeedbackGraph, seed: int) -> Partition | None:
    """Communities of the graph without directions, made legal; None if there is only one."""
    n = graph.n_arms
    source, target = np.repeat(np.arange(n), np.diff(graph.out_indptr)), graph.out_indices.astype(np.int64)
    if source.size > LOUVAIN_EDGES:
        return mended(graph, _voted(n, source, target, np.random.default_rng(seed)))
    import networkx as nx

    plain: nx.Graph[int] = nx.Graph()
    plain.add_nodes_from(range(n))
    plain.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    labels = np.empty(n, dtype=np.int64)
    for group in nx.community.louvain_communities(plain, seed=seed):
        members = sorted(group)
        labels[members] = members[0]
    return mended(graph, labels)


def _voted(n: int, source: IntArray, target: IntArray, rng: np.random.Generator) -> IntArray:
    """Label propagation: in each round a random half of the arms takes the commonest label around it."""
    arm, other = np.concatenate([source, target]), np.concatenate([target, source])
    labels = np.arange(n)
    for _ in range(VOTES):
        votes, count = np.unique(np.sort(arm * n + labels[other]), return_counts=True)
        voter, label = np.divmod(votes, n)
        order = np.lexsort((rng.random(votes.size), count, voter))  # the last of each voter wins, ties by lot
        last = order[np.flatnonzero(np.diff(voter[order], append=-1))]
        chosen = last[rng.random(last.size) < 0.5]
        labels[voter[chosen]] = label[chosen]
    return labels


def mended(graph: FeedbackGraph, labels: IntArray) -> Partition | None:
    """The blocks of `labels`, merged until they are legal; None if that leaves one block.

    A block that does not reveal one of its arms joins the block of a watcher of that arm. All blocks in need
    do so at once, so their number falls by half at least in every round.
    """
    while True:
        numbers, labels = np.unique(labels, return_inverse=True)
        if numbers.size == 1:
            return None
        try:
            return Partition.from_labels(graph, labels)
        except IllegalPartition as refused:
            wanted = [int(reason.arms[0]) for reason in refused.violations]  # type: ignore[attr-defined]
        joins = []
        for arm in wanted:
            watchers = graph.in_neighbors(arm) if not graph.is_universal[arm] else np.arange(graph.n_arms)[:2]
            away = watchers[labels[watchers] != labels[arm]]
            if away.size:
                joins.append((labels[arm], labels[away[0]]))
        if not joins:
            return None
        a, b = np.array(joins).T
        links = sparse.coo_array((np.ones(a.size), (a, b)), shape=(numbers.size, numbers.size))
        _, merged = connected_components(links, directed=False)
        labels = merged.astype(np.int64)[labels]


def made_from(weak: WeakBlocks) -> Iterator[tuple[str, Partition]]:
    """ "shed": strong arms that carry no weight leave their blocks; "watched": corrupted arms with their best cover.

    An arm without weight can leave without raising δ, one by one or all at once.
    """
    p = weak.partition
    strong = np.zeros(p.graph.n_arms, dtype=bool)
    strong[observability(p.graph).strong] = True
    labels = p.block_of.copy()
    for found in weak.dominations:
        idle = found.arms[(found.weights == 0) & strong[found.arms]]
        if idle.size < len(found.arms):
            labels[idle] = p.n_blocks + idle
    try:
        made = Partition.from_labels(p.graph, labels)
    except IllegalPartition:
        return
    if made != p:
        yield f"{weak.name}, shed", made


def watched(graph: FeedbackGraph) -> Partition | None:
    """The arms that are not strongly observable in one block with the arms that cover them most cheaply."""
    found = observability(graph)
    if not 0 < found.weak.size < graph.n_arms:
        return None
    cover = fractional_domination(graph, cover=found.weak)
    labels = np.arange(1, graph.n_arms + 1)
    labels[found.weak] = labels[cover.arms[cover.weights > 0]] = 0
    try:
        return Partition.from_labels(graph, labels)
    except IllegalPartition:
        return None
