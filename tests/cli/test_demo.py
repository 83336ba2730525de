"""The command line: what it prints, writes and exits with."""

import json
import subprocess
import sys

import pytest
from cli_checks import assert_one_line

from sidelight.experiment import simulation

QUICK = ("--horizon", "300", "--runs", "2")


# -- success ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["teams:4x3", "mab:4", "corrupted_full:6,2"])
def test_demo_shows_the_whole_way(run, spec, tmp_path):
    code, out, err = run("demo", "--graph", spec, *QUICK, "-o", tmp_path)
    assert (code, "Traceback" in err) == (0, False)
    for word in (
        spec,
        "observable",
        "δ*",
        "partition",
        "realization",
        "regret at most",
        "certified",
        "uniform",
    ):
        assert word in out
    page = (tmp_path / "report.html").read_text()
    assert spec in page
    assert "default-src 'none'" in page
    assert "report.html" in out.replace("\n", "")


def test_demo_makes_the_folder(run, tmp_path):
    assert run("demo", *QUICK, "-o", tmp_path / "a" / "b")[0] == 0
    assert (tmp_path / "a" / "b" / "report.html").is_file()


def test_json_is_one_object_that_adds_up(run, tmp_path):
    code, out, _ = run("demo", "--graph", "cliques:3,4", *QUICK, "-o", tmp_path, "--json")
    assert code == 0
    answer = json.loads(out)
    bound = answer["bound"]
    assert sum(bound["terms"].values()) == pytest.approx(bound["value"], rel=1e-12)
    assert bound["certified"] == all(condition["holds"] for condition in bound["conditions"])
    assert answer["graph"] == {"spec": "cliques:3,4", "arms": 7, "edges": 18, "class": "weak"}
    assert answer["domination"]["value"] == pytest.approx(3 / 2 + 4 / 3, rel=1e-9)
    assert sorted(arm for block in answer["partition"] for arm in block) == list(range(7))
    assert answer["plan"]["horizon"] == 300
    played = ["self_tuning", "auto", "exp3g", "chlz21", "ftl", "uniform"]
    assert [row["policy"] for row in answer["results"]] == played
    assert all(0 <= row["regret"] <= 300 and row["seeds"] == 2 for row in answer["results"])


def test_the_same_seed_gives_the_same_answer(run, tmp_path):
    answers = [run("demo", *QUICK, "-o", tmp_path, "--json", "--seed", seed)[1] for seed in (3, 3, 4)]
    regrets = [[row["regret"] for row in json.loads(answer)["results"]] for answer in answers]
    assert regrets[0] == regrets[1] != regrets[2]


def test_one_run_and_one_round(run, tmp_path):
    for options in (("--runs", 1, "--horizon", 50), ("--runs", 2, "--horizon", 1)):
        code, out, err = run("demo", *options, "-o", tmp_path)
        assert code == 0, err
        assert "nan" not in out.lower()


# -- what a user can get wrong ----------------------------------------------------------------------------

REFUSED = {
    "unknown family": (("--graph", "circle:12"), "circle"),
    "no size": (("--graph", "cycle"), "cycle"),
    "bad size": (("--graph", "cycle:two"), "cycle:two"),
    "too small": (("--graph", "cycle:1"), "1"),
    "unobservable": (("--graph", "random:5,0,1"), "0, 1, 2, 3, 4"),
    "empty graph": (("--graph", ""), "family"),
    "no rounds": (("--horizon", "0"), "0"),
    "negative horizon": (("--horizon", "-5"), "-5"),
    "no runs": (("--runs", "0"), "0"),
    "negative runs": (("--runs", "-1"), "-1"),
    "negative seed": (("--seed", "-1"), "-1"),
}


@pytest.mark.parametrize(("options", "shown"), REFUSED.values(), ids=REFUSED)
def test_requests_that_cannot_be_met_end_in_one_line(fails, options, shown, tmp_path):
    fails("demo", *QUICK, "-o", tmp_path / "out", *options, says=shown)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("dance",),
        ("demo", "--loud"),
        ("demo", "--horizon", "many"),
        ("demo", "--runs", "1.5"),
        ("demo", "--graph"),
        ("demo", "extra"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two(run, arguments):
    code, _, err = run(*arguments)
    assert code == 2
    assert "Traceback" not in err
    assert err.strip().splitlines()[-1].startswith("Error: ")


def test_an_interrupted_demo_shows_no_half_results(run, monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "_wait", interrupted)
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", 1e-9)
    code, out, _ = run("demo", "--graph", "cycle:6", "--horizon", 100_000, "-o", tmp_path / "out")
    assert (code, out) == (130, "")
    assert not list((tmp_path / "out").iterdir())


# -- as a program -----------------------------------------------------------------------------------------


def test_the_program(tmp_path):
    """The same through a process of its own: output, exit codes, and nothing else on standard output."""
    command = [sys.executable, "-m", "sidelight", "demo", *QUICK, "-o", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["bound"]["value"] > 0
    failed = subprocess.run([*command, "--runs", "0"], capture_output=True, text=True, timeout=600)
    assert failed.returncode == 1
    assert_one_line(failed.stderr)
