"""Final regret against the horizon."""

import numpy as np
import pytest
from finished_cells import bound, final_cell, results

from sidelight.report.figures.regret import scaling_figure
from sidelight.report.groups import scalings_of


def test_points_and_certified_bounds_are_drawn():
    cells = [final_cell(10**k, bound=bound(5.0 * 10**k, certified=k > 1)) for k in (1, 2, 3)]
    (axes,) = scaling_figure(*scalings_of(results(*cells))).axes
    points, *_, bounds = axes.lines
    np.testing.assert_allclose(points.get_ydata(), [one.mean[-1] for one in cells])
    assert list(bounds.get_xdata()) == [100, 1000]
    assert [text.get_text() for text in axes.texts] == ["auto  T^0.67"]  # three seeds: no interval


@pytest.mark.parametrize("factors", [(1.0,), (-1.0, 0.5), (0.0, 0.0)])
def test_odd_results_are_drawn_all_the_same(factors):
    cells = [final_cell(10**k, factors=factors) for k in (1, 2, 3)]
    scaling_figure(*scalings_of(results(*cells))).draw_without_rendering()
