"""What it may cost to change from the potential of free play to that of a base: Lemma 6 of docs/theory/signed.md."""

from __future__ import annotations

from math import ceil, log
from typing import NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.planning.signed.arms import Arms
from sidelight.planning.signed.prices import between
from sidelight.planning.signed.smallest import Base
from sidelight.planning.signed.table import STEP

LEAST, LARGEST = 1e-2, 1e6
"""Ratios of temperatures: below the first nothing is paid, above the last next to all of the diameter."""

APART, STEPS = 4, 14
"""Every fourth ratio is worked out, by so many slopes μ. k is convex, so between them its chords will do."""

_NEAR = np.exp(-np.concatenate([np.arange(36.0, 12.0, -0.12), np.arange(12.0, 0.7, -0.03)]))
ENDS = np.concatenate([[0.0], _NEAR, 1 - np.exp(-np.arange(0.72, 16.0, 0.06)), [1.0]])
"""Of cells of [0, 1]: concave functions are below tangents in their middles, convex ones below chords."""


class Climbs(NamedTuple):
    """k(ρ) = max_x Σ_W [ρφ_h(x_i) − φ_o(x_i)] + Σ_S [ρ·ratio·φ_s(x_i) − φ_o(x_i)], φ_s(x) = (x^s − x)/(s(1−s)).

    W_L with the orders of the base and temperatures b·(1, ratio) exceeds W_L with order o and temperature β by
    β·k(b/β) at most. k rises: between two rows the later one holds, beyond the last k grows by D(1, ratio) at most.
    """

    rho: Floats  # (rows,) from row to row by STEP, whole powers of it
    k: Floats  # (rows,)


def climbs(arms: Arms, base: Base, order: float) -> Climbs:
    """From free play of this order to the base, from above."""
    first, last = (ceil(log(end) / log(STEP) / APART) for end in (LEAST, LARGEST))
    rho = np.float64(STEP) ** (APART * np.arange(first, last + 1))
    groups = [(arms.covered, base.h, 1.0), (arms.looped, base.s, base.ratio)]
    groups = [group for group in groups if group[0]]
    heights = [(n, rho[:, None] * (tau * _above(s)) - _phi(ENDS, order)) for n, s, tau in groups]

    def bound(mu: Floats) -> tuple[Floats, Floats, Floats]:
        """μ, μ + Σ_i max_x {…} − μx from above, and its derivative."""
        total, slope = mu, np.ones(mu.shape)
        for n, height in heights:
            values = height - mu[:, None] * ENDS
            at = values.argmax(axis=1)
            total, slope = total + n * np.take_along_axis(values, at[:, None], 1)[:, 0], slope - n * ENDS[at]
        return mu, total, slope

    # Convex in μ, and least between the slopes of the potential at x = 1 and at an even share.
    even = 0.5 / (arms.covered + arms.looped)
    slopes = np.array([[tau * _slope(x, s) for x in (1.0, even)] for _, s, tau in groups])
    left, right = (list(bound(mu)) for mu in (rho * slopes[:, 0].min() - 2 / order, rho * slopes[:, 1].max()))
    best = np.minimum(np.minimum(left[1], right[1]), rho * base.diameter)
    for _ in range(STEPS):
        new = bound(between(*left, *right))
        best, falls = np.minimum(best, new[1]), new[2] < 0
        left = [np.where(falls, *pair) for pair in zip(new, left, strict=True)]
        right = [np.where(falls, *pair) for pair in zip(right, new, strict=True)]
    best = np.minimum.accumulate(np.maximum(best, 0.0)[::-1])[::-1]
    every = np.float64(STEP) ** np.arange(APART * first, APART * last + 1)
    return Climbs(every, np.interp(every, rho, best))


def _phi(x: Floats, s: float) -> Floats:
    """φ_s, 0 at both ends."""
    logs = np.log(np.where(x > 0, x, 1.0))
    return np.asarray(-x * logs if s == 1 else x * np.expm1((s - 1) * logs) / (s * (1 - s)))


def _slope(x: Floats | float, s: float) -> Floats:
    """φ_s′."""
    return np.asarray(-1 - np.log(x) if s == 1 else (s * x ** (s - 1) - 1) / (s * (1 - s)), dtype=np.float64)


def _above(s: float) -> Floats:
    """At the ends of all cells the larger of the tangents to φ_s in the middle of the cells that meet there."""
    middle = (ENDS[1:] + ENDS[:-1]) / 2
    value, slope = _phi(middle, s), _slope(middle, s)
    left, right = (value + slope * (x - middle) for x in (ENDS[:-1], ENDS[1:]))
    return np.asarray(np.maximum(np.append(left, right[-1]), np.append(left[0], right)))
