"""Domination of many blocks at once, solving equal blocks once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sidelight._types import Indices
from sidelight.analysis.domination.covering import NOBODY, CoveringProgram, listed_program, split, values_of
from sidelight.analysis.domination.domination import (
    Domination,
    check_revealed,
    checked_tolerance,
    fractional_domination,
    solved,
)
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import gather_rows


def block_dominations(
    g: FeedbackGraph, blocks: Sequence[Sequence[int] | Indices], *, tolerance: float | None = None
) -> list[Domination]:
    """`fractional_domination(g, block)` for every block; blocks of the same shape share one solution.

    Same shape means equal after renumbering the arms of each block by their position, so 10⁵ cliques of ten
    cost one small program. Shared certificates share their (read-only) arrays.

    >>> from sidelight.graph import FeedbackGraph
    >>> g = FeedbackGraph.from_edges(5, [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)])
    >>> [d.value for d in block_dominations(g, [[0, 1], [2, 3, 4]])]
    [2.0, 3.0]
    """
    tolerance = checked_tolerance(tolerance)
    members = [np.asarray(block) for block in blocks]
    flat = np.concatenate(members) if members else np.empty(0, dtype=np.int64)
    if not _is_disjoint(g, members, flat):
        return [fractional_domination(g, block, tolerance=tolerance) for block in blocks]

    shared: dict[bytes, Domination] = {}
    result = []
    for arms, program in _block_programs(g, flat.astype(np.int64), [len(block) for block in members]):
        key = program.signature()
        known = shared.get(key)
        if known is None:
            check_revealed(g, program, arms, whole=False)
            known = shared[key] = solved(program, arms, arms, tolerance)
            result.append(known)
        else:
            result.append(Domination(known.value, known.weights, known.packing, arms, arms, known.method))
    return result


def _is_disjoint(g: FeedbackGraph, members: list[Indices], flat: Indices) -> bool:
    """Are the blocks non-empty, disjoint sets of arms? (Otherwise each block answers for itself.)"""
    if not members or any(block.size == 0 or block.ndim != 1 for block in members):
        return False
    if flat.dtype.kind not in "iu" or flat.min() < 0 or flat.max() >= g.n_arms:
        return False
    return int(np.bincount(flat).max()) == 1


def _block_programs(
    g: FeedbackGraph, flat: Indices, sizes: Sequence[int]
) -> Iterator[tuple[Indices, CoveringProgram]]:
    """(arms, covering program) of each block; `flat` holds the arms block after block."""
    flat.flags.writeable = False
    block = np.repeat(np.arange(len(sizes)), sizes)
    block_of = np.full(g.n_arms, -1, dtype=np.int32)
    block_of[flat] = block
    place = np.empty(g.n_arms, dtype=np.int32)
    place[flat] = np.arange(len(flat))
    counts, found = gather_rows(g.in_indptr, g.in_indices, flat)
    inside = block_of[found] == np.repeat(block, counts)
    values = values_of(g.in_indptr, g.in_probability, flat)
    every = listed_program(len(flat), counts, np.where(inside, place[found], -1), values)
    everywhere = g.is_universal[flat]
    every.spared[everywhere] = np.where(g.has_loop[flat], NOBODY, place[flat])[everywhere]
    start = 0
    for (_, _, program), size in zip(split(every, block, block, len(sizes)), sizes, strict=True):
        yield flat[start : start + size], program  # a slice, so that the arms stay read-only
        start += size
