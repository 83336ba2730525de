"""The parts of the regret, stacked."""

import numpy as np
import pytest
from drawn_figures import group
from finished_cells import curve_cell

from sidelight.report.figures.ledger import ledger_figure, stacked, timing_figure


def test_parts_pile_up_to_their_sums():
    parts = np.random.default_rng(0).normal(size=(4, 50))
    starts = stacked(parts)
    ends = starts + parts
    up, down = np.where(parts > 0, parts, 0).sum(axis=0), np.where(parts < 0, parts, 0).sum(axis=0)
    np.testing.assert_allclose(np.maximum(ends, 0).max(axis=0), up)
    np.testing.assert_allclose(np.minimum(ends, 0).min(axis=0), down)


def test_ledger_bars_are_the_mean_parts():
    cells = [curve_cell("auto"), curve_cell("flat"), curve_cell("keeps none", ledger=None)]
    left, right = ledger_figure(group(*cells)).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["auto", "flat"]
    drawn = np.array([[bar.get_width() for bar in part] for part in left.containers]).T
    np.testing.assert_allclose(drawn, [one.ledger[:, -1].mean(axis=0) for one in cells[:2]])
    assert "auto" in right.get_title(loc="left")


def test_policies_far_apart_get_their_own_units():
    left, _ = ledger_figure(group(curve_cell("auto"), curve_cell("huge", scale=1000.0))).axes
    assert "own regret" in left.get_xlabel()
    drawn = np.array([[bar.get_width() for bar in part] for part in left.containers]).T
    np.testing.assert_allclose(drawn, [[0.5, 0.4, 0.3, -0.1]] * 2)


# -- nanoseconds per round -------------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "scale"), [((100.0, 200.0), "linear"), ((100.0, 1e6), "log")])
def test_timings(times, scale):
    cells = [curve_cell(name, nanoseconds_per_round=time) for name, time in zip("ab", times, strict=True)]
    (axes,) = timing_figure(group(*cells)).axes
    assert axes.get_xscale() == scale
    assert [bar.get_width() for bar in axes.patches] == list(times)
