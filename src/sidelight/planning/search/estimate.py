"""What a search compares partitions by: sums over the blocks, a quick estimate of the bound, a floor under it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sidelight._types import Floats
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.two_level import SHIFT_PEAK, TwoLevel
from sidelight.planning.potentials import height

COLUMNS = 8
"""A block's row: [U1S], [U1N], [U2], δ, 1/δ, δ², share of M, share of the supply. Rows add up over blocks."""

LOOP, LOOPLESS = np.eye(COLUMNS)[0], np.eye(COLUMNS)[1]

GRID = np.geomspace(1 / 4, 4, 33)
"""Local exploration is tried at these multiples of its closed form."""


def weak_rows(sizes: Floats, deltas: Floats) -> Floats:
    """(m2, 8) rows of blocks with n_k arms and domination numbers δ_k, each with its best h."""
    inner = Interpolated.best(sizes, deltas)
    ones, none = np.ones_like(sizes), np.zeros_like(sizes)
    return np.column_stack([none, none, ones, deltas, 1 / deltas, deltas**2, inner.demands, inner.supplies])


def two_level(row: Floats, least: float) -> TwoLevel:
    """The certificate's problem of a partition with this sum of rows and smallest δ."""
    n_loop, n_loopless, n_weak, total, reciprocal, squares, demand, supply = row.tolist()
    deltas = (total, reciprocal, least if n_weak else 0.0, squares)
    return TwoLevel(round(n_loop), round(n_loopless), deltas, round(n_weak), demand, supply)


def estimate(rows: Floats, least: Floats, T: float) -> Floats:
    """(B,) about the minimised bound of partitions with these sums of rows and smallest δ.

    b is at its closed form, α on a grid, self-loop arms learn like weak blocks or as fast as the slowest of them,
    the other rates are at their best. Off by a few per cent at most where loop-less singletons are absent.
    """
    n_loop, n_loopless, n_weak, total, reciprocal, squares, demand, _ = (column[:, None] for column in rows.T)
    weak = n_weak > 0
    safe = np.where(weak, demand, 1.0)
    b = np.minimum(1 / np.cbrt(2 * T * safe**2), 0.4 / safe)
    rho = np.where(weak, 1 / (1 - b * safe), 1.0)
    inner = np.where(weak, np.sqrt(2 * T / b) + b * safe * T, 0.0)[:, 0]

    alpha = np.where(weak, np.minimum(np.cbrt(4 * total / T) * GRID, 1.0), 1.0)
    paid = np.where(weak, alpha * T, 0.0)
    mean = np.sqrt(squares / np.maximum(n_weak, 1))
    top = np.full(len(rows), np.inf)
    for w, smallest in ((total, np.where(weak, least[:, None], 1.0)), (n_weak * mean, mean)):
        corner = np.where(weak, np.sqrt(smallest / alpha), 1.0)
        for ratio in (np.ones_like(corner), corner):
            norm, steep = np.sqrt(n_loop * ratio**2 + w / alpha), np.sqrt(n_loop / ratio**2 + w / alpha)
            low = np.where(n_loop > 0, np.minimum(ratio, corner), corner)
            rates = np.sqrt(n_loop / ratio**2 + reciprocal * alpha)
            cost = np.where(
                n_loopless > 0, norm * (steep + 1.2 * SHIFT_PEAK * rates), np.maximum(norm - low, 0.0) * steep
            )
            top = np.minimum(top, (paid + 2 * np.sqrt(2 * rho * T * cost)).min(axis=1))
    alone = rows[:, :3].sum(axis=1) == 1
    entropy = np.where(rows[:, 1] > 0, height(1.0, np.maximum(rows[:, 1], 1.0)), 0.0)
    return np.asarray(inner + np.where(alone, 0.0, top + np.sqrt(2.2 * rho[:, 0] * entropy * T)))


def floor(rows: Floats, T: float) -> Floats:
    """(B,) no choice of parameters brings the bound below this. Proof: docs/theory/search.md.

    √(2T/b) + bMT at its least, plus min_α αT + 2√(2T·(n_S + δ̄/α)·κ) with κ = 1 − 1/√m, or 1 beside loop-less
    singletons, plus √(2T·H) for those.
    """
    n_loop, n_loopless, n_weak, total, demand = (rows[:, i] for i in (0, 1, 2, 3, 6))
    safe = np.where(n_weak > 0, demand, 1.0)
    b = np.minimum(1 / np.cbrt(2 * T * safe**2), 0.5 / safe)
    inner = np.where(n_weak > 0, np.sqrt(2 * T / b) + b * safe * T, 0.0)
    kappa = np.where(n_loopless > 0, 1.0, 1 - 1 / np.sqrt(n_loop + n_loopless + n_weak))
    low, high = np.full(len(rows), -300.0), np.zeros(len(rows))
    for _ in range(60):  # the derivative of this convex function changes sign between exp(low) and exp(high)
        middle = (low + high) / 2
        alpha = np.exp(middle)
        falls = total * np.sqrt(2 * kappa / T) > alpha**2 * np.sqrt(n_loop + total / alpha)
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    spread = np.where(n_weak > 0, total / np.exp(high), 0.0)
    top = np.exp(low) * T * (n_weak > 0) + 2 * np.sqrt(2 * T * (n_loop + spread) * kappa)
    top = np.where(rows[:, :3].sum(axis=1) == 1, 0.0, top)
    entropy = np.where(n_loopless > 0, height(1.0, np.maximum(n_loopless, 1.0)), 0.0)
    return np.asarray((inner + top + sqrt(2 * T) * np.sqrt(entropy)) * (1 - 1e-9))
