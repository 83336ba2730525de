"""Neighbours that are unlucky in turn: what one arm reveals about another is misleading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.losses import OPPOSED, World
from sidelight.environment.base import arm_units
from sidelight.environment.checks import flat_numbers, frozen
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import GAP, Written, spelled
from sidelight.errors import InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph

__all__ = ["Opposed", "opposed"]


@dataclass(frozen=True, eq=False, repr=False)
class Opposed(KnownMeans):
    """Coins with the means asked for; arm i flips with the random number u of arm source[i].

    Where source[i] is ~j = −1−j it flips with 1 − u, u that of arm j: its coin and that of j are as opposed
    as their means allow. P(both lose) = max(0, mean + mean' − 1).
    """

    means: Floats  # (rows, n) in [0, 1]
    source: Longs  # (n,) j or ~j for an arm j
    period: int = 1
    name: str = "opposed"
    kind = OPPOSED

    def __post_init__(self) -> None:
        super().__post_init__()
        source = np.array(self.source)
        n = self.n_arms
        if source.shape != (n,) or source.dtype.kind != "i" or not ((source >= -n) & (source < n)).all():
            raise InvalidOption(f"source must be {n} whole numbers in {-n}..{n - 1}, got {self.source!r}")
        object.__setattr__(self, "source", frozen(source.astype(np.int64)))

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Coin flips of `arms` in this round."""
        chosen = np.asarray(arms, dtype=np.int64)
        source, means = self.source[chosen], self.row(round_)[chosen]
        units = arm_units(seed, round_, np.where(source < 0, ~source, source))
        return np.where(source < 0, units >= 1.0 - means, units < means).astype(np.float64)

    @property
    def world(self) -> World:
        """The same coins for the kernels."""
        return super().world._replace(source=self.source)


def _read(written: Written) -> Opposed:
    return opposed(written.leading(*written.numbers(GAP, written.middle)), written.graph)


@spelled("opposed[:GAP[,ARM]]", _read)
def opposed(means: npt.ArrayLike, neighbors: FeedbackGraph | Sequence[Sequence[int]]) -> Opposed:
    """Coins of which neighbouring ones are negatively correlated: where one loses, the other tends to win.

    `neighbors` is a graph or a list of pairs of arms; directions and loops do not matter. In a connected part
    that two colours suffice for (paths, even cycles, grids, trees, bicliques) all arms flip with one number u
    or 1 − u by colour, so every edge is opposed. Elsewhere the edges of a maximal matching are.

    >>> import sidelight as sl
    >>> opposed([0.5] * 4, sl.families.cycle(4)).source.tolist()
    [0, -1, 0, -1]
    """
    values = flat_numbers(means, "means")
    n = values.size
    if not isinstance(neighbors, FeedbackGraph):
        try:
            neighbors = FeedbackGraph.from_edges(n, neighbors)
        except InvalidGraph as error:
            raise InvalidOption(f"neighbors must be a graph or pairs of arms: {error}") from None
    if neighbors.n_arms != n:
        raise InvalidOption(f"got {n} means for a graph of {neighbors.n_arms} arms; they must agree")
    targets = np.repeat(np.arange(n), np.diff(neighbors.in_indptr))
    edges = np.column_stack([neighbors.in_indices, targets]).astype(np.int64)
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)  # i < j, each once
    return Opposed(values[None, :], opposing_sources(n, edges, neighbors.universal.astype(np.int64)))


def opposing_sources(n: int, edges: Longs, everywhere: Longs) -> Longs:
    """(n,) whose random number each arm uses, ~ marks its opposite; arms `everywhere` neighbour all others."""
    stars = [np.column_stack([np.full(n - 1, hub), np.delete(np.arange(n), hub)]) for hub in everywhere[:2]]
    source, free = _coloured(n, np.concatenate([edges, *stars]))  # two stars settle whether colours suffice
    for i, j in edges[free[edges[:, 0]]].tolist():
        if free[i] and free[j]:
            free[i] = free[j] = False
            source[j] = ~i
    if everywhere.size:  # whoever is left over finds a partner there as long as they last
        hubs = everywhere[free[everywhere]]
        free[hubs] = False
        others = np.concatenate([np.flatnonzero(free), hubs[::-1]])
        for i, j in zip(hubs.tolist(), others.tolist(), strict=False):
            if source[i] == i and source[j] == j and i != j:
                source[j] = ~i
    return source


def _coloured(n: int, edges: Longs) -> tuple[Longs, Bools]:
    """Sources in the connected parts that have two colours; the arms of all others, on their own so far."""
    first, second = edges[:, 0], edges[:, 1]
    # Arm v stands for v and v + n, and an edge joins unlike copies: a part has two colours exactly if the
    # copies of its arms are in different components of this double cover, which then tell the colours.
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first]) + n
    cover = sparse.coo_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(2 * n, 2 * n))
    component = connected_components(cover, directed=False)[1]
    here, there = component[:n], component[n:]
    _, leaders, part = np.unique(np.minimum(here, there), return_index=True, return_inverse=True)
    root = leaders[part.reshape(-1)]  # the first arm of the connected part
    source = np.where(here == here[root], root, ~root).astype(np.int64)
    odd = here == there
    source[odd] = np.flatnonzero(odd)
    return source, odd
