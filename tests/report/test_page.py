"""The page: complete, self-contained, well formed, and safe with any name."""

import base64
import re
from html.parser import HTMLParser

import pytest
from finished_cells import cell, curve_cell, results

import sidelight as sl
from sidelight.report import page as module
from sidelight.report.page import write_report
from sidelight.report.section import GraphSection

VOID = {"meta", "img", "br", "link", "hr", "input"}
EVIL = "<script>alert('x')</script>\"&[b]"


class Page(HTMLParser):
    """Collects what the tests look at, and refuses tags that do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.images, self.ids, self.links, self.words = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        named = dict(attrs)
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "img":
            self.images.append(named)
        if tag == "a":
            self.links.append(named["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page of two comparisons on two graphs, with all figures."""
    folder = tmp_path_factory.mktemp("report") / "new" / "folder"
    cycle, star = sl.families.cycle(4), sl.families.loopy_star(3)
    cells = [
        curve_cell("auto", arms=4, provenance={"platform": "a machine"}),
        curve_cell("flat", exponent=0.7, arms=4, provenance={"platform": "another"}),
        curve_cell("auto", graph="star", ledger=None, plays=None, horizon=1000),
    ]
    graphs = {
        "cycle:4": GraphSection.of(sl.compare_bounds(cycle, 1000), sl.compare_bounds(cycle, 10_000)),
        "star": GraphSection(star),
    }
    found = results(*cells, title="Two graphs", provenance={"version": "1.2.3", "spec": {"hash": "abc"}})
    return write_report(folder, found, graphs)


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text(encoding="utf-8"))


def test_it_needs_nothing_else(written, page):
    text = written.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", text)
    assert "http://" not in text
    assert "https://" not in text
    assert {"script", "link", "iframe", "object"}.isdisjoint(tag for tag, _ in page.tags)
    assert "url(" not in text
    assert all(image["src"].startswith("data:image/") for image in page.images)
    assert len(text) < 2_000_000


def test_every_figure_is_there_described_and_on_disk(written, page):
    kinds = [image["alt"] for image in page.images]
    assert len(kinds) == 2 + 4 + 2  # two graphs; regret, ledger, plays and timing; regret and timing
    assert all(len(alt) > 20 for alt in kinds)
    for image in page.images:
        kind, data = image["src"].split(";base64,")
        content = base64.b64decode(data, validate=True)
        assert b"<svg" in content if kind.endswith("svg+xml") else content.startswith(b"\x89PNG")
    files = [link for link in page.links if not link.startswith("#")]
    assert len(files) == 2 * len(kinds)
    for file in files:
        content = (written.parent / file).read_bytes()
        assert content.startswith(b"%PDF" if file.endswith(".pdf") else b"\x89PNG")
    assert sorted(p.name for p in written.parent.iterdir()) == ["figures", "report.html"]


def test_links_lead_somewhere_and_ids_are_unique(page):
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids


def test_it_says_what_was_found(page):
    for word in (
        "Two graphs",
        "auto has the least mean regret",
        "t^0.50",
        "Certified bounds hold",
        "Bounds on the regret of 1,000 rounds",
        "Bounds on the regret of 10,000 rounds",
        "CHLZ21",
        "1.2.3",
        "abc",
        "a machine; another",
    ):
        assert word in page.text


def test_every_bound_is_in_its_table(page):
    comparison = sl.compare_bounds(sl.families.cycle(4), 10_000)
    for row in comparison.rows:
        assert row.name in page.text
        assert row.source in page.text


def test_names_cannot_inject_anything(tmp_path):
    evil = cell(EVIL, graph=EVIL, environment=EVIL, id=EVIL)
    g = sl.FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], labels=[EVIL, "b"])
    found = results(evil, title=EVIL, provenance={EVIL: EVIL})
    text = write_report(tmp_path, found, {EVIL: GraphSection(g)}, files=False).read_text(encoding="utf-8")
    assert "<script" not in text
    parsed = Page(text)
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert EVIL in parsed.text


def test_without_files_there_is_only_the_page(tmp_path):
    path = write_report(tmp_path, results(cell()), files=False)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert [link for link in Page(path.read_text(encoding="utf-8")).links if not link.startswith("#")] == []


def test_nothing_finished_is_still_a_page(tmp_path):
    text = write_report(tmp_path, results()).read_text(encoding="utf-8")
    assert "0 comparisons" in Page(text).text


def test_long_sweeps_are_tabulated_beyond_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_GROUPS_DRAWN", 1)
    cells = [cell(horizon=100 + k, plays=None) for k in range(3)]
    parsed = Page(write_report(tmp_path, results(*cells), files=False).read_text(encoding="utf-8"))
    assert (
        len(parsed.images) == 3
    )  # regret and timing of the first comparison, and growth over three horizons
    assert all(f"T = {100 + k}" in parsed.text for k in range(3))
    assert parsed.text.count("first 1 comparisons only") == 2


def test_a_failed_report_leaves_the_old_one(tmp_path, monkeypatch):
    path = write_report(tmp_path, results(cell()), files=False)
    before = path.read_bytes()

    def broken(results):
        raise OSError("disk full")

    monkeypatch.setattr(module, "_provenance", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path, results(cell("other")), files=False)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_same_results_give_the_same_page(tmp_path):
    found = results(curve_cell(seeds=2))
    first, second = (write_report(tmp_path / name, found, files=False).read_bytes() for name in "ab")
    assert first == second
