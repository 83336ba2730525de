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
