"""Nanoseconds per round."""

import pytest
from drawn_figures import group
from finished_cells import curve_cell

from sidelight.report.figures.ledger import timing_figure


@pytest.mark.parametrize(("times", "scale"), [((100.0, 200.0), "linear"), ((100.0, 1e6), "log")])
def test_timings(times, scale):
    cells = [curve_cell(name, nanoseconds_per_round=time) for name, time in zip("ab", times, strict=True)]
    (axes,) = timing_figure(group(*cells)).axes
    assert axes.get_xscale() == scale
    assert [bar.get_width() for bar in axes.patches] == list(times)
