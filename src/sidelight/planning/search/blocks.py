"""What each block that a search meets would cost: solved or covered once, remembered by its arms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

from sidelight._types import Bools, Floats, Indices, Longs
from sidelight.analysis import Domination, fractional_domination, observability
from sidelight.graph import FeedbackGraph
from sidelight.graph.csr import gather_rows
from sidelight.planning.search.estimate import COLUMNS, LOOP, LOOPLESS, weak_rows
from sidelight.planning.search.simplex import stacked_dominations

SMALL = 20
"""Blocks of up to so many arms are solved many at a time."""

MEDIUM = 120
"""Blocks of up to so many arms are solved exactly, larger ones inherit the cover they came from."""

MOST_SHARES = 100_000
"""Pairs (n, δ) whose row is remembered, whatever the graph: finding the best h is most of the work."""

MOST_COVERED = 20_000_000
"""Arms in the covers of large blocks that are remembered; the oldest are forgotten first."""

_shares: dict[tuple[int, float], Floats] = {}

ILLEGAL = np.full(COLUMNS, np.inf)


def _key(block: Indices) -> bytes:
    """The arms of a sorted block in few bytes."""
    return block.tobytes() if block.size <= SMALL else blake2b(block.tobytes(), digest_size=16).digest()


class BlockBook:
    """Rows of blocks (see `search_estimate.COLUMNS`); all infinite for blocks that no legal partition has."""

    def __init__(self, graph: FeedbackGraph) -> None:
        self.graph = graph
        self.strong = np.zeros(graph.n_arms, dtype=bool)
        self.strong[observability(graph).strong] = True
        self._rows: dict[bytes, Floats] = {}
        self._covers: dict[bytes, Floats] = {}  # of large blocks: weights aligned with their arms
        self._covered = 0
        self._scratch = np.zeros(graph.n_arms)

    def learn(self, dominations: Iterable[Domination]) -> None:
        """Remember blocks that were solved elsewhere."""
        fresh = [found for found in dominations if _key(found.arms) not in self._rows]
        rows = self._weak([len(found.arms) for found in fresh], [found.value for found in fresh])
        for found, row in zip(fresh, rows, strict=True):
            key = _key(found.arms)
            self._rows[key] = row
            if len(found.arms) > MEDIUM:
                self._remember(key, found.weights)

    def rows(self, blocks: Sequence[Longs], parents: Sequence[Sequence[Longs]] = ()) -> Floats:
        """(B, 8) rows of sorted blocks; large new ones patch the covers of the `parents` they are made from."""
        keys = [_key(block) for block in blocks]
        new: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._rows:
                new.setdefault(key, i)
        self._solve([blocks[i] for i in new.values()], [parents[i] if parents else () for i in new.values()])
        return np.array([self._rows[key] for key in keys]).reshape(len(keys), COLUMNS)

    def _solve(self, blocks: list[Longs], parents: list[Sequence[Longs]]) -> None:
        small: list[Longs] = []
        solved: list[tuple[bytes, int, float]] = []
        for block, origin in zip(blocks, parents, strict=True):
            key = _key(block)
            if block.size == 1:
                arm = int(block[0])
                kind = LOOP if self.graph.has_loop[arm] else LOOPLESS
                self._rows[key] = kind if self.strong[arm] else ILLEGAL
            elif block.size <= SMALL:
                small.append(block)
            else:
                delta = self._large(block, origin)
                if np.isfinite(delta):
                    solved.append((key, block.size, delta))
                else:
                    self._rows[key] = ILLEGAL
        for size in sorted(
            {block.size for block in small}
        ):  # padding to one size would waste most of the tableau
            solved += self._small([block for block in small if block.size == size])
        rows = self._weak([size for _, size, _ in solved], [delta for _, _, delta in solved])
        self._rows |= {key: row for (key, _, _), row in zip(solved, rows, strict=True)}

    def _small(self, blocks: list[Longs]) -> list[tuple[bytes, int, float]]:
        reveals = np.array([self._reveals(block) for block in blocks])
        legal = np.all(np.any(reveals, axis=1), axis=1)
        self._rows |= {
            _key(block): ILLEGAL for block, fine in zip(blocks, legal.tolist(), strict=True) if not fine
        }
        chosen = np.flatnonzero(legal)
        values = stacked_dominations(reveals[chosen], np.ones((chosen.size, blocks[0].size), dtype=bool))
        return [
            (
                _key(blocks[i]),
                blocks[i].size,
                float(value) if value == value else fractional_domination(self.graph, blocks[i]).value,
            )
            for i, value in zip(chosen, values, strict=True)
        ]

    def _large(self, block: Longs, parents: Sequence[Longs]) -> float:
        """δ of the block or the mass of a cover of it, ∞ if something in it is not revealed."""
        degree, owner, source = self._inside(block)
        if (degree == 0).any():
            return np.inf
        if block.size <= MEDIUM:
            return float(fractional_domination(self.graph, block).value)
        for parent in parents:
            known = self._covers.get(_key(parent))
            if known is not None:
                self._scratch[parent] = known
        x = self._scratch[block]
        for parent in parents:
            self._scratch[parent] = 0.0
        # What arm u lacks is shared by its watchers: the largest share asked of a watcher serves all who ask.
        lacks = np.maximum(1 - np.bincount(owner, weights=x[source], minlength=block.size), 0.0)
        universal = self.graph.is_universal[block]
        own = np.where(self.graph.has_loop[block], 0.0, x)
        lacks[universal] = np.maximum(1 - (x.sum() - own[universal]), 0.0)
        asked = np.zeros(block.size)
        np.maximum.at(asked, source, (lacks / degree)[owner])
        x = x + asked + float((lacks / degree)[universal].max(initial=0.0))
        self._remember(_key(block), x)
        return float(x.sum())

    def _remember(self, key: bytes, cover: Floats) -> None:
        self._covers[key] = cover
        self._covered += cover.size
        while self._covered > MOST_COVERED and len(self._covers) > 1:
            self._covered -= self._covers.pop(next(iter(self._covers))).size

    def _inside(self, block: Longs) -> tuple[Longs, Longs, Longs]:
        """In-degree inside the block, and its listed edges as (position of target, position of source)."""
        g = self.graph
        counts, found = gather_rows(g.in_indptr, g.in_indices, block)
        owner = np.repeat(np.arange(block.size), counts)
        at = np.minimum(np.searchsorted(block, found), block.size - 1)
        inside = block[at] == found
        owner, source = owner[inside], at[inside]
        degree = np.bincount(owner, minlength=block.size)
        universal = g.is_universal[block]
        degree[universal] = block.size - ~g.has_loop[block][universal]
        return degree, owner, source

    def _reveals(self, block: Longs) -> Bools:
        """reveals[v, u] inside a small block."""
        g = self.graph
        _, owner, source = self._inside(block)
        matrix = np.zeros((block.size, block.size), dtype=bool)
        universal = g.is_universal[block]
        matrix[:, universal] = True
        alone = np.flatnonzero(universal & ~g.has_loop[block])
        matrix[alone, alone] = False
        matrix[source, owner] = True
        return matrix

    def _weak(self, sizes: Sequence[int], deltas: Sequence[float]) -> list[Floats]:
        pairs = [(size, float(f"{delta:.12g}")) for size, delta in zip(sizes, deltas, strict=True)]
        new = sorted(set(pairs) - _shares.keys())
        if new:
            if len(_shares) > MOST_SHARES:
                _shares.clear()
                new = sorted(set(pairs))
            n, delta = np.array(new, dtype=np.float64).T
            _shares.update(zip(new, weak_rows(n, delta), strict=True))
        return [_shares[pair] for pair in pairs]
