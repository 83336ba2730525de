"""The neighbours of a partition: blocks merged, split or dissolved, arms moved or gathered around their watcher."""

from __future__ import annotations

import numpy as np

from sidelight._types import Indices, Longs
from sidelight.planning.search.state import Change, State

VOLUME = 200_000
"""Arms in the blocks of one batch of neighbours, at most: what a batch may cost."""

HALVED = 16
"""Blocks of up to so many arms are also split at random."""


def neighbours(state: State, rng: np.random.Generator, most: int) -> list[Change]:
    """At most `most` random changes, legal or not; half of them begin in a weak block, if there is one."""
    found: list[Change] = []
    volume = 0
    for _ in range(most):
        arm = _drawn(state, rng)
        change = MOVES[rng.integers(len(MOVES))](state, arm, rng)
        if change is not None and volume < VOLUME:
            found.append(change)
            volume += len(change.arms) + int(state.sizes[state.labels[arm]])
    return found


def _drawn(state: State, rng: np.random.Generator) -> int:
    """An arm in a weak block, one at the beginning of an edge (those that reveal many come up often), or any."""
    g, chance = state.graph, rng.random()
    if state.busy.size and chance < 0.5:
        return int(rng.choice(state.busy))
    if g.out_indices.size and chance < 0.85:
        return int(np.searchsorted(g.out_indptr, rng.integers(g.out_indices.size), side="right")) - 1
    return int(rng.integers(g.n_arms))


def _revealed(state: State, arm: int) -> Indices:
    return state.graph.out_indices[state.graph.out_indptr[arm] : state.graph.out_indptr[arm + 1]]


def _other(state: State, arm: int, rng: np.random.Generator) -> int | None:
    """Label of another block: that of an arm which this one reveals or is revealed by, else any."""
    g, home = state.graph, int(state.labels[arm])
    row = (
        _revealed(state, arm) if rng.random() < 0.5 else g.in_indices[g.in_indptr[arm] : g.in_indptr[arm + 1]]
    )
    near = int(state.labels[rng.choice(row)]) if row.size and rng.random() < 0.8 else home
    label = near if near != home else int(rng.choice(state.used))
    return label if label != home else None


def merged(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """The arm's block and another become one."""
    other = _other(state, arm, rng)
    return None if other is None else Change(state.block(arm), other)


def moved(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """The arm goes to another block."""
    other = _other(state, arm, rng)
    return None if other is None else Change(np.array([arm]), other)


def freed(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """The arm is on its own."""
    return Change(np.array([arm]), int(state.free[0])) if state.sizes[state.labels[arm]] > 1 else None


def gathered(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """The arm's block takes in all that the arm reveals, or those of them that are on their own."""
    row = _revealed(state, arm)
    if rng.random() < 0.5:
        row = row[state.sizes[state.labels[row]] == 1]
    return Change(row, int(state.labels[arm])) if row.size else None


def split(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """Part of the arm's block is a block of its own."""
    part, rest = _parts(state, arm, rng)
    return Change(part, int(state.free[0])) if part.size and rest.size else None


def dissolved(state: State, arm: int, rng: np.random.Generator) -> Change | None:
    """What is left of a split block, as far as it is strongly observable, is on its own."""
    _, rest = _parts(state, arm, rng)
    rest = rest[state.strong[rest]]
    few = rest[: state.free.size]  # all of them, unless the whole block goes
    return Change(few, state.free[: few.size]) if few.size else None


def _parts(state: State, arm: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """What the arm reveals in its block and itself, with one that reveals it or not; a random half if small."""
    block = state.block(arm)
    if block.size <= HALVED and rng.random() < 0.5:
        chosen = rng.random(block.size) < 0.5
    else:
        g = state.graph
        seers = g.in_indices[g.in_indptr[arm] : g.in_indptr[arm + 1]]
        some = [rng.choice(seers)] if seers.size and rng.random() < 0.5 else []
        chosen = np.isin(block, np.concatenate([_revealed(state, arm), [arm], some]))
    return block[chosen], block[~chosen]


MOVES = (merged, moved, freed, gathered, split, dissolved)
