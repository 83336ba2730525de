"""A point of the simplex as its definition says, with 50 digits.

Groups are (power, rate, sums): x = (rate·Λ + s)^(−power), or exp(−1 − rate·Λ − s) where the power is 0, and Λ is
the number that makes everything add up to one. Sums are scaled by the rate already.
"""

import math

import numpy as np
import pytest
from kernel_entries import Bench
from mpmath import mp, mpf
from numpy.testing import assert_allclose

from sidelight.engine import fields
from sidelight.engine._numba.jit import kernel
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.simplex import buckets, point, solve
from sidelight.engine.simplex.point import LEAST_TOTAL, MOST_TOTAL, REBASE
from sidelight.engine.simplex.store import AS_RECORDS, ENTROPY_TREE

DIGITS = 50
SIGNS = {"up": [1.0], "down": [-1.0], "both ways": [-1.0, 1.0]}
each_way = pytest.mark.parametrize("signs", SIGNS.values(), ids=SIGNS.keys())
"""Which way sums go: the signs that amounts are drawn from."""


@kernel()
def _move(memory, j, coordinates, amounts, changed, weights):
    _, _, store = fields.opened(memory)
    coordinates = pointer(coordinates, 0, coordinates.size)
    amounts, n = pointer(amounts, 0, amounts.size), amounts.size
    if weights:
        changed = pointer(changed, 0, n)
        point.move_weights(store, store.first_group[j], coordinates, amounts, changed, n)
        return 0.0
    return solve.move_rooted(store, j, coordinates, amounts, n)


@kernel()
def _extremes(memory, g, coordinates, out):
    _, _, store = fields.opened(memory)
    for i in range(coordinates.size):
        out[i, 0], out[i, 1] = buckets.extremes(store, g, coordinates[i])


class SignedBench(Bench):
    """A bench with the operations that signed estimates need."""

    def copy(self):
        return SignedBench(super().copy().memory)

    def move(self, coordinates, amounts, j=0):
        """`move` a simplex of one group, as a round does; Σ √x where it is Tsallis-½."""
        g = self.store.first_group[j]
        coordinates, amounts = np.broadcast_arrays(coordinates, amounts)
        types = [self.store.occupant.dtype, np.float64, np.int64]
        arrays = [
            np.atleast_1d(a).astype(t)
            for a, t in zip((coordinates, amounts, 0 * amounts), types, strict=True)
        ]
        return _move(self.memory, j, *arrays, self.store.power[g] == 0.0)

    def extremes(self, g=0):
        """(least, largest) d of the members of a bucketed group until the next refresh, as the store has it."""
        out = np.empty((self.members(g).size, 2))
        _extremes(self.memory, g, self.members(g), out)
        return out.T

    def rescale(self, ratio, j=0):
        """Multiply all sums of a simplex: what a change of its rate does (`retune.rescale`)."""
        for g in self.groups(j):
            self.store.key[self.members(g)] *= ratio
            self.store.scalars.view(AS_RECORDS)["shift"][g] *= ratio
        self.rebuild(j)


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
    """Weights of an entropy group are exp(base − s), the base is near the least sum, and sums over them are fresh."""
    store, base, sums = bench.store, bench.scalar(g, "base"), bench.sums(g)
    weights, total = store.weight[bench.members(g)], bench.scalar(g, "total")
    assert abs(base) <= REBASE or len(bench.groups()) > 1
    assert_allclose(weights, np.where(base - sums > -708.0, np.exp(base - sums), 0.0), rtol=1e-12)
    assert_allclose(total, math.fsum(weights), rtol=1e-14)
    assert LEAST_TOTAL <= total <= MOST_TOTAL
    assert_allclose(bench.values(g), weights * bench.scalar(g, "factor"), rtol=1e-15)
    if store.form[g] == ENTROPY_TREE:
        levels = np.concatenate(tree_levels(weights))
        at = store.extra[g]
        assert_allclose(store.node[at : at + levels.size], levels, rtol=1e-14)
