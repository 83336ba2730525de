"""Tables for the terminal, and the same as plain values."""

import io
import json

import numpy as np
import pytest
from finished_cells import bound, cell, curve_cell, results
from rich.console import Console

import sidelight as sl
from sidelight.report.groups import groups_of
from sidelight.report.tables import bounds_rows, ranked_rows, results_rows, results_table


def shown(table, width=200):
    console = Console(width=width, file=io.StringIO())
    console.print(table)
    return console.file.getvalue()


def test_rows_hold_the_numbers():
    one = curve_cell(exponent=0.6)
    (row,) = results_rows(results(one))
    assert row["regret"] == pytest.approx(one.regret[:, -1].mean())
    assert row["regret_low"] < row["regret"] < row["regret_high"]
    assert row["exponent"] == pytest.approx(0.6, abs=0.02)
    assert (row["policy"], row["seeds"], row["horizon"]) == ("auto", 4, 10_000)
    assert (row["bound"], row["bound_status"]) == (one.bound["value"], "holds")
    assert row["certificate"] is None
    (row,) = results_rows(results(curve_cell(certificate=3 * one.regret)))
    assert row["certificate"] == pytest.approx(3 * one.regret[:, -1].mean())


def test_rows_are_json_without_nan():
    cells = [curve_cell(seeds=1, nanoseconds_per_round=float("nan"), bound=None), curve_cell("b", scale=0.0)]
    rows = json.loads(json.dumps(results_rows(results(*cells)), allow_nan=False))
    assert rows[0]["regret_low"] is rows[0]["exponent_low"] is rows[0]["bound"] is None
    assert rows[0]["nanoseconds_per_round"] is None
    assert rows[1]["exponent"] is None


def test_results_table_keeps_groups_together():
    cells = [
        curve_cell("auto", seeds=8),
        curve_cell("flat"),
        curve_cell("auto", graph="mab:3", bound=bound(1e9)),
    ]
    text = shown(results_table(results(*cells, title="A title [not markup]")))
    assert "A title [not markup]" in text
    assert text.count("cycle:4") == 1  # said once for the group
    assert text.count("mab:3") == 1
    assert text.count("auto") == 2
    assert "t^0.50 [0.50, 0.50]" in text
    assert "vacuous" in text


@pytest.mark.parametrize(("seeds", "shown_as"), [(7, "t^0.50 │"), (8, "t^0.50 [0.50, 0.50] │")])
def test_few_seeds_leave_the_exponent_alone(seeds, shown_as):
    found = results(curve_cell(seeds=seeds))
    assert shown_as in shown(results_table(found))
    (row,) = results_rows(found)
    assert row["exponent"] == pytest.approx(0.5, abs=0.01)
    assert (row["exponent_low"] is None) == (row["exponent_high"] is None) == (seeds < 8)


def test_a_bent_curve_has_no_exponent():
    points = np.array([100, 200, 500, 1_000, 2_000, 5_000, 10_000])
    regret = np.outer(np.linspace(1, 2, 8), np.minimum(points, 1_000))
    found = results(cell(final=regret[:, -1], horizon=10_000, checkpoints=points, regret=regret))
    (row,) = results_rows(found)
    assert row["exponent"] is row["exponent_low"] is row["exponent_high"] is None
    assert row["growth"] == "bends 1.00→0.00"
    assert row["growth"] in shown(results_table(found))


def test_what_is_common_is_said_once():
    found = results(cell("a", horizon=1000), cell("b", horizon=1000))
    one = found.cells[0]
    title, head, *_ = (line for line in shown(results_table(found)).splitlines() if "━" not in line)
    assert title.strip().endswith(f"{one.graph}, {one.environment}, T = 1,000")
    assert not {"graph", "environment", "T"} & set(head.split())
    _, head, *_ = (
        line
        for line in shown(
            results_table(results(cell("a", horizon=1000), cell("a", horizon=2000)))
        ).splitlines()
        if "━" not in line
    )
    assert {"graph", "environment", "T"} & set(head.split()) == {"T"}


def test_names_are_not_markup():
    text = shown(results_table(results(cell("[red]mine[/red]", environment="[/x]"))))
    assert "[red]mine[/red]" in text
    assert "[/x]" in text


def test_bounds_say_what_fails():
    rows = bounds_rows(sl.compare_bounds(sl.families.cycle(30), 5))  # far too short for the theorems
    found = {row["status"] for row in rows}
    assert {"conditions fail, vacuous", "no constant"} <= found


def test_bounds_rows_are_json_and_marked():
    comparison = sl.compare_bounds(sl.families.cycle(6), 1000)
    rows = json.loads(json.dumps(bounds_rows(comparison), allow_nan=False))
    assert [row["name"] for row in rows] == [row.name for row in comparison.rows]
    for row in rows:
        assert row["status"].startswith("certified") == row["certified"]
        assert row["beats_plan"] is False
        assert row["source"]
    assert np.isclose(min(row["ratio"] for row in rows if row["certified"] and row["kind"] == "upper"), 1)


# -- the leaderboard: every policy of every comparison, the least marked, noise marked as noise ----------


def lines(*cells):
    return [{row["policy"]: row for row in ranked_rows(group)} for group in groups_of(results(*cells))]


def test_entries_say_how_far_they_are_from_the_least():
    (line,) = lines(
        cell("auto", final=[10.0, 11.0, 12.0]),
        cell("flat", final=[10.5, 11.2, 11.9]),
        cell("ftl", final=[110.0, 111.0, 112.0]),
    )
    best, close, far = (line[name] for name in ("auto", "flat", "ftl"))
    assert (best["best"], best["ratio"], best["shade"], best["close"]) == (True, "1×", 0, False)
    assert (close["best"], close["close"]) == (False, True)
    assert (far["ratio"], far["shade"], far["close"]) == ("10.1×", 4, False)
    assert best["texts"][0].startswith("11 ± ")


def test_policies_that_played_alike_share_the_lead():
    (line,) = lines(cell("a"), cell("b"), cell("c", final=[9.0, 9.0, 9.0]))
    assert [entry["best"] for entry in line.values()] == [True, True, False]


def test_a_comparison_has_only_those_who_played():
    first, second = lines(cell("a"), cell("b", graph="mab:3"))
    assert (list(first), list(second)) == (["a"], ["b"])


def test_nothing_is_divided_by_zero_and_one_seed_has_no_interval():
    (line,) = lines(cell("a", final=[0.0]), cell("b", final=[1.0]))
    assert (line["b"]["ratio"], line["b"]["texts"][0]) == ("", "1")
    assert not line["b"]["close"]
