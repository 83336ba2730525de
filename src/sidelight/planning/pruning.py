"""Pruning blocks to in-degree one: through which arm the adaptive exploration watches each arm."""

from __future__ import annotations

import numpy as np

from sidelight._types import Bools, Longs
from sidelight.partition import Partition

MOST_ROUNDS = 64
"""After so many rounds the arms still waiting all take the in-neighbour they like best."""

SCATTER = 2654435761
"""Odd multiplier (2³²/golden ratio) that scatters equal candidates, so that many win in one round."""


def parents(partition: Partition, blocks: Longs) -> Longs:
    """(n,) one in-neighbour inside its block for every arm of `blocks`, −1 elsewhere; O(n + edges) a round.

    Few parents are better: what one explores on behalf of all its arms, each of them sees. This is greedy
    set cover in rounds: every waiting arm votes for the in-neighbour with the most waiting arms,
    and those whose waiting arms all voted for them become their parent. A self-loop counts.
    """
    g = partition.graph
    n, owner = g.n_arms, partition.block_of
    chosen = np.zeros(partition.n_blocks, dtype=bool)
    chosen[blocks] = True
    target = g.in_targets
    source = g.in_indices.astype(np.int64)
    inside = (owner[source] == owner[target]) & chosen[owner[target]]
    source, target = source[inside], target[inside]

    parent = np.full(n, -1, dtype=np.int64)
    tie_break = np.argsort(np.argsort(np.arange(n) * SCATTER % 2**32, kind="stable"), kind="stable")
    rounds = 0
    while source.size:
        gain = np.bincount(source, minlength=n)
        score = (gain * n + tie_break)[source]  # distinct for distinct sources
        starts = np.flatnonzero(np.diff(target, prepend=-1))  # edges stay sorted by target
        best = np.repeat(np.maximum.reduceat(score, starts), np.diff(starts, append=target.size))
        votes = score == best
        rounds += 1
        elected = np.bincount(source[votes], minlength=n) == gain
        settled = votes & elected[source] if rounds < MOST_ROUNDS else votes
        parent[target[settled]] = source[settled]
        waiting = parent[target] < 0
        source, target = source[waiting], target[waiting]
    _add_universal(partition, chosen, parent)
    return parent


def _add_universal(partition: Partition, chosen: Bools, parent: Longs) -> None:
    """Arms that everyone reveals join the busiest parent of their block, which may not be themselves."""
    g, owner = partition.graph, partition.block_of
    loads = np.bincount(parent[parent >= 0], minlength=g.n_arms)
    universal = g.universal[chosen[owner[g.universal]]]
    for k in np.unique(owner[universal]):
        arms = partition.blocks[k]
        busiest = arms[np.argsort(-loads[arms], kind="stable")[:2]]  # blocks here have two arms or more
        mine = universal[owner[universal] == k]
        parent[mine] = np.where((mine == busiest[0]) & ~g.has_loop[mine], busiest[1], busiest[0])
