"""A point of the simplex as its definition says, with 50 digits.

Groups are (power, rate, sums): x = (rate·Λ + s)^(−power), or exp(−1 − rate·Λ − s) where the power is 0, and Λ is
the number that makes everything add up to one. Sums are scaled by the rate already.
"""

import math

import numpy as np
from mpmath import mp, mpf
from numpy.testing import assert_allclose

from sidelight.engine.simplex.point import LEAST_TOTAL, REBASE
from sidelight.engine.simplex.store import ENTROPY_TREE

DIGITS = 50


def coordinate(power, d):
    """x at d = rate·Λ + s."""
    return mp.exp(-1 - d) if power == 0 else mp.power(d, -power)


def slope(power, d, x):
    """−dx/dd."""
    return x if power == 0 else power * x / d


def exact_point(groups):
    """(Λ, [x of group 0, x of group 1, …]) for groups (power, rate, sums), as 50-digit numbers."""
    with mp.workdps(DIGITS + 10):
        groups = [
            (int(q) if q == int(q) else mpf(q), mpf(rate), [mpf(s) for s in sums]) for q, rate, sums in groups
        ]
        # At `top` the largest coordinate is 1: Σ x ≥ 1. From there Newton on log Σ x, which is convex and
        # falling, never oversteps the root.
        top = max(((-1 if q == 0 else 1) - min(sums)) / rate for q, rate, sums in groups)
        while True:
            total, steepness = mpf(0), mpf(0)
            points = []
            for q, rate, sums in groups:
                point = [coordinate(q, rate * top + s) for s in sums]
                slopes = [slope(q, rate * top + s, x) for s, x in zip(sums, point, strict=True)]
                total += mp.fsum(point)
                steepness += rate * mp.fsum(slopes)
                points.append(point)
            move = mp.log(total) * total / steepness
            if abs(total - 1) < mpf(10) ** -DIGITS or abs(move) < mpf(10) ** -DIGITS * (1 + abs(top)):
                return top, points
            top += move


def tree_levels(leaves, fanout=16):
    """The levels of a sum tree over some numbers, from the parents of the leaves to the root, in whole families."""
    levels, below = [], list(leaves)
    while not levels or len(below) > 1:
        below = [math.fsum(below[i : i + fanout]) for i in range(0, len(below), fanout)]
        if len(below) > 1:
            below += [0.0] * (-len(below) % fanout)
        levels.append(below)
    return levels


def assert_weights_in_order(bench, g):
    """Weights of an entropy group are exp(base − s), nothing is above the base, and the sums over them are fresh."""
    store, base, sums = bench.store, bench.scalar(g, "base"), bench.sums(g)
    weights, total = store.weight[bench.members(g)], bench.scalar(g, "total")
    assert base <= sums.min()
    assert base <= REBASE or len(bench.groups()) > 1
    assert_allclose(weights, np.where(base - sums > -708.0, np.exp(base - sums), 0.0), rtol=1e-12)
    assert_allclose(total, math.fsum(weights), rtol=1e-14)
    assert total >= LEAST_TOTAL
    assert_allclose(bench.values(g), weights * bench.scalar(g, "factor"), rtol=1e-15)
    if store.form[g] == ENTROPY_TREE:
        levels = np.concatenate(tree_levels(weights))
        at = store.extra[g]
        assert_allclose(store.node[at : at + levels.size], levels, rtol=1e-14)
