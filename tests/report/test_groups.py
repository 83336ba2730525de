"""Cells that belong in one picture."""

from drawn_figures import group
from finished_cells import cell, final_cell, results

from sidelight.report.groups import groups_of, scalings_of


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
    assert [one.horizon for one in found.cells["auto"]] == [10, 100, 1000]
