"""The guide: its snippets run one after another, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "in-a-program.md"
SNIPPET = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.S)


def test_the_snippets_print_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    snippets = SNIPPET.findall(page)
    assert len(snippets) == page.count("```python") >= 10
    assert sum(bool(said) for _, said in snippets) == page.count("```text")
    names = {"__name__": "guide"}
    for snippet, said in snippets:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet, str(PAGE), "exec"), names)
        assert printed.getvalue() == said, snippet
