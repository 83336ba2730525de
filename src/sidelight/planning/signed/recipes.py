"""Which recipes are tried: the numbers that there are to choose, and where searches for them begin."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.signed.arms import Arms, Costs, Recipe
from sidelight.planning.signed.prices import most

LEAST_SHIFT, MOST_SHIFT = 0.05, 0.6
"""Shifts are searched for between these; 0 is tried as well."""


class Free(NamedTuple):
    """Which of log b, log K and c there are to choose, and how far apart they are when a search begins."""

    rows: list[int]
    widths: Floats

    @classmethod
    def of(cls, arms: Arms) -> Free:
        """b where arms are covered, c where estimates may be shifted, and K if some are lifted then."""
        rows = [0] * (arms.covered > 0) + [1] * (arms.looped > 0 and arms.signed) + [2] * arms.signed
        return cls(rows, np.array([0.3, 0.3, -0.05])[rows])

    def numbers(self, recipe: Recipe, size: int) -> Floats:
        """Those of so many recipes, (numbers, size)."""
        with np.errstate(divide="ignore"):
            b, K, c = (np.broadcast_to(each, size) for each in recipe)
            return np.array([np.log(b), np.log(K), c])[self.rows]

    def recipe(self, numbers: Floats) -> Recipe:
        """The recipe with these numbers; nothing is explored, lifted or shifted that there is not to choose."""
        given = dict(zip(self.rows, numbers, strict=True))
        c = np.clip(given[2], LEAST_SHIFT, MOST_SHIFT) if 2 in given else 0.0
        return Recipe(np.exp(given.get(0, -inf)), np.exp(given.get(1, inf)), c)


def shifted(costs: Costs, beta: Any, ratio: Any) -> Recipe:
    """Near the best recipe with c > 0, from the leading terms of its price."""
    s, q = costs.s, np.sqrt(6 * costs.weak / beta)
    b = np.minimum(q / 6, 0.3) / costs.weak if costs.covered else 0.0
    if not costs.looped:
        return Recipe(b, inf, np.clip(1 / 3 - q / 18, LEAST_SHIFT, 0.5))
    with np.errstate(all="ignore"):
        # As much as costs little, where that is far from the pole; c goes with it.
        pole = costs.loop / (1 - s)
        enough = (costs.looped * most(1.0, 1.0, s) / 0.1) ** s / (beta * ratio)
        K = np.clip(enough, (1.2 if costs.covered else 0.75) * pole, 8 * pole)
        c = 0.4 if costs.covered else 0.5 - (2 - s) * costs.looped**s / (24 * beta)
        return Recipe(b, K, np.clip(np.minimum(c, 0.6 * pole / K), LEAST_SHIFT, 0.5))


def cliques(costs: Costs, beta: Any, ratio: Any) -> Recipe:
    """The same where all arms have loops and Q is less than their number: lifts cost what φ exceeds 1 by."""
    s = costs.s
    with np.errstate(all="ignore"):
        even = 24 * costs.looped * most(1.0, 1.0, s) * (beta * ratio) ** (1 - 1 / s) / costs.seen**s
        K = np.minimum(1.5 * costs.loop / (1 - s), even ** (s / (1 + s)))
        return Recipe(0.0, K, 0.5 - 0.11 * (1 - s) * K / costs.loop)


def even(costs: Costs, beta: Any, ratio: Any) -> Recipe:
    """Near the best for arms that all others reveal, order 1."""
    return Recipe(0.085 / beta, inf, 0.5 + 0.0 * beta)


def unshifted(costs: Costs, beta: Any, ratio: Any) -> Recipe:
    """c = 0: as much exploration as costs what stability does."""
    if not costs.covered:
        return Recipe(0.0 * beta, inf, 0.0)
    return Recipe(np.minimum((2 * beta * costs.weak) ** -0.5, MOST_EXPLORATION / costs.weak), inf, 0.0)
