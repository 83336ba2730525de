"""The page in a real browser: every control does what it says, and nothing goes wrong."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from browsing import DESKTOP, PHONE, visiting
from finished_cells import cell, curve_cell, results

import sidelight as sl
from sidelight.report.page import write_report
from sidelight.report.section import GraphSection
from sidelight.report.text import number

EVERYWHERE = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
IN_ANY_LIGHT = pytest.mark.parametrize(
    ("viewport", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.full),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.full),
    ],
)


def text(visit, selector):
    return " ".join(visit.page.inner_text(selector).split())


def box(visit, selector):
    return visit.page.locator(selector).bounding_box()


def downloaded(visit, selector):
    with visit.page.expect_download() as waiting:
        visit.page.click(selector)
    content = waiting.value.path().read_text(encoding="utf-8")
    return waiting.value.suggested_filename, list(csv.DictReader(io.StringIO(content)))


# -- what is where ----------------------------------------------------------------------------------------


@IN_ANY_LIGHT
def test_the_finding_and_the_first_result_are_on_the_first_screen(browser, report, viewport, scheme):
    with visiting(browser, report.as_uri(), viewport, scheme) as visit:
        finding = box(visit, ".finding")
        row = box(visit, "#leaderboard tbody tr:first-child")
        assert finding["y"] < row["y"] < viewport["height"] - 30
        overflow = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
        assert visit.page.evaluate(overflow) <= 0
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, re.findall(r"\d+", paper)[:3])) / 3
        assert light > 200 if scheme == "light" else light < 60
        assert visit.errors == []


OUTLINE = """() => [...document.querySelectorAll(
    "nav, main, h1, h2, h3, article, figure, table, button, select, input, canvas")]
  .filter((e) => e.checkVisibility())
  .map((e) => {
    const said = e.getAttribute("aria-label") || (e.labels && e.labels[0] && e.labels[0].innerText)
      || (e.matches("h1, h2, h3, button") ? e.innerText : "") || e.id;
    return `${e.tagName.toLowerCase()} ${said.split("\\n")[0].trim()}`;
  })"""


def test_the_structure_is_the_same_in_every_light_and_nearly_so_on_a_phone(browser, report):
    found = []
    for viewport, scheme in ((DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")):
        with visiting(browser, report.as_uri(), viewport, scheme) as visit:
            found.append(visit.page.evaluate(OUTLINE))
    light, dark, phone = found
    assert light == dark == phone
    headings = [line for line in light if line.startswith(("h1", "h2", "h3"))]
    assert headings[:4] == [
        "h1 Four graphs",
        "h2 Leaderboard",
        "h2 Explore",
        "h3 cycle:6, gap:0.2, T = 1,000",
    ]
    assert [line for line in headings if line.startswith("h2")] == [
        f"h2 {name}"
        for name in ("Leaderboard", "Explore", "Graph", "Growth", "Bounds", "Terms", "Provenance")
    ]


@EVERYWHERE
def test_panels_do_not_lie_over_each_other(browser, report, viewport):
    with visiting(browser, report.as_uri(), viewport) as visit:
        boxes = visit.page.evaluate(
            "() => [...document.querySelectorAll('.panel')].map((e) => { const b = e.getBoundingClientRect();"
            " return [b.left, b.top, b.right, b.bottom]; })"
        )
        assert len(boxes) == 8
        for k, one in enumerate(boxes):
            assert one[0] >= 0
            assert one[2] <= viewport["width"] + 1
            for other in boxes[k + 1 :]:
                apart = (
                    one[2] <= other[0] + 1
                    or other[2] <= one[0] + 1
                    or one[3] <= other[1] + 1
                    or other[3] <= one[1] + 1
                )
                assert apart, (one, other)


# -- every control ----------------------------------------------------------------------------------------


@EVERYWHERE
def test_every_control_can_be_used_and_nothing_goes_wrong(browser, report, viewport):
    with visiting(browser, report.as_uri(), viewport) as visit:
        page = visit.page
        buttons = page.locator("main button:visible").all()
        assert len(buttons) > 25
        for button in buttons:
            button.click()
        for select in page.locator("main select:visible").all():
            for value in select.evaluate("(s) => [...s.options].map((o) => o.value)")[-3:]:
                select.select_option(value)
        for hide in page.locator("#readout input").all():
            hide.click()
        page.locator("#round-slider").fill("3")
        page.locator("#round-number").fill("500")
        page.locator("#graph-arm").fill("2")
        page.locator("#graph-arm").press("Enter")
        page.locator("summary:visible").first.click()
        for href in sorted(set(page.eval_on_selector_all("a.term", "(all) => all.map((a) => a.hash)"))):
            page.locator(f"a.term[href='{href}']:visible").first.click()
            assert page.locator("#term-popover").is_visible()
            page.keyboard.press("Escape")
        for link in (*page.locator("nav a").all(), page.locator("#leaderboard tbody a").nth(3)):
            link.click()
        visit.settle()
        assert visit.errors == []


def test_a_line_of_the_leaderboard_leads_to_its_comparison(visit):
    visit.page.click("#leaderboard tbody tr:nth-child(8) a")
    visit.settle()
    assert text(visit, "article.comparison:visible h3") == "cycle:9, gap:0.2, T = 10,000"
    assert visit.page.eval_on_selector("#choose-graph", "(s) => s.value") == "cycle:9"
    assert visit.page.text_content(".bounds:visible h3") == "cycle:9: regret of 10,000 rounds"
    assert text(visit, ".graph-facts:visible h3") == "cycle:9"
    assert visit.page.eval_on_selector("#graph-choose", "(s) => s.value") == "cycle:9"


def test_choosing_keeps_what_can_be_kept(visit):
    visit.page.select_option("#choose-horizon", "100000")
    visit.page.select_option("#choose-graph", "teams:3x3")
    visit.page.select_option("#choose-environment", "switching")
    assert text(visit, "article.comparison:visible h3") == "teams:3x3, switching, T = 100,000"
    assert visit.page.evaluate("location.hash") == "#comparison-24"


def test_the_round_is_followed_by_everything(visit, studied):
    found, _ = studied
    visit.page.select_option("#choose-horizon", "10000")
    visit.page.fill("#round-number", "1000")
    visit.page.press("#round-number", "Enter")
    visit.settle()
    one = next(c for c in found.cells if c.horizon == 10_000 and c.policy == "auto" and c.graph == "cycle:6")
    at = abs(one.checkpoints - 1000).argmin()
    shown = f"{one.checkpoints[at]:,}"
    assert text(visit, "#round-shown") == text(visit, "#ledger-round") == shown
    for other in found.cells:
        if (other.horizon, other.graph, other.environment) == (10_000, "cycle:6", "gap:0.2"):
            values = (
                visit.page.locator("#readout tbody tr", has_text=other.policy).locator("td").all_inner_texts()
            )
            assert values[0] == number(other.mean[at])
    row = visit.page.locator("#readout tbody tr", has_text="auto")
    assert row.locator("td").nth(0).inner_text() == number(one.mean[at])
    parts = visit.page.locator("#ledger tbody tr", has_text="auto").locator("td.n").all_inner_texts()
    assert parts[:4] == [number(part) for part in one.ledger[:, at].mean(axis=0)]
    row.locator("button").click()
    visit.settle()
    assert text(visit, "#seeds-title") == "Seeds of auto"
    seeds = visit.page.locator("#seeds tbody tr").all_inner_texts()
    assert [line.split() for line in seeds] == [
        [str(seed), number(value)] for seed, value in zip(one.seeds, one.regret[:, at], strict=True)
    ]
    before = shown
    visit.page.focus("#regret-plot")
    visit.page.keyboard.press("ArrowRight")
    visit.settle()
    assert text(visit, "#round-shown") != before


def plays_shown(visit, policy):
    """What the panel says about a policy, and the pixels of its strip."""
    row = visit.page.locator("#plays tbody tr", has_text=policy)
    picture = row.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")
    return row.locator("td").nth(1).inner_text(), picture


def arms_played_most(counts):
    first = np.argsort(-counts, kind="stable")[:3]
    return ", ".join(f"{arm} {percent(counts[arm] / counts.sum())}" for arm in first)


def percent(share):
    """The same as `S.percent`."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{float(f'{100 * share:.2g}'):g} %"


@EVERYWHERE
def test_plays_follow_the_round(browser, report, studied, viewport):
    one = next(c for c in studied[0].cells if (c.horizon, c.policy, c.graph) == (10_000, "auto", "cycle:6"))
    with visiting(browser, report.as_uri(), viewport) as visit:
        page = visit.page
        page.select_option("#choose-horizon", "10000")
        page.select_option("#graph-colour", "plays:auto")
        page.fill("#graph-arm", "2")
        page.press("#graph-arm", "Enter")
        visit.settle()
        graph = "Sidelight.explorer.graph.base.toDataURL()"
        assert (
            text(visit, "#plays-round") == text(visit, "#ledger-round") == "10,000"
        )  # no round is chosen: the end
        end = plays_shown(visit, "auto")
        assert end[0] == arms_played_most(one.plays)
        assert "up to round 10,000" in text(visit, "#graph-legend")
        coloured = page.evaluate(graph)
        share = page.locator("#graph-readout dd").nth(
            page.locator("#graph-readout dt").all_inner_texts().index("plays of auto")
        )
        assert share.inner_text() == percent(one.plays[2] / one.plays.sum())
        # the slider of the curves: everything follows
        at = len(one.checkpoints) // 2
        page.locator("#round-slider").fill(str(at))
        visit.settle()
        shown, counts = f"{one.checkpoints[at]:,}", one.plays_over.counts[at]
        assert text(visit, "#plays-round") == text(visit, "#ledger-round") == shown
        middle = plays_shown(visit, "auto")
        assert middle[0] == arms_played_most(counts)
        assert middle[1] != end[1]
        assert f"up to round {shown}," in text(visit, "#graph-legend")
        assert text(visit, "#graph-round") == shown
        assert page.evaluate(graph) != coloured
        assert share.inner_text() == percent(counts[2] / counts.sum())
        # the slider of the graph is the same one
        page.locator("#graph-slider").fill(str(len(one.checkpoints) - 1))
        visit.settle()
        assert text(visit, "#plays-round") == text(visit, "#round-shown") == "10,000"
        assert plays_shown(visit, "auto") == end
        assert page.evaluate(graph) == coloured
        assert page.locator("#graph-rounds").is_visible()
        page.select_option("#graph-colour", "none")
        assert not page.locator("#graph-rounds").is_visible()
        assert visit.errors == []


def test_rows_of_plays_stay_where_they_are_while_the_round_moves(browser, tmp_path):
    """Arms with labels stand below each other, share first; where few were played there are as many lines."""
    graph = sl.families.parse("teams:3x3")
    one = curve_cell("auto", graph="teams:3x3", arms=9)
    counts = one.plays_over.counts.copy()
    counts[0] = np.arange(9) == 4
    cells = [replace(one, plays_over=one.plays_over._replace(counts=counts))]
    path = write_report(tmp_path, results(*cells), {"teams:3x3": GraphSection(graph)}, files=False)
    with visiting(browser, path.as_uri()) as visit:
        before = box(visit, "#plays tbody tr")["height"]
        best = int(one.plays.argmax())
        first = visit.page.locator("#plays .most span:not(:empty)").first
        assert (
            first.inner_text()
            == f"{percent(one.plays[best] / one.plays.sum())}: {best} ({graph.labels[best]})"
        )
        visit.page.locator("#round-slider").fill("0")
        visit.settle()
        assert visit.page.locator("#plays .most").inner_text().strip() == f"100 %: 4 ({graph.labels[4]})"
        assert box(visit, "#plays tbody tr")["height"] == before
        assert visit.errors == []


def test_plays_of_older_results_say_which_round_they_are_of(browser, tmp_path):
    """Policies that were added to a folder of an earlier version: the older ones know their end alone."""
    new, old = curve_cell("new", arms=3), replace(curve_cell("old", arms=3), plays_over=None)
    path = write_report(
        tmp_path, results(new, old), {"cycle:4": GraphSection(sl.families.cycle(3))}, files=False
    )
    with visiting(browser, path.as_uri()) as visit:
        visit.page.locator("#round-slider").fill("20")
        visit.settle()
        shown = f"{new.checkpoints[20]:,}"
        assert text(visit, "#plays-round") == shown
        assert plays_shown(visit, "new")[0] == arms_played_most(new.plays_over.counts[20])
        assert plays_shown(visit, "old")[0] == f"up to round 10,000: {arms_played_most(old.plays)}"
        visit.page.select_option("#graph-colour", "plays:old")
        visit.settle()
        assert "up to round 10,000," in text(visit, "#graph-legend")
        assert visit.errors == []


def test_the_pointer_shows_values_and_seeds_and_drags_a_zoom(visit):
    visit.page.select_option("#choose-horizon", "10000")
    visit.page.locator("#regret-plot").scroll_into_view_if_needed()
    over = box(visit, "#regret-plot .u-over")
    before = text(visit, "#round-shown")
    visit.page.mouse.move(over["x"] + 0.5 * over["width"], over["y"] + 0.5 * over["height"])
    visit.settle()
    assert text(visit, "#round-shown") != before
    scale = "() => { const { min, max } = Sidelight.explorer.chart.plot.scales.x; return [min, max]; }"
    whole = visit.page.evaluate(scale)
    visit.page.mouse.down()
    visit.page.mouse.move(over["x"] + 0.7 * over["width"], over["y"] + 0.52 * over["height"], steps=4)
    visit.page.mouse.up()
    visit.settle()
    part = visit.page.evaluate(scale)
    assert whole[0] < part[0] < part[1] < whole[1]
    visit.page.click("#zoom-reset")
    assert visit.page.evaluate(scale) == whole
    visit.page.click("#zoom-in")
    assert visit.page.evaluate(scale) != whole
    visit.page.click("#zoom-out")
    assert visit.page.evaluate(scale) == pytest.approx(whole)


def test_scales_bands_bounds_and_certificates(visit):
    chart = "Sidelight.explorer.chart"
    top = visit.page.evaluate(f"{chart}.plot.scales.y.max")
    visit.page.click("#show-bounds")
    assert visit.page.evaluate(f"{chart}.plot.scales.y.max") < top
    visit.page.click("#log-y")
    assert visit.page.evaluate(f"{chart}.plot.scales.y.distr") == 1
    assert visit.page.evaluate(f"{chart}.plot.scales.y.min") == 0
    visit.page.click("#log-x")
    assert visit.page.evaluate(f"{chart}.plot.scales.x.distr") == 1
    series = visit.page.evaluate(f"{chart}.plot.series.length")
    visit.page.click("#show-certificates")
    assert visit.page.evaluate(f"{chart}.plot.series.length") == series + 3
    assert visit.page.get_attribute("#show-certificates", "aria-pressed") == "true"


def test_policies_are_hidden_and_pinned(visit):
    shown = "Sidelight.explorer.chart.plot.series.slice(1).map((s) => s.show)"
    assert visit.page.evaluate(shown) == [True] * 4
    visit.page.locator("#readout tbody tr", has_text="uniform").locator("input").click()
    assert visit.page.evaluate(shown) == [True, True, True, False]
    visit.page.locator("#readout tbody tr", has_text="ftl").locator("button").click()
    visit.page.click("#show-pinned")
    assert visit.page.evaluate(shown) == [False, False, True, False]
    visit.page.select_option("#choose-graph", "cycle:9")  # what is hidden stays hidden
    visit.settle()
    assert visit.page.evaluate(shown) == [False, False, True, False]
    visit.page.click("#show-all")
    assert visit.page.evaluate(shown) == [True] * 4


def test_files_hold_the_numbers_of_the_results(visit, studied):
    found, sections = studied
    visit.page.select_option("#choose-horizon", "10000")
    own = {
        c.policy: c
        for c in found.cells
        if (c.horizon, c.graph, c.environment) == (10_000, "cycle:6", "gap:0.2")
    }
    name, rows = downloaded(visit, "#regret-csv")
    assert name == "regret-cycle-6-gap-0.2-10000.csv"
    assert len(rows) == sum(len(c.checkpoints) for c in own.values())
    last = [row for row in rows if row["policy"] == "auto"][-1]
    assert float(last["mean"]) == pytest.approx(own["auto"].mean[-1], rel=1e-6)
    assert float(last["seed_3"]) == pytest.approx(own["auto"].regret[3, -1], rel=1e-6)
    _, rows = downloaded(visit, "#ledger-csv")
    assert float(rows[0]["local_exploration"]) == pytest.approx(
        own["self_tuning"].ledger[:, 0, 3].mean(), rel=1e-6
    )
    _, rows = downloaded(visit, "#plays-csv")
    assert sum(float(row["share"]) for row in rows if row["round"] == "10000") == pytest.approx(4)
    first, before = own["auto"].checkpoints[0], own["auto"].plays_over.counts[0]
    shares = [float(row["share"]) for row in rows if (row["policy"], row["round"]) == ("auto", str(first))]
    assert shares == pytest.approx((before / before.sum()).tolist(), rel=2e-4)
    _, rows = downloaded(visit, "#promises-csv")
    assert [row["bound_is"] for row in rows] == ["holds", "holds", "conditions fail", "none"]
    _, rows = downloaded(visit, "#growth-csv")
    assert [row["T"] for row in rows[:3]] == ["1000", "10000", "100000"]
    _, rows = downloaded(visit, "#graph-csv")
    assert [row["reveals"] for row in rows] == [
        " ".join(map(str, sections["cycle:6"].graph.out_neighbors(k))) for k in range(6)
    ]
    _, rows = downloaded(visit, "#table-csv")
    assert len(rows) == len(found.cells)
    assert {row["policy"] for row in rows} == set(own)


def test_growth_with_rounds_and_arms(visit):
    assert "T^0.45" in text(visit, "#growth-table tbody tr:first-child")
    visit.page.select_option("#growth-choose", label="with N: cycle:N, switching, T = 10,000")
    assert text(visit, "#growth-table thead") == "policy N = 6 N = 9 N = 12 grows as"


# -- the graph --------------------------------------------------------------------------------------------


def test_pointing_at_an_arm_says_what_it_reveals(visit, studied):
    graph = studied[1]["teams:3x3"].graph
    visit.page.select_option("#graph-choose", "teams:3x3")
    visit.page.locator("#graph-canvas").scroll_into_view_if_needed()
    visit.settle()
    place = visit.page.evaluate("""() => {
      const g = Sidelight.explorer.graph;
      return [g.x[4] * g.unit + g.place[0], g.y[4] * g.unit + g.place[1]];
    }""")
    over = box(visit, "#graph-canvas")
    visit.page.mouse.move(over["x"] + place[0], over["y"] + place[1])
    visit.settle()
    assert text(visit, "#graph-arm-title") == f"Arm 4 {graph.labels[4]}"
    facts = dict(
        zip(
            *(visit.page.locator(f"#graph-readout {tag}").all_inner_texts() for tag in ("dt", "dd")),
            strict=True,
        )
    )
    for name, arms in (("reveals", graph.out_neighbors(4)), ("is revealed by", graph.in_neighbors(4))):
        assert facts[name] == f"{len(arms)}: {', '.join(f'{arm} {graph.labels[arm]}' for arm in arms)}"
    visit.page.mouse.move(over["x"] + 2, over["y"] + 2)
    visit.page.focus("#graph-canvas")
    for key, shown in (
        ("ArrowRight", "Arm 0"),
        ("ArrowLeft", "Arm 8"),
        ("+", "Arm 8"),
        ("Escape", "No arm chosen"),
    ):
        visit.page.keyboard.press(key)
        visit.settle()
        assert text(visit, "#graph-arm-title").startswith(shown)


def test_ten_thousand_arms(browser, tmp_path):
    graph = sl.families.parse("cliques:1000x10")
    section = GraphSection(graph)
    path = write_report(
        tmp_path, results(curve_cell(graph="many", arms=10_000)), {"many": section}, files=False
    )
    with visiting(browser, path.as_uri()) as visit:
        visit.page.fill("#graph-arm", "4321")
        visit.page.press("#graph-arm", "Enter")
        visit.settle()
        assert text(visit, "#graph-arm-title") == "Arm 4321"
        shown = text(visit, "#graph-readout")
        assert ", ".join(map(str, graph.out_neighbors(4321))) in shown
        assert visit.page.evaluate("Sidelight.explorer.graph.data !== null")
        assert visit.errors == []
    assert path.stat().st_size < 1_500_000


# -- where and how it is opened ---------------------------------------------------------------------------


def test_without_scripts_the_tables_remain(browser, report):
    with visiting(browser, report.as_uri(), ready=False, java_script_enabled=False) as visit:
        page = visit.page
        assert page.locator("#leaderboard tbody tr").count() == 24
        assert page.locator("article.comparison:visible").count() == 24
        assert page.locator(".comparison-table:visible").count() == 24
        assert page.locator("main button:visible").count() == 0
        assert "drawn by a script" in page.inner_text("noscript")


def test_paper(browser, report):
    with visiting(browser, report.as_uri(), scheme="dark") as visit:
        visit.page.emulate_media(media="print", color_scheme="light")
        visit.settle()
        assert visit.page.locator("nav.bar:visible, .tools:visible").count() == 0
        assert visit.page.pdf().startswith(b"%PDF")
        assert visit.errors == []


@pytest.mark.parametrize(
    "cells",
    [
        (),
        (cell(final=[3.0]),),
        (cell("a", final=[0.0, 0.0]), cell("b", final=[-1.0, -2.0])),
        (cell("a"), cell("b", checkpoints=[50, 100])),
        (cell("one round", horizon=1, checkpoints=[1], regret=[[0.5]], cost=[[0.5]]),),
    ],
    ids=["nothing", "one seed", "no loss", "two grids", "one round"],
)
def test_odd_results(browser, tmp_path, cells):
    cells = [
        replace(one, **{name: np.asarray(getattr(one, name)) for name in ("checkpoints", "regret", "cost")})
        for one in cells
    ]
    path = write_report(tmp_path, results(*cells), files=False)
    with visiting(browser, path.as_uri()) as visit:
        for button in ("#log-y", "#log-x", "#show-bounds", "#show-bands", "#zoom-in", "#zoom-reset"):
            if cells:
                visit.page.click(button)
        visit.settle()
        assert visit.errors == []


def test_a_long_sweep_has_tables_where_it_has_no_curves(browser, tmp_path, monkeypatch):
    from sidelight.report import data

    monkeypatch.setattr(data, "MOST_CURVE_NUMBERS", 300)
    cells = [curve_cell(graph=f"mab:{k}", ledger=None) for k in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)]
    path = write_report(tmp_path, results(*cells), files=False)
    with visiting(browser, path.as_uri()) as visit:
        assert visit.page.locator("#panels").is_visible()
        visit.page.select_option("#choose-graph", "mab:11")
        visit.settle()
        assert not visit.page.locator("#panels").is_visible()
        assert visit.page.locator(".comparison-table:visible").count() == 1
        visit.page.select_option("#choose-graph", "mab:2")
        visit.settle()
        assert visit.page.locator("#panels").is_visible()
        assert visit.errors == []
