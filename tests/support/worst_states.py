"""Searches for the states in which an inequality is tightest: random ones, and climbs from some of them.

A state is decoded from a vector, so that a search can move it to where left ÷ right is largest.
"""

import numpy as np


def simplex(at):
    """A distribution from any vector."""
    x = np.exp(at - at.max())
    return x / x.sum()


def unit(at):
    """A number in (0, 1) from any number."""
    return float(1 / (1 + np.exp(-at)))


def searched(problem, states, climbs, seed):
    """The largest left ÷ right of so many states, and of climbs from some; infinite right sides say nothing.

    problem(rng) gives (a vector to start from, the ratio as a function of the vector).
    """
    rng = np.random.default_rng(seed)
    largest = compared = 0
    for drawn in range(4 * states):
        at, ratio = problem(rng)
        best = ratio(at)
        compared += best > 0
        for _ in range(100 if drawn < climbs else 0):
            moved = at + rng.normal(size=at.size) * rng.choice([0.02, 0.1, 0.5]) * (rng.random(at.size) < 0.5)
            value = ratio(moved)
            assert not np.isnan(value)
            if value > best:
                at, best = moved, value
        assert not np.isnan(best)
        largest = max(largest, best)
        if compared == states:
            return largest
    raise AssertionError(f"only {compared} states were compared")


def spread(rng, n):
    """The logarithms of a point: even, a few equal heavy arms, or anything between."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.normal(size=n) * rng.choice([0.01, 1.0, 4.0])
    heavy = np.arange(n) < rng.integers(1, n + 1)
    return rng.permutation(np.where(heavy, 0.0, -rng.exponential() * rng.choice([1.0, 4.0, 8.0])))
