"""How well strongly observable arms see each other: Q with Σ x_i/P_i ≤ Q for every distribution x."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log1p

import numpy as np

from sidelight._types import Longs
from sidelight.analysis import IndependenceNumber, independence_number
from sidelight.graph import FeedbackGraph
from sidelight.planning.potentials import Numbers

ROUNDINGS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Resolutions s at which weights are rounded in `directed_bound`; each gives a bound, the least counts."""


MOST_PAIRS = 10**7
"""Universal arms are written out as a clique up to so many pairs."""


@dataclass(frozen=True, eq=False)
class CliqueCover:
    """Arms with self-loops, and arms that all others reveal, see each other in cliques.

        Σ_{i with self-loop} x_i/P_i + Σ_{i loop-less, universal} x_i ≤ `value`

    Universal arms that reveal everyone (*generous*) join any clique. `mutual` covers the `arms` that are not
    universal by the edges that go both ways among them; universal arms that are not generous are one more clique
    then. `wider` has these among its vertices instead. The smaller one counts. Proof: docs/theory/strong.md.
    """

    graph: FeedbackGraph
    arms: Longs  # with self-loop, not universal
    mutual: IndependenceNumber | None  # arms by their position in `arms`; None without arms
    reserved: Longs  # universal, but not generous
    wider: IndependenceNumber | None  # arms by their position in `arms`, then `reserved`; None where no help
    symmetric: bool  # is every edge of the whole graph mutual?

    @cached_property
    def value(self) -> int:
        """Q; 0 if no arm is universal or has a self-loop."""
        if self.mutual is None:
            return int(self.graph.universal.size > 0)
        apart = self.mutual.upper + int(self.reserved.size > 0)
        return apart if self.wider is None else min(apart, self.wider.upper)

    @cached_property
    def either(self) -> IndependenceNumber:
        """α(G), for which an edge in one direction is enough."""
        return independence_number(self.graph)

    @property
    def alpha(self) -> int:
        """A number ≥ α(G), if every arm has a self-loop or is universal."""
        return self.value if self.symmetric or self.value <= 1 else self.either.upper


def clique_cover(g: FeedbackGraph) -> CliqueCover:
    """How the arms with self-loops see each other; O(n + edges) and one or two independence numbers.

    >>> from sidelight.graph import families
    >>> clique_cover(families.cliques([2, 3])).value, clique_cover(families.mab(4)).value
    (0, 4)
    """
    n = g.n_arms
    generous = generous_arms(g)
    reserved = np.setdiff1d(g.universal, generous).astype(np.int64)
    source, target = g.out_sources.astype(np.int64), g.out_indices.astype(np.int64)
    other = source != target
    source, target = source[other], target[other]
    plain = ~g.is_universal[source]
    both = np.isin(target * n + source, source * n + target) & plain
    symmetric = bool(reserved.size == 0 and both[plain].all())
    arms = np.flatnonzero(g.has_loop & ~g.is_universal)

    def independence(vertices: Longs, pairs: Longs) -> IndependenceNumber:
        """Of these arms under the edges with both ends among them."""
        rank = np.full(n, -1, dtype=np.int64)
        rank[vertices] = np.arange(vertices.size)
        inside = rank[pairs]
        return independence_number(FeedbackGraph.from_edges(vertices.size, inside[(inside >= 0).all(axis=1)]))

    if arms.size == 0:
        return CliqueCover(g, arms, None, reserved, None, symmetric)
    mutual_pairs = np.column_stack([source[both], target[both]])
    mutual = independence(arms, mutual_pairs)
    wider = None
    if 0 < reserved.size**2 <= MOST_PAIRS:
        # Everyone reveals a universal arm, so what it reveals is mutual.
        given = np.isin(source, reserved)
        among = np.stack(np.meshgrid(reserved, reserved), axis=-1).reshape(-1, 2)
        pairs = np.concatenate([mutual_pairs, np.column_stack([source[given], target[given]]), among])
        wider = independence(np.concatenate([arms, reserved]), pairs)
    return CliqueCover(g, arms, mutual, reserved, wider, symmetric)


def generous_arms(g: FeedbackGraph) -> Longs:
    """Universal arms that reveal every other arm."""
    everyone = g.n_arms - 1 + g.has_loop[g.universal].astype(np.int64)
    arms: Longs = g.universal[np.asarray(g.out_degree)[g.universal] == everyone].astype(np.int64)
    return arms


def directed_bound(alpha: float, n: int, least: Numbers) -> Numbers:
    """Q with Σ z_i/P_i ≤ Q for n arms with self-loops, independence number ≤ α, Σ z ≤ 1 and all z_i ≥ `least`.

        Q = min_s 2(1 + 1/s)·α·log(1 + (s/least + n)/α)

    Weights are rounded up to multiples of least/s and arms split into that many copies. Proof: docs/theory/strong.md;
    s = 1 is at most 4α·log(4n/(α·least)), the form in which Alon, Cesa-Bianchi, Dekel & Koren (2015) use it.

    >>> bool(directed_bound(1, 10, 0.001) < 4 * np.log(4 * 10 / 0.001))
    True
    """
    if isinstance(least, float):  # what minimisers ask for, quickly
        return min(2 * (1 + 1 / s) * alpha * log1p((s / least + n) / alpha) for s in ROUNDINGS)
    tried = [2 * (1 + 1 / s) * alpha * np.log1p((s / least + n) / alpha) for s in ROUNDINGS]
    return np.asarray(np.min(tried, axis=0))


def growth(y: float) -> float:
    """φ(y) = 2(e^y − 1 − y)/y², 1 at 0: e^{−u} − 1 + u ≤ ½φ(y)·u² for u ≥ −y."""
    return 1 + y / 3 + y * y / 12 + y**3 / 30 if y < 1e-3 else 2 * (exp(min(y, 600.0)) - 1 - y) / (y * y)
