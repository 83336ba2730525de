"""Covers that leave arms with self-loops to themselves: the curve of what they cost and miss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.analysis import PartialCover, lower_hull, partial_covers


@pytest.mark.parametrize("seed", range(10))
def test_covers_are_the_cheapest_for_what_they_miss(seed):
    """The curve is convex, falls, and no random cover is below it; its ends are what they are meant to be."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    A = rng.random((n, n)) < rng.uniform(0.1, 0.6)
    A[np.arange(n), np.arange(n)] = np.arange(n) % 3 > 0
    A[1, 0] = A[2, 3] = True
    A[1, ~A.any(axis=0)] = True
    g, needed = sl.FeedbackGraph.from_adjacency(A), np.ones(n, dtype=bool)
    full = sl.fractional_domination(g)
    curve = partial_covers(g, needed, full.weights)
    mass, missed = (np.array([getattr(cover, name) for cover in curve]) for name in ("mass", "missed"))
    least = sl.fractional_domination(g, cover=np.flatnonzero(~g.has_loop)).value
    assert_allclose((mass[0], mass[-1], missed[-1]), (least, full.value, 0.0), atol=1e-9)
    assert (np.diff(mass) > 0).all()
    slopes = np.diff(missed) / np.diff(mass)
    assert (slopes < 0).all()
    assert (np.diff(slopes) > 0).all()
    for _ in range(50):
        x = rng.random(n) * (rng.random(n) < rng.random())
        coverage = x @ A
        if (coverage[~g.has_loop] > 0).all():
            x /= min(coverage[~g.has_loop].min(), 1.0)
            misses = np.maximum(1 - x @ A, 0.0)[g.has_loop].sum()
            assert misses >= np.interp(x.sum(), mass, missed, left=np.inf) - 1e-9 or x.sum() < least - 1e-9


def test_what_need_not_be_covered_costs_nothing():
    """A bandit linked to one loop-less arm that arm 0 reveals: nothing to pay where that is not needed."""
    g = sl.FeedbackGraph.from_edges(4, [(0, 0), (1, 1), (2, 2), (0, 3)])
    needed = np.arange(4) < 3
    first, *_, last = partial_covers(g, needed, np.array([1.0, 1.0, 1.0, 0.0]))
    assert_allclose((first.mass, first.missed), (0.0, 3.0), atol=1e-12)
    assert_allclose((last.mass, last.missed), (3.0, 0.0), atol=1e-12)


def test_only_corners_of_the_lower_hull_stay():
    def at(mass, missed):
        return PartialCover(np.zeros(1), mass, missed)

    points = [at(3.0, 0.0), at(1.0, 4.0), at(2.0, 3.0), at(2.5, 0.5), at(1.5, 5.0)]
    assert [(point.mass, point.missed) for point in lower_hull(points)] == [
        (1.0, 4.0),
        (2.5, 0.5),
        (3.0, 0.0),
    ]
