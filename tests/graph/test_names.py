"""Graphs as functions take them: themselves, families and files; arms in messages: by number and label."""

from pathlib import Path

import pytest

import sidelight as sl
from sidelight.analysis import minimax, packing_lower_bound
from sidelight.graph.names import graph_of, named, names, names_file

CYCLE = sl.families.cycle(5)


def test_a_graph_a_family_and_a_file_are_the_same_graph(tmp_path):
    file = tmp_path / "g.csv"
    sl.write_graph(CYCLE, file)
    for given in (CYCLE, "cycle:5", " Cycle:5", str(file), file):
        assert graph_of(given, "plan") == CYCLE
    assert graph_of(CYCLE, "plan") is CYCLE


@pytest.mark.parametrize(
    ("text", "is_file"),
    [("cycle:5", False), ("g.csv", True), ("a/b", True), ("", False), ("G.MTX", True), ("a\0b", False)],
)
def test_files_are_told_from_families(text, is_file):
    assert names_file(text) is is_file


def test_a_file_without_an_ending_is_a_file_once_it_exists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not names_file("sees")
    Path("sees").write_text("")
    assert names_file("sees")


CALLS = {
    "plan": lambda g: sl.plan(g).realization,
    "plan at a horizon": lambda g: sl.plan(g, 1000).bound.value,
    "compare_bounds": lambda g: sl.compare_bounds(g, 100).best.value,
    "observability": sl.observability,
    "fractional_domination": lambda g: sl.fractional_domination(g).value,
    "independence_number": lambda g: sl.independence_number(g).lower,
    "packing_independent_set": lambda g: sl.packing_independent_set(g).rate,
    "packing_lower_bound": lambda g: packing_lower_bound(g, 1000).value,
    "minimax": lambda g: minimax(g, 1).value,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_functions_take_texts(call):
    assert call("cycle:5") == call(CYCLE)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_unknown_is_named(call):
    with pytest.raises(sl.InvalidOption, match=r"unknown family 'cycel'.*did you mean 'cycle'"):
        call("cycel:5")
    with pytest.raises(sl.errors.GraphFileError, match=r"nowhere\.csv does not exist"):
        call("nowhere.csv")
    with pytest.raises(sl.errors.InvalidGraph, match=r"needs a FeedbackGraph.*got list"):
        call([[0, 1]])


def test_simulations_take_texts_and_numbers_of_seeds():
    plan = sl.plan("cycle:5", 300)
    run = sl.simulate(plan, "gap:0.2", seeds=3)
    assert run.seeds.tolist() == [0, 1, 2]
    assert run.environment == "gap:0.2"
    same = sl.simulate(plan, sl.environments.gap(5, best=2, gap=0.2), seeds=range(3))
    assert run.regret.tolist() == same.regret.tolist()
    with pytest.raises(sl.InvalidOption, match="did you mean 'gap'"):
        sl.simulate(plan, "gapp", seeds=3)
    for seeds in (0, -1, True, "5"):
        with pytest.raises(sl.InvalidOption, match="seeds"):
            sl.simulate(plan, "gap", seeds=seeds)


HIDDEN = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (2, 1)], labels=["one", "two", "three"])
PATH = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1)], labels=["left", "middle", "right"])
SEEN = r"2 \('three'\)"


def test_names():
    assert named(HIDDEN, 1) == "1 ('two')"
    assert [named(HIDDEN, other) for other in (7, -1, "two", 1.5)] == ["7", "-1", "two", "1.5"]
    assert named(sl.families.mab(3), 1) == "1"
    assert names(HIDDEN, [0, 2]) == "0 ('one'), 2 ('three')"


@pytest.mark.parametrize(
    ("complain", "message"),
    [
        (lambda: sl.plan(HIDDEN, 100), SEEN),
        (lambda: sl.fractional_domination(HIDDEN), f"nothing reveals arm {SEEN}"),
        (lambda: sl.baselines.chlz21(HIDDEN, 100), SEEN),
        (lambda: sl.partitions.components(HIDDEN), SEEN),
        (lambda: packing_lower_bound(HIDDEN, 100), SEEN),
        (lambda: sl.baselines.exp3_ix(PATH), r"0 \('left'\), 1 \('middle'\), 2 \('right'\) do not"),
        (lambda: sl.baselines.exp3(PATH, 100), r"0 \('left'\)"),
        (lambda: sl.Partition(PATH, [[0, 1]]), r"arm 2 \('right'\): in no block"),
        (lambda: sl.Partition(PATH, [[0, 1], [2]]), r"the single arm 2 \('right'\), which is not"),
        (lambda: sl.Partition(PATH, [[0, 1], [2, 1]]), r"arm 1 \('middle'\) is in blocks 0, 1"),
        (lambda: sl.Partition(PATH, [[0, 1], [2, 1.5]]), r"block 1 holds 1\.5: arms are whole"),
    ],
)
def test_messages_show_labels(complain, message):
    with pytest.raises(sl.SidelightError, match=message):
        complain()
