"""What a search compares partitions by: sums over their blocks, and a floor under the bound that these allow."""

from __future__ import annotations

import numpy as np

from sidelight._types import Floats
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.price import one_block
from sidelight.planning.potentials import height

COLUMNS = 5
"""A block's row: is it in U1S, U1N, U2; δ; its share of M. Rows add up over the blocks of a partition."""

LOOP, LOOPLESS = np.eye(COLUMNS)[0], np.eye(COLUMNS)[1]

MOST_KNOWN = 100_000
"""Pairs (n, δ) whose share of M is remembered, whatever the graph: finding the best h is most of the work."""

_known: dict[tuple[float, float], float] = {}


def weak_rows(sizes: Floats, deltas: Floats) -> Floats:
    """(m2, 5) rows of blocks with n_k ≥ 2 arms and domination numbers δ_k, each with its best h."""
    pairs = list(zip(sizes.tolist(), deltas.round(12).tolist(), strict=True))
    if len(_known) > MOST_KNOWN:
        _known.clear()
    new = sorted(set(pairs) - _known.keys())
    if new:
        _known.update(zip(new, Interpolated.best(*np.array(new).T).demands.tolist(), strict=True))
    none, ones = np.zeros_like(sizes), np.ones_like(sizes)
    return np.column_stack([none, none, ones, deltas, [_known[pair] for pair in pairs]])


def floors(rows: Floats, T: float) -> Floats:
    """(B,) no parameters bring the bound of partitions with these sums of rows (B, 5) below this; ∞ if illegal.

    √(2T/b) + bMT at its least, plus min_α αT + 2√(2T·(n_S + δ̄/α)·κ) with κ = 1 − 1/√m, or 1 beside loop-less
    singletons, plus √(2T·H) for those; of one block alone its bound. Usually less than 10 % below the bound. Proof:
    docs/theory/search.md.
    """
    legal = np.isfinite(rows[:, 2])
    n_loop, n_loopless, n_weak, total, demand = np.where(legal[:, None], rows, 1.0).T
    m, weak, loopless = n_loop + n_loopless + n_weak, n_weak > 0, n_loopless > 0
    safe = np.where(weak, demand, 1.0)
    b = np.minimum(1 / np.cbrt(2 * T * safe**2), 0.5 / safe)
    inner = np.where(m > 1, np.sqrt(2 * T / b) + b * safe * T, one_block(T, safe).value)
    inner = np.where(weak, inner, 0.0)
    kappa = np.where(loopless, 1.0, 1 - 1 / np.sqrt(m))
    # The best α is r·(2κδ̄/T)^{1/3} with r = (1 + s·r)^{−1/3}: iterates lie above and below it in turn.
    without = np.cbrt(2 * kappa * total / T)
    s = n_loop * without / np.where(weak, total, 1.0)
    above = below = np.ones_like(s)
    for _ in range(8):
        below = np.cbrt(1 / (1 + s * above))
        above = np.cbrt(1 / (1 + s * below))
    seen_by = np.where(weak & (m > 1), above * without, 1.0)
    top = below * without * T + 2 * np.sqrt(2 * T * (n_loop + total / seen_by) * kappa)
    entropy = np.where(loopless, height(1.0, np.maximum(n_loopless, 1.0)), 0.0)
    value = (inner + np.where(m > 1, top, 0.0) + np.sqrt(2 * T * entropy)) * (1 - 1e-9)
    return np.where(legal, value, np.inf)
