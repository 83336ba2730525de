"""Intervals for the mean of terms that one decision each contributes.

`lower_bound` is the one that needs least: the terms may depend on each other as those of a learning policy do, their
means may change from decision to decision, and nothing needs to be known about how large they can be.
"""

from __future__ import annotations

from math import ceil, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from sidelight._types import Floats


class Bounded(NamedTuple):
    """One number for each decision, none below `least`; their conditional means are what a bound is about."""

    values: Floats
    least: float = 0.0


def lower_bound(error: float, *sequences: Bounded, most: float = 1.0) -> float:
    """With probability 1 − error, the mean of the conditional means of the terms is at least this.

    Needs terms Z_t ≥ least with E[Z_t | past] ≤ most, no upper limit of Z_t. Let μ_t be that conditional mean, c_t in
    [least, most] a guess made before decision t, ξ_t = (Z_t − c_t)/(most − least) ≥ −1, and 0 < λ < 1. Then

        E[1 + λξ_t | past] = 1 + λ(μ_t − c_t)/(most − least) ≤ exp(λ(μ_t − c_t)/(most − least)),

    so Π_t (1 + λξ_t)·exp(−λ(μ_t − c_t)/(most − least)) is a supermartingale that starts at 1, and so is a mixture
    of it over several λ fixed before, and over several sequences of terms whose conditional means are the same. By
    Ville's inequality it stays below 1/error with probability 1 − error; it falls with Σμ_t, hence the smallest Σμ_t
    for which it does is a lower bound. Since log(1 + λξ) ≥ λξ + ξ²(log(1 − λ) + λ) (Fan et al. 2015), it is nowhere
    below the empirical Bernstein bound for martingales with the same λ. Betting on means: Waudby-Smith and Ramdas
    2023; that the lower side needs no range: Waudby-Smith et al. 2022. One λ for all decisions, because means may
    change: a λ_t would weigh them differently.

    Of terms whose means are at most those asked about (weights that are clipped, arms that cannot be seen), it is a
    lower bound of what is asked about all the more.

    >>> round(lower_bound(0.025, Bounded(np.full(1000, 0.5))), 3)
    0.487
    """
    least = max(terms.least for terms in sequences)
    n = len(sequences[0].values)
    if n == 0:
        return least
    parts = [_wealth(terms, most) for terms in sequences]
    rates = np.concatenate([rate for rate, _ in parts])
    wealth = np.concatenate([grown for _, grown in parts]) - log(len(parts))
    # Solve log Σ_k exp(wealth_k − rate_k·Σμ) = log(1/error) for Σμ; it falls with Σμ.
    goal = -log(error)
    low = float(((wealth - goal) / rates).max())  # one rate alone reaches the goal here
    high = low + log(len(rates)) / float(rates.min())
    for _ in range(80):
        middle = (low + high) / 2
        exponents = wealth - rates * middle
        top = float(exponents.max())
        if top + log(float(np.exp(exponents - top).sum())) > goal:
            low = middle
        else:
            high = middle
    return min(max(low / n, least), most)


def _wealth(terms: Bounded, most: float) -> tuple[Floats, Floats]:
    """λ/(most − least), and the logarithm of what a bet with this λ has grown to, but for −rate·Σμ_t; for every λ."""
    values, least = terms
    n, width = len(values), most - least
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    guess = np.clip((before + (least + most) / 2) / np.arange(1, n + 1), least, most)
    bets = np.maximum((values - guess) / width, -1.0)
    rates, shares = _rates(n, width)
    grown = np.array([np.log1p(rate * bets).sum() for rate in rates]) + np.log(shares)
    return rates / width, grown + rates / width * guess.sum()


def _rates(n: int, width: float) -> tuple[Floats, Floats]:
    """λ = ½, ¼, … and how much is bet on each: most where terms of variance one need it after n decisions."""
    best = max(log2(max(n, 2)) / 2 - 1 - log2(width), 1.0)
    k = np.arange(1, ceil(best) + 8)
    shares = np.exp2(-np.abs(k - best))
    return np.exp2(-k.astype(np.float64)), np.asarray(shares / shares.sum())


def bernstein(terms: Floats, error: float, width: float) -> float:
    """Half of the empirical Bernstein interval of *independent* terms whose range has this width.

    √(2V log(4/error)/n) + 7·width·log(4/error)/(3(n − 1)), V the sample variance: Maurer and Pontil 2009, for both
    sides at once.
    """
    n = len(terms)
    if n < 2:
        return float("inf")
    logarithm = log(4 / error)
    return sqrt(2 * float(terms.var(ddof=1)) * logarithm / n) + 7 * width * logarithm / (3 * (n - 1))


def bootstrap(
    numerators: Floats, denominators: Floats | None, error: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentiles of the mean, or of a ratio of means, over decisions drawn again: rounds, never rows."""
    n, rng = len(numerators), np.random.default_rng(seed)
    means = np.empty(resamples)
    for sample in range(resamples):
        drawn = rng.integers(n, size=n)
        total = numerators[drawn].sum()
        means[sample] = total / (n if denominators is None else denominators[drawn].sum() or np.nan)
    low, high = np.nanquantile(means, [error / 2, 1 - error / 2])
    return float(low), float(high)
