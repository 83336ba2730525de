"""Curves as plain numbers."""

import numpy as np
import pytest
from drawn_figures import group
from finished_cells import bound, cell, curve_cell, final_cell, results

from sidelight.report.groups import regret_curves, scaling_curves, scaling_exponent, scalings_of


def test_curves_hold_means_intervals_and_bounds():
    one = curve_cell(seeds=4, bound=bound(300.0, certified=False))
    (curve,) = regret_curves(group(one), since=100)
    kept = one.checkpoints >= 100
    np.testing.assert_array_equal(curve.x, one.checkpoints[kept])
    np.testing.assert_array_equal(curve.mean, one.mean[kept])
    assert (curve.low < curve.mean).all()
    assert (curve.mean < curve.high).all()
    assert curve.bounds == {10_000: (300.0, False)}


def test_one_seed_has_no_interval_and_no_bound_is_none():
    (curve,) = regret_curves(group(cell(final=[3.0])))
    assert np.isnan(curve.low).all()
    assert curve.bounds == {}


def test_final_regret_against_the_horizon():
    cells = [final_cell(10**k, bound=bound(5.0 * 10**k, certified=k > 1)) for k in (1, 2, 3)]
    ((curve,),) = map(scaling_curves, scalings_of(results(*cells)))
    assert curve.x.tolist() == [10, 100, 1000]
    np.testing.assert_allclose(curve.mean, [one.mean[-1] for one in cells])
    assert curve.bounds == {10: (50.0, False), 100: (500.0, True), 1000: (5000.0, True)}
    assert curve.label == "auto  T^0.67"  # three seeds: no interval


def test_the_exponent_is_exact_and_pairs_seeds():
    seeds = [[*range(9)], [*range(8, -1, -1)], [50, *range(1, 9)]]
    cells = {
        10**k: final_cell(10**k, seeds=s, factors=np.array(s) + 1.0)
        for k, s in zip((1, 2, 3), seeds, strict=True)
    }
    found = scaling_exponent(cells)
    assert (found.value, found.n_seeds) == (pytest.approx(2 / 3), 8)
    assert found.low == pytest.approx(2 / 3)  # the same factor for the same seed at every horizon


def test_without_shared_seeds_there_is_no_exponent():
    cells = {10**k: final_cell(10**k, seeds=[3 * k, 3 * k + 1, 3 * k + 2]) for k in (1, 2, 3)}
    assert scaling_exponent(cells) is None
