"""How well arms with self-loops see each other: Q with Σ x_i/P_i ≤ Q for every distribution x."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.analysis import IndependenceNumber, independence_number
from sidelight.graph import FeedbackGraph

ROUNDINGS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Resolutions s at which weights are rounded in `directed_bound`; each gives a bound, the least counts."""


@dataclass(frozen=True, eq=False)
class CliqueCover:
    """Arms S with self-loops see each other in cliques: Σ_{i ∈ S} x_i/P_i ≤ α(mutual edges among S) ≤ `value`.

    `mutual` proves it for `arms`, those of S that are not universal, by the edges that go both ways among them.
    Universal arms that reveal everyone join any clique; the others are one more clique, `apart`.
    """

    graph: FeedbackGraph
    arms: Longs
    mutual: IndependenceNumber | None  # arms by their position in `arms`; None without arms
    apart: bool
    symmetric: bool  # is every edge of the whole graph mutual?

    @property
    def value(self) -> int:
        """Q; 0 if no arm has a self-loop."""
        return (
            self.mutual.upper + int(self.apart) if self.mutual is not None else int(self.graph.has_loop.any())
        )

    @cached_property
    def either(self) -> IndependenceNumber:
        """α(G), for which an edge in one direction is enough."""
        return independence_number(self.graph)

    @property
    def alpha(self) -> int:
        """A number ≥ α(G), if some arm has a self-loop."""
        return self.value if self.symmetric or self.value <= 1 else self.either.upper


def clique_cover(g: FeedbackGraph) -> CliqueCover:
    """How the arms with self-loops see each other; O(n + edges) and an independence number.

    >>> from sidelight.graph import families
    >>> clique_cover(families.cliques([2, 3])).value, clique_cover(families.mab(4)).value
    (0, 4)
    """
    n = g.n_arms
    everyone = n - 1 + g.has_loop[g.universal].astype(np.int64)
    generous = np.asarray(g.out_degree)[g.universal] == everyone
    apart = bool((~generous & g.has_loop[g.universal]).any())
    source = np.repeat(np.arange(n, dtype=np.int64), np.diff(g.out_indptr))
    target = g.out_indices.astype(np.int64)
    plain = (source != target) & ~g.is_universal[source]
    source, target = source[plain], target[plain]
    both = np.isin(target * n + source, source * n + target)
    symmetric = bool(generous.all() and both.all())
    arms = np.flatnonzero(g.has_loop & ~g.is_universal)
    if arms.size == 0:
        return CliqueCover(g, arms, None, apart, symmetric)
    rank = np.full(n, -1, dtype=np.int64)
    rank[arms] = np.arange(arms.size)
    kept = both & (rank[source] >= 0) & (rank[target] >= 0)
    edges = np.column_stack([rank[source[kept]], rank[target[kept]]])
    return CliqueCover(
        g, arms, independence_number(FeedbackGraph.from_edges(arms.size, edges)), apart, symmetric
    )


def directed_bound(alpha: float, n: int, least: Floats | float) -> Floats:
    """Q with Σ z_i/P_i ≤ Q for n arms with self-loops, independence number ≤ α, Σ z ≤ 1 and all z_i ≥ `least`.

        Q = min_s 2(1 + 1/s)·α·log(1 + (s/least + n)/α)

    Weights are rounded up to multiples of least/s and arms split into that many copies. Proof: docs/theory/strong.md;
    s = 1 is at most 4α·log(4n/(α·least)), the form in which Alon, Cesa-Bianchi, Dekel & Koren (2015) use it.

    >>> bool(directed_bound(1, 10, 0.001) < 4 * np.log(4 * 10 / 0.001))
    True
    """
    least = np.asarray(least)
    tried = [2 * (1 + 1 / s) * alpha * np.log1p((s / least + n) / alpha) for s in ROUNDINGS]
    return np.asarray(np.min(tried, axis=0))


def growth(y: float) -> float:
    """φ(y) = 2(e^y − 1 − y)/y², 1 at 0: e^{−u} − 1 + u ≤ ½φ(y)·u² for u ≥ −y."""
    return 1 + y / 3 + y * y / 12 + y**3 / 30 if y < 1e-3 else 2 * (exp(min(y, 600.0)) - 1 - y) / (y * y)
