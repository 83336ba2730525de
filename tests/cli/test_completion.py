"""`sidelight completion`: scripts that shells accept, and what is offered where."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from sidelight.cli import names
from sidelight.cli.main import COMMANDS, main
from sidelight.policy import names as registry


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def offered(monkeypatch, capfd):
    """What bash is offered after these words, the last of which is incomplete: (kind, value) pairs."""

    def offered(*words):
        monkeypatch.setenv("_SIDELIGHT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["sidelight", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        monkeypatch.setattr(sys, "argv", ["sidelight"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
        out, err = capfd.readouterr()
        assert err == ""
        return [tuple(line.split(",", 1)) for line in out.splitlines() if line]

    return offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_call_back(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert f"_SIDELIGHT_COMPLETE={shell}_complete" in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_accept_their_script(run, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = run("completion", shell)[1]
    checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=600)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_commands(offered):
    assert [value for _, value in offered("")] == sorted(COMMANDS) or {v for _, v in offered("")} == set(
        COMMANDS
    )
    assert offered("an") == [("plain", "analyze")]


def test_families_and_files(offered):
    assert offered("analyze", "cy") == [("plain", "cycle:"), ("file", "cy")]
    assert ("plain", "apple_tasting") in offered("plan", "")
    assert offered("plan", "./x.c") == [("file", "./x.c")]


def test_options_and_their_choices(offered):
    assert ("plain", "--drop-unobservable") in offered("plan", "--d")
    assert offered("plan", "cycle:5", "--realization", "hy") == [("plain", "hybrid")]
    assert offered("plan", "cycle:5", "--partition", "comp") == [("plain", "components"), ("file", "comp")]
    assert offered("completion", "f") == [("plain", "fish")]
    assert offered("list", "env") == [("plain", "environments")]


def test_names_are_remembered_until_sources_change(monkeypatch, tmp_path):
    first = names.remembered()
    assert first["policies"] == [*registry.names(), "FILE.py:NAME", "PLAN.json"]
    monkeypatch.setattr(names, "known", lambda: pytest.fail("asked again"))
    assert names.remembered() == first
    monkeypatch.setattr(names, "_stamp", lambda: "changed")
    monkeypatch.setattr(names, "known", lambda: {**first, "policies": ["new"]})
    assert names.remembered()["policies"] == ["new"]
    (kept,) = (tmp_path / "cache" / "sidelight").iterdir()
    assert json.loads(kept.read_text())["stamp"] == "changed"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stamp": 3}'])
def test_a_damaged_memory_is_replaced(tmp_path, text):
    cache = tmp_path / "cache" / "sidelight" / "names.json"
    cache.parent.mkdir(parents=True)
    cache.write_text(text)
    assert names.remembered() == names.known()
    assert json.loads(cache.read_text())["policies"] == [*registry.names(), "FILE.py:NAME", "PLAN.json"]


def test_an_unwritable_memory_does_no_harm(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert names.remembered() == names.known()


def test_a_broken_library_offers_nothing(monkeypatch):
    monkeypatch.setattr(names, "remembered", lambda: 1 / 0)
    assert names.environment(None, None, "") == []


def test_policies_complete_after_a_comma():
    found = [item.value for item in names.policies(None, None, "auto,fl")]
    assert found == ["auto,flat"]


def test_environments_and_claims(offered):
    assert ("plain", "gap") in offered("run", "cycle:5", "--env", "g")
    assert offered("run", "cycle:5", "--env", "rep") == [("plain", "replay:")]
    assert {value for _, value in offered("run", "cycle:5", "--policy", "auto,exp3g")} >= {"auto,exp3g"}
    assert ("plain", "decomposition") in offered("reproduce", "dec")
    assert offered("run", "cycle:5", "--env", "F") == []  # FILE.py:FUNCTION is nothing to type


def test_the_program_completes(tmp_path):
    asked = {"_SIDELIGHT_COMPLETE": "bash_complete", "COMP_WORDS": "sidelight analyze cli", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "sidelight"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **asked}, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,cliques:\nfile,cli\n", "")
