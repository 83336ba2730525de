"""Comparisons on one graph."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl


def test_cells_are_what_simulate_gives():
    results = sl.compare("cycle:6", ["auto", "adaptive"], "gap:0.3", 500, seeds=range(2, 5), checkpoints=7)
    assert [cell.policy for cell in results.cells] == ["auto", "adaptive"]
    g = sl.families.cycle(6)
    for cell in results.cells:
        plan = sl.plan(g, 500, realization=cell.policy)
        run = sl.simulate(
            plan, sl.environments.gap(6, best=3, gap=0.3), [2, 3, 4], checkpoints=cell.checkpoints
        )
        assert_array_equal(cell.regret, run.regret)
        assert_array_equal(cell.plays, run.plays.sum(axis=0))
        assert cell.bound == plan.bound.to_dict()
        assert cell.provenance["sidelight"] == sl.__version__
        assert cell.graph == results.title == "cycle:6"


def test_a_comparison_is_the_sweep_of_one_graph(tmp_path):
    values = {
        "policies": ["flat"],
        "graphs": ["mab:4"],
        "environments": ["gap"],
        "horizons": [300],
        "seeds": 2,
    }
    (swept,) = sl.sweep(values, tmp_path, jobs=1).cells
    (compared,) = sl.compare("mab:4", ["flat"], "gap", 300, 2).cells
    assert swept.id == compared.id
    assert_array_equal(swept.regret, compared.regret)
    assert_array_equal(swept.ledger, compared.ledger)


def test_graphs_plans_and_environments_of_ones_own(tmp_path):
    g = sl.families.mab(4)
    sl.write_graph(g, tmp_path / "g.csv")
    losses = np.tile([0.0, 1.0, 1.0, 1.0], (100, 1))
    mine = {"mine": sl.plan(g, 100), "policy": sl.plan(g, 100).policy(seed=1), "by name": "flat"}
    for graph in (g, tmp_path / "g.csv", str(tmp_path / "g.csv")):
        results = sl.compare(
            graph, mine, sl.environments.matrix(losses), 100, np.array([3, 4]), checkpoints=[50]
        )
        assert [cell.policy for cell in results.cells] == ["mine", "policy", "by name"]
        assert all(cell.checkpoints.tolist() == [50, 100] for cell in results.cells)
        assert_array_equal(results.cells[0].cost, results.cells[1].cost)
        assert results.cells[0].seeds.tolist() == [3, 4]


def test_a_policy_that_does_not_apply_says_why():
    blind = sl.FeedbackGraph.from_edges(3, [(0, 1), (0, 2)])
    results = sl.compare(blind, ["auto"], "gap", 100, 1)
    assert results.cells == ()
    (absent,) = results.absent
    assert absent.status == "not applicable"
    assert "reveal" in absent.reason
    assert results.complete


def test_an_interrupt_returns_the_policies_that_are_finished(monkeypatch):
    module = sys.modules["sidelight.experiment.simulation"]
    real, calls = module._wait, []

    def interrupted(*waiting):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*waiting)

    monkeypatch.setattr(module, "_wait", interrupted)
    monkeypatch.setattr(module, "CHUNK_SECONDS", 1e-9)
    results = sl.compare("cycle:6", ["auto", "flat", "adaptive"], "gap", 20_000, 2)
    assert [cell.policy for cell in results.cells] == ["auto"]
    assert [(cell.policy, cell.status) for cell in results.absent] == [
        ("flat", "interrupted"),
        ("adaptive", "interrupted"),
    ]
    assert not results.complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["flatt"]}, r"^policies\[0\]: unknown policy 'flatt'; did you mean 'flat'"),
        ({"policies": {"x": 3}}, r"^policies\['x'\]: must be a text in quotes, got 3"),
        ({"policies": "flat"}, r"^policies: must be a list"),
        ({"policies": []}, "^policies: must not be empty"),
        ({"horizon": 0}, "^horizon: must be a whole number"),
        ({"seeds": 0}, "^seeds: "),
        ({"seeds": []}, "^seeds: must not be empty"),
        ({"checkpoints": [101]}, r"^checkpoints\[0\]: .*got 101"),
        ({"graph": 3}, "^graph: must be a family"),
    ],
    ids=str,
)
def test_mistakes_are_found_before_anything_runs(change, message):
    with pytest.raises(sl.SpecError, match=message):
        sl.compare(**{"graph": "mab:4", "policies": ["flat"], "environment": "gap", "horizon": 100, **change})


def test_graphs_and_environments_that_do_not_exist():
    with pytest.raises(sl.InvalidOption, match="cycle"):
        sl.compare("cycel:4", ["flat"], "gap", 100)
    with pytest.raises(sl.InvalidOption, match="gap"):
        sl.compare("cycle:4", ["flat"], "gapp", 100)
    with pytest.raises(sl.GraphFileError, match="does not exist"):
        sl.compare("nowhere.csv", ["flat"], "gap", 100)


def test_results_are_short_to_look_at():
    """Printed at a prompt, a line for each cell and no arrays."""
    results = sl.compare("cycle:5", ("auto", "uniform"), "gap", 100, 2)
    first, *cells = repr(results).splitlines()
    assert first == "Results(2 cells, 0 absent)"
    assert [line.split("'")[1] for line in cells] == ["auto", "uniform"]
    assert all("2 seeds, 100 rounds" in line for line in cells)
