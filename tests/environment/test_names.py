"""Environments written as text."""

import sys

import numpy as np
import pytest
from dozen import every_case
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.environment.names import parse, usages

env = sl.environments
CYCLE = sl.families.cycle(6)
OWN = """
import numba
import sidelight as sl

def plain(t, arm):
    return (t + arm) % 2

@numba.njit
def quick(t, arm):
    return (t + arm) % 3 / 2

ready = sl.environments.gap(6, best=5)

def make(graph, horizon):
    return sl.environments.gap(graph.n_arms, best=horizon % graph.n_arms)

def broken(graph, horizon):
    raise RuntimeError("no luck")

number = 7
"""


def same(one, other, horizon=40):
    for t in range(horizon):
        assert_array_equal(one.losses(2, t, np.arange(6)), other.losses(2, t, np.arange(6)))
        assert [one.costs(2, t, a) for a in range(6)] == [other.costs(2, t, a) for a in range(6)]


@every_case
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("bernoulli:0.5,0.4,0.3,0.6,0.7,1", env.bernoulli([0.5, 0.4, 0.3, 0.6, 0.7, 1])),
        ("bernoulli", env.bernoulli(np.linspace(0.3, 0.7, 6))),
        ("gap", env.gap(6, best=3)),
        ("gap:0.1,5", env.gap(6, best=5, gap=0.1)),
        ("bounded", env.bounded([0.5, 0.5, 0.5, 0.3, 0.5, 0.5], 0.25)),
        ("bounded:0.1,0.2,0", env.bounded([0.4, 0.5, 0.5, 0.5, 0.5, 0.5], 0.2)),
        ("switching:10,0.3", env.switching(6, 10, gap=0.3)),
        ("switching", env.switching(6, 100, gap=0.2)),
        ("drifting:7", env.drifting(6, 7)),
        ("drifting:500,0.4", env.drifting(6, 500, arms=[0, 3, 3, 2, 3, 3], gap=0.4)),
        ("packing:0.25", env.packing(6, sl.packing_independent_set(CYCLE), gap=0.25)),
        ("packing", env.hard_packing(6, sl.packing_independent_set(CYCLE), 1000)),
        ("hard", env.hard(CYCLE, 1000)),
        ("hard:4", env.hard(CYCLE, 1000, seed=4)),
        ("opposed", env.opposed([0.5, 0.5, 0.5, 0.3, 0.5, 0.5], CYCLE)),
        ("Opposed: 0.1, 1", env.opposed([0.5, 0.4, 0.5, 0.5, 0.5, 0.5], CYCLE)),
    ],
)
def test_specs(spec, expected):
    found = parse(spec, CYCLE, 1000)
    assert type(found) is type(expected)
    same(found, expected)


def test_recorded_losses(tmp_path, monkeypatch):
    losses = np.random.default_rng(0).random((50, 6))
    np.save(tmp_path / "l.npy", losses)
    assert_array_equal(parse(f"replay:{tmp_path / 'l.npy'}", CYCLE, 30).table, losses[:30])
    assert parse(f"replay:{tmp_path / 'l.npy'},repeat", CYCLE, 99).repeat
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses" / "shop.json").write_text('{"form": "series"}')
    (tmp_path / "losses" / "shop.csv").write_text("date,tea,pie\nx,5,1\nx,2,0\n")
    monkeypatch.setenv("SIDELIGHT_DATA", str(tmp_path))
    tea = parse("dataset:shop,tea,repeat", CYCLE, 99)
    assert tea.repeat
    assert_array_equal(tea.table, env.newsvendor([5, 2], range(6)).table)
    few = parse("dataset:shop,tea", sl.families.newsvendor(3), 2)  # as many orders as the graph has arms
    assert_array_equal(few.table, env.newsvendor([5, 2], [0, 2.5, 5]).table)
    with pytest.raises(sl.InvalidOption, match=r"l\.npy.*6 arms.*4"):
        parse(f"replay:{tmp_path / 'l.npy'}", sl.families.cycle(4), 30)


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "my_losses.py").write_text(OWN)
    (tmp_path / "wrong_syntax.py").write_text("def f(:\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("my_losses", "wrong_syntax", "leaves"):
        sys.modules.pop(name, None)


def test_ones_own(own):
    file = own / "my_losses.py"
    for place in ("python:my_losses.", f"{file}:"):
        assert parse(f"{place}plain", CYCLE, 1000).losses(0, 3, [0, 1]).tolist() == [1, 0]
        assert parse(f"{place}quick", CYCLE, 1000).world is not None
        assert parse(f"{place}ready", CYCLE, 1000).best_arm(10) == 5
        assert parse(f"{place}make", CYCLE, 1000).best_arm(10) == 1000 % 6
    with pytest.raises(sl.InvalidOption, match=r"6 arms.*9"):
        parse("python:my_losses.ready", sl.families.cycle(9), 10)


@every_case
@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("python:my_losses.absent", "absent.*plain"),
        ("python:my_losses.number", "number.*int"),
        ("python:my_losses.broken", "RuntimeError: no luck"),
        ("python:no_such_module.f", "no_such_module"),
        ("python:wrong_syntax.f", "SyntaxError"),
        ("python:leaves.f", "SystemExit"),
        ("python:f", "python:MODULE.FUNCTION"),
        ("python", "python:MODULE.FUNCTION"),
        ("nowhere.py:f", r"nowhere\.py does not exist"),
    ],
)
def test_ones_own_with_mistakes(own, spec, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        parse(spec, CYCLE, 1000)


@every_case
@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("bernouli", "'bernoulli'"),
        ("nonsense", r"Known environments: auction\[:RIVALS"),
        ("", "unknown environment ''"),
        ("bernoulli:0.5,0.5", "2 means for 6 arms"),
        ("bernoulli:0.5,0.4,0.3,0.6,0.7,2", "arm 5.*2"),
        ("gap:wide", "wide.*gap"),
        ("gap:0.2,7", "got.*7"),
        ("gap:0.2,1.5", r"1\.5 must be a whole number"),
        ("gap:0.1,2,3", "at most 2 arguments"),
        ("gap:nan", "nan"),
        ("gap:0.1,inf", "inf"),
        ("switching:0", "period=0"),
        ("switching:-5", "period=-5"),
        ("drifting:0", "period=0"),
        ("bounded:0.2,0.4", "width"),
        ("hard:-1", "seed"),
        ("replay", "replay:PATH"),
        ("replay:", "replay:PATH"),
        ("replay:a.csv,b.csv", "replay:PATH"),
        ("replay:absent.csv", "absent"),
        ("dataset", "dataset:NAME"),
    ],
)
def test_mistakes(spec, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        parse(spec, CYCLE, 1000)


def test_packing_needs_arms_without_loops():
    with pytest.raises(sl.InvalidOption, match="reveals itself"):
        parse("packing", sl.families.mab(4), 1000)


def test_things_that_are_no_text():
    with pytest.raises(sl.InvalidOption, match="7"):
        parse(7, CYCLE, 1000)


def test_large_graphs_get_few_leaders():
    graph = sl.families.mab(200_000)
    for spec in ("switching", "drifting"):
        assert parse(spec, graph, 10**6).means.shape == (15, 200_000)


def test_every_kind_says_how_it_is_written():
    names = [usage.split(":")[0].split("[")[0] for usage in usages()]
    assert names[-1] == "FILE.py"
    assert set(names[:-1]) == {
        "bernoulli", "gap", "bounded", "switching", "drifting", "packing", "hard", "opposed", "replay",
        "dataset", "python", "auction", "posted_prices", "online",
    }  # fmt: skip
