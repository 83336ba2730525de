"""The covering program of a set of arms: which sources reveal which targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sidelight._types import Floats, Indices, Ints, Longs
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import gather_rows, grouped, pointers

LISTED = -2
"""`spared` of a target whose sources are listed one by one."""

NOBODY = -1
"""`spared` of a target that every source reveals."""


@dataclass(frozen=True, eq=False)
class CoveringProgram:
    """min Σx over sources, such that the sources of every target weigh at least 1 together, x ≥ 0.

    Where reveals may fail a listed source counts with r·x, r ≤ 1 its probability in `row_values`.

    Sources and targets are numbered from 0. Target u is revealed by the listed sources when
    spared[u] == LISTED, otherwise by every source but spared[u] (NOBODY: by all), which takes no room.
    """

    n_sources: int
    row_indptr: Longs  # (n_targets + 1,) listed sources by target
    row_indices: Ints
    spared: Ints  # (n_targets,)
    row_values: Floats  # of the listed sources

    @property
    def n_targets(self) -> int:
        """Number of constraints."""
        return len(self.spared)

    @cached_property
    def in_degree(self) -> Longs:
        """(n_targets,) how many sources reveal each target."""
        degree = np.diff(self.row_indptr).astype(np.int64)
        everywhere = self.spared != LISTED
        degree[everywhere] = self.n_sources - (self.spared[everywhere] >= 0)
        return degree

    @cached_property
    def listed_out_degree(self) -> Longs:
        """(n_sources,) how many listed targets each source reveals."""
        return np.bincount(self.row_indices, minlength=self.n_sources).astype(np.int64)

    @cached_property
    def out_degree(self) -> Longs:
        """(n_sources,) how many targets each source reveals."""
        degree = self.listed_out_degree + np.count_nonzero(self.spared != LISTED)
        degree[self.spared[self.spared >= 0]] -= 1
        return degree

    def signature(self) -> bytes:
        """Equal for two programs exactly when they are the same program."""
        head = b"%d %d " % (self.n_sources, len(self.spared))
        arrays = self.row_indptr, self.row_indices, self.spared, self.row_values
        return head + b"".join(array.tobytes() for array in arrays)

    def restricted(self, sources: Indices, targets: Indices) -> CoveringProgram:
        """The program on the listed edges between `sources` and `targets`, renumbered in the order given."""
        rank = np.full(self.n_sources, -1, dtype=np.int64)
        rank[sources] = np.arange(len(sources))
        counts, revealing = gather_rows(self.row_indptr, self.row_indices, targets)
        values = gather_rows(self.row_indptr, self.row_values, targets)[1]
        return listed_program(len(sources), counts, rank[revealing], values)


def listed_program(
    n_sources: int, counts: Indices, local: Indices, values: Floats | None = None
) -> CoveringProgram:
    """Program whose target u has the next counts[u] entries of `local` as sources; −1 is no source."""
    values = np.ones(len(local)) if values is None else values
    inside = local >= 0
    if not inside.all():
        owner = np.repeat(np.arange(len(counts)), counts)
        counts = np.bincount(owner[inside], minlength=len(counts))
        local, values = local[inside], values[inside]
    spared = np.full(len(counts), LISTED, dtype=np.int32)
    return CoveringProgram(n_sources, pointers(counts), local.astype(np.int32), spared, values)


def covering_program(
    g: FeedbackGraph, arms: Indices, cover: Indices, block: Indices | None = None
) -> CoveringProgram:
    """Sources `arms`, targets `cover`, distinct arms of g each; time and room of the edges into `cover`.

    Where `arms` and `cover` are the same and lie in blocks, edges between two blocks are left out.
    """
    counts, revealing = gather_rows(g.in_indptr, g.in_indices, cover)
    sources = locate(revealing, arms, g.n_arms)
    if block is not None:
        sources = np.where(block[sources] == np.repeat(block, counts), sources, -1)
    values = None if g.in_probability is None else gather_rows(g.in_indptr, g.in_probability, cover)[1]
    program = listed_program(len(arms), counts, sources, values)
    everywhere = np.flatnonzero(g.is_universal[cover])
    if everywhere.size:
        universal = cover[everywhere]
        itself = locate(universal, arms, g.n_arms)
        program.spared[everywhere] = np.where(g.has_loop[universal], NOBODY, itself)
    return program


def locate(values: Indices, arms: Indices, n_arms: int) -> Indices:
    """Position of each value in `arms`, −1 where it does not occur."""
    if len(arms) > n_arms // 64:
        rank = np.full(n_arms, -1, dtype=np.int32)
        rank[arms] = np.arange(len(arms))
        return rank[values]
    order = np.argsort(arms)  # a block of few arms must not cost a table of all arms
    at = order[np.minimum(np.searchsorted(arms, values, sorter=order), len(arms) - 1)]
    return np.where(arms[at] == values, at, -1)


def split(
    program: CoveringProgram, source_part: Indices, target_part: Indices, n_parts: int
) -> Iterator[tuple[Indices, Indices, CoveringProgram]]:
    """(sources, targets, program) of each part of a program; no listed or spared source lies in another part."""
    sources, source_start = grouped(source_part, n_parts)
    targets, target_start = grouped(target_part, n_parts)
    rank = np.empty(program.n_sources, dtype=np.int32)
    rank[sources] = np.arange(len(sources)) - np.repeat(source_start[:-1], np.diff(source_start))
    counts, revealing = gather_rows(program.row_indptr, program.row_indices, targets)
    local = rank[revealing]
    values = gather_rows(program.row_indptr, program.row_values, targets)[1]
    indptr = pointers(counts)
    spared = program.spared[targets]
    spared = np.where(spared >= 0, rank[np.maximum(spared, 0)], spared)
    for part in range(n_parts):
        low, high = target_start[part], target_start[part + 1]
        own = slice(source_start[part], source_start[part + 1])
        yield (
            sources[own],
            targets[low:high],
            CoveringProgram(
                own.stop - own.start,
                indptr[low : high + 1] - indptr[low],
                local[indptr[low] : indptr[high]],
                spared[low:high],
                values[indptr[low] : indptr[high]],
            ),
        )
