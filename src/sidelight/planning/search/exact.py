"""Every legal partition of a small graph, and the one with the smallest certified bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.graph import FeedbackGraph
from sidelight.planning.search.blocks import BlockBook
from sidelight.planning.search.estimate import estimate, floor, two_level

MOST_ARMS = 9
"""Bell(9) = 21 147 partitions, of 511 blocks."""


def legal_partitions(legal: list[bool], n: int) -> Iterator[tuple[int, ...]]:
    """Partitions of {0, …, n−1} into blocks, as bit masks, that are all `legal`; each once.

    >>> list(legal_partitions([True] * 8, 3))
    [(7,), (6, 1), (5, 2), (4, 3), (4, 2, 1)]
    """

    def parts(rest: int) -> Iterator[tuple[int, ...]]:
        if rest == 0:
            yield ()
            return
        top = 1 << (rest.bit_length() - 1)
        below = rest ^ top
        more = below
        while True:  # the block of the highest arm, then the others
            if legal[top | more]:
                for others in parts(below ^ more):
                    yield (top | more, *others)
            if more == 0:
                return
            more = (more - 1) & below

    yield from parts((1 << n) - 1)


def exhaustive(book: BlockBook, horizon: int) -> tuple[list[list[Longs]], int]:
    """Blocks of the best partitions, best first, and how many legal partitions there are.

    Partitions are visited by their estimate; those whose floor is above the best bound so far are left out,
    which cannot lose the best one.
    """
    graph, T = book.graph, float(horizon)
    n = graph.n_arms
    masks = np.arange(1, 1 << n)
    arms = [np.flatnonzero((mask >> np.arange(n)) & 1) for mask in masks.tolist()]
    table = np.vstack([np.full(8, np.inf), book.rows(arms)])
    legal = np.isfinite(table).all(axis=1)
    found = list(legal_partitions(legal.tolist(), n))
    rows, least = _sums(found, table)
    distinct, first = np.unique(np.column_stack([rows, least]).round(9), axis=0, return_index=True)
    del distinct
    estimates, floors = estimate(rows[first], least[first], T), floor(rows[first], T)
    best: list[tuple[float, int]] = []
    for i in np.argsort(estimates, kind="stable").tolist():
        if best and floors[i] > best[0][0]:
            continue
        problem = two_level(rows[first[i]], float(least[first[i]]))
        value = sum(problem.terms(T, problem.parameters(T)).values())
        best = sorted([*best, (value, int(first[i]))])[:3]
    chosen = [[arms[mask - 1] for mask in found[i]] for _, i in best]
    return chosen, len(found)


def _sums(found: list[tuple[int, ...]], table: Floats) -> tuple[Floats, Floats]:
    """Sum of rows and smallest δ of every partition."""
    start = np.cumsum([0] + [len(blocks) for blocks in found])[:-1]
    flat = table[np.concatenate([np.array(blocks) for blocks in found])]
    least = np.minimum.reduceat(np.where(flat[:, 2] > 0, flat[:, 3], np.inf), start)
    return np.add.reduceat(flat, start, axis=0), least


def exact_possible(graph: FeedbackGraph) -> bool:
    """Is the graph small enough?"""
    return graph.n_arms <= MOST_ARMS
