"""The page about looking back: its examples print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "looking-back.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.S)


def outputs(page):
    """(what an example prints, what the page says), one after another, as a reader would run them."""
    names = {}
    for example, said in EXAMPLE.findall(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(example, names)
        yield re.sub(r" +$", "", printed.getvalue(), flags=re.M), said


def test_the_examples_print_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    found = list(outputs(page))
    assert len(found) == page.count("```python") == 7
    for printed, said in found:
        assert printed == said
