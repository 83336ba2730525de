"""Policies of a sweep: names, files, classes and plans; what makes two of them the same; how they travel."""

import pickle
import sys

import own_players as own
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment import sources
from sidelight.experiment.sources import PolicySource

SPEC = {"graphs": ["cycle:6"], "environments": ["gap:0.3"], "horizons": [150], "seeds": 2}
FILE = """
import numpy as np

class Uniform:
    def __init__(self, graph, horizon, seed):
        self.n, self.random = graph.n_arms, np.random.default_rng(seed)
    def ask(self):
        return int(self.random.integers(self.n))
    def tell(self, losses):
        pass
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def swept(policies, folder, jobs=1, **changes):
    return sl.sweep({**SPEC, "policies": policies, **changes}, folder, jobs=jobs)


def cells(results):
    return {cell.policy: cell.regret.tolist() for cell in results.cells}


def test_the_ids_of_named_policies_have_not_changed():
    (cell,) = sl.Spec.from_dict({**SPEC, "policies": ["flat"]}).cells
    assert cell.id == "279594304a0855ac"
    (renamed,) = sl.Spec.from_dict({**SPEC, "policies": {"mine": "flat"}}).cells
    assert renamed.id == cell.id
    assert (renamed.names["policy"], cell.names["policy"]) == ("mine", "flat")
    assert (
        sl.Spec.from_dict({**SPEC, "policies": {"mine": "flat"}}).hash
        != sl.Spec.from_dict({**SPEC, "policies": ["flat"]}).hash
    )


def test_a_sweep_plays_classes_files_and_plans(tmp_path, file):
    plan = sl.plan("cycle:6", 150)
    wanted = {"mine": own.Learner, "file": f"{file}:Uniform", "plan": plan, "auto": "auto"}
    found = cells(swept(wanted, tmp_path / "a"))
    assert list(found) == list(wanted)
    assert found["plan"] == found["auto"]
    compared = sl.compare("cycle:6", wanted, "gap:0.3", 150, 2)
    assert cells(compared) == found
    listed = swept([own.Learner, f"{file}:Uniform"], tmp_path / "b")
    assert [cell.policy for cell in listed.cells] == ["Learner", f"{file}:Uniform"]


def test_workers_play_the_same(tmp_path, file):
    wanted = {"mine": own.Learner, "file": f"{file}:Uniform", "auto": "auto", "broken": own.Breaks}
    results = swept(wanted, tmp_path / "a", jobs=2)
    assert cells(results) == cells(swept(wanted, tmp_path / "b", jobs=1))
    (broken,) = results.absent
    assert broken.status == "failed"
    assert "own_players.py:" in broken.reason


def test_a_file_is_looked_up_beside_its_spec(tmp_path, file):
    rest = 'graphs = ["cycle:6"]\nenvironments = ["gap"]\nhorizons = [50]\nseeds = 1\n'
    (tmp_path / "spec.toml").write_text(f'policies = ["mine.py:Uniform", "flat"]\n{rest}')
    results = sl.sweep(tmp_path / "spec.toml", tmp_path / "out", jobs=1)
    assert [cell.policy for cell in results.cells] == ["mine.py:Uniform", "flat"]


def test_content_travels_with_a_file(file):
    source = PolicySource.from_file("mine.py:Uniform", file.parent)
    there = pickle.loads(pickle.dumps(source))
    file.unlink()
    assert there == source
    assert there.make(sl.families.cycle(6), 10).realization == "mine.py:Uniform"


def test_what_cannot_travel_is_played_here(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_shipped", lambda value: b"")
    wanted = {"mine": own.Learner, "auto": "auto"}
    assert cells(swept(wanted, tmp_path, jobs=2)) == cells(sl.compare("cycle:6", wanted, "gap:0.3", 150, 2))


def test_without_cloudpickle_importable_classes_travel(monkeypatch):
    real = sources.importlib.util.find_spec
    monkeypatch.setattr(
        sources.importlib.util, "find_spec", lambda name: None if name == "cloudpickle" else real(name)
    )
    assert sources._shipped(own.Learner)
    assert sources._shipped(lambda graph: None) == b""
    monkeypatch.setattr(own.Learner, "__module__", "__main__")
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert sources._shipped(own.Learner) == b""


def test_identity_is_what_is_played(file):
    def same(graph, horizon, seed):
        return own.Learner(graph, horizon, seed)

    assert PolicySource.of(own.Learner).identity == PolicySource.of(own.Learner, "another").identity
    assert PolicySource.of(own.Learner).identity != PolicySource.of(own.WithArrays).identity
    plans = [sl.plan("cycle:6", T) for T in (150, 150, 151)]
    identities = [str(PolicySource.of(plan).identity) for plan in plans]
    assert identities[0] == identities[1] != identities[2]
    assert PolicySource.of(same).lasting
    assert not PolicySource.of(lambda graph: None).lasting
    before = PolicySource.from_file("mine.py:Uniform", file.parent).identity
    file.write_text(FILE + "\n# a remark\n")
    assert PolicySource.from_file("mine.py:Uniform", file.parent).identity != before


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ([own.Learner, own.Learner], r"policies\[1\]: the same as policies\[0\]"),
        ({"a": "flat", "b": "flat"}, r"the same as .*'a' and 'b'"),
        ({}, "policies: must not be empty"),
        ({"x": 3}, r"policies\['x'\]: must be a name, FILE\.py:NAME, a class or function .* got 3"),
        ({"x": lambda graph: None}, r"policies\['x'\]: x cannot be told from another policy"),
        (["no/where.py:X"], r"policies\[0\]: .*where\.py does not exist"),
    ],
)
def test_mistakes_are_found_before_anything_runs(policies, message, tmp_path):
    with pytest.raises(sl.errors.SpecError, match=message):
        swept(policies, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_policy_for_another_graph_does_not_apply(tmp_path):
    results = swept({"plan": sl.plan("cycle:5", 150), "flat": "flat"}, tmp_path)
    assert [cell.policy for cell in results.cells] == ["flat"]
    (absent,) = results.absent
    assert absent.status == "not applicable"
    assert "another graph" in absent.reason


# -- adding to a folder ---------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """How many cells were played."""
    module = sys.modules["sidelight.experiment.cells"]
    real, calls = module.simulate, []

    def simulate(*arguments, **options):
        calls.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(module, "simulate", simulate)
    return calls


def test_adding_plays_only_what_is_missing(tmp_path, counted):
    first = swept(["flat"], tmp_path)
    more = swept(["flat", "auto"], tmp_path)
    assert (len(counted), len(more.cells)) == (2, 2)
    assert_array_equal(more.cells[0].regret, first.cells[0].regret)
    wider = swept(["flat", "auto"], tmp_path, horizons=[150, 200], environments=["gap:0.3", "switching"])
    assert (len(counted), len(wider.cells)) == (8, 8)
    assert [(cell.policy, cell.horizon) for cell in sl.Results.read(tmp_path).cells] == [
        (cell.policy, cell.horizon) for cell in wider.cells
    ]


def test_results_are_not_left_behind(tmp_path, counted):
    swept(["flat", "auto"], tmp_path)
    renamed = {"graphs": [{"family": "cycle:6", "name": "c"}]}
    for changes in ({"policies": ["flat"]}, {"seeds": 3}, {"horizons": [151]}, renamed):
        with pytest.raises(
            sl.errors.SpecChanged, match="ask for everything that this one holds and for more"
        ):
            sl.sweep({**SPEC, "policies": ["flat", "auto"], **changes}, tmp_path, jobs=1)
    assert len(counted) == 2
    assert len(sl.Results.read(tmp_path).cells) == 2


def test_a_policy_that_was_mended_is_played_and_nothing_else(tmp_path, file, counted):
    file.write_text(FILE.replace("pass", "raise ValueError(losses)"))
    policies = ["flat", f"{file}:Uniform"]
    results = swept(policies, tmp_path / "out")
    assert [cell.policy for cell in results.cells] == ["flat"]
    assert results.absent[0].status == "failed"
    file.write_text(FILE)
    results = swept(policies, tmp_path / "out")
    assert (results.complete, len(results.cells), len(counted)) == (True, 2, 3)
    file.write_text(FILE.replace("pass", "self.told = losses"))
    results = swept(policies, tmp_path / "out")
    assert (len(results.cells), len(counted)) == (2, 4)
    assert (
        len(list((tmp_path / "out" / "cells").iterdir())) == 2
    )  # older results of a policy that changed are gone


def test_a_comparison_loses_nothing_to_a_broken_policy():
    results = sl.compare("cycle:6", {"a": own.Learner, "b": own.Breaks, "c": "flat"}, "gap", 150, 2)
    assert [cell.policy for cell in results.cells] == ["a", "c"]
    (broken,) = results.absent
    assert (broken.status, results.complete) == ("failed", False)
    assert "ZeroDivisionError" in broken.reason
