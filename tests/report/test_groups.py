"""Cells that belong in one picture."""

import numpy as np
import pytest
from drawn_figures import group
from finished_cells import bound, cell, curve_cell, final_cell, results

from sidelight.report.groups import groups_of, regret_curves, scaling_curves, scaling_exponent, scalings_of


def test_groups_share_graph_environment_and_horizon():
    cells = [cell("a"), cell("b"), cell("a", horizon=7), cell("a", graph="mab:3"), cell("c")]
    found = groups_of(results(*cells))
    assert [[c.policy for c in one.cells] for one in found] == [["a", "b", "c"], ["a"], ["a"]]
    assert [(one.graph, one.horizon) for one in found] == [("cycle:4", 100), ("cycle:4", 7), ("mab:3", 100)]


def test_ranked_from_the_least_regret():
    ranked = group(cell("a", final=[5.0, 7.0]), cell("b", final=[1.0, 2.0])).ranked
    assert [one.policy for one in ranked] == ["b", "a"]


def test_three_horizons_of_one_graph_and_environment_make_a_scaling():
    cells = [
        final_cell(1000),
        final_cell(10),
        final_cell(100),
        final_cell(10, "flat"),
        final_cell(100, "flat"),
        final_cell(10, graph="mab:3"),
    ]
    (found,) = scalings_of(results(*cells))
    assert (found.graph, found.environment, list(found.cells)) == ("cycle:4", "gap", ["auto"])
    assert [(at, one.horizon) for at, one in found.cells["auto"].items()] == [
        (10, 10),
        (100, 100),
        (1000, 1000),
    ]


def test_three_sizes_of_one_family_make_a_scaling():
    arms = {"cycle:4": 4, "cycle:9": 9, "cycle:6": 6, "mab:4": 4, "a.csv": 9}
    found = scalings_of(results(*(cell(graph=graph) for graph in arms)), arms)
    assert [(one.variable, one.graph, one.horizon) for one in found] == [("N", "cycle:N", 100)]
    assert list(found[0].cells["auto"]) == [4, 6, 9]
    assert found[0].title == "cycle:N, gap, T = 100"


def test_graphs_of_one_family_and_size_have_no_growth():
    arms = {"cliques:2x6": 12, "cliques:6x2": 12, "cliques:3x3": 9, "cliques:4x4": 16}
    assert scalings_of(results(*(cell(graph=graph) for graph in arms)), arms) == ()


# -- curves as plain numbers -----------------------------------------------------------------------------


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
