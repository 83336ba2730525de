"""A partition in motion: what many changes of it would cost, weighed together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sidelight._types import Bools, Floats, Indices, Longs
from sidelight.analysis import observability
from sidelight.analysis.domination.covering import listed_program
from sidelight.analysis.domination.first_order import Certificates
from sidelight.graph.edges import gather_rows
from sidelight.planning.exploration import WeakBlocks
from sidelight.planning.search.floor import COLUMNS, LOOP, LOOPLESS, floors, weak_rows


class Change(NamedTuple):
    """Arms that get new labels, each once."""

    arms: Indices
    labels: Longs | int


class State:
    """Labels of a partition, a cover of every weak block, and the row of every block."""

    def __init__(self, blocks: WeakBlocks, horizon: int) -> None:
        self.graph, self.T = blocks.partition.graph, float(horizon)
        self.labels, self.cover = blocks.partition.block_of.copy(), blocks.cover.copy()
        self.rows = np.zeros((self.graph.n_arms, COLUMNS))  # by label
        self._settle(np.arange(self.graph.n_arms), self.labels, self.cover)

    @cached_property
    def strong(self) -> Bools:
        """(n,) which arms may be on their own."""
        strong = np.zeros(self.graph.n_arms, dtype=bool)
        strong[observability(self.graph).strong] = True
        return strong

    def _settle(self, arms: Longs, labels: Longs, cover: Floats) -> None:
        """Give the arms, whole blocks before and after, their labels and cover."""
        self.rows[self.labels[arms]] = 0.0
        self.labels[arms] = labels
        groups, rows, self.cover[arms] = self._blocks(np.zeros_like(arms), arms, labels, cover)
        self.rows[groups] = rows
        self.total = self.rows.sum(axis=0)
        self.value = float(floors(self.total[None], self.T)[0])
        self.sizes = np.bincount(self.labels, minlength=self.graph.n_arms)
        self.used, self.free = np.flatnonzero(self.sizes), np.flatnonzero(self.sizes == 0)  # labels
        self.busy = np.flatnonzero(self.sizes[self.labels] > 1)  # arms that can leave their block

    def block(self, arm: int) -> Longs:
        """The arms in the block of this one."""
        return np.flatnonzero(self.labels == self.labels[arm])

    def _after(self, change: Change) -> tuple[Longs, Longs, Longs]:
        """Labels of the blocks that are touched, all arms in them, and the labels of these after the change."""
        labels = self.labels.copy()
        labels[change.arms] = change.labels
        touched = np.zeros(self.graph.n_arms, dtype=bool)
        touched[self.labels[change.arms]] = touched[change.labels] = True
        arms = np.flatnonzero(touched[self.labels])
        return np.flatnonzero(touched), arms, labels[arms]

    def weigh(self, changes: Sequence[Change]) -> Floats:
        """(len(changes),) floor after each change, with covers that are mended; ∞ for illegal ones."""
        if not changes:
            return np.empty(0)
        touched, arms, labels = zip(*map(self._after, changes), strict=True)
        copy = np.repeat(np.arange(len(changes)), [len(some) for some in arms])
        flat = np.concatenate(arms)
        groups, rows, _ = self._blocks(copy, flat, np.concatenate(labels), self.cover[flat])
        totals = np.array([self.total - self.rows[gone].sum(axis=0) for gone in touched])
        np.add.at(totals, groups // self.graph.n_arms, rows)
        return floors(totals, self.T)

    def apply(self, change: Change) -> None:
        """Make the change, which must be legal."""
        _, arms, labels = self._after(change)
        self._settle(arms, labels, self.cover[arms])

    def _blocks(self, copy: Longs, arms: Longs, labels: Longs, cover: Floats) -> tuple[Longs, Floats, Floats]:
        """Blocks of several copies of the graph at once, as copy·n + label, their rows, and a cover of them.

        `arms` ascend in each copy. The cover is the one given, mended, so δ is an upper bound; illegal blocks have
        infinite rows.
        """
        g, n = self.graph, self.graph.n_arms
        groups, first, of, sizes = np.unique(
            copy * n + labels, return_index=True, return_inverse=True, return_counts=True
        )
        inside, universal = sizes[of] > 1, g.is_universal[arms]
        listed = np.flatnonzero(inside & ~universal)
        counts, sources = gather_rows(g.in_indptr, g.in_indices, arms[listed])
        target = np.repeat(listed, counts)
        keys, wanted = copy * n + arms, copy[target] * n + sources
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        program = listed_program(
            len(arms), counts, np.where((keys[at] == wanted) & (of[at] == of[target]), at, -1)
        )
        seen = program.in_degree > 0
        illegal = np.bincount(of[listed[~seen]], minlength=len(groups)) > 0
        if not seen.all():
            program = program.restricted(np.arange(len(arms)), np.flatnonzero(seen))
        mended = cover * inside
        if program.n_targets:
            mended = Certificates(program).repaired_cover(mended)
        # Universal arms have no list of sources: what they lack is shared by all of their block.
        own = np.where(g.has_loop[arms], 0.0, mended)
        lacks = 1 - (np.bincount(of, mended, len(groups))[of] - own)
        share = np.maximum(lacks, 0.0) / np.maximum(sizes[of] - ~g.has_loop[arms], 1)
        more = np.zeros(len(groups))
        np.maximum.at(more, of[universal & inside], share[universal & inside])
        mended += more[of]

        single, arm = sizes == 1, arms[first]
        rows = np.where(g.has_loop[arm][:, None], LOOP, LOOPLESS)
        deltas = np.bincount(of, mended, len(groups))
        rows[~single] = weak_rows(sizes[~single].astype(np.float64), np.maximum(deltas[~single], 1.0))
        rows[illegal | (single & ~self.strong[arm])] = np.inf
        return groups, rows, mended
