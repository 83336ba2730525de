"""The playground: its algorithms are those of the tests, and every control of its page works."""

import json

import numpy as np
import pytest
from axe_findings import serious
from baseline_twins import Exp3GStrong, Exp3GWeak, UcbN, matrix
from browsing import DESKTOP, PHONE, visiting
from self_tuning_twin import SelfTuning

import sidelight as sl
from sidelight.report.playground import write_playground

GRAPHS = {
    ("cycle", 7): sl.families.cycle(7),
    ("directed", 5): sl.families.cycle(5, directed=True),
    ("teams", 6): sl.families.cliques([3, 3]),
    ("revealing", 4): sl.families.revealing_action(4),
    ("star", 5): sl.families.loopy_star(5),
    ("bandit", 4): sl.families.mab(4),
    ("full", 4): sl.families.full(4),
}
PLAYS = [(*key, plan) for key in GRAPHS for plan in ("self-tuning", "Exp3.G")]
PLAYS += [("star", 5, "UCB-N"), ("bandit", 4, "UCB-N"), ("full", 4, "UCB-N")]
ROUNDS, T = 120, 400

PLAYED = """([family, n, T, plan, numbers, losses]) => {
  const graph = Sidelight.family(family, n);
  const player = new (Sidelight.PLANS.find((each) => each.name === plan).make)(graph, { T });
  const told = numbers.map((u, t) => {
    const before = [...player.probabilities];
    player.learn(Sidelight.drawn(before, u), losses[t]);
    return before;
  });
  return { told, certificate: player.certificate ?? null };
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write_playground(tmp_path_factory.mktemp("playground") / "playground.html").as_uri()


@pytest.fixture(scope="module")
def opened(browser, address):
    with visiting(browser, address) as visit:
        yield visit


@pytest.mark.parametrize(("family", "n"), GRAPHS)
def test_graphs_and_covers(opened, family, n):
    found = opened.page.evaluate("([family, n]) => Sidelight.family(family, n)", [family, n])
    graph = GRAPHS[family, n]
    A, cover = matrix(graph), np.array(found["cover"])
    assert np.array_equal(A, found["A"])
    assert found["alpha"] == sl.independence_number(graph).lower
    assert found["strong"] == (sl.observability(graph).graph == "strong")
    assert (A[found["members"]].sum(axis=0) >= 1).all()
    if cover.any():
        assert cover.sum() == pytest.approx(sl.fractional_domination(graph).value)
        assert (cover @ A >= 1 - 1e-12).all()
    else:
        assert A.diagonal().all()


@pytest.mark.parametrize(("family", "n", "plan"), PLAYS)
def test_plays_as_its_twin(opened, family, n, plan):
    """The same random numbers and losses: the same distributions to 1e-9, and the same certificate."""
    graph = GRAPHS[family, n]
    A = matrix(graph)
    rng = np.random.default_rng(n)
    numbers = rng.random(ROUNDS)
    losses = (rng.random((ROUNDS, n)) < np.linspace(0.3, 0.7, n)).astype(float)
    arguments = [family, n, T, plan, numbers.tolist(), losses.tolist()]
    found = opened.page.evaluate(PLAYED, json.loads(json.dumps(arguments)))
    about = opened.page.evaluate("([family, n]) => Sidelight.family(family, n)", [family, n])
    if plan == "self-tuning":
        twin = SelfTuning(A, np.array(about["cover"]))
    elif plan == "UCB-N":
        twin = UcbN(graph)
    elif about["strong"]:
        twin = Exp3GStrong(graph, T, alpha=about["alpha"])
    else:
        twin = Exp3GWeak(graph, T, members=about["members"])
    for u, row, told in zip(numbers, losses, found["told"], strict=True):
        expected = twin.play() if plan == "self-tuning" else twin.probabilities
        assert np.abs(expected - told).max() < 1e-9
        arm = int(np.searchsorted(np.cumsum(told), u * np.sum(told), side="right"))
        twin.learn(min(arm, n - 1), row)
    if plan == "self-tuning":
        assert found["certificate"] == pytest.approx(twin.certificate, rel=1e-9)


def test_every_control(browser, address):
    with visiting(browser, address) as visit:
        page = visit.page
        assert page.locator("#race tbody tr").count() == 3
        visit.click("#step")
        assert page.inner_text("#round") == "1"
        page.evaluate("() => { speed.value = 350; horizon.value = 500; }")
        page.dispatch_event("#speed", "input")
        page.dispatch_event("#horizon", "input")
        visit.click("#run")
        page.wait_for_selector("html[data-round='500']", state="attached")
        assert page.inner_text("#run") == "Play"
        rows = page.locator("#race tbody tr").all_inner_texts()
        assert rows[0].strip().startswith("self-tuning")
        first = rows
        visit.click("#reset")
        assert page.inner_text("#round") == "0"
        visit.click("#run")
        page.wait_for_selector("html[data-round='500']", state="attached")
        assert page.locator("#race tbody tr").all_inner_texts() == first  # the same seed, the same game
        page.fill("#seed", "5")
        visit.choose("#family", "bandit: each reveals itself")
        assert page.locator("#race tbody tr").count() == 5
        visit.choose("#watched", "UCB-N")
        page.evaluate("() => { gap.value = 45; arms.value = 5; }")
        page.dispatch_event("#gap", "input")
        page.dispatch_event("#arms", "input")
        assert page.inner_text("#gap-shown") == "0.45"
        visit.click("#step")
        page.focus("#graph-canvas")
        page.keyboard.press("ArrowRight")
        assert "UCB-N plays it next" in page.inner_text("#arm-readout")
        for control in ("#log-x", "#log-y"):
            visit.click(control)
            visit.click(control)
        with page.expect_download() as download:
            visit.click("#csv")
        assert download.value.path().read_text().startswith("policy,round,mean")
        for name in ("teams of three: members reveal the others", "full feedback: each reveals all"):
            visit.choose("#family", name)
            visit.click("#step")
        assert visit.errors == []


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "dark"), (PHONE, "light")], ids=["desktop", "phone"]
)
def test_accessible(browser, address, axe, viewport, scheme):
    with visiting(browser, address, viewport, scheme) as visit:
        visit.click("#step")
        visit.settle()
        assert visit.page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
        assert serious(visit, axe) == []
        assert visit.errors == []
