"""`sidelight evaluate`: targets as they are written, a table, JSON, and errors of one line."""

import json
import re
import shlex
from pathlib import Path

import pytest
from recorded import record

import sidelight as sl


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "log.csv"
    rows = ["arm,loss,probability"] + [f"{t % 3},{(t % 3) / 4 + (t % 5) / 20},0.3333" for t in range(300)]
    file.write_text("\n".join(rows) + "\n")
    return file


@pytest.fixture
def named(tmp_path):
    table = {"arm": ["tea", "milk"] * 50, "reward": [20.0, 5.0] * 50, "probability": [0.5] * 100}
    sl.Log.from_table(table, rewards=(0, 25)).write(tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


def test_a_table(run, log):
    with pytest.warns(sl.errors.PoorOverlap, match="uniform is over the 3 arms that the log shows"):
        code, out, err = run("evaluate", log, "--target", "uniform", "-t", "2", "-t", "mixed=0:0.5,1:0.5")
    assert (code, err) == (0, "")
    assert out.startswith("Losses a round, in [0, 1], from 300 rounds and 300 revealed values\n")
    for name in ("uniform", "2", "mixed"):
        assert any(line.split()[0] == name for line in out.splitlines()[2:])


def test_the_page_shows_what_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    coins = sl.environments.bernoulli([0.5, 0.5, 0.3, 0.5, 0.4, 0.5])
    policy = sl.baselines.uniform(sl.families.cycle(6)).policy(seed=1)
    record(policy, lambda t, arms: coins.losses(1, t, arms), rounds=5_000).write("log.csv")
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    command, printed = re.search(r"\$ sidelight (evaluate .*)\n((?:.*\n)*?)```", page).groups()
    assert run(*shlex.split(command)) == (0, printed, "")


def test_json_is_what_the_library_says(run, log):
    code, out, err = run("evaluate", log, "--target", "mixed=0:0.5,1:0.5", "--method", "ips", "--json")
    assert (code, err) == (0, "")
    told, ours = json.loads(out), sl.evaluate(log, {0: 0.5, 1: 0.5}, method="ips")
    assert told["log"] == {
        "rounds": 300,
        "rows": 300,
        "arms": 3,
        "unit": {"kind": "losses", "low": 0, "high": 1},
    }
    assert told["targets"]["mixed"]["estimate"] == ours.estimate
    assert told["targets"]["mixed"]["high"] == ours.high


def test_labels_and_units(run, named):
    code, out, _ = run("evaluate", named, "--target", "tea", "--target", "tea:0.5,milk:0.5", "--json")
    assert code == 0
    told = json.loads(out)["targets"]
    assert told["tea"]["estimate"] == pytest.approx(20, abs=0.2)
    assert told["tea:0.5,milk:0.5"]["methods"]["ips"]["value"] == pytest.approx(12.5)


def test_labels_that_look_like_numbers(run, fails, tmp_path):
    table = {"arm": ["1", "0"] * 50, "reward": [3, 7] * 50, "probability": [0.5] * 100}
    file = str(tmp_path / "log.csv")
    sl.Log.from_table(table, rewards=(0, 10), labels=["1", "0", "5", "6"]).write(file)
    _, out, _ = run("evaluate", file, "--target", "0", "--json")
    assert json.loads(out)["targets"]["0"]["methods"]["ips"]["value"] == pytest.approx(7)
    fails("evaluate", file, "--target", "2", says="arm '2' does not exist")


def test_overlap_is_a_warning(run, log):
    with pytest.warns(sl.errors.PoorOverlap, match="3 plays arms that the log never shows"):
        code, out, err = run("evaluate", log, "--arms", "4", "--target", "3")
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split()[2:4] == ["0", "1"]  # anything is possible


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--target", "7"], "arm 7 does not exist"),
        (["--target", "tea"], "arm 'tea' does not exist"),
        (["--target", "0:0.5"], "sum to 1"),
        (["--target", "0", "--level", "2"], "level"),
        (["--target", "0", "--floor", "0.9"], "floor=0.9 was promised"),
        (["--target", "0", "--losses", "0", "0.1"], "row 1, column 'loss'"),
    ],
)
def test_requests_that_cannot_be_met(fails, log, arguments, word):
    fails("evaluate", log, *arguments, says=word)


@pytest.mark.parametrize("arguments", [[], ["--target", "0:much"], ["--target", "0", "--method", "magic"]])
def test_wrong_usage(fails, log, arguments):
    fails("evaluate", log, *arguments, code=2)


def test_a_log_that_is_not_there(fails, tmp_path):
    fails("evaluate", tmp_path / "no.csv", "--target", "0", says="does not exist")
