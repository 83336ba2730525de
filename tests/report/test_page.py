"""The page: complete, self-contained, well formed, and safe with any name."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from finished_cells import cell, curve_cell, results

import sidelight as sl
from sidelight.report import drawing, template
from sidelight.report import page as module
from sidelight.report.page import write_report
from sidelight.report.section import GraphSection
from sidelight.report.style import COLOURS, PARTS

VOID = {"meta", "img", "br", "link", "hr", "input"}
EVIL = "<script>alert('x')</script>\"&[b]</script><!--"


class Page(HTMLParser):
    """Collects what the tests look at, and refuses tags that do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.words = [], [], [], [], []
        self.scripts, self.styles = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append((tag, named))
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "a":
            self.links.append(named["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.tags[-1][1], data))
        elif self.open and self.open[-1] == "style":
            self.styles.append(data)
        else:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    @property
    def data(self):
        (found,) = (text for named, text in self.scripts if named.get("id") == "data")
        return json.loads(found)

    def named(self, tag, **wanted):
        return [named for found, named in self.tags if found == tag and wanted.items() <= named.items()]


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
    facts = (("fractional domination δ*", "2 (exact)"),)
    bounds = (sl.compare_bounds(cycle, 1000), sl.compare_bounds(cycle, 10_000))
    graphs = {"cycle:4": GraphSection.of(*bounds, facts=facts), "star": GraphSection(star)}
    found = results(*cells, title="Two graphs", provenance={"version": "1.2.3", "spec": {"hash": "abc"}})
    return write_report(folder, found, graphs)


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text(encoding="utf-8"))


def test_it_needs_nothing_else(written, page):
    text = written.read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"https://github.com/leeoniya/uPlot"}  # in the comment that names what is included
    assert {"link", "iframe", "object", "img"}.isdisjoint(tag for tag, _ in page.tags)
    assert not [named for tag, named in page.tags if "src" in named]
    assert "url(" not in "".join(page.styles)
    assert len(text) < 1_000_000


def test_nothing_but_its_own_scripts_and_style_may_run(page):
    (policy,) = (named["content"] for named in page.named("meta") if "http-equiv" in named)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    code = [text for named, text in page.scripts if named.get("type") != "application/json"]
    for kind, found in (("script-src", code), ("style-src", page.styles)):
        digests = (hashlib.sha256(text.encode()).digest() for text in found)
        assert rules[kind].split() == [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert not [named for _, named in page.tags if "style" in named or any(n.startswith("on") for n in named)]


def test_every_figure_is_on_disk(written, page):
    files = [link for link in page.links if not link.startswith("#")]
    assert len(files) == 2 * (2 + 4 + 2)  # two graphs; regret, ledger, plays and timing; regret and timing
    for file in files:
        content = (written.parent / file).read_bytes()
        assert content.startswith(b"%PDF" if file.endswith(".pdf") else b"\x89PNG")
    assert sorted(p.name for p in written.parent.iterdir()) == ["figures", "report.html"]


def test_links_lead_somewhere_and_ids_are_unique(page):
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids


def test_the_finding_comes_before_everything_else(page):
    order = [
        page.ids.index(name) for name in ("finding", "leaderboard", "explore", "graph", "bounds", "terms")
    ]
    assert order == sorted(order)
    assert page.text.index("auto has the least mean regret in 2 of 2") < page.text.index("Leaderboard")


def test_it_says_what_was_found(page):
    for word in (
        "Two graphs",
        "auto has the least mean regret in 2 of 2 comparisons",
        "auto has a mean regret of",
        "t^0.50",
        "Certified bounds hold",
        "regret of 1,000 rounds",
        "regret of 10,000 rounds",
        "CHLZ21",
        "1.2.3",
        "abc",
        "a machine; another",
        "fractional domination δ*",
    ):
        assert word in page.text


def test_every_bound_is_in_its_table(page):
    comparison = sl.compare_bounds(sl.families.cycle(4), 10_000)
    for row in comparison.rows:
        assert row.name in page.text
        assert row.source in page.text


def test_terms_are_explained_and_formulas_typeset(page):
    for name in (
        "regret",
        "domination",
        "packing",
        "ledger",
        "realization",
        "certificate",
        "bound",
        "long-run",
    ):
        assert f"term-{name}" in page.ids
        assert f"#term-{name}" in page.links or name == "packing"  # the packing set is an analysis' fact
    assert len(page.named("math")) >= 5


def test_names_cannot_inject_anything(tmp_path):
    evil = cell(EVIL, graph=EVIL, environment=EVIL, id=EVIL)
    g = sl.FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], labels=[EVIL, "b"])
    found = results(evil, title=EVIL, provenance={EVIL: EVIL})
    plain = Page(write_report(tmp_path, results(cell()), files=False).read_text(encoding="utf-8"))
    path = write_report(tmp_path, found, {EVIL: GraphSection(g)}, files=False)
    parsed = Page(path.read_text(encoding="utf-8"))
    assert len(parsed.scripts) == len(plain.scripts)
    assert EVIL in parsed.text
    assert parsed.data["title"] == parsed.data["policies"][0]["name"] == EVIL
    assert parsed.data["graphs"][EVIL]["labels"] == [EVIL, "b"]


def test_without_files_there_is_only_the_page(tmp_path):
    path = write_report(tmp_path, results(cell()), files=False)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert [link for link in Page(path.read_text(encoding="utf-8")).links if not link.startswith("#")] == []


def test_nothing_finished_is_still_a_page(tmp_path):
    text = write_report(tmp_path, results()).read_text(encoding="utf-8")
    assert "0 comparisons" in Page(text).text
    assert "Nothing has been played to the end yet." in Page(text).text


def test_long_sweeps_draw_their_first_comparisons(tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_GROUPS_DRAWN", 1)
    cells = [cell(horizon=100 + k, plays=None) for k in range(3)]
    parsed = Page(write_report(tmp_path, results(*cells)).read_text(encoding="utf-8"))
    drawn = {link for link in parsed.links if link.endswith(".png")}
    assert len(drawn) == 3  # regret and timing of the first comparison, and growth over three horizons
    assert all(f"T = {100 + k}" in parsed.text for k in range(3))
    assert len(parsed.data["comparisons"]) == 3


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


@pytest.mark.parametrize("width", ["wide", "0", "nan", 1.0, "-3", "inf"])
def test_widths_that_are_none(tmp_path, width):
    with pytest.raises(sl.InvalidOption, match="single, double or"):
        write_report(tmp_path / "out", results(cell()), figure_width=width)
    assert not (tmp_path / "out").exists()


# -- style and scripts: whole, ours or with their licence, and in the colours of the figures -------------


def test_colours_are_those_of_the_figures():
    light = template.asset("page.css").split("@media")[0]
    for letter, colours in (("c", COLOURS), ("p", PARTS)):
        found = re.findall(rf"--{letter}(\d): (#\w{{6}})", light)
        assert [colour for _, colour in sorted(found)] == list(colours)


def test_dark_has_a_value_for_every_colour():
    light, dark = template.asset("page.css").split("@media (prefers-color-scheme: dark)")[:2]
    names = set(re.findall(r"(--[\w]+):", light))
    assert names - {"--colour"} == set(re.findall(r"(--[\w]+):", dark.split("* {")[0]))


@pytest.mark.parametrize("name", template.SCRIPTS)
def test_scripts_can_stand_in_a_page(name):
    text = template.asset(name)
    assert "</script" not in text.lower()
    assert "\r" not in text
    if name != "uplot.js":
        for word in ("eval(", "innerHTML", "insertAdjacentHTML", "document.write", "new Function", "fetch("):
            assert word not in text


def test_what_is_not_ours_has_its_licence():
    assert "v1.6.32" in template.asset("uplot.js")[:100]
    assert "MIT License" in template.asset("uplot.LICENSE")
    assert "Leon Sorokin" in template.asset("uplot.LICENSE")


def test_links_are_escaped():
    head, scripts = template.linked('"><b>')
    assert "<b>" not in head + scripts
