"""`sidelight run` and `sidelight report`: results that are stored, shown, continued and shown again."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_checks import assert_one_line

import sidelight as sl
from sidelight.cli import screen, study
from sidelight.experiment import simulation
from sidelight.experiment.folder import kept_graphs
from sidelight.policy.names import compared

QUICK = ("run", "teams:2x3", "-T", "200", "--seeds", "3", "--jobs", "1", "--no-figures")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with a finished run of two policies."""
    from click.testing import CliRunner

    from sidelight.cli.main import cli

    folder = tmp_path_factory.mktemp("played") / "out"
    done = CliRunner().invoke(cli, [*QUICK, "--policy", "auto,adaptive", "-o", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.stdout)


@pytest.fixture
def moved(played, tmp_path):
    """A copy of that folder."""
    return Path(shutil.copytree(played[0], tmp_path / "moved"))


def test_json_has_a_row_for_each_policy(played):
    folder, answer = played
    assert set(answer) == {"folder", "report", "complete", "notes", "results", "absent"}
    assert (answer["folder"], answer["complete"], answer["absent"]) == (str(folder), True, [])
    assert [row["policy"] for row in answer["results"]] == ["auto", "adaptive"]
    for row in answer["results"]:
        assert (row["graph"], row["environment"], row["horizon"], row["seeds"]) == (
            "teams:2x3",
            "gap",
            200,
            3,
        )
        assert 0 <= row["regret"] <= 200


def test_the_numbers_are_those_of_the_library(played):
    _, answer = played
    g = sl.families.teams([3, 3])
    run = sl.simulate(
        sl.plan(g, 200), sl.environments.gap(6, best=3, gap=0.2), seeds=range(3), progress=False
    )
    assert answer["results"][0]["regret"] == pytest.approx(run.regret[:, -1].mean(), rel=1e-12)


def test_plans_and_the_baselines_that_apply_are_played_by_default(run, tmp_path):
    code, out, err = run(
        "run", "mab:4", "-T", 50, "--seeds", 2, "--jobs", 1, "--no-figures", "--json", "-o", tmp_path
    )
    assert code == 0, err
    answer = json.loads(out)
    assert [row["policy"] for row in answer["results"]] == list(compared(sl.families.mab(4), 50))
    assert answer["absent"] == []


def test_the_folder_holds_results_graph_and_report(played):
    folder, answer = played
    assert answer["report"] == str(folder / "report.html")
    page = (folder / "report.html").read_text()
    assert "teams:2x3" in page
    assert "adaptive" in page
    assert len(list((folder / "cells").glob("*.parquet"))) == 2
    (graph,) = (folder / "graphs").glob("*.npz")
    assert sl.read_graph(graph) == sl.families.teams([3, 3])
    assert not (folder / "figures").exists()


def test_the_report_can_be_written_again(run, played, moved):
    answer = played[1]
    (moved / "report.html").unlink()
    code, out, err = run("report", moved, "--no-figures", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["results"] == answer["results"]
    assert "teams:2x3" in (moved / "report.html").read_text()
    code, out, _ = run("report", moved, "--no-figures")
    assert code == 0
    assert "adaptive" in out
    assert "report.html" in out


def test_figures_are_written_on_request(run, pictures, moved):
    assert run("report", moved, "--figures")[0] == 0
    endings = {file.suffix for file in (moved / "figures").iterdir()}
    assert endings == {".png", ".pdf"}


def test_figures_have_the_width_that_was_asked_for(run, pictures, moved):
    from matplotlib.image import imread

    from sidelight.report.figures.canvas import DPI

    assert run("report", moved, "--figure-width", "single")[0] == 0
    (drawn,) = (moved / "figures").glob("*-regret.png")
    assert imread(drawn).shape[1] == pytest.approx(3.5 * DPI, abs=1)


def test_the_same_command_again_plays_nothing(run, played, monkeypatch):
    folder, answer = played
    monkeypatch.setattr("sidelight.experiment.cells.simulate", lambda *_, **__: pytest.fail("played again"))
    code, out, _ = run(*QUICK, "--policy", "auto,adaptive", "-o", folder, "--json")
    assert code == 0
    assert json.loads(out)["results"] == answer["results"]


def test_a_folder_of_another_run_is_refused(fails, played):
    fails(*QUICK, "--policy", "auto", "-o", played[0], says="removed 'adaptive'")


def test_a_refused_run_leaves_the_graph_of_the_report_as_it_was(run, tmp_path):
    file, out = tmp_path / "g.csv", tmp_path / "out"
    sl.write_graph(sl.families.cycle(5), file)
    assert run("run", file, *QUICK[2:], "-o", out)[0] == 0
    assert run("report", out, "--no-figures")[0] == 0
    before = (out / "report.html").read_text()
    assert kept_graphs(out) == {str(file): sl.families.cycle(5)}
    sl.write_graph(sl.families.mab(7), file)
    code, _, err = run("run", file, *QUICK[2:], "-o", out)
    assert code == 1
    assert "is not what it was" in err
    assert kept_graphs(out) == {str(file): sl.families.cycle(5)}
    assert run("report", out, "--no-figures")[0] == 0
    assert (out / "report.html").read_text() == before


def test_policies_and_environments_may_be_repeated(run, tmp_path):
    arguments = ("--policy", "auto", "--policy", "flat", "--env", "gap:0.3,1", "--env", "switching")
    code, out, _ = run(*QUICK, *arguments, "-o", tmp_path / "out", "--json")
    assert code == 0
    found = {(row["policy"], row["environment"]) for row in json.loads(out)["results"]}
    assert found == {(p, e) for p in ("auto", "flat") for e in ("gap:0.3,1", "switching")}


def test_the_first_seed_can_be_chosen(run, tmp_path):
    answers = [
        json.loads(run(*QUICK, "--seed", seed, "--seeds", 1, "-o", tmp_path / str(k), "--json")[1])
        for k, seed in enumerate((5, 5, 6))
    ]
    regrets = [answer["results"][0]["regret"] for answer in answers]
    assert regrets[0] == regrets[1] != regrets[2]


def test_a_mended_graph_is_played_and_the_change_reported(run, chain, tmp_path):
    code, out, _ = run("run", chain, *QUICK[2:], "--drop-unobservable", "-o", tmp_path / "out", "--json")
    assert code == 0
    answer = json.loads(out)
    assert "left out 2 arms (0, 1)" in answer["notes"][0]
    (graph,) = (tmp_path / "out" / "graphs").glob("*.npz")
    assert sl.read_graph(graph).n_arms == 2


def test_quiet_prints_nothing(run, tmp_path):
    assert run(*QUICK, "--quiet", "-o", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_policy_that_does_not_apply_says_why(run, tmp_path):
    command = (*QUICK, "--policy", "auto,hedge", "-o", tmp_path / "out")
    code, out, _ = run(*command, "--json")
    assert code == 0
    (absent,) = json.loads(out)["absent"]
    assert (absent["policy"], absent["status"]) == ("hedge", "not applicable")
    shown = run(*command)[1].partition("not applicable: ")[2]
    assert absent["reason"].split()[0] in shown


def test_cells_without_numbers_are_told_apart_and_not_all_listed(run, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "MOST_LINES", 2)
    several = [part for k in range(1, 5) for part in ("--env", f"gap:0.{k:02}")]
    code, out, _ = run(*QUICK, "--policy", "auto,hedge", *several, "-o", tmp_path / "out")
    assert code == 0
    lines = [line for line in out.splitlines() if "not applicable" in line]
    assert len(lines) == len(set(lines)) == 2
    assert lines[0].startswith("hedge on teams:2x3, gap:0.01, T = 200: not applicable: ")
    assert "… and 2 more cells without numbers" in out


@pytest.mark.parametrize("columns", ["", "x", "0", "-3", "1e3", "9"])
def test_columns_that_are_no_width_are_ignored(run, monkeypatch, columns):
    usual = run("list", "policies")
    monkeypatch.setenv("COLUMNS", columns)
    assert run("list", "policies") == usual
    assert usual[0] == 0
    monkeypatch.setenv("COLUMNS", "40")
    assert screen._columns() == 40


def test_no_policy_that_applies_is_an_error(fails, tmp_path):
    fails(*QUICK, "--quiet", "--policy", "hedge", "-o", tmp_path / "out", says="no policy applies")


def test_a_saved_plan_is_played(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("plan", "teams:2x3", "-T", 200, "-o", "plan.json")[0] == 0
    command = ("run", "plan.json", *QUICK[4:], "--json")
    code, out, err = run(*command, "-o", "alone")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)["results"]
    run_ = sl.simulate(sl.plan("teams:2x3", 200), "gap", 3)
    assert (row["graph"], row["policy"]) == ("teams:2x3", "self-tuning plan (T = 200)")
    assert row["horizon"] == 200
    assert row["regret"] == run_.regret[:, -1].mean()
    code, out, _ = run(*command, "--policy", "flat", "-o", "alone")  # added to what is there
    assert [row["policy"] for row in json.loads(out)["results"]] == ["self-tuning plan (T = 200)", "flat"]
    assert "<h1>teams:2x3</h1>" in Path("alone/report.html").read_text(encoding="utf-8")
    code, out, _ = run("run", "teams:2x3", *QUICK[2:], "--policy", "plan.json,flat", "--json", "-o", "other")
    assert json.loads(out)["results"][0]["regret"] == row["regret"]
    code, out, _ = run("run", "cycle:6", *QUICK[2:], "--policy", "plan.json,flat", "--json", "-o", "another")
    absent = json.loads(out)["absent"][0]
    assert (code, absent["policy"], absent["status"]) == (0, "plan.json", "not applicable")


def test_a_plan_whose_graph_has_no_name(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sl.plan("full:5").save("mine.json")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "roads.csv").write_text("src,dst\n0,1\n1,0\n")
    assert run("plan", "data/roads.csv", "--realization", "fixed", "-T", 60, "-o", "roads.json")[0] == 0
    for file, graph, policy in (
        ("mine.json", "graph with 5 arms", "self-tuning plan (any T)"),
        ("roads.json", "roads.csv", f"{sl.Plan.load('roads.json').realization} plan (T = 60)"),
    ):
        code, out, _ = run("run", file, "-T", 60, *QUICK[4:], "--json", "-o", f"out-{file}")
        (row,) = json.loads(out)["results"]
        assert (code, row["graph"], row["policy"]) == (0, graph, policy)
    assert run("plan", "roads.json", "-o", "again.json")[0] == 0  # planned anew, the graph keeps its name
    assert json.loads(Path("again.json").read_text())["graph"] == "roads.csv"


def test_saved_plans_that_cannot_be_played(run, fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("plan", "teams:2x3", "-o", "plan.json")[0] == 0
    code, _, err = run("run", "plan.json", "-o", "out")
    assert code == 2
    assert "--horizon" in err
    code, _, err = run("run", "plan.json", "-T", 9, "--add-loops", "-o", "out")
    assert code == 1
    assert "leave --add-loops out" in err
    text = (tmp_path / "plan.json").read_text()
    (tmp_path / "plan.json").write_text(text.replace('"order": 0.5', '"order": 0.25'))
    fails("run", "plan.json", "-T", 9, "-o", "out", says="do not match their digest")
    code, _, err = run("run", "teams:2x3", "-T", 9, "--policy", "none.json", "-o", "out")
    assert code == 1
    assert "none.json does not exist" in err
    assert not (tmp_path / "out").exists()


OWN = "for a policy in a file of Python write greedy.py:NAME"
WRONG = [
    (("--policy", "auto,clusterd"), "did you mean 'clustered'?"),
    (
        ("--policy", "greedy.py"),
        "--policy: unknown policy 'greedy.py'; for a policy in a file of Python write",
    ),
    (("--policy", "greedy"), f"unknown policy 'greedy'; {OWN}"),
    (("--policy", "auto,"), "--policy 'auto,' lacks a name"),
    (("--policy", ""), "--policy '' lacks a name"),
    (("--policy", "auto,auto"), "--policy: 'auto' is given twice; leave one out"),
    (("--policy", "autoo"), "--policy: unknown policy 'autoo'; did you mean 'auto'"),
    (("--env", "gapp"), "--env: unknown environment 'gapp'"),
    (("--env", "gap:wide"), "wide"),
    (("-T", "0"), "got 0"),
    (("-T", "-7"), "got -7"),
    (("--seeds", "0"), "--seeds: must be a whole number from 1 "),
    (("--seed", "-1"), "--seed: must be a whole number from 0 "),
    (("--figure-width", "wide"), "'wide'"),
    (("--jobs", "0"), "0"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_mistakes_are_told_in_the_words_of_the_command(fails, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy.py").write_text("import os\n\nclass Greedy:\n    pass\n")
    fails(*QUICK, "-o", "out", *arguments, says=message)
    if "--jobs" not in arguments:
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [("-T", "soon"), ("--seeds", "1.5"), ("--jobs", "all")], ids=" ".join)
def test_wrong_usage(fails, tmp_path, arguments):
    fails(*QUICK, *arguments, "-o", tmp_path / "out", code=2)


def test_the_output_folder_must_be_named(fails):
    fails(*QUICK, says="--output", code=2)


def test_an_interrupted_run_keeps_what_is_done_and_continues(run, tmp_path, monkeypatch):
    command = (*QUICK, "--policy", "auto,flat", "-o", tmp_path / "out", "--json")
    real, calls = simulation.simulate, []

    def second_is_interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr("sidelight.experiment.cells.simulate", second_is_interrupted)
    code, out, err = run(*command)
    assert code == 130
    assert err.strip().splitlines()[-1] == "interrupted"
    assert "the same command continues" in err
    answer = json.loads(out)
    assert (answer["complete"], [row["policy"] for row in answer["results"]]) == (False, ["auto"])
    assert answer["absent"][0]["status"] == "interrupted"
    unfinished = run("report", tmp_path / "out", "--no-figures")
    assert unfinished[0] == 0
    assert "interrupted" in unfinished[1]
    code, out, _ = run(*command)
    assert (code, len(calls)) == (0, 3)
    assert np.isclose(json.loads(out)["results"][0]["regret"], answer["results"][0]["regret"], rtol=0, atol=0)


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_reports_of_nothing(fails, tmp_path, place):
    (tmp_path / "empty").mkdir()
    fails("report", tmp_path / place, says="no results")


def test_a_damaged_cell_is_named(fails, moved):
    cell = next((moved / "cells").iterdir())
    cell.write_bytes(cell.read_bytes()[:100])
    fails("report", moved, says=cell.name)


@pytest.mark.parametrize(("options", "given"), [((), {}), (("--undirected",), {"undirected": True})])
def test_a_folder_of_python_is_continued_and_one_of_ours_read_there(
    run, tmp_path, monkeypatch, options, given
):
    """What Python calls cycle:5 is what the command calls so: neither plays again what the other has played."""
    graph = {"family": "cycle:5", **given} if given else "cycle:5"
    theirs = sl.compare(graph, ["auto"], "gap", 100, seeds=2)
    theirs.write(tmp_path / "a", figures=False)
    command = ("run", "cycle:5", *options, "-T", 100, "--seeds", 2, "--jobs", 1, "--no-figures", "--json")
    code, out, err = run(*command, "--policy", "auto,uniform", "-o", tmp_path / "a")
    assert code == 0, err
    first, _ = json.loads(out)["results"]
    assert first["regret"] == pytest.approx(theirs.cells[0].mean[-1])
    assert (run(*command, "--policy", "auto", "-o", tmp_path / "b")[0]) == 0
    theirs.write(tmp_path / "b", figures=False)
    monkeypatch.setattr(sys.modules["sidelight.experiment.cells"], "simulate", None)  # nothing is played
    (cell,) = sl.compare(graph, ["auto"], "gap", 100, seeds=2, folder=tmp_path / "b").cells
    assert cell.id == theirs.cells[0].id


def test_a_report_of_interrupted_policies_says_how_far_they_are(run, tmp_path, monkeypatch):
    """Seeds are kept, and counted; without a finished policy there is no report, which is said."""
    real, calls = simulation._Task.advance, []

    def interrupted(task, stop):
        calls.append(1)
        if len(calls) == 3:
            stop.set()  # as simulate does on ctrl-C
        real(task, stop)

    monkeypatch.setattr(simulation._Task, "advance", interrupted)
    code, out, err = run(*QUICK, "--policy", "auto,flat", "-o", tmp_path / "out")
    assert code == 130, err
    assert "sweep" not in out + err
    code, out, err = run("report", tmp_path / "out", "--no-figures")
    assert code == 1
    assert_one_line(err)
    assert "no report was written" in err
    assert "2 of its 3 seeds are finished and kept" in " ".join(out.split())
    assert "flat" in out
    assert "not played yet" in " ".join(out.split())
