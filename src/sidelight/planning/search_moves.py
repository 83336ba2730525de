"""The neighbours of a partition: merged blocks, moved arms, arms on their own, split blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sidelight.planning.search_state import Change, State

IntArray = npt.NDArray[np.int64]

FEW_BLOCKS, FEW_ARMS = 16, 24
"""Up to so many blocks every pair, and up to so many arms every arm, is tried; beyond that, a sample."""

HALVED = 8
"""Blocks of up to so many arms are split in every way."""

VOLUME = 200_000
"""Arms in the blocks of one batch of neighbours, at most: what a batch may cost."""


def neighbours(state: State, rng: np.random.Generator, most: int) -> list[Change]:
    """At most `most` changes, all of them if there are so few; a sample drawn by `rng` otherwise."""
    found = list(_all(state, rng, most))
    if len(found) > most:
        found = [found[i] for i in np.sort(rng.choice(len(found), most, replace=False))]
    kept: list[Change] = []
    volume = 0
    for i in rng.permutation(len(found)) if len(found) else ():
        volume += sum(block.size for block in found[i].added)
        if volume > VOLUME and kept:
            break
        kept.append(found[i])
    return kept


def _all(state: State, rng: np.random.Generator, most: int) -> Iterator[Change]:
    numbers = np.array(list(state.blocks))
    n = state.book.graph.n_arms
    arms = (
        np.arange(n) if n <= FEW_ARMS else np.sort(rng.choice(n, min(n, FEW_ARMS + most // 8), replace=False))
    )
    if numbers.size <= FEW_BLOCKS:
        pairs = [(k, q) for i, k in enumerate(numbers) for q in numbers[i + 1 :]]
    else:
        pairs = list(_linked(state, rng, most // 4))
    for k, q in pairs:
        yield Change((int(k), int(q)), (_joined(state.blocks[k], state.blocks[q]),))
    for arm in arms.tolist():
        yield from _moves(state, arm, numbers)
    chosen = numbers if numbers.size <= FEW_BLOCKS else rng.choice(numbers, FEW_BLOCKS, replace=False)
    for k in chosen.tolist():
        for part in _parts(state, state.blocks[k], rng):
            rest = np.delete(state.blocks[k], np.searchsorted(state.blocks[k], part))
            if part.size and rest.size:
                yield Change((k,), (part, rest))


def _linked(state: State, rng: np.random.Generator, count: int) -> Iterator[tuple[int, int]]:
    """Pairs of blocks at the ends of random edges, else of random arms."""
    g, seen = state.book.graph, set()
    for arm in rng.integers(g.n_arms, size=count).tolist():
        row = g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]]
        other = int(row[rng.integers(row.size)]) if row.size else int(rng.integers(g.n_arms))
        here, there = int(state.owner[arm]), int(state.owner[other])
        pair = (min(here, there), max(here, there))
        if pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            yield pair


def _moves(state: State, arm: int, numbers: IntArray) -> Iterator[Change]:
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


def _parts(state: State, block: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """One side of each split that is tried: all of them, or what an arm reveals or is revealed by."""
    if 2 <= block.size <= HALVED:
        for mask in range(1, 1 << (block.size - 1)):
            yield block[(mask >> np.arange(block.size)) & 1 == 1]
    elif block.size > HALVED:
        g = state.book.graph
        strong = block[state.book.strong[block]]
        if 0 < strong.size < block.size:
            yield strong
        for arm in rng.choice(block, 8).tolist():
            seen = g.out_indices[g.out_indptr[arm] : g.out_indptr[arm + 1]]
            seers = g.in_indices[g.in_indptr[arm] : g.in_indptr[arm + 1]]
            groups = [np.append(seen, arm), np.concatenate([seen, seers, [arm]])]
            if seers.size:
                groups.append(np.concatenate([seen, [arm, rng.choice(seers)]]))
            for group in groups:
                yield np.unique(group[state.owner[group] == state.owner[arm]]).astype(np.int64)


def _joined(a: IntArray, b: IntArray) -> IntArray:
    """Two sorted blocks as one; the stable sort of two runs only merges them."""
    return np.sort(np.concatenate([a, b]), kind="stable")
