"""A partition in motion: blocks by number, their rows, and what a change would do to the sums."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import NamedTuple

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.partition import Partition
from sidelight.planning.search.blocks import BlockBook
from sidelight.planning.search.estimate import estimate


class Change(NamedTuple):
    """Blocks to remove, by number, at most two of them weak, and the sorted blocks to put in their place."""

    removed: tuple[int, ...]
    added: tuple[Longs, ...]


class State:
    """Blocks of a legal partition, changed one `Change` at a time."""

    def __init__(self, book: BlockBook, partition: Partition, horizon: int) -> None:
        blocks = partition.blocks
        self.book, self.T = book, float(horizon)
        self.blocks = dict(enumerate(blocks))
        self._rows = dict(enumerate(book.rows(list(blocks))))
        self.owner = partition.block_of.copy()
        self._next = len(blocks)
        self._sum = np.sum(list(self._rows.values()), axis=0)
        self._weak = {number: float(row[3]) for number, row in self._rows.items() if row[2]}
        self._settle()

    def _settle(self) -> None:
        weak = ((delta, number) for number, delta in self._weak.items())
        self._least = nsmallest(3, weak)  # a change removes two weak blocks at most
        self.value = float(estimate(self._sum[None, :], np.array([self._smallest(())]), self.T)[0])

    def _smallest(self, removed: tuple[int, ...]) -> float:
        return next((delta for delta, number in self._least if number not in removed), np.inf)

    def weigh(self, changes: Sequence[Change]) -> Floats:
        """(len(changes),) estimate after each change, ∞ for illegal ones."""
        if not changes:
            return np.empty(0)
        flat = [block for change in changes for block in change.added]
        origins = [[self.blocks[k] for k in change.removed] for change in changes for _ in change.added]
        rows = self.book.rows(flat, origins)
        start = np.cumsum([0] + [len(change.added) for change in changes])
        added = np.add.reduceat(rows, start[:-1], axis=0)
        deltas = np.where(rows[:, 2] > 0, rows[:, 3], np.inf)
        least = np.minimum.reduceat(deltas, start[:-1])
        least = np.minimum(least, [self._smallest(change.removed) for change in changes])
        gone = np.array([np.sum([self._rows[k] for k in change.removed], axis=0) for change in changes])
        legal = np.isfinite(added).all(axis=1)
        values = np.full(len(changes), np.inf)
        values[legal] = estimate(self._sum - gone[legal] + added[legal], least[legal], self.T)
        return values

    def apply(self, change: Change) -> None:
        """Make the change, which must be legal."""
        origins = [[self.blocks[k] for k in change.removed]] * len(change.added)
        rows = self.book.rows(change.added, origins)
        for number in change.removed:
            self._sum = self._sum - self._rows[number]
            self._weak.pop(number, None)
            del self.blocks[number], self._rows[number]
        for block, row in zip(change.added, rows, strict=True):
            self.blocks[self._next], self._rows[self._next] = block, row
            self._sum = self._sum + row
            if row[2]:
                self._weak[self._next] = float(row[3])
            self.owner[block] = self._next
            self._next += 1
        self._settle()

    @property
    def busy(self) -> Longs:
        """Arms in blocks of two or more: those that can leave their block."""
        held = np.zeros(self._next, dtype=bool)
        held[list(self._weak)] = True
        return np.flatnonzero(held[self.owner])

    @property
    def weak(self) -> list[int]:
        """Numbers of the blocks of two arms or more."""
        return list(self._weak)

    def labels(self) -> Longs:
        """(n,) smallest arm of each arm's block: equal for equal sets of blocks."""
        _, first, label = np.unique(self.owner, return_index=True, return_inverse=True)
        return np.asarray(first[label], dtype=np.int64)
