"""What a stranger is asked to do with a page they have never seen, and how many clicks it takes."""

from sidelight.report.text import number


def shown(visit, selector):
    return " ".join(visit.page.inner_text(selector).split())


def test_the_best_policy_on_a_graph_at_a_horizon(visit):
    """Find the best policy on cycle:9 at T = 10⁵: the leaderboard says so, without a click."""
    line = visit.page.locator("#leaderboard tbody tr", has_text="cycle:9").filter(has_text="100,000").first
    best = line.locator("td.best")
    column = best.evaluate("(cell) => cell.cellIndex")
    assert visit.page.locator("#leaderboard thead th").nth(column).inner_text().strip() == "auto"
    assert visit.clicks == 0


def test_the_regret_of_one_seed_at_a_round(visit, studied):
    """Read the regret of seed 3 of ftl at t = 10⁴ (cycle:6, gap:0.2, T = 10⁵)."""
    visit.choose("#choose-horizon", "100,000")
    visit.page.locator("#round-number").fill("10000")
    visit.page.locator("#round-number").press("Enter")
    visit.clicks += 1
    visit.page.locator("#readout tbody tr", has_text="ftl").hover()
    visit.settle()
    assert shown(visit, "#seeds-title") == "Seeds of ftl"
    one = next(
        c for c in studied[0].cells
        if (c.policy, c.graph, c.environment, c.horizon) == ("ftl", "cycle:6", "gap:0.2", 100_000)
    )  # fmt: skip
    at = abs(one.checkpoints / 10_000 - 1).argmin()
    assert shown(visit, "#round-shown") == f"{one.checkpoints[at]:,}"
    assert visit.page.locator("#seeds tbody tr").nth(3).inner_text().split() == [
        "3",
        number(one.regret[3, at]),
    ]
    assert visit.clicks == 3


def test_a_table_for_a_paper(visit):
    """Export the leaderboard as LaTeX."""
    visit.click("#copy-latex")
    visit.page.locator("#copied", has_text="Copied.").wait_for()
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[2].startswith(r"\begin{tabular}")
    assert copied.count(r"\mathbf") == 24
    assert visit.clicks == 1


def test_what_the_symbol_means(visit):
    """Explain δ*: what is it, and what is it on this graph?"""
    visit.click("a.term:visible:has-text('δ*')")
    said = shown(visit, "#term-popover")
    assert "least total exploration" in said
    assert visit.page.locator("#term-popover math").count() == 2
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator("#term-popover").is_visible()
    facts = visit.page.locator(".graph-facts:visible .facts")
    assert "3 (exact)" in " ".join(facts.inner_text().split())
    assert visit.clicks == 1
