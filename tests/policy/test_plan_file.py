"""Saved plans: what was promised is what is loaded, and a file that was altered is refused or in order."""

import copy
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.policy import plan_file

MADE = {
    "self-tuning": lambda: sl.plan("cycle:6", 1000),
    "any number of rounds": lambda: sl.plan("cycle:6"),
    "full feedback": lambda: sl.plan("full:5"),
    "blocks": lambda: sl.plan("teams:4x3", 20_000, realization="interpolated"),
    "adaptive": lambda: sl.plan("hypercube:3", 10**5, realization="adaptive"),
    "flat": lambda: sl.plan("loopless_clique:4", 100, realization="flat"),
    "may fail": lambda: sl.plan("cycle:6:works=0.8", 1000),
    "confident": lambda: sl.plan("cycle:6", 10_000, confidence=0.99),
    "not certified": lambda: sl.plan("cycle:64", 100, realization="clustered"),
    "labels": lambda: sl.plan(sl.FeedbackGraph.from_edges(2, [(0, 0), (1, 1)], labels=["ö", '\n"']), 100),
    "one arm": lambda: sl.plan("mab:1", 10),
    "one arm, any number of rounds": lambda: sl.plan("mab:1"),
}


@pytest.fixture(scope="module")
def plans():
    return {name: make() for name, make in MADE.items()}


@pytest.mark.parametrize("name", MADE)
def test_a_loaded_plan_is_the_plan(plans, name, tmp_path):
    plan, file = plans[name], tmp_path / "plan.json"
    plan.save(file)
    again = sl.Plan.load(file)
    assert again.to_dict() == plan.to_dict()
    assert str(again) == str(plan)
    assert again.graph == plan.graph
    assert again.graph.labels == plan.graph.labels
    for one, two in zip(again.tuning.to_arrays().items(), plan.tuning.to_arrays().items(), strict=True):
        assert one[0] == two[0]
        assert_array_equal(one[1], two[1])
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", ["self-tuning", "any number of rounds", "blocks", "may fail"])
def test_it_plays_the_same_game(plans, name, tmp_path):
    plan = plans[name]
    plan.save(tmp_path / "plan.json")
    again = sl.Plan.load(tmp_path / "plan.json")
    runs = [sl.simulate(each, "gap", 2, horizon=300) for each in (plan, again)]
    assert_array_equal(runs[0].cost, runs[1].cost)


def test_the_file_is_for_people_too(plans, tmp_path):
    plan = plans["self-tuning"]
    plan.save(tmp_path / "plan.json")
    found = json.loads((tmp_path / "plan.json").read_text())
    assert {**found, **json.loads(json.dumps(plan.to_dict()))} == found
    assert plan_file.is_plan(tmp_path / "plan.json")
    assert plan_file.is_plan(tmp_path / "plan.json")
    assert not plan_file.is_plan(tmp_path)
    assert not plan_file.is_plan(tmp_path / "none")


def test_the_graph_may_have_a_name(plans, tmp_path):
    plan = plans["self-tuning"]
    (tmp_path / "plan.json").write_text(plan_file.text_of(plan, "cycle:6"))
    again, graph = plan_file.read(tmp_path / "plan.json")
    assert (again.to_dict(), graph) == (plan.to_dict(), "cycle:6")
    plan.save(tmp_path / "plan.json")
    assert plan_file.read(tmp_path / "plan.json").graph == ""


def test_signs_of_zero_and_infinity_survive():
    for values in ([0.0, -0.0], [-0.0, -0.0], [np.inf, 1.5], [np.inf, np.inf], [-np.inf]):
        array = np.array(values)
        entry = json.loads(json.dumps(plan_file._encoded(array), allow_nan=False))
        assert plan_file._decoded(None, "x", entry, 10**6).tobytes() == array.tobytes()


def test_a_plan_from_before_losses_were_shifted_is_what_it_was(tmp_path):
    """Written when policies had format version 8."""
    file = Path(__file__).parent / "data" / "version8-plan.json"
    plan = sl.Plan.load(file)
    assert plan.bound.to_dict() == json.loads(file.read_text())["bound"]
    assert (plan.tuning.shift, plan.tuning.base, plan.tuning.self_tuning.signed) == (0.0, None, 0)
    assert all(check.holds for check in sl.check_certificate(plan))
    plan.save(tmp_path / "plan.json")
    assert sl.Plan.load(tmp_path / "plan.json").to_dict() == plan.to_dict()


# -- files that are wrong ---------------------------------------------------------------------------------------


def text(plan):
    return json.loads(plan_file.text_of(plan))


def sealed(found):
    """The file with a digest that fits, as docs/decisions/0015 says."""
    header = {name: value for name, value in found.items() if name not in ("digest", "arrays")}
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(found["arrays"]):
        entry = found["arrays"][name]
        number = {"inf": np.inf, "-inf": -np.inf}
        values = entry.get("values", [entry.get("fill")] * int(np.prod(entry["shape"], dtype=np.int64)))
        values = [number.get(value, value) if isinstance(value, str) else value for value in values]
        array = np.array(values, dtype=entry["type"]).reshape(entry["shape"])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return json.dumps(found | {"digest": digest.hexdigest()})


def test_the_digest_is_what_the_page_says(plans):
    found = text(plans["self-tuning"])
    assert json.loads(sealed(found))["digest"] == found["digest"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f["bound"]["terms"].update(budget=1.0), "contradicts the terms"),
        (lambda f: f.update(horizon=999), "999"),
        (
            lambda f: f["arrays"].update({"tuning.schedule_inner_rate": f["arrays"]["tuning.cover"]}),
            "are gone",
        ),
        (lambda f: f["arrays"].pop("graph.has_loop"), "has_loop"),
        (lambda f: f["arrays"].update(more=f["arrays"]["graph.n_arms"]), "more has no meaning"),
        (lambda f: f.update(more=1), "more has no meaning"),
        (lambda f: f.update(note=3), "note must be str"),
        (lambda f: f.update(graph=["cycle:6"]), "graph must be a name"),
        (lambda f: f.update(graph="cycle\n6"), "graph must be a name"),
        (lambda f: f.update(graph="x" * 201), "graph must be a name"),
        (lambda f: f.update(considered=[{}]), "no candidate"),
        (lambda f: f.update(realization="doubling"), "stages"),
    ],
)
def test_altered_files_are_refused(plans, tmp_path, change, message):
    found = text(plans["self-tuning"])
    change(found)
    file = tmp_path / "plan.json"
    file.write_text(sealed(found))
    with pytest.raises(sl.SavedStateError, match=message) as refused:
        sl.Plan.load(file)
    assert str(file) in str(refused.value)
    file.write_text(json.dumps(found))
    with pytest.raises(sl.SavedStateError, match="do not match their digest"):
        sl.Plan.load(file)


def test_a_bound_is_believed_and_can_be_checked(plans, tmp_path):
    """The digest fits and the bound follows from its terms, but the rates are others."""
    found = text(plans["flat"])
    found["arrays"]["tuning.inner_rate"]["fill"] *= 3.0
    (tmp_path / "plan.json").write_text(sealed(found))
    plan = sl.Plan.load(tmp_path / "plan.json")
    assert not all(check.holds for check in sl.check_certificate(plan))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "float64", "shape": [2**39], "fill": 0.0}, "bytes of memory"),
        ({"type": "float64", "shape": [2**31, 2**31], "fill": 0.0}, "bytes of memory"),
        ({"type": "object", "shape": [1], "values": [0]}, "no array"),
        ({"type": "int32", "shape": [1], "values": [2**31]}, "no int32"),
        ({"type": "int64", "shape": [1], "values": [1.5]}, "no int64"),
        ({"type": "int64", "shape": [1], "values": [True]}, "no int64"),
        ({"type": "float64", "shape": [1], "values": ["nan"]}, "no float64"),
        ({"type": "float64", "shape": [1], "values": [1]}, "no float64"),
        ({"type": "bool", "shape": [1], "values": [1]}, "no bool"),
        ({"type": "bool", "shape": [2], "values": [True]}, "2 values of its shape"),
        ({"type": "bool", "shape": [-1], "values": []}, "shape"),
        ({"type": "bool", "shape": 3, "values": []}, "shape"),
        ({"type": "bool", "shape": [1], "values": [True], "more": 1}, "values of its shape"),
        ([], "no array"),
    ],
    ids=str,
)
def test_arrays_that_are_none(plans, tmp_path, entry, message):
    found = text(plans["flat"])
    found["arrays"]["graph.has_loop"] = entry
    (tmp_path / "plan.json").write_text(json.dumps(found))
    with pytest.raises(sl.SavedStateError, match=message):
        sl.Plan.load(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"format": NaN}', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "not a saved plan"),
        (b'{"nodes": []}', "not a saved plan"),
        (
            b'{"format": "sidelight-plan", "version": 2, "sidelight": "9.9"}',
            "Sidelight 9.9 in format version 2",
        ),
        (b'{"format": "sidelight-plan", "version": 1}', "it has no arrays"),
    ],
    ids=str,
)
def test_files_that_are_no_plan(tmp_path, content, message):
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(sl.SavedStateError, match=message):
        sl.Plan.load(tmp_path / "plan.json")


def test_places_that_hold_no_plan(plans, tmp_path):
    with pytest.raises(sl.SavedStateError, match="does not exist"):
        sl.Plan.load(tmp_path / "none.json")
    with pytest.raises(sl.SavedStateError, match="folder"):
        sl.Plan.load(tmp_path)
    with pytest.raises(sl.SavedStateError, match="cannot save the plan"):
        plans["flat"].save(tmp_path / "no" / "where.json")
    with pytest.raises(sl.SavedStateError, match="path"):
        sl.Plan.load(3)
    plans["flat"].save(tmp_path / "plan.json")
    with pytest.raises(sl.SavedStateError, match="limit of 100 bytes"):
        sl.Plan.load(tmp_path / "plan.json", limit=100)


VALUES = (None, True, 0, 1, -1, 2**70, 0.5, -2.5, 1e300, "", "inf", "x", [], [1], {}, {"a": 1})


def altered(rng, found):
    """One place of the file, however deep, dropped, scaled or with something else; the digest fits if it can."""
    found = copy.deepcopy(found)
    places = []

    def walk(value):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk({name: found[name] for name in found if name not in ("format", "version")})
    owner, key = places[rng.integers(len(places))]
    how = rng.integers(4)
    if how == 0 and isinstance(owner, dict):
        del owner[key]
    elif how == 1 and isinstance(owner[key], float):
        owner[key] *= float(rng.choice([0.0, 0.5, 0.999, 1.001, 2.0, -1.0]))
    elif how == 2 and type(owner[key]) is int:
        owner[key] += int(rng.integers(-2, 3))
    else:
        owner[key] = VALUES[rng.integers(len(VALUES))]
    try:
        with np.errstate(all="ignore"):
            return sealed(found)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return json.dumps(found)


FILES = int(os.environ.get("SIDELIGHT_FUZZ", "100"))
SEED = int(os.environ.get("SIDELIGHT_FUZZ_SEED", "0"))


def test_altered_plans_are_refused_or_in_order(plans, tmp_path):
    """`make fuzz` runs the same with more files."""
    rng, file = np.random.default_rng(SEED), tmp_path / "plan.json"
    kept = [text(plan) for name, plan in plans.items() if name not in ("not certified",)]
    accepted = 0
    for _ in range(FILES):
        file.write_text(altered(rng, kept[rng.integers(len(kept))]))
        try:
            plan = sl.Plan.load(file)
        except sl.SavedStateError as error:
            said = str(error)
        else:
            said = ""
        if said:
            assert str(file) in said
            assert len(said) < 2000
            continue
        accepted += 1
        policy = plan.policy(seed=0)
        for _ in range(3):
            decision = policy.decide()
            assert 0 <= decision.arm < plan.graph.n_arms
            policy.observe(decision, np.full(decision.reveals.size, 0.5))
        assert abs(policy.probabilities.sum() - 1) < 1e-9
        json.dumps(plan.to_dict())
    assert 0 < accepted < FILES / 2  # remarks may say anything
