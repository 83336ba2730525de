"""`sidelight analyze`: numbers that can be checked by hand."""

import json

import pytest
from cli_checks import assert_one_line, assert_usage

import sidelight as sl


def answer(run, *arguments):
    code, out, err = run("analyze", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_weakly_observable_graph(run):
    found = answer(run, "cliques:3,4", "-T", "1e4")
    assert set(found) == {"graph", "observability", "domination", "independence", "packings", "bounds"}
    assert (found["graph"]["arms"], found["graph"]["edges"], found["graph"]["class"]) == (7, 18, "weak")
    assert found["observability"] == {"strong": 0, "weak": 7, "unobservable": 0}
    assert found["domination"]["value"] == pytest.approx(3 / 2 + 4 / 3, rel=1e-9)
    assert found["domination"]["exact"] is True
    assert (found["independence"]["lower"], found["independence"]["upper"]) == (2, 2)
    assert [len(packing["arms"]) for packing in found["packings"]] == [2]
    assert found["bounds"]["horizon"] == 10_000
    rows = found["bounds"]["rows"]
    assert {row["kind"] for row in rows} == {"upper", "lower"}
    auto = next(row for row in rows if row["name"] == "auto")
    plan = sl.plan(sl.families.cliques([3, 4]), 10_000)
    assert auto["value"] == pytest.approx(plan.bound.value, rel=1e-12)


def test_a_strongly_observable_graph(run):
    found = answer(run, "mab:5", "--horizon", "1000")
    assert found["graph"]["class"] == "strong"
    assert found["domination"]["value"] == 5
    assert found["packings"] == []
    names = {row["name"] for row in found["bounds"]["rows"]}
    assert {"auto", "EXP3", "Tsallis-INF", "uniform play"} <= names


@pytest.mark.parametrize(
    "spec", ["cycle:12", "mab:4", "full:5", "corrupted_mab:6,2", "apple_tasting", "mab:1"]
)
def test_the_tables_say_everything(run, spec):
    code, out, err = run("analyze", spec, "-T", 2000)
    assert (code, err) == (0, "")
    for word in (f"Graph {spec}", "observable", "δ*", "α", "Upper bounds", "Lower bounds", "2,000 rounds"):
        assert word in out
    found = sl.compare_bounds(sl.families.parse(spec), 2000)
    for row in found.rows:
        assert row.name in out
        if row.value is not None:
            assert f"{row.value:,.1f}" in out


def test_a_bound_that_is_not_valid_says_so(run):
    out = run("analyze", "cycle:100", "-T", 20)[1]
    assert "not valid at T" in out


@pytest.mark.parametrize(
    ("horizon", "code"), [("0", 1), ("-5", 1), ("1e30", 1), ("soon", 2), ("1.5", 2), ("nan", 2)]
)
def test_horizons_that_are_wrong(run, horizon, code):
    found, out, err = run("analyze", "cycle:5", "--horizon", horizon)
    assert (found, out) == (code, "")
    (assert_one_line if code == 1 else assert_usage)(err)
    assert horizon.removesuffix("e30") in err
