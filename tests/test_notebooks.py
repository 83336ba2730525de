"""What notebooks show: well-formed, small, without script, what comes from outside escaped; bars that go away."""

import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import sidelight as sl
from sidelight import _html, _progress
from sidelight.graph.sketch import MOST_ARMS, sketch

NASTY = "<script>alert(1)</script>\"'&"
VOID = {"rect", "line", "circle", "polyline", "polygon"}
MOST_BYTES = 40_000


class Checked(HTMLParser):
    """Every tag closed, none that runs or loads anything, no identifiers."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        names = {name for name, _ in attributes}
        assert tag not in ("script", "style", "link", "iframe", "img")
        assert not any(name.startswith("on") for name in names)
        assert names.isdisjoint({"id", "class", "href", "src"})
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def shown(thing):
    html = thing._repr_html_()
    assert len(html) < MOST_BYTES
    return Checked(html)


@pytest.fixture(scope="module")
def graph():
    return sl.FeedbackGraph.from_edges(
        3, [(0, 0), (0, 1), (1, 2), (2, 1), (2, 0)], labels=[NASTY, "tea", "milk"]
    )


def test_a_graph_is_drawn_and_described(graph):
    page = shown(graph)
    assert "3 arms, 5 edges" in page.text
    assert NASTY in page.text  # as text
    assert page.seen.count("circle") == 3 + 1  # one arm reveals itself
    assert page.seen.count("polygon") == 2  # 0 → 1 and 2 → 0; 1 and 2 reveal each other, which has no point


def test_large_graphs_are_described_only():
    assert sketch(sl.families.cycle(MOST_ARMS)) != ""
    assert sketch(sl.families.cycle(MOST_ARMS + 1)) == ""
    assert "1,000,000 arms" in shown(sl.families.full(10**6)).text


def test_plans_and_bounds(graph):
    plan = sl.plan(graph, 10_000)
    assert f"{plan.bound.value:,.1f}" in shown(plan).text
    assert f"{len(plan.details.considered)} considered" in shown(plan).text
    page = shown(plan.bound)
    for name, value in plan.bound.terms.items():
        assert name in page.text
        assert f"{value:,.2f}" in page.text
    endless = sl.plan(graph)
    assert "any number of rounds" in shown(endless).text
    assert f"{endless.bound_at(10**6).value:,.1f}" in shown(endless.curve).text


def test_a_bound_that_does_not_hold_says_so():
    bound = sl.plan("cycle:64", 100, realization="clustered").bound
    assert not bound.certified
    assert "not certified: valid from" in shown(bound).text
    assert "vacuous" in shown(bound).text
    assert "FAILS" in shown(bound).text


def test_comparisons(graph):
    found = sl.compare_bounds(graph, 1000)
    page = shown(found)
    for row in found.rows:
        assert row.name in page.text


def test_policies(graph):
    policy = sl.plan(graph, 1000).policy(seed=1, rewards=(0, 25))
    decision = policy.decide()
    page = shown(policy)
    assert NASTY in page.text
    assert "rewards in [0, 25]" in page.text
    assert "open decisions 1" in page.text
    policy.observe(decision, np.full(decision.reveals.size, 3.0))
    assert f"{policy.certificate().value:,.2f}" in shown(policy).text
    assert "in expectation" in shown(policy.certificate()).text.lower()
    assert "90 others" in shown(sl.plan("cycle:100").policy(1)).text


def test_runs_and_results(graph):
    run = sl.simulate(sl.plan(graph, 300), "gap", seeds=3)
    page = shown(run)
    assert page.seen.count("polyline") == 1
    assert "3 seeds of 300 rounds" in page.text
    results = sl.compare(graph, {NASTY: "auto", "hedge": "hedge", "uniform": "uniform"}, "gap", 300, 2)
    page = shown(results)
    assert NASTY in page.text
    assert page.seen.count("polyline") == len(results.cells) == 2
    assert "1 cell without numbers" in page.text
    shown(sl.Results(()))


def test_an_interrupted_run(graph):
    from dataclasses import replace

    run = sl.simulate(sl.plan(graph, 300), "gap", seeds=2)
    cost, regret = run.cost.copy(), run.regret.copy()
    cost[:, 3:] = regret[:, 3:] = np.nan
    assert "run.resume()" in shown(replace(run, cost=cost, regret=regret)).text
    nothing = np.full_like(cost, np.nan)
    assert "interrupted" in shown(replace(run, cost=nothing, regret=nothing, certificate=nothing)).text


def test_prompts_show_no_dumps(graph):
    plan = sl.plan(graph, 1000)
    things = [
        plan.bound, sl.plan(graph).curve, plan.policy(1).certificate(), sl.compare_bounds(graph, 100).best,
        sl.environments.gap(4), sl.environments.matrix(np.zeros((50, 3))),
        sl.Spec.from_dict(
            {"policies": ["auto"], "graphs": ["mab:3"], "environments": ["gap"], "horizons": [9], "seeds": 2}
        ),
    ]  # fmt: skip
    for thing in things:
        assert len(repr(thing)) < 250, repr(thing)
        assert "array" not in repr(thing)
        assert repr(thing).startswith(f"{type(thing).__name__}(")


def test_curves_that_cannot_be_drawn():
    assert _html.curves([("a", [1, 2], [0.0, -1.0])], "nothing") == ""
    assert "polyline" in _html.curves([("a", [1, 1], [2.0, 2.0])], "a point")


# -- bars ------------------------------------------------------------------------------------------------------


@pytest.fixture
def notebook(monkeypatch):
    """A notebook that remembers what it showed."""
    messages = []

    class Handle:
        def update(self, content, raw):
            messages.append(content)

    def display(content, raw, display_id):
        messages.append(content)
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: shell
    fake.display = types.ModuleType("IPython.display")
    fake.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    monkeypatch.setattr(_progress, "REDRAWN_SECONDS", 0.0)
    return messages


def test_a_bar_in_a_notebook_leaves_nothing_behind(notebook, capsys):
    with _progress.Progress(f"playing {NASTY}", 10) as bar:
        bar.update(0)
        bar.update(5, "5 of 10")
    assert [Checked(message["text/html"]).text.strip() != "" for message in notebook] == [
        False,
        True,
        True,
        False,
    ]
    assert "width:50%" in notebook[2]["text/html"]
    assert "5 of 10" in notebook[2]["text/html"]
    assert all(message["text/plain"] == "" for message in notebook)
    assert capsys.readouterr() == ("", "")


def test_short_work_and_unwanted_bars_show_nothing(notebook):
    with _progress.Progress("playing", 10, after=100.0) as bar:
        bar.update(5)
    with _progress.Progress("playing", 10, wanted=False) as bar:
        bar.update(5)
    assert notebook == []


def test_simulations_show_theirs(notebook, monkeypatch):
    module = sys.modules[sl.simulate.__module__]
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.0)
    sl.simulate(sl.plan("cycle:5", 2000), "gap", seeds=2)
    assert notebook == [] or notebook[-1]["text/html"] == ""
