"""One sentence: who wins, by how much, and whether the bounds hold."""

import numpy as np
from finished_cells import bound, cell, results

from sidelight.report.groups import groups_of
from sidelight.report.sentences import finding


def found(*cells):
    return finding(groups_of(results(*cells)))


def test_one_comparison_names_the_winner_the_margin_and_the_bound():
    text = found(
        cell("auto", final=[1.0, 2.0, 3.0], bound=bound(40.0)),
        cell("flat", final=[11.0, 12.0, 13.0]),
        cell("ftl", final=[50.0, 51.0, 52.0], bound=bound(60.0)),
    )
    assert text.startswith("auto has a mean regret of 2 ± ")
    assert (
        "after 100 rounds on cycle:4 against gap, the least of 3; flat, next, has 12 ± 2.5, 6 times as much"
        in text
    )
    assert "noise" not in text
    assert text.endswith("Its certified bound, 40, holds with 5% of it used, and so does the other.")


def test_what_is_noise_is_called_noise():
    text = found(cell("auto", final=[1.0, 2.0, 3.0]), cell("flat", final=[1.5, 1.9, 3.1]))
    assert "within noise" in text
    assert text.endswith("No certified bound is known for what was played.")
    assert "from too few seeds" in found(cell("auto", final=[1.0]), cell("flat", final=[2.0]))


def test_a_bound_that_is_exceeded_is_said_aloud():
    text = found(
        cell("auto", final=[50.0, 51.0, 52.0], bound=bound(10.0)), cell("flat", final=[1.0, 2.0, 3.0])
    )
    assert text.endswith("A certified bound is EXCEEDED by auto.")


def test_vacuous_and_undecided_bounds():
    assert "vacuous" in found(cell("auto", bound=bound(1000.0)))
    assert "undecided for auto" in found(cell("auto", final=[1.0, 2.0, 30.0], bound=bound(10.0)))


def test_regret_below_zero_is_compared_by_difference():
    text = found(cell("auto", final=[-2.0, -2.0, -2.1]), cell("flat", final=[1.0, 1.0, 1.0]))
    assert "flat, next, has 1 ± 0, 3.03 more" in text


def test_many_comparisons_are_counted():
    cells = [
        cell(name, final=np.array([1.0, 1.1, 1.2]) * factor * (1 + (name == "flat")), graph=f"mab:{k}")
        for k, factor in enumerate((1, 5, 25))
        for name in ("auto", "flat")
    ]
    cells.append(cell("flat", graph="alone"))
    text = found(*cells)
    assert "auto has the least mean regret in 3 of 4 comparisons, beyond noise in 3" in text
    assert "flat, next, has 2 times as much (geometric mean of 3)" in text


def test_wins_that_are_shared():
    text = found(cell("a"), cell("b", graph="mab:2"))
    assert text.startswith("a and b each have the least mean regret in 1 of 2 comparisons.")


def test_nothing():
    assert found() == "Nothing has been played to the end yet."
