"""Coin flips: stochastic arms, a best arm that switches, and instances that hide the best arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.engine.losses import COINS, World
from sidelight.environment.base import (
    checked_arms,
    checked_number,
    checked_unit_table,
    coin_losses,
    flat_means,
)
from sidelight.environment.means import KnownMeans
from sidelight.errors import InvalidOption
from sidelight.graph.building import checked_count

if TYPE_CHECKING:
    from sidelight.analysis import PackingSet


MOST_CELLS = 10**8
"""Largest table of means that is written out, in numbers."""


@dataclass(frozen=True, eq=False)
class Coins(KnownMeans):
    """Arm i costs 1 with probability means[row, i], else 0; row = (round // period) mod rows."""

    means: Floats  # (rows, n) in [0, 1]
    period: int = 1
    name: str = "coins"

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", checked_unit_table(self.means, "means"))
        checked_count("period", self.period)

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Coin flips of `arms` in this round."""
        return coin_losses(seed, round_, arms, self.row(round_)[np.asarray(arms, dtype=np.int64)])

    @property
    def world(self) -> World:
        """The same coins for the kernels."""
        return World(COINS, self.period, len(self.means), self.means)


def bernoulli(means: npt.ArrayLike) -> Coins:
    """Independent Bernoulli losses with a fixed mean per arm.

    >>> bernoulli([0.5, 0.2]).best_arm(horizon=100)
    1
    """
    return Coins(flat_means(means), name="bernoulli")


def gap(n_arms: int, best: int = 0, gap: float = 0.2, others: float = 0.5) -> Coins:
    """All arms lose with probability `others`, except `best`, which loses less by `gap`."""
    checked_count("n_arms", n_arms)
    means = np.full(n_arms, checked_number("others", others))
    means[checked_arms([best], n_arms, "the best arm")] -= _checked_gap(gap, others)
    return bernoulli(means)


def switching(
    n_arms: int, period: int, arms: Sequence[int] | None = None, gap: float = 0.2, others: float = 0.5
) -> Coins:
    """The best arm changes every `period` rounds, going through `arms` (all of them by default) in turn."""
    return Coins(leading_means(n_arms, arms, gap, others), period=period, name="switching")


def _checked_gap(gap: float, others: float) -> float:
    """`gap`, if the best arm's mean is a probability."""
    found = checked_number("gap", gap)
    if not 0.0 <= others - found <= 1.0:
        raise InvalidOption(f"gap must leave the best arm a mean in [0, 1], got gap={gap} below {others}")
    return found


def leading_means(n_arms: int, arms: Sequence[int] | None, gap: float, others: float) -> Floats:
    """One row for each of `arms` (all by default), in which it is better than the others by `gap`."""
    checked_count("n_arms", n_arms)
    order = np.arange(n_arms) if arms is None else checked_arms(arms, n_arms, "arms")
    if len(order) * n_arms > MOST_CELLS:
        raise InvalidOption(
            f"{len(order):,} rows of means for {n_arms:,} arms do not fit in memory; "
            "name fewer leaders, such as arms=range(10)"
        )
    means = np.full((len(order), n_arms), checked_number("others", others))
    means[np.arange(len(order)), order] -= _checked_gap(gap, others)
    return means


def packing(n_arms: int, packing_set: PackingSet | Sequence[int], hidden: int = 0, gap: float = 0.1) -> Coins:
    """The instance behind Proposition packing-lb: the best arm hides in a packing set, all else is costly.

    Arms of the set lose with probability ½, the hidden one (index `hidden` of the set) with ½ − gap, and
    every other arm always: what reveals the set is expensive to play.
    """
    checked_count("n_arms", n_arms)
    arms = checked_arms(getattr(packing_set, "arms", packing_set), n_arms, "the packing set")
    hidden = int(checked_arms([hidden], arms.size, "hidden")[0])
    means = np.ones(n_arms)
    means[arms] = 0.5
    means[arms[hidden]] = 0.5 - checked_number("gap", gap)
    return Coins(means[None, :], name="packing")
