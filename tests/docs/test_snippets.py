"""Python on a page runs, from top to bottom in an empty folder, and prints what stands below it.

Notebooks are run when the site is built, the page about the service by `test_service_page.py` against a real one.
"""

import contextlib
import io
import re

import pytest
from pages import PAGES, ROOT, blocks, name

SNIPPET = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.S)
RUN_BY = {"docs/service.md": "tests/docs/test_service_page.py"}
SNIPPETS = [page for page in PAGES if blocks(page, "python") and name(page) not in RUN_BY]


@pytest.mark.parametrize("page", SNIPPETS, ids=name)
def test_python_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    snippets = SNIPPET.findall(text)
    assert len(snippets) == len(blocks(page, "python"))
    names = {"__name__": "__main__"}
    for snippet, said in snippets:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet, name(page), "exec"), names)
        if said:
            assert re.sub(r" +$", "", printed.getvalue(), flags=re.M) == said, snippet


def test_nothing_is_left_out():
    for page, test in RUN_BY.items():
        assert (ROOT / page).read_text().count("```python") > 5
        assert page.rpartition("/")[2] in (ROOT / test).read_text()
    for page in PAGES:
        kinds = {kind for kind, _ in blocks(page, "py", "python3", "pycon", "ipython", "{code-block}")}
        assert not kinds, (name(page), kinds)
        if blocks(page, "{code-cell}"):
            assert page.read_text().startswith("---\nfile_format: mystnb\n"), name(page)
