"""`sidelight warmup`, and what commands say while kernels are compiled."""

import json
import logging

import pytest

from sidelight.engine._numba import notice
from sidelight.experiment import warmup
from sidelight.experiment.warmup import Warmed


@pytest.fixture
def compiled(monkeypatch):
    """Two things that are quickly compiled; how many processes were asked for."""
    asked = []

    def warm_up(jobs=None):
        asked.append(jobs)
        logging.getLogger("sidelight").info(notice.TEXT)  # as if it took long
        yield Warmed("ucb_n", 1.5)
        yield Warmed("ftl", 2.5)

    monkeypatch.setattr(warmup, "warm_up", warm_up)
    return asked


def test_says_what_was_done(run, compiled):
    code, out, err = run("warmup", "-j", 3)
    assert (code, compiled) == (0, [3])
    assert "kernels of 2 kinds compiled" in out
    assert "kept in" in out
    assert err.strip() == notice.TEXT  # on standard error, in every command


@pytest.mark.parametrize("jobs", ["0", "-1"])
def test_no_processes_are_refused(fails, jobs):
    fails("warmup", "--jobs", jobs, says=f"got jobs={jobs}")


def test_json(run, compiled):
    code, out, err = run("warmup", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["compiled"] == [{"name": "ucb_n", "seconds": 1.5}, {"name": "ftl", "seconds": 2.5}]
    assert answer["seconds"] >= 0.0
    assert answer["folder"]
    assert err == ""


def test_quiet(run, compiled):
    assert run("warmup", "--quiet") == (0, "", "")


def test_loudness_is_put_back(run, compiled):
    run("warmup", "--quiet")
    log = logging.getLogger("sidelight")
    assert not log.handlers
    assert log.level == logging.NOTSET
    assert run("warmup")[2].strip() == notice.TEXT


def test_help_names_the_folder(run):
    assert "SIDELIGHT_CACHE_DIR" in run("warmup", "--help")[1]
