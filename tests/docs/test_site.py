"""The site as `make docs` builds it: without a warning, and without anything that is not in it."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pages import DOCS, ROOT

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}


class Page(HTMLParser):
    """What a page loads, where its links go, and which anchors it has."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if (
            tag in LOADED
            and found.get(LOADED[tag])
            and found.get("rel") not in ("canonical", "author", "next", "prev")
        ):
            self.loads.append(found[LOADED[tag]])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html"]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.full
def test_the_site(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 60
    lost = [
        (path.name, target)
        for path, page in pages.items()
        for target in [*page.loads, *page.links]
        if not leads_somewhere(path, target, pages, target in page.loads)
    ]
    assert not lost, lost[:20]
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")), style
    words = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "domin" in words
    flat = (site / "theory" / "flat.html").read_text(encoding="utf-8")
    assert flat.count("<math") > 100
    assert 'class="term' in flat
    assert "sidelight.FeedbackGraph.from_edges" in (site / "reference" / "graphs.html").read_text(
        encoding="utf-8"
    )
    tutorial = (site / "tutorials" / "first-steps.html").read_text(encoding="utf-8")
    assert "Traceback" not in tutorial
    assert "mean regret" in tutorial


def leads_somewhere(path, target, pages, loaded):
    """Is it in the site? Links may go elsewhere, what a page loads may not."""
    where = urlsplit(target)
    if where.scheme in ("http", "https", "") and where.netloc:
        return not loaded
    if where.scheme == "data":
        return True
    file = Path(os.path.normpath(path.parent / unquote(where.path))) if where.path else path
    if not file.exists():
        return False
    return loaded or not where.fragment or file not in pages or unquote(where.fragment) in pages[file].anchors
