"""`sidelight new policy`: a file that plays, checks itself, and can be named to other commands."""

import json
import subprocess
import sys

import pytest
from cli_checks import assert_one_line

from sidelight.policy.own import own_from_source, own_source
from sidelight.testing import check_player


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_template_passes_the_suite_and_plays(run, tmp_path):
    code, out, err = run("new", "policy", "my-greedy")
    assert (code, err) == (0, "")
    assert "my_greedy.py:MyGreedy" in out
    file = tmp_path / "my_greedy.py"
    made = own_from_source(file, own_source(file), "MyGreedy")
    for graph in ("cycle:6", "mab:4", "loopy_star:5"):
        check_player(made, graph)
    command = ("run", "cycle:6", "-T", 100, "--seeds", 2, "--jobs", 1, "--no-figures", "--json", "-o", "out")
    code, out, err = run(*command, "--policy", "my_greedy.py:MyGreedy,flat")
    assert (code, err) == (0, "")
    assert [row["policy"] for row in json.loads(out)["results"]] == ["my_greedy.py:MyGreedy", "flat"]


def test_the_template_runs_as_a_script(run, tmp_path):
    run("new", "policy", "Greedy", "-o", "g.py")
    done = subprocess.run([sys.executable, "g.py"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("check_player has nothing against Greedy\n")
    assert "Cell('Greedy' on 'cycle:10'" in done.stdout


def test_json(run):
    code, out, _ = run("new", "policy", "x", "--json")
    assert code == 0
    assert json.loads(out) == {"file": "x.py", "class": "X", "policy": "x.py:X"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1st",), "cannot name a class"),
        (("",), "cannot name a class"),
        (("none",), "cannot name a class"),
        (("x", "-o", "p.txt"), "end with .py"),
        (("class",), "is a keyword of Python; choose another name"),
        (("random",), "would hide the module 'random'"),
        (("sidelight",), "choose another name, such as my-sidelight"),
        (("taken",), "exists already"),
        (("x", "-o", "no/where.py"), "no such file or directory"),
    ],
    ids=lambda value: str(value),
)
def test_what_cannot_be_written(fails, tmp_path, arguments, message):
    (tmp_path / "taken.py").write_text("mine")
    fails("new", "policy", *arguments, says=message)
    assert (tmp_path / "taken.py").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["taken.py"]


def test_a_policy_that_fails_costs_no_other_result(run, tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def __init__(self, graph, horizon, seed): ...\n    def ask(self):\n        return 1 / 0\n"
        "    def tell(self, losses): ...\n"
    )
    command = ("run", "cycle:6", "-T", 100, "--seeds", 2, "--jobs", 1, "--no-figures", "-o", "out")
    code, out, err = run(*command, "--policy", "flat,bad.py:Bad", "--json")
    assert code == 1
    assert_one_line(err)
    assert "ZeroDivisionError: division by zero" in err
    assert "bad.py:4, in ask" in err
    assert [row["policy"] for row in json.loads(out)["results"]] == ["flat"]
    assert (tmp_path / "out" / "report.html").is_file()
