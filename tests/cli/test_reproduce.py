"""`sidelight reproduce`: claims by name, their verdicts, and exit codes that follow from them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sidelight.experiment.claims import CLAIMS, FAILS, HOLDS

CLAIM = "clique-domination"  # computed, not simulated: quick and certain


def test_a_claim_that_holds(run, tmp_path):
    code, out, err = run("reproduce", CLAIM, "--quick", "-o", tmp_path / "out", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert set(answer) == {
        "quick",
        "complete",
        "resumed",
        "counts",
        "surprises",
        "provenance",
        "outcomes",
        "page",
    }
    (outcome,) = answer["outcomes"]
    assert (outcome["claim"], outcome["verdict"]) == (CLAIM, HOLDS)
    assert CLAIM in Path(answer["page"]).read_text()
    again = json.loads(run("reproduce", CLAIM, "--quick", "-o", tmp_path / "out", "--json")[1])
    assert again["resumed"] == [CLAIM]
    fresh = json.loads(run("reproduce", CLAIM, "--quick", "-o", tmp_path / "out", "--fresh", "--json")[1])
    assert fresh["resumed"] == []


def test_the_table(run):
    code, out, err = run("reproduce", CLAIM, "--quick")
    assert (code, err) == (0, "")
    assert CLAIM in out
    assert "1 holds" in out
    assert run("reproduce", CLAIM, "--quick", "--quiet") == (0, "", "")


@pytest.mark.parametrize("known_false", [False, True])
def test_a_claim_that_fails_is_a_surprise_unless_it_is_known_to_be_false(run, monkeypatch, known_false):
    claim = CLAIMS[CLAIM]
    wrong = tuple(replace(prediction, low=-2.0, high=-1.0) for prediction in claim.predictions)
    monkeypatch.setitem(CLAIMS, CLAIM, replace(claim, predictions=wrong, known_false=known_false))
    code, out, _ = run("reproduce", CLAIM, "--quick", "--json")
    answer = json.loads(out)
    assert code == (0 if known_false else 3)
    assert (answer["outcomes"][0]["verdict"], bool(answer["surprises"])) == (FAILS, not known_false)


def test_an_interrupted_reproduction(run, monkeypatch):
    def interrupted(**sizes):
        raise KeyboardInterrupt

    monkeypatch.setitem(CLAIMS, CLAIM, replace(CLAIMS[CLAIM], measure=interrupted))
    code, out, err = run("reproduce", CLAIM, "--quick", "--json")
    assert code == 130
    assert json.loads(out)["complete"] is False
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["clique-dominaton", ""])
def test_an_unknown_claim(fails, tmp_path, name):
    err = fails("reproduce", name, "--quick", "-o", tmp_path / "out", says="Known claims")
    if name:
        assert "did you mean 'clique-domination'?" in err
    assert not (tmp_path / "out").exists()
