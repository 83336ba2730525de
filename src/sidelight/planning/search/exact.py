"""Every legal partition of a small graph, those that can have the smallest bound first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.analysis import fractional_domination, observability
from sidelight.graph import FeedbackGraph
from sidelight.planning.search.floor import COLUMNS, LOOP, LOOPLESS, floors, weak_rows

MOST_ARMS = 9
"""Bell(9) = 21 147 partitions, of 511 blocks."""


def set_partitions(legal: Sequence[bool], n: int) -> Iterator[tuple[int, ...]]:
    """Partitions of {0, …, n−1} into blocks, as bit masks, that are all `legal`; each once.

    >>> list(set_partitions([True] * 8, 3))
    [(4, 2, 1), (4, 3), (5, 2), (6, 1), (7,)]
    """

    def parts(rest: int) -> Iterator[tuple[int, ...]]:
        if rest == 0:
            yield ()
            return
        top = 1 << (rest.bit_length() - 1)
        for block in range(top, 2 * top):  # the block of the highest arm, then the others
            if legal[block] and block | rest == rest:
                yield from ((block, *others) for others in parts(rest ^ block))

    return parts((1 << n) - 1)


def by_floor(graph: FeedbackGraph, horizon: int) -> tuple[list[tuple[float, list[Longs]]], int]:
    """(floor, blocks) of partitions, least floor first, and how many are legal.

    Of partitions with the same sizes and domination numbers, hence the same bound, there is one.
    """
    n = graph.n_arms
    arms = [np.flatnonzero((mask >> np.arange(n)) & 1) for mask in range(1 << n)]
    rows = _rows(graph, arms)
    _, shape = np.unique(
        np.column_stack([rows, [len(some) for some in arms]]).round(9), axis=0, return_inverse=True
    )
    shapes = shape.ravel().tolist()
    distinct: dict[tuple[int, ...], tuple[int, ...]] = {}
    count = 0
    for masks in set_partitions(np.isfinite(rows[:, 2]).tolist(), n):
        count += 1
        distinct.setdefault(tuple(sorted(shapes[mask] for mask in masks)), masks)
    found = list(distinct.values())
    values = floors(np.array([rows[list(masks)].sum(axis=0) for masks in found]), float(horizon))
    order = np.argsort(values, kind="stable").tolist()
    return [(float(values[i]), [arms[mask] for mask in found[i]]) for i in order], count


def _rows(graph: FeedbackGraph, blocks: list[Longs]) -> Floats:
    """(B, 5) infinite for blocks that no legal partition has."""
    rows = np.full((len(blocks), COLUMNS), np.inf)
    reveals, strong = graph.to_sparse().toarray().astype(bool), set(observability(graph).strong.tolist())
    for row, block in zip(rows, blocks, strict=True):
        if block.size == 1 and block[0] in strong:
            row[:] = LOOP if graph.has_loop[block[0]] else LOOPLESS
        elif block.size > 1 and reveals[np.ix_(block, block)].any(axis=0).all():
            row[:] = 0.0, 0.0, 1.0, fractional_domination(graph, block).value, 0.0
    weak = rows[:, 2] == 1
    sizes = np.array([float(block.size) for block in blocks])
    rows[weak] = weak_rows(sizes[weak], rows[weak, 3])
    return rows
