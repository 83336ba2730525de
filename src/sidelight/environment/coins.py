"""Coin flips: stochastic arms, a best arm that switches, and instances that hide the best arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_number
from sidelight._types import Floats
from sidelight.engine.losses import COINS, World
from sidelight.environment.base import checked_arms, checked_unit_table, coin_losses, flat_means
from sidelight.environment.means import KnownMeans
from sidelight.environment.spelling import GAP, Written, spelled, whole
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    from sidelight.analysis import PackingSet

__all__ = ["Coins", "bernoulli", "gap", "packing", "switching"]


MOST_CELLS = 10**8
"""Largest table of means that is written out, in numbers."""

MOST_CHALLENGERS = 33
"""How many arms lead in turn with the best one unless they are listed; fewer where their rows would be long."""


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


def _read_bernoulli(written: Written) -> Coins:
    n, words = written.graph.n_arms, written.words
    if words and len(words) != n:
        raise ValueError(f"{len(words)} means for {n} arms")
    return bernoulli(written.numbers(*np.linspace(0.3, 0.7, n)))


@spelled("bernoulli[:MEAN,MEAN,...]", _read_bernoulli)
def bernoulli(means: npt.ArrayLike) -> Coins:
    """Independent Bernoulli losses with a fixed mean per arm.

    >>> bernoulli([0.5, 0.2]).best_arm(horizon=100)
    1
    """
    return Coins(flat_means(means), name="bernoulli")


def _read_gap(written: Written) -> Coins:
    width, best = written.numbers(GAP, written.middle)
    return gap(written.graph.n_arms, best=whole(best), gap=width)


@spelled("gap[:GAP[,ARM]]", _read_gap)
def gap(n_arms: int, best: int = 0, gap: float = 0.2, others: float = 0.5) -> Coins:
    """All arms lose with probability `others`, except `best`, which loses less by `gap`."""
    checked_count("n_arms", n_arms)
    means = np.full(n_arms, checked_number("others", others))
    means[checked_arms([best], n_arms, "the best arm")] -= _checked_gap(gap, others)
    return bernoulli(means)


def _read_switching(written: Written) -> Coins:
    return switching(written.graph.n_arms, **written_turns(written))


@spelled("switching[:PERIOD[,GAP]]", _read_switching)
def switching(
    n_arms: int, period: int, arms: Sequence[int] | None = None, gap: float = GAP, others: float = 0.5
) -> Coins:
    """The best arm changes every `period` rounds, going through `arms` in turn, then from the start.

    By default the middle arm leads two turns of three, and its challengers share the others, one of them leading
    first. So there is one best arm in hindsight, by a margin that grows with the horizon, and whoever settles on
    another, or on none, pays for it.

    >>> environment = switching(5, period=10)
    >>> environment.totals(np.array([100]))[0].round(6).tolist()  # best is arm 2
    [46.0, 48.0, 38.0, 48.0, 48.0]
    """
    return Coins(leading_means(n_arms, arms, gap, others), period=period, name="switching")


def _checked_gap(gap: float, others: float) -> float:
    """`gap`, if the best arm's mean is a probability."""
    found = checked_number("gap", gap)
    if not 0.0 <= others - found <= 1.0:
        raise InvalidOption(f"gap must leave the best arm a mean in [0, 1], got gap={gap} below {others}")
    return found


def leading_means(n_arms: int, arms: Sequence[int] | None, gap: float, others: float) -> Floats:
    """One row for each of `arms` (`turns` by default), in which it is better than the others by `gap`."""
    checked_count("n_arms", n_arms)
    order = checked_arms(turns(n_arms) if arms is None else arms, n_arms, "arms")
    if len(order) * n_arms > MOST_CELLS:
        raise InvalidOption(
            f"{len(order):,} rows of means for {n_arms:,} arms do not fit in memory; "
            "name fewer leaders, such as arms=range(10)"
        )
    means = np.full((len(order), n_arms), checked_number("others", others))
    means[np.arange(len(order)), order] -= _checked_gap(gap, others)
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


def written_turns(written: Written) -> dict[str, Any]:
    """Period and gap as written, and no more challengers than get their turn before the horizon."""
    period, gap = written.numbers(max(1, written.horizon // 10), GAP)
    due = -(-written.horizon // max(3 * whole(period), 1)) + 1
    return {
        "period": whole(period),
        "arms": turns(written.graph.n_arms, min(due, MOST_CHALLENGERS)),
        "gap": gap,
    }


def _read_packing(written: Written) -> Coins:
    from sidelight.analysis import packing_independent_set
    from sidelight.environment.hard import hard_packing

    n, found = written.graph.n_arms, packing_independent_set(written.graph)
    if found.arms.size == 0:
        raise InvalidOption("every arm of this graph reveals itself, so no packing set exists; use hard")
    if written.words or found.arms.size == 1:
        return packing(n, found, gap=written.numbers(0.1)[0])
    return hard_packing(n, found, written.horizon)


@spelled("packing[:GAP]", _read_packing)
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
