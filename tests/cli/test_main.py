"""The command line as a program: help, exit codes, streams that fail, interruption."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_checks import assert_one_line
from interruptible import interrupted

from sidelight import __version__
from sidelight.cli import main as module
from sidelight.cli import names
from sidelight.cli.main import COMMANDS

PROGRAM = [sys.executable, "-m", "sidelight"]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and pipes as Linux has them")


# -- help -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help(run, command, flag):
    code, out, err = run(*command, flag)
    assert (code, err) == (0, "")
    assert out.startswith(" ".join(["Usage: sidelight", *command]))


def test_the_help_lists_every_command_with_what_it_does(run):
    listed = run("--help")[1].partition("Commands:\n")[2]
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z].*[.?]$", listed, re.MULTILINE), name


def test_every_command_has_json(run):
    for name in COMMANDS:
        if name != "completion":  # prints a shell script
            assert "--json" in run(name, "--help")[1], name


def test_help_starts_without_heavy_imports():
    code = (
        "import sys; from click.testing import CliRunner; from sidelight.cli.main import COMMANDS, cli\n"
        "codes = {CliRunner().invoke(cli, [*name, '--help']).exit_code for name in [(), *zip(COMMANDS)]}\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'networkx', 'rich', 'jinja2'} & set(sys.modules)\n"
        "print(codes, sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("{0} []\n", "")


def test_version(run):
    assert run("--version") == (0, f"sidelight, version {__version__}\n", "")


# -- exit codes -------------------------------------------------------------------------------------------


def test_exit_codes_are_documented():
    said = " ".join(module.__doc__.split())
    for code in (
        "0 success",
        "1 a request",
        "2 wrong usage",
        "3 the answer",
        "4 an error",
        "130 interrupted",
        "141",
    ):
        assert code in said


def test_an_unknown_command_says_which_was_meant(fails):
    fails("analyse", says="did you mean 'analyze'?", code=2)


def test_a_mistake_of_our_own_is_one_line_too(run, monkeypatch):
    def mistaken(*_, **__):
        raise KeyError("forgotten")

    monkeypatch.setattr("sidelight.cli.names.known", mistaken)
    code, out, err = run("list")
    assert (code, out) == (4, "")
    assert_one_line(err)
    assert "KeyError: 'forgotten'" in err
    monkeypatch.setenv("SIDELIGHT_TRACEBACK", "1")
    with pytest.raises(KeyError):
        run("list")


def test_too_little_memory_is_no_mistake_of_ours(fails, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 1.00 TiB")

    monkeypatch.setattr("sidelight.cli.names.known", greedy)
    fails("list", says="1.00 TiB")


# -- streams ----------------------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("arguments", [("list",), ("completion", "bash")], ids=" ".join)
def test_a_reader_that_goes_away_ends_the_command_quietly(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=600
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@linux
@pytest.mark.parametrize("arguments", [("completion", "zsh"), ("--help",)], ids=" ".join)
def test_output_to_a_full_disk(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600
        )
    assert done.returncode == 1
    assert_one_line(done.stderr)
    assert "No space left" in done.stderr


def test_a_terminal_without_greek_letters(tmp_path):
    command = [*PROGRAM, "analyze", "cycle:5", "--horizon", "100"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fractional domination ?*" in done.stdout


@linux
def test_ctrl_c_exits_with_130(tmp_path):
    out = tmp_path / "out"
    command = [*PROGRAM, "demo", "--horizon", "1e11", "--runs", "1", "-o", str(out)]
    code, printed, err = interrupted(command, out.exists)  # it is made right before the simulation
    assert (code, printed) == (130, "")
    assert err.strip().splitlines()[-1] == "interrupted"
    assert "Traceback" not in err


def test_json_is_all_there_is_on_standard_output():
    done = subprocess.run([*PROGRAM, "list", "--json"], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)) == set(names.KINDS)


# -- documentation ----------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def test_every_command_and_option_is_documented(run):
    page = DOCS.read_text(encoding="utf-8")
    for name in COMMANDS:
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert section, name
        shared = page.partition("\n## Graphs\n")[2].partition("\n## ")[0]
        for option in re.findall(r"^  .*?(--[a-z-]+)", run(name, "--help")[1], re.MULTILINE):
            short = {"--output": "-o ", "--help": "sidelight"}.get(option, option)
            assert short in section or option in shared, (name, option)
    for code in (0, 1, 2, 3, 4, 130, 141):
        assert f"\n| {code} | " in page


def test_the_keys_of_json_are_documented(run):
    page = DOCS.read_text(encoding="utf-8")
    cases = {
        "analyze": ("cycle:5", "-T", 100),
        "plan": ("cycle:5", "-T", 100),
        "list": (),
        "doctor": ("--no-run",),
    }
    for name, arguments in cases.items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for key in json.loads(run(name, *arguments, "--json")[1]):
            assert f"`{key}`" in section, (name, key)


def test_a_warning_is_one_line(tmp_path):
    file = tmp_path / "ring.csv"
    file.write_text("src,dst,weight\n0,1,0.5\n1,0,3\n")
    found = subprocess.run([*PROGRAM, "analyze", str(file)], capture_output=True, text=True, check=True)
    (warning,) = [line for line in found.stderr.splitlines() if "weight" in line]
    assert warning.startswith(f"warning: {file}: the column 'weight' is not read")
