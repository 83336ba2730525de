"""Files: every format gives back an equal graph, and every kind of damage a GraphFileError."""

import os

import numpy as np
import pytest
from graph_files import put
from hypothesis import given, settings
from hypothesis import strategies as st
from real_graphs import DATA, NAMES, card_of, real_graph

from sidelight import _files as atomic
from sidelight._formats import ENDINGS, FORMATS
from sidelight.errors import GraphFileError, InvalidGraph
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph

ODD_LABELS = ("a,b", 'say "hi"', "two\nlines", "ünïcødé 🎲", "#5", " padded ")
GRAPHS = {
    "mab": lambda: families.mab(5),
    "full": lambda: families.full(4),
    "clique": lambda: families.loopless_clique(6),
    "star": lambda: families.loopy_star(5),
    "universal and others": lambda: families.corrupted_full(7, 3),
    "teams": lambda: families.teams([2, 3]),
    "one arm": lambda: families.full(1),
    "one blind arm": lambda: FeedbackGraph.from_edges(1, []),
    "no edges": lambda: FeedbackGraph.from_edges(4, []),
    "isolated last arms": lambda: FeedbackGraph.from_edges(9, [(0, 1), (3, 3)]),
    "odd labels": lambda: FeedbackGraph.from_edges(6, [(5, 0), (1, 2)], ODD_LABELS),
    "labels but no edges": lambda: FeedbackGraph.from_edges(2, [], ["x", "y"]),
    "labels that are numbers": lambda: FeedbackGraph.from_edges(3, [(0, 1)], ["2", "0", "1"]),
    "random": lambda: families.random(60, 0.05, 3, loops=True),
}


# -- there and back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", GRAPHS)
def test_round_trip(tmp_path, name, ending):
    graph, path = GRAPHS[name](), tmp_path / f"graph{ending}"
    write_graph(graph, path)
    back = read_graph(str(path))
    assert back == graph
    assert np.array_equal(back.in_indptr, graph.in_indptr)
    assert np.array_equal(back.in_indices, graph.in_indices)
    assert not list(tmp_path.glob(".*")), "no temporary files stay behind"


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    n=st.integers(1, 6),
    ending=st.sampled_from([".csv", ".npz", ".json"]),
    data=st.data(),
)
def test_round_trip_of_anything(tmp_path_factory, n, ending, data):
    arms = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(arms, arms)))
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    labels = data.draw(st.none() | st.lists(texts, min_size=n, max_size=n, unique=True))
    graph = FeedbackGraph.from_edges(n, edges, labels)
    path = tmp_path_factory.mktemp("any") / f"g{ending}"
    write_graph(graph, path)
    assert read_graph(path) == graph


def test_overwriting_replaces_labels_too(tmp_path):
    path = tmp_path / "g.csv"
    write_graph(families.teams([2, 2]), path)
    write_graph(families.ring_probe(5), path)
    assert read_graph(path) == families.ring_probe(5)


@pytest.mark.parametrize("ending", [each.endings[0] for each in FORMATS if each.labels_beside])
def test_foreign_labels_are_never_adopted(tmp_path, ending):
    path = tmp_path / f"g{ending}"
    write_graph(families.teams([2, 2]), path)
    with pytest.raises(GraphFileError, match=r"g\.nodes\.csv.*remove that file"):
        write_graph(families.cycle(4), path)
    assert read_graph(path) == families.teams([2, 2])


def test_equal_graphs_give_equal_files(tmp_path):
    for name in ("a", "b"):
        write_graph(families.cycle(50), tmp_path / f"{name}.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_large_dense_graphs_go_to_npz_only(tmp_path):
    write_graph(families.loopless_clique(100_000), tmp_path / "big.npz")
    assert (tmp_path / "big.npz").stat().st_size < 3_000_000
    assert read_graph(tmp_path / "big.npz") == families.loopless_clique(100_000)
    for ending in (ending for each in FORMATS if each.edge_by_edge for ending in each.endings):
        with pytest.raises(GraphFileError, match=r"use \.npz"):
            write_graph(families.full(100_000), tmp_path / f"big{ending}")
    assert [file.name for file in tmp_path.iterdir()] == ["big.npz"]


# -- paths and writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_paths_that_lead_nowhere(tmp_path, ending):
    with pytest.raises(GraphFileError, match="does not exist"):
        read_graph(tmp_path / f"none{ending}")
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    with pytest.raises(GraphFileError, match="folder"):
        read_graph(folder)
    with pytest.raises(GraphFileError, match="cannot be written"):
        write_graph(families.cycle(3), folder)
    with pytest.raises(GraphFileError, match="cannot be written"):
        write_graph(families.cycle(3), tmp_path / "no such folder" / f"g{ending}")
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    for call in (read_graph, lambda path: write_graph(families.cycle(3), path)):
        with pytest.raises(GraphFileError, match="character that no file name has"):
            call(f"a\0b{ending}")


@pytest.mark.parametrize("path", ["graph.txt", "graph", "graph.gz", "graph.json.gz", "", 7, None, b"g.csv"])
def test_unknown_endings_and_non_paths(path):
    for call in (read_graph, lambda path: write_graph(families.cycle(3), path)):
        with pytest.raises(GraphFileError, match=r"unknown ending|given by its path|is a folder"):
            call(path)


def test_bad_options(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n")
    for n_arms in (0, 2.5, "3"):
        with pytest.raises(InvalidGraph, match=str(n_arms)):
            read_graph(path, n_arms=n_arms)
    write_graph(families.cycle(3), tmp_path / "g.json")
    with pytest.raises(GraphFileError, match=r"named applies to \.csv, \.csv\.gz files only"):
        read_graph(tmp_path / "g.json", named=True)


def test_causes_are_chained(tmp_path):
    with pytest.raises(GraphFileError) as caught:
        read_graph(tmp_path / "none.csv")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_label_that_is_not_text(tmp_path):
    graph = FeedbackGraph.from_edges(1, [], ["\ud800"])
    for ending in (".csv", ".npz", ".mtx", ".graphml"):
        with pytest.raises(GraphFileError):
            write_graph(graph, tmp_path / f"g{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failed_write_changes_nothing(tmp_path, ending, monkeypatch):
    path = tmp_path / f"g{ending}"
    write_graph(families.cycle(5), path)
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full_disk)
    with pytest.raises(GraphFileError, match="No space left"):
        write_graph(families.cycle(6), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_interrupted_write_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "g.csv.gz"
    write_graph(families.cycle(5), path)

    def interrupted(self, size):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.gzip.GzipFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_graph(families.cycle(6), path)
    monkeypatch.undo()
    assert read_graph(path) == families.cycle(5)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_files_get_ordinary_permissions(tmp_path):
    write_graph(families.cycle(3), tmp_path / "g.csv")
    plain = put(tmp_path, "plain", "x")
    assert (tmp_path / "g.csv").stat().st_mode == plain.stat().st_mode


# -- real data --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_real_graphs_match_their_cards(name):
    facts = card_of(name)
    once, graph = real_graph(name, undirected=False), real_graph(name)
    assert once.n_edges == facts["E"]
    assert once.has_loop.sum() == facts["self_loops"]
    assert graph.n_edges == (facts["E"] if facts["directed"] else 2 * facts["E"] - facts["self_loops"])
    seen = facts["observability"]["a_as_is"]
    assert (graph.has_loop | graph.is_universal).sum() == seen["strongly"]
    assert (graph.in_degree == 0).sum() == seen["non_observable"]
    assert (graph.labels is not None) == (DATA / f"{name}.nodes.csv.gz").exists()


# -- any damage at all ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_random_damage_never_raises_anything_else(tmp_path, ending):
    rng = np.random.default_rng(5)
    path = tmp_path / f"g{ending}"
    write_graph(families.teams([3, 2]), path)
    whole = path.read_bytes()
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for at in rng.integers(len(whole), size=rng.integers(1, 4)).tolist():
            kind = rng.integers(3)
            if kind == 0:
                damaged[at : at + 1] = rng.bytes(1)
            elif kind == 1:
                del damaged[at : at + int(rng.integers(1, 20))]
            else:
                damaged[at:at] = bytes(rng.choice(list(b"0123456789,. -\n"), size=3).tolist())
        path.write_bytes(damaged)
        try:
            assert isinstance(read_graph(path), FeedbackGraph)
        except GraphFileError:
            refused += 1
    assert refused > 75
