"""Laws of all figures of a group: nothing is cut off, and what was not measured is not drawn."""

import pytest
from drawn_figures import group, texts_outside
from finished_cells import curve_cell, eight

from sidelight.report.figures.ledger import ledger_figure, timing_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure

CASES = {
    "short": lambda: [curve_cell(horizon=100, seeds=1)],
    "one round": lambda: [curve_cell(horizon=1, seeds=2, bound=None)],
    "two rounds": lambda: [curve_cell(horizon=2, seeds=1, exponent=0)],
    "no regret": lambda: [curve_cell(scale=0.0)],
    "negative": lambda: [curve_cell(scale=-1.0, bound=None)],
    "eight": eight,
}


@pytest.mark.parametrize("cells", CASES.values(), ids=CASES)
def test_figures_of_all_kinds_fit_their_canvas(cells):
    one = group(*cells())
    for figure in (regret_figure(one, floor=0.5), ledger_figure(one), plays_figure(one), timing_figure(one)):
        assert texts_outside(figure) == []


def test_without_ledger_plays_or_times_there_is_no_figure():
    bare = group(curve_cell(ledger=None, plays=None, nanoseconds_per_round=float("nan")))
    assert ledger_figure(bare) is plays_figure(bare) is timing_figure(bare) is None
