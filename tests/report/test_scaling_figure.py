"""Final regret against the horizon."""

import numpy as np
import pytest
from finished_cells import bound, cell, results

from sidelight.report.figures.scaling import scaling_exponent, scaling_figure, scaling_label, scalings_of


def at(horizon, policy="auto", exponent=2 / 3, factors=(1.0, 2.0, 3.0), **changes):
    return cell(policy, final=np.array(factors) * horizon**exponent, horizon=horizon, **changes)


def test_three_horizons_of_one_graph_and_environment_make_a_scaling():
    cells = [at(1000), at(10), at(100), at(10, "flat"), at(100, "flat"), at(10, graph="mab:3")]
    (found,) = scalings_of(results(*cells))
    assert (found.graph, found.environment, list(found.cells)) == ("cycle:4", "gap", ["auto"])
    assert [one.horizon for one in found.cells["auto"]] == [10, 100, 1000]


def test_the_exponent_is_exact_and_pairs_seeds():
    seeds = [[*range(9)], [*range(8, -1, -1)], [50, *range(1, 9)]]
    cells = tuple(
        at(10**k, seeds=s, factors=np.array(s) + 1.0) for k, s in zip((1, 2, 3), seeds, strict=True)
    )
    found = scaling_exponent(cells)
    assert (found.value, found.n_seeds) == (pytest.approx(2 / 3), 8)
    assert found.low == pytest.approx(2 / 3)  # the same factor for the same seed at every horizon
    assert scaling_label("auto", cells) == "auto  T^0.67 [0.67, 0.67]"


def test_without_shared_seeds_there_is_no_exponent():
    cells = tuple(at(10**k, seeds=[3 * k, 3 * k + 1, 3 * k + 2]) for k in (1, 2, 3))
    assert scaling_exponent(cells) is None
    assert scaling_label("auto", cells) == "auto"


def test_points_and_certified_bounds_are_drawn():
    cells = [at(10**k, bound=bound(5.0 * 10**k, certified=k > 1)) for k in (1, 2, 3)]
    (axes,) = scaling_figure(*scalings_of(results(*cells))).axes
    points, *_, bounds = axes.lines
    np.testing.assert_allclose(points.get_ydata(), [one.mean[-1] for one in cells])
    assert list(bounds.get_xdata()) == [100, 1000]
    assert [text.get_text() for text in axes.texts] == ["auto  T^0.67"]  # three seeds: no interval


@pytest.mark.parametrize("factors", [(1.0,), (-1.0, 0.5), (0.0, 0.0)])
def test_odd_results_are_drawn_all_the_same(factors):
    cells = [at(10**k, factors=factors) for k in (1, 2, 3)]
    scaling_figure(*scalings_of(results(*cells))).draw_without_rendering()
