"""Orders before demand is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_number
from sidelight._types import Floats
from sidelight.environment.checks import flat_numbers
from sidelight.environment.replay import Matrix
from sidelight.errors import InvalidOption

__all__ = ["newsvendor"]


def newsvendor(
    demand: npt.ArrayLike,
    orders: npt.ArrayLike,
    over: float = 1.0,
    under: float = 1.0,
    repeat: bool = False,
) -> Matrix:
    """Arm i orders orders[i]; a unit left over costs `over`, a unit short `under`. Round t has demand[t].

        cost(q, d) = over·(q − d)⁺ + under·(d − q)⁺,      loss = (cost(q, d) − under·d + under·Q)/((over + under)·Q)

    with Q the largest order. The part −under·d, the same for all orders, makes the loss a function of sales
    min(q, d): they tell the loss of every smaller order, as `families.newsvendor(len(orders))` says. Regret
    times (over + under)·Q is regret in the units of the costs.

    >>> newsvendor(demand=[1, 0, 5], orders=[0, 1, 2]).table.tolist()
    [[0.5, 0.25, 0.5], [0.5, 0.75, 1.0], [0.5, 0.25, 0.0]]
    """
    wanted, sizes = _checked("demand", demand), _checked("orders", orders)
    if not (np.diff(sizes) > 0).all() or sizes[-1] <= 0:
        raise InvalidOption(f"orders must increase from arm to arm, and not be all 0, got {orders!r}")
    over, under = checked_number("over", over, least=0.0), checked_number("under", under, least=0.0)
    if over + under == 0:
        raise InvalidOption(f"over and under must not both be 0, got over={over!r}, under={under!r}")
    largest = sizes[-1]
    left = np.maximum(sizes - wanted[:, None], 0.0)
    share = under / (over + under)
    losses = left / largest + share * (1.0 - sizes / largest)
    return Matrix(np.clip(losses, 0.0, 1.0), repeat=repeat, name="newsvendor")  # rounding only


def _checked(name: str, values: npt.ArrayLike) -> Floats:
    numbers = flat_numbers(values, name)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        raise InvalidOption(f"{name}[{wrong[0]}] must be a finite number ≥ 0, got {numbers[wrong[0]]}")
    return numbers
