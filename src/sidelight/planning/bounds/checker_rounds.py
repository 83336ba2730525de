"""What rounds cost at most, and what a change of potential costs: formulas of the checker of certificates, its own.

Nothing of the planner is used. Proofs: docs/theory/signed.md. Searches, for a λ, a slope or a threshold, prove
nothing: whatever they find gives an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.engine.constants import EXACT_SPREAD, LARGEST_REACH, MOST_EXPLORATION

SMALL = 2e-3
"""Below this the closed form of an arm's cost loses more digits than three terms of its series."""

LATE, CELLS = 13, 160
"""Ends of cells of the range in which lifts may be late, and cells of the range of π in Theorem C."""


class Recipes(NamedTuple):
    """How rounds are played, (rows,): Z = (1−γ)X + b·g + ℓ, estimates (loss − c)/P, at temperatures β and ratio·β.

    ℓ lifts arms to X^{1−s}/(ratio·β·K), to no more than the machine's play of large graphs makes of that.
    """

    beta: Floats
    ratio: Any
    strength: Floats  # b
    lift: Floats  # K, ∞ for none
    shift: Floats  # c


@dataclass(frozen=True)
class Sides:
    """Covered arms W with order h, and the others S, which have self-loops, with order s."""

    covered: int  # n_W
    looped: int  # n_S
    h: float
    s: float
    weak: float  # g adds up to no more
    seen: float  # Q ≥ Σ_S (x/P(x))^{1/s} for all x
    lifted: bool = False  # are exactly the arms of S lifted, and do their loops never fail?
    even: bool = False  # does every arm see all others, with certainty, and is each explored for evenly?

    def price(self, play: Recipes) -> Floats:
        """(rows,) the least that is proved for a round, whatever was learnt; ∞ where nothing is.

        It falls with the temperature while the rest of a recipe stays, as every term of the sums below does.
        """
        values = self._two_groups(play)
        if not self.covered:
            values = np.fmin(values, self._hull(play))
        if self.even and self.h == 1 and not self.looped:
            values = np.fmin(values, np.where(np.isinf(play.lift), _even(self.covered, play), np.inf))
        # Without a shift no round costs more than ΣZ = 1.
        return np.where(play.shift == 0, np.fmin(values, 1.0), values)

    def _explored(self, play: Recipes) -> Floats:
        """κ̄: what is added to X at most."""
        floor = np.where(np.isinf(play.lift), 0.0, 1 / (play.ratio * play.beta * play.lift))
        return play.strength * self.weak + lifted_mass(self.looped, self.covered + self.looped, floor, self.s)

    def _possible(self, play: Recipes, explored: Floats) -> Bools:
        """Is every arm seen often enough for its estimates, and no more explored than proofs allow?"""
        raised = ~np.isinf(play.lift)
        able: Bools = (explored <= MOST_EXPLORATION * (1 + 1e-9)) & (self.lifted | ~raised)
        able &= (play.shift == 0) | raised | (self.looped == 0)
        return able & (play.shift >= 0) & (play.shift <= 1)

    def _two_groups(self, play: Recipes) -> Floats:
        """Lemma 7′; without S Lemma 2."""
        c, explored = play.shift, self._explored(play)
        alone = explored
        with np.errstate(all="ignore"):
            if self.covered:
                q = 1 / (play.beta * play.strength)
                alone = np.maximum(paid(1 - c, q, self.h), paid(-c, q, self.h) + explored)
            able = self._possible(play, explored) & ~np.isnan(alone)
            if not self.looped:
                return np.where(able, alone, np.inf)
            # An arm of S pays A·x^{1−s} times the root of how well it is seen, at most: A₁ if it lost, else A₀.
            K, room = play.lift / (1 - explored), play.ratio * play.beta * (1 - explored)
            lost = (1 - c) ** 2 / (2 * room)
            kept = np.where(c > 0, paid(-c, K, self.s) / (K * room), 0.0)

            def bound(log_lam: Floats) -> Floats:
                lam = np.maximum(np.exp(log_lam), alone)
                kept_too = np.where(kept > 0, _peak(kept, np.maximum(lam - explored, 0.0), self.s), 0.0)
                return lam + self.seen * np.maximum(_peak(lost, lam, self.s), kept_too)

            low = np.log(np.maximum(alone, 1e-18))
            value = bound(_least(bound, low, np.maximum(low, 1.0)))
        return np.where(able & ~np.isnan(value), value, np.inf)

    def _hull(self, play: Recipes) -> Floats:
        """Lemma 5′: min_μ μ + N·max_x {h(x) − μx}. What an arm with x pays, h, is known by its shape.

        As far as arms are lifted it is at most a line and a root. Beyond it is the larger of two functions, one
        concave, one convex and then concave: each is largest at an end or where its derivative is μ in its concave
        part.
        """
        N, s, c, K = self.looped, self.s, play.shift, play.lift
        beta = play.ratio * play.beta
        with np.errstate(all="ignore"):
            explored = self._explored(play)
            y = c * K / (1 - explored)
            bend = _rise(-c, K / (1 - explored), s) / paid(-c, K / (1 - explored), s) - 1
            total = paid(-c, K, s) / (K * beta) * N**s
            more = total * bend / (1 - explored) ** (bend + 1)
            above, below = lazy_lift(N, s)
            # Lifts end where X^{−s}/β is K·below/above; from where each of these begins arms see no q above it.
            parts = np.geomspace(1.0, below / above, LATE if above > 1 else 2)[:, None] * K
            ends = np.minimum((parts * beta) ** (-1 / s), 1.0)
            ends[0], end = 0.0, ends[-1]
            near = [
                (each, paid(v, q, s) - weight * below, weight * above / (K * beta))
                for v, weight in ((-c, more), (1 - c, 1 + more))
                for q, *each in zip(parts[:-1], ends[:-1], ends[1:], strict=True)
            ]
            # Where the first function turns from convex to concave: its derivative rises before and falls after.
            turn = _crossing(lambda log_x: _bent(-c, np.exp(-s * log_x) / beta, s), np.log(end), 0.0 * end)

            def bound(mu: Floats) -> tuple[Floats, Floats]:
                """The bound, and its derivative."""
                best, where = np.full(mu.shape, -np.inf), np.zeros(mu.shape)
                tried = []
                for (first, last), line, root in near:
                    slope = line - mu
                    x = np.where(slope < 0, ((1 - s) * root / np.abs(slope)) ** (1 / s), np.inf)
                    x = np.clip(x, first, last)
                    tried.append((slope * x + root * x ** (1 - s), x))
                for v, start in ((-c, turn), (1 - c, np.log(end))):

                    def steep(log_x: Floats, v: Floats = v) -> Floats:
                        return _slope(v, np.exp(-s * log_x) / beta, s) - mu

                    x = np.exp(_crossing(steep, start, 0.0 * end))
                    tried.append((x * paid(v, x**-s / beta, s) - mu * x, x))
                for value, x in tried:
                    where = np.where(value > best, x, where)
                    best = np.maximum(best, value)
                return mu + N * best, 1 - N * where

            even = [_slope(v, N**s / beta, s) for v in (-c, 1 - c)]
            best = _least_convex(bound, -np.max(even, axis=0), 2 * np.max(even, axis=0))
            able = self._possible(play, explored) & (explored <= c) & ((1 - s) * y < 1) & ~np.isnan(best)
        return np.where(able, best, np.inf)


def lifted_mass(lifted: int, n: int, floor: Any, s: float) -> Floats:
    """Σ [floor·x^{1−s} − x]₊ at most, with what large graphs may be late by; of n arms so many are lifted."""
    above, below = lazy_lift(n, s)
    return lifted * _peak(above * np.asarray(floor), below, s)


def lazy_lift(n: int, s: float) -> tuple[float, float]:
    """(a₁, m): an arm is lifted by [a₁·floor·x^{1−s} − m·x]₊ at most."""
    late = (1 + LARGEST_REACH) / (1 - LARGEST_REACH) if n > EXACT_SPREAD else 1.0
    return late, late ** (-1 / (1 - s)) if s < 1 else 1.0


# -- one arm ------------------------------------------------------------------------------------------------


def paid(v: Any, q: Any, s: float) -> Floats:
    """|v|·ψ(|v|q) for an estimate that is v/P, |v|·ψ₋(|v|q) where v is negative; q = X^{1−s}/(τP). ∞ past the pole.

    That is v + (e^{−su} − 1)/(sq), by e^{−u} = (1 + (1−s)vq)^{−1/(1−s)} what an arm's probability is multiplied with.
    """
    y, eps = np.asarray(v * q), 1 - s
    with np.errstate(all="ignore"):
        exact = v + np.expm1(-s * _moved(y, s)) / (s * q)
        short = (
            v * y / 2 * (1 - (1 + eps) * y / 3 * (1 - (1 + 2 * eps) * y / 4 * (1 - (1 + 3 * eps) * y / 5)))
        )
    return np.where(eps * y <= -1, np.inf, np.where(np.abs(y) < SMALL, short, np.where(v == 0, 0.0, exact)))


def _moved(y: Any, s: float) -> Floats:
    """u."""
    return np.asarray(y if s == 1 else np.log1p((1 - s) * y) / (1 - s), dtype=np.float64)


def _rise(v: Any, q: Any, s: float) -> Floats:
    """d/dq of q·paid, over v²q's own: v(1 − e^{−u})."""
    return np.asarray(-v * np.expm1(-_moved(v * q, s)))


def _slope(v: Any, q: Any, s: float) -> Floats:
    """d/dx of x·paid(v, x^{−s}/β) at q = x^{−s}/β."""
    return (1 + s) * paid(v, q, s) - s * _rise(v, q, s)


def _bent(v: Any, q: Any, s: float) -> Floats:
    """x times the second derivative of that, negative where it is concave."""
    y, u = v * q, _moved(v * q, s)
    second: Floats = v * y * np.exp(-u) / (1 + (1 - s) * y)  # q·d/dq of `_rise`
    return s * (s * second - (1 + s) * (_rise(v, q, s) - paid(v, q, s)))


def _peak(A: Any, v: Any, s: float) -> Floats:
    """max_{x ≥ 0} Ax^{1−s} − vx, which is at x = ((1−s)A/v)^{1/s}."""
    with np.errstate(all="ignore"):
        return np.asarray(s * A * ((1 - s) * A / v) ** ((1 - s) / s))


# -- every arm sees all others ------------------------------------------------------------------------------


def _even(n: int, play: Recipes) -> Floats:
    """Theorem C: order 1, γ/n explored on each arm, b = γ(1 − 1/n), no self-loops; ∞ if γ > ½."""
    beta, c, k = play.beta, play.shift, play.strength * play.beta
    gamma = play.strength / (1 - 1 / n)
    with np.errstate(all="ignore"):

        def spread(tau: Floats) -> Floats:
            """(1): no arm has more than 1−τ. A parabola in the mean loss m."""
            half = _growth(1 / (beta * (1 - gamma) * tau)) / (2 * beta)
            middle = ((1 - 2 * c) * half + 2 * c * (1 - c) * half - gamma) / (4 * half * c * (1 - c))
            tried = [np.zeros_like(tau), np.ones_like(tau), np.clip(np.nan_to_num(middle), 0.0, 1.0)]
            v = [m * (1 - c) ** 2 + (1 - m) * c**2 + 2 * m * (1 - m) * c * (1 - c) for m in tried]
            costs = [half * var + gamma * (1 - m) for var, m in zip(v, tried, strict=True)]
            return np.asarray(np.max(costs, axis=0) / (1 - gamma))

        def heavy(tau: Floats) -> Floats:
            """(2): some arm has more."""
            P = (1 - gamma) * (1 - tau)
            drawn = tau * np.maximum((1 - c) ** 2, c**2 * _growth(c / (beta * P))) / (2 * beta * P**2)
            won = (c + (1 - c) * (1 - P) / P) ** 2 / (2 * beta * (1 - gamma)) + gamma
            return drawn + np.maximum(
                _largest_loss(beta, k, c, P, tau) / (beta * (1 - gamma)) + gamma * tau, won
            )

        # (1) falls in τ and (2) rises.
        low, high = np.log(0.01 / (beta + 1)), np.full(beta.shape, log(0.4999))
        at = _crossing(lambda log_tau: spread(np.exp(log_tau)) - heavy(np.exp(log_tau)), low, high)
        value = np.maximum(spread(np.exp(at)), heavy(np.exp(at)))
    return np.where((gamma <= MOST_EXPLORATION) & ~np.isnan(value), value, np.inf)


def _largest_loss(beta: Floats, k: Floats, c: Floats, P: Floats, tau: Floats) -> Floats:
    """M = max π(π−k)(e^w−1−w), w = (1−c)/π + c/(βP), over k ≤ π ≤ k + βτ.

    In t = 1/π it is ½(1−kt)·g(t), g = (1−c + c/(βPt))²·φ((1−c)t + c/(βP)) a product of log-convex functions: on a
    cell g is below its chord, and what is left is a parabola.
    """
    c0, start = c / (beta * P), 1 / (k + beta * tau)
    t = start + (1 / k - start) * np.linspace(0, 1, CELLS + 1)[:, None]
    g, room = (1 - c + c0 / t) ** 2 * _growth((1 - c) * t + c0), 1 - k * t
    rise, fall = g[1:] - g[:-1], room[:-1] - room[1:]
    # (room − fall·z)(g + rise·z), 0 ≤ z ≤ 1
    z = np.clip(np.nan_to_num((rise * room[:-1] - fall * g[:-1]) / (2 * rise * fall)), 0.0, 1.0)
    inside = np.where(rise > 0, (room[:-1] - fall * z) * (g[:-1] + rise * z), 0.0)
    return np.asarray(np.maximum(inside.max(axis=0), (room * g).max(axis=0)) / 2)


def _growth(y: Any) -> Floats:
    """φ(y) = 2(e^y − 1 − y)/y²."""
    return np.where(
        np.asarray(y) > 0, 2 * paid(-1.0, np.maximum(y, 1e-300), 1.0) / np.maximum(y, 1e-300), 1.0
    )


# -- another potential --------------------------------------------------------------------------------------


def climbs(rho: Floats, order: float, groups: list[tuple[int, float, float]]) -> Floats:
    """max_x Σ_i [ρτ_iφ_{s_i}(x_i) − φ_o(x_i)] for each ρ, from above; groups are (number, s, τ).

    φ_s(x) = (x^s−x)/(s(1−s)). Lemma 6: at most μ + Σ_i max_{x ≤ 1} {… − μx}. As φ_s″ = −x^{s−2}, the braces are
    concave on one side of x = (ρτ)^{1/(o−s)} and convex on the other: largest at 0, at 1, or where the derivative is
    0 on the concave side.
    """
    n = sum(count for count, _, _ in groups)

    def bound(mu: Floats) -> tuple[Floats, Floats]:
        total, slope = mu, np.ones(mu.shape)
        for count, s, tau in groups:
            A = rho * tau
            with np.errstate(all="ignore"):
                turn = np.clip(
                    np.log(A) / (order - s) if s != order else np.where(A > 1, -LOWEST, LOWEST), -LOWEST, 0.0
                )
                left, right = (turn, 0.0 * turn) if s >= order else (-LOWEST + 0.0 * turn, turn)

                def steep(log_x: Floats, A: Floats = A, s: float = s) -> Floats:
                    return A * _phi_slope(log_x, s) - _phi_slope(log_x, order) - mu

                inside = np.exp(_crossing(steep, left, right))
            tried = [
                (0.0 * mu, np.zeros(mu.shape)),
                (-mu, np.ones(mu.shape)),
                (A * _phi(inside, s) - _phi(inside, order) - mu * inside, inside),
            ]
            best, where = tried[0][0], np.zeros(mu.shape)
            for value, x in tried[1:]:
                where = np.where(value > best, x, where)
                best = np.maximum(best, value)
            total, slope = total + count * best, slope - count * where
        return total, slope

    even = np.max([rho * tau * _phi_slope(-log(4 * n), s) for _, s, tau in groups], axis=0)
    flat = np.max([rho * tau / s for _, s, tau in groups], axis=0)
    return np.maximum(_least_convex(bound, -flat - 2 / order, even + 1 / order), 0.0)


LOWEST = 600.0
"""Logarithms of probabilities are above minus this."""


def _phi(x: Any, s: float) -> Floats:
    logs = np.log(np.where(x > 0, x, 1.0))
    return np.asarray(-x * logs if s == 1 else x * np.expm1((s - 1) * logs) / (s * (1 - s)))


def _phi_slope(log_x: Any, s: float) -> Floats:
    return np.asarray(-1 - log_x if s == 1 else np.expm1((s - 1) * log_x) / (1 - s) - 1 / s + 0.0 * log_x)


# -- searches -----------------------------------------------------------------------------------------------


def _crossing(falls: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Where a function that falls on low..high changes its sign, by halving; an end where it does not."""
    low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    for _ in range(52):
        middle = (low + high) / 2
        positive = falls(middle) > 0
        low, high = np.where(positive, middle, low), np.where(positive, high, middle)
    return low


def _least(value: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Where functions with one minimum each are small, by golden sections."""
    ratio = (5**0.5 - 1) / 2
    for _ in range(75):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        smaller = value(left) <= value(right)
        low, high = np.where(smaller, low, left), np.where(smaller, right, high)
    return (low + high) / 2


def _least_convex(bound: Callable[[Floats], tuple[Floats, Floats]], low: Floats, high: Floats) -> Floats:
    """The least value of convex functions that a search finds: tangents from both sides meet, or the middle."""
    (v, d), (w, e) = bound(low), bound(high)
    best = np.fmin(v, w)
    for turn in range(40):
        mu = (v - w + e * high - d * low) / (e - d)
        mu = np.where((mu > low) & (mu < high) & (turn % 4 < 3), mu, (low + high) / 2)
        value, slope = bound(mu)
        best, falls = np.fmin(best, value), slope < 0
        low, v, d = (np.where(falls, *pair) for pair in ((mu, low), (value, v), (slope, d)))
        high, w, e = (np.where(falls, *pair) for pair in ((high, mu), (w, value), (e, slope)))
    return np.asarray(best)
