"""GRAPH: files, families, repairs, and what a user can get wrong about them."""

import json

import numpy as np
import pytest
from cli_checks import assert_one_line

import sidelight as sl
from sidelight._formats import ENDINGS


def graph_of(run, *arguments):
    """The `graph` of a plan's JSON."""
    code, out, err = run("plan", *arguments, "-T", 1000, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["graph"]


def test_a_family(run):
    expected = {"source": "cycle:9", "arms": 9, "edges": 18, "changes": [], "dropped": []}
    assert graph_of(run, "cycle:9") == expected


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_every_kind(run, tmp_path, ending):
    file = tmp_path / f"ring{ending}"
    sl.write_graph(sl.families.ring_probe(7), file)
    found = graph_of(run, file)
    assert (found["source"], found["arms"], found["edges"]) == (str(file), 7, 14)


def test_a_file_comes_before_a_family_of_that_name(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cycle:9").write_text("src,dst\n0,1\n")
    fails("plan", "cycle:9", "-T", 1000, says="unknown ending")


@pytest.mark.parametrize("text", ["results", "./results", "{}/results"])
def test_a_folder_is_called_one(fails, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    fails("analyze", text.format(tmp_path), says="results is a folder; name a graph file")


def test_a_folder_does_not_hide_a_family(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "apple_tasting").mkdir()  # as after `sidelight run apple_tasting -o apple_tasting`
    assert graph_of(run, "apple_tasting")["arms"] == 2


def test_unobservable_arms_are_named_with_the_way_out(fails, chain):
    for command in (("plan", chain, "-T", 100), ("analyze", chain)):
        fails(*command, says=("no arm reveals arm 0,", "--drop-unobservable"))


def test_unobservable_arms_are_named_by_their_labels_too(run, tmp_path):
    g = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0)], labels=["north", "south", "moon"])
    sl.write_graph(g, tmp_path / "g.json")
    assert "arm 2 ('moon')" in run("analyze", tmp_path / "g.json")[2]


def test_dropping_goes_on_until_every_arm_is_seen(run, chain):
    found = graph_of(run, chain, "--drop-unobservable")
    assert (found["arms"], found["edges"], found["dropped"]) == (2, 2, [0, 1])
    assert len(found["changes"]) == 1
    assert "--drop-unobservable left out 2 arms (0, 1)" in found["changes"][0]
    out = run("analyze", chain, "--drop-unobservable")[1]
    assert "left out 2 arms (0, 1)" in out


def test_dropping_everything_is_refused(fails, tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("src,dst\n0,1\n1,2\n")
    fails("plan", file, "-T", 10, "--drop-unobservable", says="none of the 3 arms")


def test_undirected_and_loops(run, chain):
    found = graph_of(run, chain, "--undirected", "--add-loops")
    assert (found["arms"], found["edges"]) == (4, 6 + 4)
    assert found["changes"] == ["--undirected added 2 edges", "--add-loops added 4 loops"]


def test_names_and_the_number_of_arms(run, tmp_path):
    file = tmp_path / "g.csv"
    file.write_text("src,dst\n10,20\n20,10\n")
    assert graph_of(run, file, "--named")["arms"] == 2
    found = graph_of(run, file, "--arms", 30, "--drop-unobservable")
    assert found["dropped"] == [arm for arm in range(30) if arm not in (10, 20)]
    assert_one_line(run("plan", "cycle:5", "-T", 10, "--arms", 5)[2])


WRONG = {
    "typo": ("g.csv", "src,dst\n0,1\n1,zero\n", "line 3: 'zero' is not an arm"),
    "hint": ("g.csv", "src,dst\n0,1\n1,zero\n", "use --named"),
    "no edges": ("g.csv", "src,dst\n", "use --arms"),
    "no header": ("g.csv", "0,1\n1,0\n", "header"),
    "empty": ("g.csv", "", "g.csv"),
    "not json": ("g.json", "{", "g.json"),
    "not npz": ("g.npz", "PK", "g.npz"),
    "ending": ("g.txt", "0 1\n", "'.txt'"),
}


@pytest.mark.parametrize(("name", "text", "shown"), WRONG.values(), ids=WRONG)
def test_files_that_are_wrong(fails, tmp_path, name, text, shown):
    (tmp_path / name).write_text(text)
    fails("analyze", tmp_path / name, says=shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("missing.csv", "missing.csv does not exist"),
        ("no/such/graph", "no/such/graph"),
        (".", ". is a folder"),
        ("circle:12", "did you mean 'cycle'?"),
        ("cycle:two", "cycle:N[:directed]"),
        ("cycle:2", "2"),
        ("", "family"),
        ("[bold]:3", "[bold]"),
    ],
)
def test_graphs_that_are_wrong(fails, text, shown):
    fails("analyze", text, says=shown)


def test_markup_in_a_file_name_is_printed_as_it_is(run, tmp_path):
    file = tmp_path / "[red]x[link=y].csv"
    file.write_text("src,dst\n0,1\n1,0\n")
    code, out, _ = run("analyze", file, "--horizon", 50)
    assert code == 0
    assert "[red]x[link=y].csv" in out.replace("\n", "")


def test_the_order_of_repairs_does_not_hide_arms(run, chain):
    """With loops every arm is observable, so nothing is left to drop."""
    found = graph_of(run, chain, "--drop-unobservable", "--add-loops")
    assert (found["arms"], found["dropped"]) == (4, [])
    assert np.all(np.array(found["edges"]) == 8)
