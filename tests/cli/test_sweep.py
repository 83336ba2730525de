"""`sidelight sweep`: a spec file becomes a folder of results; mistakes in it are found before anything runs."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from cli_checks import assert_one_line
from interruptible import listening

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
def test_specs_that_are_wrong(run, spec, tmp_path, text, shown):
    spec.write_text(text)
    code, out, err = run("sweep", spec, "-o", tmp_path / "out")
    assert (code, out) == (1, "")
    assert_one_line(err)
    assert str(spec) in err
    assert shown in err
    assert not (tmp_path / "out").exists()


def test_a_spec_that_is_not_there(run, tmp_path):
    code, _, err = run("sweep", tmp_path / "none.toml", "-o", tmp_path / "out")
    assert code == 1
    assert_one_line(err)
    assert "none.toml does not exist" in err


def test_an_engine_that_is_not_there(run, spec, tmp_path):
    code, _, err = run("sweep", spec, "-o", tmp_path / "out", "--engine", "warp")
    assert code == 1
    assert_one_line(err)
    assert "'warp'" in err


def test_a_changed_spec_is_refused(run, spec, tmp_path):
    arguments = ("sweep", spec, "-o", tmp_path / "out", "--jobs", 1, "--no-figures", "--quiet")
    assert run(*arguments) == (0, "", "")
    before = sorted(path.name for path in (tmp_path / "out").rglob("*"))
    spec.write_text(SPEC.replace("seeds = 2", "seeds = 3"))
    code, _, err = run(*arguments)
    assert code == 1
    assert_one_line(err)
    assert "another spec" in err
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="signals as Linux has them")
def test_ctrl_c_on_worker_processes_and_again(run, spec, tmp_path):
    """Interrupted at a terminal every process of the group is; what was finished stays, the rest is played later."""
    out = tmp_path / "out"
    spec.write_text(SPEC.replace("[100, 300]", "[100, 1000000000]").replace("seeds = 2", "seeds = 4"))
    command = [
        sys.executable,
        "-m",
        "sidelight",
        "sweep",
        str(spec),
        "-o",
        str(out),
        "-j",
        "2",
        "--json",
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listening,
    )
    try:
        until = time.monotonic() + 600
        while not list(out.glob("cells/*.parquet")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        printed, err = process.communicate(timeout=600)
    finally:
        if process.poll() is None:  # a sweep without end must not outlive its test
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    answer = json.loads(printed)
    assert not answer["complete"]
    assert len(answer["results"]) + len(answer["absent"]) == 8
    assert answer["results"]
