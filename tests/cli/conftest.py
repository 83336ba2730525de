"""`sidelight …` as its users call it, in this process."""

import sys

import pytest
from cli_checks import assert_one_line, assert_usage

from sidelight.cli.main import main
from sidelight.report import drawing


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch):
    """Nobody says how wide the screen is, not even a test runner that thinks of its own."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _no_notice(monkeypatch):
    """Whether kernels are compiled here depends on which tests ran before: say nothing about it."""
    from sidelight.engine._numba import notice

    monkeypatch.setattr(notice, "AFTER", 1e6)


@pytest.fixture
def pictures():
    """For tests about figures: elsewhere pages are written without, which takes a fraction of the time."""


@pytest.fixture(autouse=True)
def _few_pictures(request, monkeypatch):
    if "pictures" not in request.fixturenames:
        for limit in ("MOST_GROUPS_DRAWN", "MOST_GRAPHS_DRAWN"):
            monkeypatch.setattr(drawing, limit, 0)


@pytest.fixture
def run(monkeypatch, capfd):
    """Run `sidelight …`: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sidelight", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def fails(run):
    """Run `sidelight …`, which is refused: with 1 and one line that `says` this, or with 2 and how to write it."""

    def fails(*arguments, says=(), code=1):
        found, out, err = run(*arguments)
        assert (found, out) == (code, "")
        (assert_one_line if code == 1 else assert_usage)(err)
        for words in (says,) if isinstance(says, str) else says:
            assert words in err
        return err

    return fails


@pytest.fixture
def chain(tmp_path):
    """A csv file in which nothing reveals arm 0, and only arm 0 reveals arm 1."""
    file = tmp_path / "chain.csv"
    file.write_text("src,dst\n0,1\n1,2\n2,3\n3,2\n")
    return file
