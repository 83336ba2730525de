"""Lower bounds on the minimax regret with every constant written out. Proofs: docs/theory/strong.md, last section."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log, sqrt

import numpy as np

MOST_SUMMED = 10**8
"""Longest horizon for which maxima of many random walks are summed up: 10·√T terms."""

LARGEST_BIAS = 0.25
"""Biases ε of the hard instances stay at or below this, so that relative entropies are at most κ·ε²."""

KL_ONE = 2 * 4 * log(4 / 3)
"""kl(½, ½−ε) = −½·log(1 − 4ε²) ≤ KL_ONE·ε² for ε ≤ ¼, by convexity in ε²."""

KL_TWO = 8 * log(3.0)
"""kl(½+ε, ½−ε) = 2ε·log((1+2ε)/(1−2ε)) ≤ KL_TWO·ε² for ε ≤ ¼."""


@lru_cache(maxsize=1024)
def full_information(n: int, horizon: int) -> float:
    """Regret forced on every graph with n ≥ 2 arms, even with full feedback: losses are fair coins.

        max{ ½·E|S_T|,  E max_{i ≤ n} (T/2 − B_i) },   S a simple random walk, B_i ~ Bin(T, ½) independent

    The first is two arms with opposite losses (all others cost 1), the exact minimax value for n = 2.

    >>> full_information(2, 3)
    0.75
    """
    half = (horizon + 1) // 2  # E|S_T| = 2m·C(2m, m)/4^m for T = 2m and T = 2m − 1
    if half <= 500:
        walk = float(half)
        for k in range(1, half + 1):
            walk *= (2 * k - 1) / (2 * k)
    else:  # Wallis: C(2m, m)/4^m ≥ 1/√(π(m + 1/2))
        walk = half / sqrt(np.pi * (half + 0.5))
    if n == 2 or horizon > MOST_SUMMED:
        return walk
    from scipy.special import betaincc  # slow to import, and plans do without

    width = int(5 * sqrt(horizon)) + 1
    wins = np.arange(max(horizon // 2 - width, 0), min(horizon // 2 + width, horizon))
    below = np.asarray(betaincc(wins + 1.0, horizon - wins, 0.5)) ** n  # P(the largest of n binomials is ≤ k)
    largest = float(wins[-1] + 1 - below.sum())  # beyond 10 standard deviations there is nothing to add
    return max(walk, (largest - horizon / 2) * (1 - 1e-9))


def independent_set(size: int, horizon: int) -> float:
    """Regret forced on every graph with `size` ≥ 2 arms that reveal nothing of each other.

        R ≥ ε·T·(1 − 1/a − ε·√(½κ(T/a + 2R)))   for every ε ≤ ¼,   κ = 8·log(4/3)

    The least R that satisfies this is found by bisection; for T ≫ a³ it is 0.233·(1−1/a)²·√(aT).

    >>> round(independent_set(10, 10**7) / (10 * 10**7) ** 0.5, 3)
    0.188
    """
    return _forced(horizon, 1 - 1 / size, lambda R: sqrt(0.5 * KL_ONE * (horizon / size + 2 * R)))


def packing_set(size: int, t: int, horizon: int) -> float:
    """Regret forced by a t-packing independent set of `size` ≥ 2 arms.

        R ≥ ε·T·(1 − 1/a − ε·√(κ·t·R/a))   for every ε ≤ ¼:   about 0.30·(1−1/a)^{4/3}·(a/t)^{1/3}·T^{2/3}

    >>> round(packing_set(10, 1, 10**6) / (10 ** (1 / 3) * 10**4), 3)
    0.261
    """
    return _forced(horizon, 1 - 1 / size, lambda R: sqrt(KL_ONE * t * R / size))


def weak_arm(horizon: int) -> float:
    """Regret forced by one arm that is not strongly observable.

        2R ≥ ε·T·(1 − ε·√(κ'·R))   for every ε ≤ ¼,   κ' = 8·log 3:   about 0.121·T^{2/3}

    >>> round(weak_arm(10**6) / 10**4, 3)
    0.121
    """
    return _forced(horizon, 1.0, lambda R: sqrt(KL_TWO * R), 0.5)


def _forced(horizon: int, share: float, steep: Callable[[float], float], factor: float = 1.0) -> float:
    """The least R with R ≥ factor·ε·T·(share − ε·steep(R)) for every ε ≤ ¼, from below; the right side falls in R."""
    low, high = 0.0, float(horizon)
    for _ in range(200):
        middle = (low + high) / 2
        slope = steep(middle)
        bias = LARGEST_BIAS if slope <= 0 else min(share / (2 * slope), LARGEST_BIAS)
        if factor * max(bias * horizon * (share - bias * slope), 0.0) > middle:
            low = middle
        else:
            high = middle
    return low
