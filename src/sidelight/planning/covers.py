"""Sums and maxima over the neighbours of an arm inside its block, without writing universal arms out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Floats, Longs

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph


def loads(graph: FeedbackGraph, block_of: Longs, cover: Floats, power: Floats | float = 1.0) -> Floats:
    """(n,) c_i = Σ_{j ∈ Nin(i) ∩ V_k} cover(j)·r_{ji}^power_i, k the block of i. O(n + edges).

    r is the probability that j reveals i, `power` one number or one for each arm.
    """
    source = graph.in_indices
    target = graph.in_targets
    inside = block_of[source] == block_of[target]
    shown = cover[source]
    if graph.in_probability is not None:
        shown = shown * graph.in_probability ** np.broadcast_to(power, graph.n_arms)[target]
    covered = np.bincount(target[inside], shown[inside], graph.n_arms).astype(np.float64)
    arms = graph.universal
    totals = np.bincount(block_of, weights=cover)
    covered[arms] = totals[block_of[arms]] - np.where(graph.has_loop[arms], 0.0, cover[arms])
    return covered


def largest_revealed(
    graph: FeedbackGraph, block_of: Longs, values: Floats, power: Floats | float = 0.0
) -> Floats:
    """(n,) max of values_i·r_{ji}^power_i ≥ 0 over i ∈ Nout(j) ∩ V_k, k the block of j; 0 if j reveals nothing there.

    O(n + edges).
    """
    n = graph.n_arms
    best = np.zeros(n)
    rows = np.flatnonzero(np.diff(graph.out_indptr) > 0)
    if rows.size:
        source = graph.out_sources
        inside = block_of[source] == block_of[graph.out_indices]
        shown = values[graph.out_indices]
        if graph.out_probability is not None:
            shown = shown * graph.out_probability ** np.broadcast_to(power, n)[graph.out_indices]
        listed = np.where(inside, shown, 0.0)
        best[rows] = np.maximum.reduceat(listed, graph.out_indptr[rows])
    arms = graph.universal.astype(np.int64)
    if arms.size:
        first, leader, second = _two_largest(block_of, arms, values)
        everywhere = first[block_of]
        led = leader[leader >= 0]
        loopless = led[~graph.has_loop[led]]  # does not reveal itself: the runner-up of its block counts
        everywhere[loopless] = second[block_of[loopless]]
        best = np.maximum(best, everywhere)
    return best


def _two_largest(block_of: Longs, arms: Longs, values: Floats) -> tuple[Floats, Longs, Floats]:
    """By block: the largest value among `arms`, an arm that has it (−1 for none), the next largest value."""
    m = int(block_of.max()) + 1
    first, second = np.zeros(m), np.zeros(m)
    leader = np.full(m, -1, dtype=np.int64)
    order = arms[np.lexsort((arms, values[arms]))]  # the last entry of a block wins the assignment
    leader[block_of[order]] = order
    some = np.flatnonzero(leader >= 0)
    first[some] = values[leader[some]]
    others = arms[leader[block_of[arms]] != arms]
    np.maximum.at(second, block_of[others], values[others])
    return first, leader, second
