"""Comparisons on one graph."""

from importlib import import_module

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


def test_two_lambdas_are_two_policies_and_a_text_is_a_list_of_one():
    """Nothing is known of a lambda but that it is itself."""
    makers = [lambda graph, horizon, c=c: sl.plan(graph, horizon, share=c) for c in (0.3, 0.6)]
    results = sl.compare("cycle:5", dict(zip("ab", makers, strict=True)), "gap", 50, 2)
    assert [cell.policy for cell in results.cells] == ["a", "b"]
    with pytest.raises(sl.errors.SpecError, match=r"'a' and 'b'.*leave one out"):
        sl.compare("cycle:5", {"a": makers[0], "b": makers[0]}, "gap", 50, 2)
    assert [cell.policy for cell in sl.compare("cycle:5", "flat", "gap", 50, 2).cells] == ["flat"]


def test_results_that_cannot_be_written_say_so_and_nothing_of_a_sweep(tmp_path):
    (tmp_path / "file.py").write_text("")
    results = sl.compare("cycle:5", "flat", "gap", 50, 1)
    with pytest.raises(
        sl.errors.ResultsError, match=r"cannot write to .*file\.py: .*give another folder$"
    ) as refused:
        results.write(tmp_path / "file.py")
    assert "sweep" not in str(refused.value)


def test_a_policy_that_does_not_apply_says_why():
    blind = sl.FeedbackGraph.from_edges(3, [(0, 1), (0, 2)])
    results = sl.compare(blind, ["auto"], "gap", 100, 1)
    assert results.cells == ()
    (absent,) = results.absent
    assert absent.status == "not applicable"
    assert "reveal" in absent.reason
    assert results.complete


def test_an_interrupt_returns_the_policies_that_are_finished(monkeypatch):
    module = import_module("sidelight.experiment.simulation")
    real, calls = module._wait, []

    def interrupted(*waiting):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*waiting)

    monkeypatch.setattr(module, "_wait", interrupted)
    monkeypatch.setattr(module, "CHUNK_SECONDS", 1e-9)
    results = sl.compare("cycle:6", ["auto", "flat", "adaptive"], "gap", 2_000_000, 2)  # not over in no time
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
        (
            {"policies": {"x": 3}},
            r"^policies\['x'\]: must be a name, FILE.py:NAME, a class or function .* got 3",
        ),
        ({"policies": 3}, r"^policies: must be a list, got 3"),
        (
            {"policies": [sl.plan("mab:4", 9), sl.plan("mab:4", 8)]},
            r"called 'Plan' like policies\[0\]; .* a table such as",
        ),
        (
            {"policies": [lambda graph: 1, lambda graph: 2]},
            r"'<lambda>' like policies\[0\]; name them: give a table",
        ),
        (
            {"policies": ["nowhere.py"]},
            r"unknown policy 'nowhere.py'; nowhere.py does not exist; write FILE.py:NAME",
        ),
        (
            {"environment": ["gap", "hard"]},
            r"^environment: must be a single one, got .*; sl\.sweep plays several",
        ),
        ({"environment": 3}, r"^environment: must be a text, got 3"),
        ({"policies": []}, "^policies: must not be empty"),
        ({"horizon": 0}, "^horizon: must be a whole number"),
        ({"seeds": 0}, "^seeds: "),
        ({"seeds": []}, "^seeds: must not be empty"),
        ({"checkpoints": [101]}, r"^checkpoints\[0\]: .*got 101"),
        ({"graph": 3}, "^graph: must be a family"),
    ],
    ids=lambda part: part if isinstance(part, str) else next(iter(part)),  # the same in every process
)
def test_mistakes_are_found_before_anything_runs(change, message):
    with pytest.raises(sl.errors.SpecError, match=message):
        sl.compare(**{"graph": "mab:4", "policies": ["flat"], "environment": "gap", "horizon": 100, **change})


def test_graphs_and_environments_that_do_not_exist():
    with pytest.raises(sl.InvalidOption, match="cycle"):
        sl.compare("cycel:4", ["flat"], "gap", 100)
    with pytest.raises(sl.InvalidOption, match="gap"):
        sl.compare("cycle:4", ["flat"], "gapp", 100)
    with pytest.raises(sl.errors.GraphFileError, match="does not exist"):
        sl.compare("nowhere.csv", ["flat"], "gap", 100)


def test_results_are_short_to_look_at():
    """Printed at a prompt, a line for each cell and no arrays."""
    results = sl.compare("cycle:5", ("auto", "uniform"), "gap", 100, 2)
    first, *cells = repr(results).splitlines()
    assert first == "Results(2 cells, 0 absent)"
    assert [line.split("'")[1] for line in cells] == ["auto", "uniform"]
    assert all("2 seeds, 100 rounds" in line for line in cells)


# -- with a folder --------------------------------------------------------------------------------------------


def test_a_folder_is_continued_and_added_to(tmp_path, monkeypatch):
    arguments = ("gap:0.3", 300, 2)
    first = sl.compare("cycle:6", ["flat", "hedge"], *arguments, folder=tmp_path)
    module, played = import_module("sidelight.experiment.cells"), []
    real = module.simulate

    def simulate(*arguments, **options):
        played.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(module, "simulate", simulate)
    more = sl.compare("cycle:6", ["flat", "hedge", "auto"], *arguments, folder=tmp_path)
    assert (len(played), [cell.policy for cell in more.cells]) == (1, ["flat", "auto"])
    assert_array_equal(more.cells[0].regret, first.cells[0].regret)
    assert [cell.policy for cell in sl.Results.read(tmp_path).cells] == ["flat", "auto"]
    assert dict(sl.Results.read(tmp_path).graphs) == {"cycle:6": sl.families.cycle(6)}
    with pytest.raises(sl.errors.SpecChanged):
        sl.compare("cycle:6", ["flat"], *arguments, folder=tmp_path)


def test_an_interrupt_keeps_seeds_in_the_folder(tmp_path, monkeypatch):
    module = import_module("sidelight.experiment.simulation")
    real, seeds = module._Task.advance, []

    def advance(self, stop):
        if self.next_point < self.points.size and not stop.is_set():
            seeds.append(self.seed)
            if len(seeds) == 3:
                stop.set()
        real(self, stop)

    monkeypatch.setattr(module._Task, "advance", advance)
    arguments = ("cycle:6", ["flat", "auto"], "gap:0.3", 300, 4)
    results = sl.compare(*arguments, folder=tmp_path, jobs=1)
    assert [cell.status for cell in results.absent] == ["interrupted", "interrupted"]
    assert sl.compare(*arguments, folder=tmp_path, jobs=1).complete
    assert seeds == [0, 1, 2, 2, 3, 0, 1, 2, 3]


def test_what_a_folder_could_not_know_again_is_refused(tmp_path):
    with pytest.raises(sl.InvalidOption, match="cannot be known again"):
        sl.compare("cycle:6", ["flat"], sl.environments.gap(6), 100, folder=tmp_path)
    with pytest.raises(sl.errors.SpecError, match="cannot be told from another"):
        sl.compare("cycle:6", {"x": lambda graph: None}, "gap", 100, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_past_its_horizon_warns_where_the_comparison_stands():
    plan = sl.plan("cycle:5", 20)
    with pytest.warns(sl.errors.PastHorizon, match="20 rounds") as warned:
        sl.compare("cycle:5", {"short": plan}, "gap", 50, 1)
    assert warned[0].filename == __file__
    with pytest.warns(sl.errors.PastHorizon, match="20 rounds") as warned:
        sl.simulate(plan, "gap", 1, 50)
    assert warned[0].filename == __file__
