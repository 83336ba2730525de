"""`sidelight sweep`: a spec file becomes a folder of results; mistakes in it are found before anything runs."""

import json
import sys

import pytest
from interruptible import interrupted

SPEC = """
title = "two graphs"
policies = ["auto", "flat"]
graphs = ["cycle:5", {file = "pair.csv", name = "pair"}]
environments = ["gap"]
horizons = [100, 300]
seeds = 2
"""


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "pair.csv").write_text("src,dst\n0,1\n1,0\n")
    file = tmp_path / "spec.toml"
    file.write_text(SPEC)
    return file


def test_a_sweep_ends_with_a_table_and_a_report(run, spec, tmp_path):
    out = tmp_path / "out"
    code, printed, err = run("sweep", spec, "-o", out, "--jobs", 1, "--no-figures")
    assert (code, err) == (0, "")
    for word in ("two graphs", "cycle:5", "pair", "auto", "flat", "report:"):
        assert word in printed
    assert len(list((out / "cells").glob("*.parquet"))) == 8
    page = (out / "report.html").read_text()
    assert "two graphs" in page
    (tmp_path / "pair.csv").unlink()  # a report needs the results only
    again = run("report", out, "--no-figures", "--json")
    assert again[0] == 0
    assert len(json.loads(again[1])["results"]) == 8
    assert "pair" in (out / "report.html").read_text()


WRONG = {
    "syntax": ("policies = [", "not valid TOML"),
    "missing key": ('policies = ["auto"]', "missing"),
    "unknown key": (SPEC + "\nsede = 3", "did you mean 'seeds'?"),
    "policy": (SPEC.replace('"flat"', '"flatt"'), "did you mean 'flat'?"),
    "family": (SPEC.replace("cycle:5", "circle:5"), "did you mean 'cycle'?"),
    "environment": (SPEC.replace('"gap"', '"gab"'), "did you mean 'gap'?"),
    "file": (SPEC.replace("pair.csv", "none.csv"), "none.csv does not exist"),
    "no seeds": (SPEC.replace("seeds = 2", "seeds = 0"), "got 0"),
    "horizon": (SPEC.replace("[100, 300]", "[0]"), "got 0"),
    "text": (SPEC.replace("[100, 300]", '["long"]'), "'long'"),
}


@pytest.mark.parametrize(("text", "shown"), WRONG.values(), ids=WRONG)
def test_specs_that_are_wrong(fails, spec, tmp_path, text, shown):
    spec.write_text(text)
    fails("sweep", spec, "-o", tmp_path / "out", says=(str(spec), shown))
    assert not (tmp_path / "out").exists()


def test_a_spec_that_is_not_there(fails, tmp_path):
    fails("sweep", tmp_path / "none.toml", "-o", tmp_path / "out", says="none.toml does not exist")


def test_an_engine_that_is_not_there(fails, spec, tmp_path):
    fails("sweep", spec, "-o", tmp_path / "out", "--engine", "warp", says="'warp'")


def test_a_changed_spec_is_refused(run, fails, spec, tmp_path):
    arguments = ("sweep", spec, "-o", tmp_path / "out", "--jobs", 1, "--no-figures", "--quiet")
    assert run(*arguments) == (0, "", "")
    before = sorted(path.name for path in (tmp_path / "out").rglob("*"))
    spec.write_text(SPEC.replace("seeds = 2", "seeds = 3"))
    fails(*arguments, says="another spec")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="signals as Linux has them")
def test_ctrl_c_on_worker_processes_and_again(run, spec, tmp_path):
    """Interrupted at a terminal every process of the group is; what was finished stays, the rest is played later."""
    out = tmp_path / "out"
    spec.write_text(SPEC.replace("[100, 300]", "[100, 1000000000]").replace("seeds = 2", "seeds = 4"))
    command = [sys.executable, "-m", "sidelight", "sweep", str(spec), "-o", str(out), "-j", "2", "--json"]
    code, printed, err = interrupted(command, lambda: list(out.glob("cells/*.parquet")), group=True)
    assert code == 130, err
    assert "Traceback" not in err
    answer = json.loads(printed)
    assert not answer["complete"]
    assert len(answer["results"]) + len(answer["absent"]) == 8
    assert answer["results"]
