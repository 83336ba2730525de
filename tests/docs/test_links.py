"""Every link inside the project leads somewhere, on a git host and on the site."""

import os
from pathlib import Path

from pages import DOCS, PAGES, ROOT, anchors, links, name
from repository import ELSEWHERE, relinked


def test_links_lead_to_files_and_headings():
    lost, count = [], 0
    for page in PAGES:
        for target in links(page):
            file, _, anchor = target.partition("#")
            path = Path(os.path.normpath(page.parent / file)) if file else page
            count += 1
            if not path.exists() or (anchor and anchor not in anchors(path)):
                lost.append(f"{name(page)}: {target}")
    assert count > 200
    assert not lost, lost


def test_no_page_names_a_folder_of_a_machine():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert "/work/" not in text, name(page)
        assert "/tmp/" not in text, name(page)


def test_links_to_what_the_site_has_not(tmp_path):
    page = DOCS / "theory" / "fixed-rates.md"
    text = relinked("[a](../../tests), [b](../decisions), [c](../../CHANGELOG.md#unreleased)", page, page)
    assert text == "a, [b](../decisions/index.md), [c](../changelog.md#unreleased)"
    text = relinked(
        "[a](docs/cli.md) `[b](docs)`\n```text\n[c](docs/cli.md)\n```\n",
        ROOT / "README.md",
        DOCS / "index.md",
    )
    assert text.startswith("[a](cli.md)")
    assert "[c](docs/cli.md)" in text


def test_pages_that_stand_elsewhere_say_so():
    for docname, source in ELSEWHERE.items():
        stub = DOCS / f"{docname}.md"
        assert len(stub.read_text().splitlines()) == 3
        assert [(stub.parent / target).resolve() for target in links(stub)] == [source]
