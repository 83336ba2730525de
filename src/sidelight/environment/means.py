"""Random losses with known means: coins, numbers in between, means that drift, and neighbours that are opposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._check import checked_count, checked_number
from sidelight._types import Bools, Floats, Longs
from sidelight.engine.losses import BOUNDED, COINS, DRIFTING, OPPOSED, World
from sidelight.environment import base
from sidelight.environment.base import Environment, arm_units, frozen
from sidelight.errors import InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph


class KnownMeans(Environment):
    """Losses 1 or 0 whose expectations are means[row], row = (round // period) mod rows.

    Costs are the means, the same for every seed, so regret is pseudo-regret.
    """

    means: Floats  # (rows, n) in [0, 1]
    period: int
    kind: ClassVar[int]  # what the kernels call it, see engine/losses.py

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", base.checked_unit_table(self.means, "means"))
        object.__setattr__(self, "n_arms", int(self.means.shape[1]))
        checked_count("period", self.period)

    def row(self, round_: int) -> Floats:
        """The means in force in a round."""
        means: Floats = self.means[(round_ // self.period) % len(self.means)]
        return means

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Coin flips of `arms` in this round."""
        chosen = np.asarray(arms, dtype=np.int64)
        return (arm_units(seed, round_, chosen) < self.row(round_)[chosen]).astype(np.float64)

    def costs(self, seed: int, round_: int, arm: int) -> float:
        """The mean of the arm in this round."""
        return float(self.row(round_)[arm])

    def in_force(self, rounds: Longs) -> Floats:
        """(len(rounds), rows) how often each row counts in the rounds before each of `rounds`."""
        rows = len(self.means)
        cycle = rows * self.period
        within = np.clip(rounds[:, None] % cycle - np.arange(rows) * self.period, 0, self.period)
        return np.asarray((rounds // cycle)[:, None] * self.period + within, dtype=np.float64)

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total means of every arm over the rounds before each of `rounds`."""
        totals: Floats = self.in_force(rounds) @ self.means
        return totals

    def best_totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """Least total mean of one arm, one checkpoint at a time: there may be a million arms."""
        if len(self.means) == 1:
            return np.asarray(rounds * self.means.min(), dtype=np.float64)
        return np.array([self.totals(rounds[i : i + 1]).min() for i in range(rounds.size)])

    @property
    def world(self) -> World:
        """The same losses for the kernels."""
        return World(self.kind, self.period, len(self.means), self.means)


GAP = 0.2
"""By how much the best arm is better, unless told otherwise."""

MOST_CELLS = 10**8
"""Largest table of means that is written out, in numbers."""

MOST_CHALLENGERS = 33
"""How many arms lead in turn with the best one unless they are listed; fewer where their rows would be long."""


@dataclass(frozen=True, eq=False, repr=False)
class Coins(KnownMeans):
    """Arm i costs 1 with probability means[row, i], else 0; row = (round // period) mod rows."""

    means: Floats  # (rows, n) in [0, 1]
    period: int = 1
    name: str = "coins"
    kind = COINS


def bernoulli(means: npt.ArrayLike) -> Coins:
    """Independent Bernoulli losses with a fixed mean per arm.

    >>> bernoulli([0.5, 0.2]).best_arm(horizon=100)
    1
    """
    return Coins(base.flat_numbers(means, "means")[None, :], name="bernoulli")


def gap(n_arms: int, best: int = 0, gap: float = GAP, others: float = 0.5) -> Coins:
    """All arms lose with probability `others`, except `best`, which loses less by `gap`."""
    checked_count("n_arms", n_arms)
    base.checked_arms([best], n_arms, "the best arm")
    return Coins(leading_means(n_arms, [best], gap, others), name="bernoulli")


def switching(
    n_arms: int, period: int, arms: Sequence[int] | None = None, gap: float = GAP, others: float = 0.5
) -> Coins:
    """The best arm changes every `period` rounds, going through `arms` in turn, then from the start.

    By default the middle arm leads two turns of three, and its challengers share the others, one of them leading
    first. So there is one best arm in hindsight, by a margin that grows with the horizon, and whoever settles on
    another, or on none, pays for it.

    >>> environment = switching(5, period=10)
    >>> environment.totals(np.array([100]))[0].round(6).tolist()  # best is arm 2
    [48.0, 48.0, 38.0, 48.0, 48.0]
    """
    return Coins(leading_means(n_arms, arms, gap, others), period=period, name="switching")


def leading_means(n_arms: int, arms: Sequence[int] | None, gap: float, others: float) -> Floats:
    """One row for each of `arms` (`turns` by default), in which it is better than the others by `gap`."""
    checked_count("n_arms", n_arms)
    order = base.checked_arms(turns(n_arms) if arms is None else arms, n_arms, "arms")
    if len(order) * n_arms > MOST_CELLS:
        raise InvalidOption(
            f"{len(order):,} rows of means for {n_arms:,} arms do not fit in memory; "
            "name fewer leaders, such as arms=range(10)"
        )
    least = checked_number("others", others) - checked_number("gap", gap)
    if not 0.0 <= least <= 1.0:
        raise InvalidOption(f"gap must leave the best arm a mean in [0, 1], got gap={gap} below {others}")
    means = np.full((len(order), n_arms), float(others))
    means[np.arange(len(order)), order] = least
    return means


def turns(n_arms: int, challengers: int = MOST_CHALLENGERS) -> list[int]:
    """Who leads by default: a challenger, then the middle arm twice, then the next challenger, and so on.

    >>> turns(5)
    [0, 2, 2, 1, 2, 2, 3, 2, 2, 4, 2, 2]
    """
    best = n_arms // 2
    count = min(n_arms - 1, challengers, max(1, MOST_CELLS // (30 * n_arms)))
    others = [k * (n_arms - 1) // count for k in range(count)]  # evenly spaced among all arms but the best
    return [leader for other in others for leader in (other + (other >= best), best, best)] or [best]


ROUNDING = 1e-12
"""How far mean ± width may leave [0, 1]: 0.9 + 0.1 is not always 1. Losses are clipped."""


@dataclass(frozen=True, eq=False, repr=False)
class Bounded(KnownMeans):
    """The loss of arm i is uniform on [mean − width[i], mean + width[i]]; independent over arms and rounds."""

    means: Floats  # (rows, n)
    width: Floats  # (n,) ≥ 0, with mean ± width in [0, 1]
    period: int = 1
    name: str = "bounded"
    kind = BOUNDED

    def __post_init__(self) -> None:
        super().__post_init__()
        width = base.checked_numbers(self.width, "width")
        if width.ndim > 1 or width.size not in (1, self.n_arms):
            raise InvalidOption(f"width must be one number, or one per arm, got shape {width.shape}")
        width = np.array(np.broadcast_to(width, self.n_arms))
        inside = (width >= 0) & (self.means.min(axis=0) - width >= -ROUNDING)
        inside &= self.means.max(axis=0) + width <= 1 + ROUNDING
        if not inside.all():
            arm = int(np.argmin(inside))
            raise InvalidOption(
                f"losses of arm {arm} must stay in [0, 1]: got mean {self.means[0, arm]}, "
                f"width {width[arm]}; choose a smaller width"
            )
        object.__setattr__(self, "width", frozen(width))

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Uniform draws of `arms` in this round."""
        chosen = np.asarray(arms, dtype=np.int64)
        spread = self.width[chosen] * (2.0 * arm_units(seed, round_, chosen) - 1.0)
        losses: Floats = np.clip(self.row(round_)[chosen] + spread, 0.0, 1.0)
        return losses

    @property
    def world(self) -> World:
        """The same losses for the kernels."""
        return super().world._replace(width=self.width)


def bounded(means: npt.ArrayLike, width: npt.ArrayLike | None = None) -> Bounded:
    """Losses uniform on [mean − width, mean + width], by default as wide as [0, 1] allows for each arm.

    >>> bounded([0.5, 0.25]).width.tolist()
    [0.5, 0.25]
    """
    table = base.checked_unit_table(base.flat_numbers(means, "means")[None, :], "means")
    widest = np.minimum(table[0], 1.0 - table[0])
    return Bounded(table, widest if width is None else width)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class Drifting(KnownMeans):
    """Coins whose means are means[r] in round r·period and go to the next row in a straight line.

    After the last row comes the first one again. Regret is pseudo-regret: costs are the means of the round.
    """

    means: Floats  # (rows, n) in [0, 1]
    period: int = 1
    name: str = "drifting"
    kind = DRIFTING

    def row(self, round_: int) -> Floats:
        """The means of the round."""
        leg = round_ // self.period
        share = (round_ - leg * self.period) / self.period
        rows = len(self.means)
        means: Floats = (1.0 - share) * self.means[leg % rows] + share * self.means[(leg + 1) % rows]
        return means

    def in_force(self, rounds: Longs) -> Floats:
        """(len(rounds), rows) weight of each row: m rounds after row r give m(m−1)/(2·period) to row r+1.

        That is Σ s/period over s < m; the rest of the m rounds goes to row r itself.
        """
        spent = super().in_force(rounds)  # in the leg that starts with each row
        cycles, left = np.divmod(spent, self.period)
        onwards = (cycles * (self.period - 1) + left * (left - 1) / self.period) / 2
        return np.asarray(spent - onwards + np.roll(onwards, 1, axis=1), dtype=np.float64)


def drifting(
    n_arms: int, period: int, arms: Sequence[int] | None = None, gap: float = GAP, others: float = 0.5
) -> Drifting:
    """The lead passes gradually from one of `arms` to the next, in `period` rounds; by default as in `switching`.

    Own paths: `Drifting(means, period)` with one row of means for every `period` rounds.

    >>> drifting(3, period=10).row(5).tolist()
    [0.4, 0.4, 0.5]
    """
    return Drifting(leading_means(n_arms, arms, gap, others), period=period)


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


def opposed(means: npt.ArrayLike, neighbors: FeedbackGraph | Sequence[Sequence[int]]) -> Opposed:
    """Coins of which neighbouring ones are negatively correlated: where one loses, the other tends to win.

    `neighbors` is a graph or a list of pairs of arms; directions and loops do not matter. In a connected part
    that two colours suffice for (paths, even cycles, grids, trees, bicliques) all arms flip with one number u
    or 1 − u by colour, so every edge is opposed. Elsewhere the edges of a maximal matching are.

    >>> import sidelight as sl
    >>> opposed([0.5] * 4, sl.families.cycle(4)).source.tolist()
    [0, -1, 0, -1]
    """
    values = base.flat_numbers(means, "means")
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
