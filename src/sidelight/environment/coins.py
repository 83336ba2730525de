"""Coin flips: stochastic arms, one better than the others, and a best arm that switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_number
from sidelight._types import Floats
from sidelight.engine.losses import COINS
from sidelight.environment.checks import checked_arms, flat_numbers
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import GAP, Written, spelled, whole
from sidelight.errors import InvalidOption

__all__ = ["Coins", "bernoulli", "gap", "switching"]


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
    return Coins(flat_numbers(means, "means")[None, :], name="bernoulli")


def _read_gap(written: Written) -> Coins:
    width, best = written.numbers(GAP, written.middle)
    return gap(written.graph.n_arms, best=whole(best), gap=width)


@spelled("gap[:GAP[,ARM]]", _read_gap)
def gap(n_arms: int, best: int = 0, gap: float = GAP, others: float = 0.5) -> Coins:
    """All arms lose with probability `others`, except `best`, which loses less by `gap`."""
    checked_count("n_arms", n_arms)
    checked_arms([best], n_arms, "the best arm")
    return Coins(leading_means(n_arms, [best], gap, others), name="bernoulli")


def _read_switching(written: Written) -> Coins:
    return switching(**written_turns(written))


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
    [48.0, 48.0, 38.0, 48.0, 48.0]
    """
    return Coins(leading_means(n_arms, arms, gap, others), period=period, name="switching")


def leading_means(n_arms: int, arms: Sequence[int] | None, gap: float, others: float) -> Floats:
    """One row for each of `arms` (`turns` by default), in which it is better than the others by `gap`."""
    checked_count("n_arms", n_arms)
    order = checked_arms(turns(n_arms) if arms is None else arms, n_arms, "arms")
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


def written_turns(written: Written) -> dict[str, Any]:
    """Period and gap as written, and no more challengers than get their turn before the horizon."""
    period, gap = written.numbers(max(1, written.horizon // 10), GAP)
    due = -(-written.horizon // max(3 * whole(period), 1)) + 1
    arms = turns(written.graph.n_arms, min(due, MOST_CHALLENGERS))
    return {"n_arms": written.graph.n_arms, "period": whole(period), "arms": arms, "gap": gap}
