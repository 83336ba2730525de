"""The neighbours of a partition: blocks merged, split or dissolved, arms moved or gathered around their watcher."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sidelight._types import Longs
from sidelight.planning.search.blocks import MEDIUM, SMALL
from sidelight.planning.search.state import Change, State

FEW_BLOCKS, FEW_ARMS = 16, 24
"""Up to so many blocks every pair, and up to so many arms every arm, is tried; beyond that, a sample."""

HALVED = 8
"""Blocks of up to so many arms are split in every way."""

DISSOLVED = 2_000
"""Up to so many strong arms are set free at once when a block is split."""

VOLUME = 200_000
"""Arms in the blocks of one batch of neighbours, at most: what a batch may cost."""

HANDLING, PROGRAM = 4, 8_000
"""What a block costs beside its arms, and what a linear program costs."""


def neighbours(state: State, rng: np.random.Generator, most: int) -> tuple[list[Change], bool]:
    """At most `most` changes, drawn by `rng`, and whether the partition is so small that they are about all."""
    found = list(_all(state, rng, most))
    kept: list[Change] = []
    effort = 0
    for i in rng.permutation(len(found)).tolist():
        effort += sum(block.size + _handling(block.size) for block in found[i].added)
        if kept and (effort > VOLUME or len(kept) == most):
            return kept, False
        kept.append(found[i])
    return kept, state.book.graph.n_arms <= FEW_ARMS and len(state.blocks) <= FEW_BLOCKS


def _handling(size: int) -> int:
    """What a block costs beside its arms: those of medium size are linear programs of their own."""
    return PROGRAM if SMALL < size <= MEDIUM else HANDLING


def _all(state: State, rng: np.random.Generator, most: int) -> Iterator[Change]:
    """Weak blocks come first: most arms that are drawn are in one, since those on their own can only be merged."""
    numbers, n = np.array(list(state.blocks)), state.book.graph.n_arms
    busy, weak = state.busy, np.array(state.weak, dtype=np.int64)
    few = numbers.size <= FEW_BLOCKS
    if few:
        pairs = [(k, q) for i, k in enumerate(numbers) for q in numbers[i + 1 :]]
    else:
        pairs = list(_linked(state, _drawn(busy, n, most // 4, rng), rng))
    for k, q in pairs:
        yield Change((int(k), int(q)), (_joined(state.blocks[k], state.blocks[q]),))
    arms = busy if busy.size <= FEW_ARMS else rng.choice(busy, FEW_ARMS + most // 8)
    for arm in np.unique(arms).tolist():
        yield from _moves(state, arm, numbers)
    for k in (weak if weak.size <= FEW_BLOCKS else rng.choice(weak, FEW_BLOCKS, replace=False)).tolist():
        for part in _parts(state, state.blocks[k], rng):
            rest = np.delete(state.blocks[k], np.searchsorted(state.blocks[k], part))
            if part.size and rest.size:
                yield Change((k,), (part, rest))
                if 1 < rest.size <= DISSOLVED and state.book.strong[rest].all():
                    yield Change((k,), (part, *rest[:, None]))
    for arm in _revealing(state, FEW_BLOCKS, rng):
        yield from _gathered(state, arm)


def _drawn(busy: Longs, n: int, count: int, rng: np.random.Generator) -> Longs:
    """Arms to look at: three of four in weak blocks, if there are any, the others anywhere."""
    anywhere = rng.integers(n, size=count if busy.size == 0 else count // 4)
    inside = rng.choice(busy, count - anywhere.size) if busy.size else busy
    return np.concatenate([inside, anywhere])


def _linked(state: State, arms: Longs, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Pairs of blocks at the ends of random edges of the arms, else of random arms."""
    g, seen = state.book.graph, set()
    for arm in arms.tolist():
        row = g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]]
        other = int(row[rng.integers(row.size)]) if row.size else int(rng.integers(g.n_arms))
        here, there = int(state.owner[arm]), int(state.owner[other])
        pair = (min(here, there), max(here, there))
        if pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            yield pair


def _revealing(state: State, count: int, rng: np.random.Generator) -> list[int]:
    """Arms at the beginning of random edges: those that reveal many come up often."""
    g = state.book.graph
    if g.out_indices.size == 0:
        return []
    edges = rng.integers(g.out_indices.size, size=count)
    return np.unique(np.searchsorted(g.out_indptr, edges, side="right") - 1).tolist()  # type: ignore[no-any-return]


def _gathered(state: State, arm: int) -> Iterator[Change]:
    """The arm's block takes in every arm on its own that the arm reveals."""
    g, home = state.book.graph, int(state.owner[arm])
    row = g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]].astype(np.int64)
    owners = state.owner[row]
    alone = [k for k in owners.tolist() if k != home and state.blocks[k].size == 1]
    if alone:
        joined = np.concatenate([state.blocks[home], *(state.blocks[k] for k in alone)])
        yield Change((home, *alone), (np.sort(joined),))


def _moves(state: State, arm: int, numbers: Longs) -> Iterator[Change]:
    """The arm to another block, or to one of its own if it is strongly observable."""
    home = int(state.owner[arm])
    block = state.blocks[home]
    if block.size == 1:
        return  # to join another block is a merge
    rest, alone = block[block != arm], np.array([arm])
    if state.book.strong[arm]:
        yield Change((home,), (alone, rest))
    targets = numbers
    if numbers.size > FEW_BLOCKS:
        g = state.book.graph
        near = np.concatenate(
            [
                g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]][:FEW_BLOCKS],
                g.in_indices[g.in_indptr[arm] : g.in_indptr[arm + 1]][:FEW_BLOCKS],
            ]
        )
        targets = np.unique(state.owner[near])
    for other in targets.tolist():
        if other != home:
            yield Change((home, other), (rest, _joined(state.blocks[other], alone)))


def _parts(state: State, block: Longs, rng: np.random.Generator) -> Iterator[Longs]:
    """One side of each split that is tried: all of them, or what an arm reveals or is revealed by."""
    if 2 <= block.size <= HALVED:
        for mask in range(1, 1 << (block.size - 1)):
            yield block[(mask >> np.arange(block.size)) & 1 == 1]
    elif block.size > HALVED:
        g = state.book.graph
        strong = block[state.book.strong[block]]
        if 0 < strong.size < block.size:
            yield strong
        degree = np.cumsum(np.diff(g.out_indptr)[block] + 1)  # arms that reveal many come up often
        for arm in block[np.searchsorted(degree, rng.integers(degree[-1], size=8), side="right")].tolist():
            seen = g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]]
            seers = g.in_indices[g.in_indptr[arm] : g.in_indptr[arm + 1]]
            groups = [np.append(seen, arm), np.concatenate([seen, seers, [arm]])]
            if seers.size:
                groups.append(np.concatenate([seen, [arm, rng.choice(seers)]]))
            for group in groups:
                yield np.unique(group[state.owner[group] == state.owner[arm]]).astype(np.int64)


def _joined(a: Longs, b: Longs) -> Longs:
    """Two sorted blocks as one; the stable sort of two runs only merges them."""
    return np.sort(np.concatenate([a, b]), kind="stable")
