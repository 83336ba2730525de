"""Tables of prices as kernels read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.engine.self_tuning.prices import COST, N_PRICES, NEAR, STRENGTH, row_at
from sidelight.planning.signed.arms import Arms
from sidelight.planning.signed.climb import climbs
from sidelight.planning.signed.smallest import Base
from sidelight.planning.signed.table import STEP, Table

ABOVE = 4.0
"""Temperatures of the potential behind a budget go up to so many times its best."""


class Prices(NamedTuple):
    """Row k is for β from `beta(k)` on: price, strength, 1/K and shift (`engine.self_tuning.prices`)."""

    first: float
    step: float
    rows: Floats

    @classmethod
    def of(cls, table: Table) -> Prices:
        """The rows of a table; prices leave room for a β that is short of its row by rounding."""
        costs = np.minimum(table.w * (1 + 2 * NEAR), 1.0)
        rows = np.stack([costs, table.strength, 1 / table.lift, table.shift], axis=1)
        return cls(float(table.beta[0]), log(STEP), np.ascontiguousarray(rows))

    @classmethod
    def least(cls, tables: Sequence[Table]) -> Prices:
        """The cheapest of some tables, row by row; they begin at one temperature."""
        several = [cls.of(table) for table in tables]
        size = min(len(each.rows) for each in several)
        rows = np.stack([each.rows[:size] for each in several])
        chosen = rows[:, :, COST].argmin(axis=0)
        return several[0]._replace(rows=np.ascontiguousarray(rows[chosen, np.arange(size)]))

    def alike(self, row: int) -> Prices:
        """Every row explores if this one does: the others become the row before them, which costs no more there."""
        explores = self.rows[:, STRENGTH] > 0
        source = np.maximum.accumulate(np.where(explores == explores[row], np.arange(len(self.rows)), -1))
        return self._replace(rows=np.where(source[:, None] < 0, np.eye(1, N_PRICES, COST), self.rows[source]))

    def beta(self, k: npt.ArrayLike) -> Floats:
        """The temperature of a row."""
        return np.asarray(self.first * np.exp(self.step * np.asarray(k, dtype=np.float64)))

    def row(self, beta: float) -> Floats:
        """The last row for β; below the first nothing is explored, and a round may cost 1."""
        k = row_at(beta, self.first, self.step, len(self.rows))
        return np.asarray(self.rows[k] if k >= 0 else np.eye(1, N_PRICES, COST)[0])


class BaseTable(NamedTuple):
    """Prices of another potential along its ray, on the grid of a table, and what changing to it costs."""

    prices: Prices
    ratio: float  # of the temperatures of arms that are not covered to those of others
    best: int  # the row at which all rounds cost least
    at: int  # row 0 has the temperature of this row of the table
    climbs: Floats  # K(1 → ρ), from ρ = e^{step·climb_at} on
    climb_at: int

    @classmethod
    def of(cls, arms: Arms, base: Base, first: float, order: float) -> BaseTable:
        """Of a base whose best temperature is on the grid that begins at `first`; the table has this order."""
        table = base.table(arms, first, ABOVE * base.beta)
        best = int(np.abs(np.log(table.beta / base.beta)).argmin())
        prices = Prices.of(table).alike(best)
        at = round(log(prices.first / first) / prices.step)
        ratios, values = climbs(arms, base, order)
        return cls(prices, base.ratio, best, at, values, round(log(float(ratios[0])) / prices.step))

    @property
    def costs(self) -> Floats:
        """(rows,)"""
        return np.ascontiguousarray(self.prices.rows[:, COST])

    def beta(self, row: int) -> float:
        """β of a row."""
        return float(self.prices.beta(row))

    def recipe(self, row: int) -> tuple[float, float, float]:
        """Strength, floor and shift of a row."""
        _, strength, lift, shift = self.prices.rows[row].tolist()
        return strength, lift / (self.beta(row) * self.ratio), shift
