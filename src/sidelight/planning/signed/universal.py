"""What a round costs at most where every arm is revealed by all others: Theorem C of docs/theory/signed.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.signed.psi import psi_minus

CELLS, STEPS = 32, 6
"""The first bound the maximum over π closely; more of the latter change the price in its fourth digit."""


def universal_price(n: int, beta: Any, strength: Any, shift: Any) -> Floats:
    """The largest of (1), (2) and (3) for the best threshold τ < ½ that a few steps find.

    Order 1, even exploration of mass γ, b = γ(1−1/n); ∞ if γ > ½.
    """
    beta, b, c = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (beta, strength, shift)))
    k, gamma = b * beta, b / (1 - 1 / n)
    with np.errstate(all="ignore"):
        rho = 1 / (1 - gamma)

        def spread(tau: Floats) -> Floats:
            """(1): no arm is likelier than 1−τ; a parabola in the mean loss m."""
            bend = _phi(rho / (beta * tau)) / (2 * beta)
            rise, fall = bend * (1 - 2 * c**2) - gamma, bend * 2 * c * (1 - c)
            m = np.clip(np.where(fall > 0, rise / (2 * fall), rise > 0), 0.0, 1.0)
            return np.asarray(rho * (bend * c**2 + gamma + m * (rise - m * fall)))

        def heavy(tau: Floats) -> Floats:
            """(2) and (3): some arm is, without a loop or with one."""
            P = (1 - tau) / rho
            c0, room = c / (beta * P), 2 * beta * P**2
            # M in t = 1/π: log(1−kt) is concave, below tangents; the logarithms of the other factors are convex,
            # below chords. On a cell both are lines.
            start = 1 / (k + beta * tau)
            t = start + (1 / k - start) * np.linspace(0, 1, CELLS + 1).reshape(-1, *(1,) * beta.ndim)
            chord = 2 * np.log(1 - c + c0 / t) + np.log(_phi((1 - c) * t + c0))
            middle, half = 1 - k * (t[1:] + t[:-1]) / 2, k * (t[1:] - t[:-1]) / 2
            cells = np.log(middle) + np.maximum(chord[:-1] + half / middle, chord[1:] - half / middle)
            drawn = tau * np.maximum((1 - c) ** 2, c**2 * _phi(c0)) / room
            lost = rho / beta * np.exp(cells.max(axis=0)) / 2 + gamma * tau
            won = rho * (c + (1 - c) * (1 - P) / P) ** 2 / (2 * beta) + gamma
            looped = tau * _phi(1 / (beta * P)) / room + gamma
            return np.asarray(np.maximum(drawn + np.maximum(lost, won), looped))

        # (1) falls in τ and the others rise: the best τ is where they meet
        low, high = np.log(0.1 / beta), np.full(beta.shape, np.log(0.499))
        at, last, before = np.log(np.minimum(1.5 * beta**-0.75, 0.4)), low, np.full(beta.shape, np.nan)
        best = np.full(beta.shape, np.inf)
        for _ in range(STEPS):
            first, second = spread(np.exp(at)), heavy(np.exp(at))
            best, gap = np.fmin(best, np.maximum(first, second)), np.log(first / second)
            low, high = np.where(gap > 0, at, low), np.where(gap > 0, high, at)
            secant = at - gap * (at - last) / (gap - before)
            last, before = at, gap
            at = np.where((secant > low) & (secant < high), secant, (low + high) / 2)
    return np.where(gamma <= MOST_EXPLORATION, best, np.inf)


def _phi(y: Floats) -> Floats:
    """φ(y) = 2(e^y − 1 − y)/y², 1 at 0."""
    return np.where(y > 0, 2 * psi_minus(y, 1.0) / np.where(y > 0, y, 1.0), 1.0)
