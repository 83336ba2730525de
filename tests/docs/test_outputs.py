"""What a page quotes of a command is what that command prints; `python docs/outputs.py` writes it again."""

import importlib.util
import re

import pytest
from pages import DOCS, PAGES, blocks, name

spec = importlib.util.spec_from_file_location("outputs", DOCS / "outputs.py")
outputs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(outputs)

CONSOLE = [block for page in PAGES if name(page) == "docs/cli.md" for _, block in blocks(page, "console")]
QUICK = re.compile(r"\$ sidelight (?:analyze sees|plan full|list|reproduce|new)")


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(outputs.notice, "AFTER", 1e6)


def compared(block):
    """The block as the page has it, and as it is printed now; times left out, which the last column shows."""
    again = outputs.renewed(re.fullmatch(r"(```console\n)(.*?)(```)", f"```console\n{block}```", re.S))
    found = again.removeprefix("```console\n").removesuffix("```")
    return [[untimed(line) for line in text.splitlines()] for text in (block, found)]


def untimed(line):
    return re.sub(r" +[\d.,]* +[│┃]$", "", re.sub(r"[━─]+", "─", line)).rstrip()


@pytest.mark.parametrize("block", [block for block in CONSOLE if QUICK.search(block)], ids=lambda b: b[2:40])
def test_commands_print_what_the_page_says(block):
    said, printed = compared(block)
    assert printed == said


@pytest.mark.full
def test_every_command_prints_what_the_page_says():
    """In one folder and in order, with those that play."""
    for block in CONSOLE:
        said, printed = compared(block)
        assert printed == said


def test_python_with_and_without_text_below_it():
    """Every block is run, since the next ones need its names; only text right below one is replaced."""
    page = "```python\nx = 3\n```\n\nwords\n\n```python\nprint(x, 4)\n```\n\n```text\n{}```\n\n```text\nstays\n```\n"
    assert outputs.quoted(page.format("old\n")) == page.format("3 4\n")
    assert outputs.quoted(page.format("")) == page.format("3 4\n")


def test_only_what_cannot_be_repeated_is_left():
    left = {
        line.split()[2] for block in CONSOLE for line in block.splitlines() if line.startswith("$ sidelight")
    }
    assert left >= set(outputs.LEFT)
    assert len(left - set(outputs.LEFT)) >= 7
