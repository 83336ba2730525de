"""Safe recipes on a grid of temperatures, and what rounds cost with them: what kernels read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np

from sidelight._types import Floats
from sidelight.planning.signed import recipes
from sidelight.planning.signed.arms import Arms, Costs, Recipe
from sidelight.planning.signed.minimise import minimised
from sidelight.planning.signed.prices import chargeable, price, proved_price

STEP = 1.02
"""From one temperature of a table to the next."""

RANGE, LEAST = 1e12, 1e-10
"""A table ends at so many times its first temperature, or where a round costs less than that."""


@dataclass(frozen=True, eq=False)
class Table:
    """Row k: at every temperature from β_k on, a round that is played by the recipe of the row costs at most w_k.

    W has order h and temperature β, S order s and temperature ratio·β. From row to row β grows by STEP and w falls.
    """

    h: float
    s: float
    ratio: float
    beta: Floats  # (rows,)
    w: Floats  # (rows,)
    strength: Floats  # (rows,) b
    lift: Floats  # (rows,) K, ∞ for none
    shift: Floats  # (rows,) c

    @classmethod
    def of(cls, arms: Arms, h: float, s: float, first: float) -> Table:
        """For free play, one temperature for all arms: from `first` on until rounds cost next to nothing."""
        beta = first * np.float64(STEP) ** np.arange(1 + int(np.ceil(log(RANGE) / log(STEP))))
        whole = cls.on(arms, h, s, 1.0, beta)
        rows = 1 + int(np.searchsorted(-whole.w, -LEAST))
        return cls(h, s, 1.0, *(getattr(whole, name)[:rows] for name in ("beta", "w", *Recipe._fields)))

    @classmethod
    def on(
        cls,
        arms: Arms,
        h: float,
        s: float,
        ratio: float,
        beta: Floats,
        known: Mapping[int, Recipe] | None = None,
    ) -> Table:
        """The table at these temperatures; recipes that are `known` are tried from their rows on."""
        costs, rows = arms.costs([h], [s]), np.arange(beta.size)
        general = costs._replace(universal=False)
        tried = [
            Recipe(0.0, inf, 0.0),
            Recipe(costs.lean / beta, inf, 0.0),
            recipes.unshifted(costs, beta, ratio),
        ]
        if arms.covered and arms.looped:
            tried += _searched(replace(arms, signed=False), general, tried[-1], beta, ratio)
        if arms.signed and not (arms.looped and s == 1):
            tried += _searched(arms, general, recipes.shifted(costs, beta, ratio), beta, ratio)
            if not arms.covered and costs.seen[0] < arms.looped:
                tried += _searched(arms, general, recipes.cliques(costs, beta, ratio), beta, ratio)
        prices = [np.ones(rows.size), *(price(general, beta, ratio, recipe) for recipe in tried[1:])]
        if costs.universal and h == 1:
            tried.append(_searched(arms, costs, recipes.even(costs, beta, ratio), beta, ratio)[0])
            prices.append(price(costs, beta, ratio, tried[-1]))
        for row, recipe in (known or {}).items():
            tried.append(recipe)
            prices.append(np.where(rows >= row, price(costs, beta, ratio, recipe), 1.0))
        # Recipes may be played at higher temperatures and cost no more there: rows may take that of an earlier one.
        w, best = np.min(prices, axis=0), np.argmin(prices, axis=0)
        source = np.maximum.accumulate(np.where(w <= np.minimum.accumulate(w), rows, 0))
        b, K, c = (
            np.array([np.broadcast_to(each, rows.size) for each in column])[best, rows][source]
            for column in zip(*tried, strict=True)
        )
        return cls(h, s, ratio, beta, w[source], b, np.where(c > 0, K, inf), c)


def _searched(arms: Arms, costs: Costs, start: Recipe, beta: Floats, ratio: float) -> list[Recipe]:
    """Recipes for all rows, from those of a few: interpolated, and those of the neighbours on both sides."""
    # Most of them are where prices begin to be below 1.
    rows = np.arange(beta.size)
    at = np.concatenate([rows[:160:4], rows[160:400:16], rows[400::80]])
    at = np.unique(np.append(at[:: 4 if costs.universal else 1], rows[-1]))
    free = recipes.Free.of(arms)
    begin = free.numbers(start, beta.size)[:, at]

    def value(numbers: Floats) -> Floats:
        recipe = free.recipe(numbers)
        values = proved_price(costs, beta[at], ratio, recipe, 3)
        if not costs.looped:
            return values
        # K has little to do with some prices: a shift that rounds may be charged with is worth a little.
        return np.where(chargeable(costs, ratio * beta[at], recipe), values, 1.02 * values)

    found, _ = minimised(value, begin, free.widths, 40 if costs.covered and not costs.universal else 16)
    between = np.array([np.interp(rows, at, each) for each in found])
    left = np.searchsorted(at, rows, side="right") - 1
    sides = (found[:, left], found[:, np.minimum(left + 1, at.size - 1)])
    return [free.recipe(numbers) for numbers in (between, *sides)]
