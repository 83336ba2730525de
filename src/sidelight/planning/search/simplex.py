"""Domination numbers of many small blocks at once: the packing programs go through one stacked simplex tableau."""

from __future__ import annotations

import numpy as np

from sidelight._types import Bools, Floats, Longs

ROUNDING = 1e-11
"""A reduced cost or pivot below this is zero."""

EXACT = 1e-9
"""Largest relative gap between cover and packing that counts as none."""


def stacked_dominations(reveals: Bools, present: Bools) -> Floats:
    """(B,) δ of each block: reveals[b, v, u] between the arms that are present[b]; NaN where no proof was found.

    Solves max Σ y_u s.t. Σ_{u ∈ Nout(v)} y_u ≤ 1, y ≥ 0, the dual of the covering program, from y = 0: largest
    gain first, then least index, which cannot cycle. The value returned is the mass of the cover read off
    the reduced costs, scaled until it covers, and only if the packing proves it. Every present arm must be revealed
    by a present one.
    """
    B, k = present.shape
    inside = reveals & present[:, :, None] & present[:, None, :]
    table = np.zeros((B, k + 1, 2 * k + 1))
    table[:, :k, :k] = inside
    table[:, np.arange(k), k + np.arange(k)] = 1.0
    table[:, :k, -1] = 1.0
    table[:, k, :k] = -present.astype(np.float64)
    basis = np.tile(np.arange(k, 2 * k), (B, 1))
    open_ = np.arange(B)
    for step in range(40 * k + 40):
        costs = table[open_, k, :-1]
        open_ = open_[costs.min(axis=1) < -ROUNDING]
        if open_.size == 0:
            break
        costs = table[open_, k, :-1]
        enters = np.argmin(costs, axis=1) if step < 4 * k else np.argmax(costs < -ROUNDING, axis=1)
        column = np.take_along_axis(table[open_, :k], enters[:, None, None], axis=2)[:, :, 0]
        usable = column > ROUNDING
        ratio = np.where(usable, table[open_, :k, -1] / np.where(usable, column, 1.0), np.inf)
        tied = ratio <= ratio.min(axis=1, keepdims=True) + ROUNDING
        leaves = np.argmin(np.where(tied & usable, basis[open_], 2 * k), axis=1)
        _pivot(table, open_, leaves, enters)
        basis[open_, leaves] = enters

    cover = np.maximum(table[:, k, k : 2 * k], 0.0) * present
    covered = np.where(present, np.einsum("bv,bvu->bu", cover, inside), np.inf).min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = cover.sum(axis=1) / covered
        return np.where(np.abs(value / table[:, k, -1] - 1) <= EXACT, value, np.nan)


def _pivot(table: Floats, at: Longs, leaves: Longs, enters: Longs) -> None:
    rows = table[at, leaves]
    rows /= np.take_along_axis(rows, enters[:, None], axis=1)
    factors = np.take_along_axis(table[at], enters[:, None, None], axis=2)[:, :, 0]
    factors[np.arange(len(at)), leaves] = 0.0
    table[at] -= factors[:, :, None] * rows[:, None, :]
    table[at, leaves] = rows
