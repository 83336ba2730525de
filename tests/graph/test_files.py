"""Files: every format gives back an equal graph, and every kind of damage a GraphFileError."""

import gzip
import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from sidelight import _files as atomic
from sidelight.errors import GraphFileError, InvalidGraph, InvalidOption, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph
from sidelight.graph.files import csv as csv_files

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "graphs"
ENDINGS = (".csv", ".csv.gz", ".npz", ".mtx", ".graphml", ".json")

ODD_LABELS = ("a,b", 'say "hi"', "two\nlines", "ünïcødé 🎲", "#5", " padded ")
GRAPHS = {
    "mab": families.mab(5),
    "full": families.full(4),
    "clique": families.loopless_clique(6),
    "star": families.loopy_star(5),
    "universal and others": families.corrupted_full(7, 3),
    "teams": families.teams([2, 3]),
    "one arm": families.full(1),
    "one blind arm": FeedbackGraph.from_edges(1, []),
    "no edges": FeedbackGraph.from_edges(4, []),
    "isolated last arms": FeedbackGraph.from_edges(9, [(0, 1), (3, 3)]),
    "odd labels": FeedbackGraph.from_edges(6, [(5, 0), (1, 2)], ODD_LABELS),
    "labels but no edges": FeedbackGraph.from_edges(2, [], ["x", "y"]),
    "labels that are numbers": FeedbackGraph.from_edges(3, [(0, 1)], ["2", "0", "1"]),
    "random": families.random(60, 0.05, 3, loops=True),
}


def packed(text):
    return gzip.compress(text.encode() if isinstance(text, str) else text)


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- there and back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", GRAPHS)
def test_round_trip(tmp_path, name, ending):
    path = tmp_path / f"graph{ending}"
    write_graph(GRAPHS[name], path)
    back = read_graph(str(path))
    assert back == GRAPHS[name]
    assert np.array_equal(back.in_indptr, GRAPHS[name].in_indptr)
    assert np.array_equal(back.in_indices, GRAPHS[name].in_indices)
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


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".mtx"])
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
    for ending in set(ENDINGS) - {".npz"}:
        with pytest.raises(GraphFileError, match=r"use \.npz"):
            write_graph(families.full(100_000), tmp_path / f"big{ending}")
    assert [file.name for file in tmp_path.iterdir()] == ["big.npz"]


# -- csv --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "src,dst\n0,1\n2,2\n",
        "src,dst\n0,1\n2,2",
        "src,dst\r\n0,1\r\n2,2\r\n",
        "\ufeffsrc,dst\n0,1\n2,2\n",
        " SRC , Dst \n 0 ,\t1\n\n2,2\n\n",
        '"src","dst"\n"0","1"\n"2","2"\n',
        "src,dst,since\n0,1,0.5\n2,2,nan\n",
        'src,dst,since,note\n0,1,1,"a, b"\n2,2,1,x\n',
        "# anything\nsrc,dst\n0,1\n2,2\n0,1\n0,1\n",
        "src,dst\n00,01\n2,2\n",
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".CSV"])
def test_csv_dialects(tmp_path, text, ending):
    path = put(tmp_path, f"g{ending}", packed(text) if ending.endswith("gz") else text)
    assert read_graph(path) == FeedbackGraph.from_edges(3, [(0, 1), (2, 2)])


@pytest.mark.parametrize("header", ["src,dst,weight", "src,dst, Weight ,note"])
def test_weights_are_not_read_and_said_so(tmp_path, header):
    fields = header.count(",") + 1
    path = put(tmp_path, "g.csv", f"{header}\n" + ",".join("0120"[:fields]) + "\n")
    with pytest.warns(WeightsIgnored, match="'weight' is not read") as said:
        graph = read_graph(path)
    assert graph == FeedbackGraph.from_edges(2, [(0, 1)])
    assert said[0].filename == __file__


def test_csv_in_many_chunks(tmp_path, monkeypatch):
    graph = families.random(200, 0.05, 1)
    write_graph(graph, tmp_path / "g.csv.gz")
    monkeypatch.setattr(csv_files, "CHUNK", 37)
    assert read_graph(tmp_path / "g.csv.gz", n_arms=200) == graph
    bad = put(tmp_path, "bad.csv", "src,dst\n" + "0,1\n" * 50 + "0;1\n" + "1,2\n" * 50)
    with pytest.raises(GraphFileError, match=r"bad\.csv, line 52"):
        read_graph(bad)


def test_n_arms_and_undirected(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n1,2\n2,2\n")
    assert read_graph(path, n_arms=5).n_arms == 5
    both = FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)])
    assert read_graph(path, undirected=True) == both
    empty = put(tmp_path, "empty.csv", "src,dst\n")
    assert read_graph(empty, n_arms=2) == FeedbackGraph.from_edges(2, [])


def test_names_are_numbered_by_first_appearance(tmp_path):
    path = put(tmp_path, "g.csv", 'src,dst\nbob,alice\n alice ,"van Gogh, V."\nbob,7\n')
    graph = read_graph(path)
    assert graph.labels == ("bob", "alice", "van Gogh, V.", "7")
    assert graph.edges().tolist() == [[0, 1], [0, 3], [1, 2]]


def test_names_may_refer_to_the_nodes_file(tmp_path):
    put(tmp_path, "g.nodes.csv.gz", packed("id,label\n1,bob\n0,alice\n2,carol\n"))
    graph = read_graph(put(tmp_path, "g.csv", "src,dst\nbob,alice\n"))
    assert graph.labels == ("alice", "bob", "carol")
    assert graph.edges().tolist() == [[1, 0]]
    with pytest.raises(GraphFileError, match="line 2: 'dave' is not a label"):
        read_graph(put(tmp_path, "g.csv", "src,dst\ndave,alice\n"))


def test_arbitrary_numbers_can_be_names(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n99000000000,5\n5,-3\n")
    graph = read_graph(path, named=True)
    assert graph.labels == ("99000000000", "5", "-3")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


def test_the_nodes_file_tells_labels_and_isolated_arms(tmp_path):
    put(tmp_path, "g.nodes.csv", "id,label,team\n0,a,x\n1,b,y\n2,c,z\n")
    graph = read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))
    assert graph == FeedbackGraph.from_edges(3, [(0, 1)], "abc")


BAD_CSV = {
    "empty": (b"", "empty or was cut off"),
    "only comments": (b"# hello\n", "empty or was cut off"),
    "header only": (b"src,dst\n", "pass n_arms"),
    "no header": (b"0,1\n1,2\n", "line 1: the header must begin with src,dst, got '0,1'"),
    "other header": (b"from,to\n0,1\n", "'from,to'"),
    "swapped header": (b"dst,src\n0,1\n", "'dst,src'"),
    "blank first line": (b"\nsrc,dst\n0,1\n", "line 1"),
    "semicolons": (b"src;dst\n0;1\n", "'src;dst'"),
    "negative": (b"src,dst\n0,1\n-1,2\n", "line 3: '-1' is not an arm"),
    "negative first": (b"src,dst\n-1,2\n", "line 2: '-1'"),
    "float": (b"src,dst\n0,1\n1.5,2\n", "line 3: '1.5'"),
    "whole float": (b"src,dst\n1.0,2\n", "line 2: '1.0'"),
    "exponent": (b"src,dst\n0,1e3\n", "line 2: '1e3'"),
    "nan": (b"src,dst\n0,1\nnan,2\n", "line 3: 'nan'"),
    "nan first": (b"src,dst\nNaN,2\n", "line 2: 'NaN'"),
    "nan among names": (b"src,dst\nbob,al\nbob,NaN\n", "line 3: 'NaN' is a number"),
    "float among names": (b"src,dst\nbob,al\n1.5,al\n", "line 3: '1.5' is a number"),
    "word among numbers": (b"src,dst\n0,1\n\n0,bob\n", "line 4: 'bob'.*named=True"),
    "missing id": (b"src,dst\n0,1\n0,\n", "line 3: an id is missing"),
    "missing name": (b"src,dst\nbob,al\nbob,\n", "line 3: a name is missing"),
    "one column": (b"src,dst\n0,1\n5\n", "line 3: 1 columns where the header has 2"),
    "three columns": (b"src,dst\n0,1\n0,1,2\n", "line 3: 3 columns where the header has 2"),
    "lost field": (b"src,dst,since\n0,1,1\n0,1\n", "line 3: 2 columns where the header has 3"),
    "names, columns": (b"src,dst\nbob,al\nbob\n", "line 3: 1 columns"),
    "late comment": (b"src,dst\n0,1\n# x,y\n", "line 3"),
    "two numbers in one": (b"src,dst\n0,1\n0 1,2\n", "line 3: '0 1'"),
    "above 2^31": (b"src,dst\n0,2147483647\n", "line 2: id 2147483647 is above 2147483646"),
    "far above": (b"src,dst\n0," + b"9" * 5000 + b"\n", "line 2: id 9999"),
    "absurd": (b"src,dst\n0,1\n1,2000000000\n", "2,000,000,001 arms with only 2 edges"),
    "absurd claim": (b"# n_arms=2000000000\nsrc,dst\n0,1\n", "2,000,000,000 arms"),
    "impossible claim": (b"# n_arms=99999999999\nsrc,dst\n0,1\n", "99,999,999,999 arms"),
    "zero claim": (b"# n_arms=0\nsrc,dst\n", "line 1: a graph needs at least one arm"),
    "broken claim": (b"# n_arms=2\nsrc,dst\n0,5\n", "line 3: arm 5 does not exist, .* 0..1"),
    "latin-1": (b"src,dst\n0,1\n0,\xe9\n", "line 3: not UTF-8"),
    "latin-1 names": (b"src,dst\nbob,ren\xe9\n", "line 2: not UTF-8"),
    "latin-1 header": (b"src,dst\xe9\n", "line 1: not UTF-8"),
    "utf-16": ("src,dst\n0,1\n".encode("utf-16"), "line 1: not UTF-8"),
    "nul bytes": (b"src,dst\n0,\x001\n", "line 2: a name is missing"),
    "open quote": (b'src,dst\n"0,1\n', "line [23]: not csv"),
    "quoted float": (b'src,dst\n0,1\n"1.5",2\n', "line 3: '1.5'"),
    "old Mac": (b"src,dst\r0,1\r", "line 1"),
}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv(tmp_path, name, ending):
    content, message = BAD_CSV[name]
    path = put(tmp_path, f"bad{ending}", gzip.compress(content) if ending == ".csv.gz" else content)
    with pytest.raises(GraphFileError, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)


def test_an_endless_line_is_refused(tmp_path):
    path = put(tmp_path, "bad.csv.gz", packed("src,dst\n0,1\n" + "0" * 30_000_000))
    with pytest.raises(GraphFileError, match="line 3: longer than"):
        read_graph(path)


def test_an_absurd_size_can_be_confirmed(tmp_path, monkeypatch):
    from sidelight.graph import arm_count as plausible

    monkeypatch.setattr(plausible, "TRUSTED_ARMS", 100)
    path = put(tmp_path, "g.csv", "src,dst\n0,1000\n")
    with pytest.raises(GraphFileError, match="pass n_arms=1001"):
        read_graph(path)
    assert read_graph(path, n_arms=1001).n_arms == 1001
    assert read_graph(path, named=True).n_arms == 2


def test_too_few_arms_asked_for(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n1,7\n")
    with pytest.raises(GraphFileError, match="line 3: arm 7 does not exist"):
        read_graph(path, n_arms=5)


@pytest.mark.parametrize("cut", [0.02, 0.5, 0.99])
def test_truncated_gzip(tmp_path, cut):
    text = "src,dst\n" + "".join(f"{i},{(i * 7919) % 1000}\n" for i in range(1000))
    whole = packed(text)
    path = put(tmp_path, "cut.csv.gz", whole[: int(cut * len(whole))])
    with pytest.raises(GraphFileError, match="cut"):
        read_graph(path)


@pytest.mark.parametrize("flip", [0, 3, 100, 2000, -6])
def test_damaged_gzip(tmp_path, flip):
    text = "src,dst\n" + "".join(f"{i},{(i * 7919) % 1000}\n" for i in range(1000))
    damaged = bytearray(packed(text))
    damaged[flip] ^= 0xFF
    path = put(tmp_path, "bad.csv.gz", bytes(damaged))
    if flip == 3:  # the flags: some damage there still leaves a readable stream
        with pytest.raises(GraphFileError):
            read_graph(path)
        return
    with pytest.raises(GraphFileError, match=r"bad\.csv\.gz"):
        read_graph(path)


def test_a_plain_file_called_gz(tmp_path):
    with pytest.raises(GraphFileError, match=r"g\.csv\.gz cannot be read"):
        read_graph(put(tmp_path, "g.csv.gz", "src,dst\n0,1\n"))


BAD_NODES = {
    "header": ("name,id\nx,0\n", "line 1: the header must be id,label"),
    "empty": ("", "header must be id,label"),
    "no rows": ("id,label\n", "has no label"),
    "gap": ("id,label\n0,a\n2,b\n", r"ids must be 0..1, arm 1 has no label"),
    "twice": ("id,label\n0,a\n0,b\n", "line 3: arm 0 has a label already"),
    "not a number": ("id,label\nx,a\n", "line 2"),
    "columns": ("id,label\n0\n", "line 2"),
    "same label": ("id,label\n0,a\n1,a\n", "labels must be distinct"),
    "latin-1": (b"id,label\n0,\xe9\n1,b\n", "line 2: not UTF-8"),
    "too few": ("id,label\n0,a\n", "arm 1 does not exist"),
}


@pytest.mark.parametrize("name", BAD_NODES)
def test_bad_nodes_files(tmp_path, name):
    content, message = BAD_NODES[name]
    put(tmp_path, "g.nodes.csv", content)
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))


def test_truncated_nodes_file(tmp_path):
    put(tmp_path, "g.nodes.csv.gz", packed("id,label\n0,a\n1,b\n")[:-9])
    with pytest.raises(GraphFileError, match=r"g\.nodes\.csv\.gz"):
        read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))


def test_contradictory_sizes(tmp_path):
    put(tmp_path, "g.nodes.csv", "id,label\n0,a\n1,b\n")
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n")
    with pytest.raises(GraphFileError, match="n_arms 5, nodes file 2"):
        read_graph(path, n_arms=5)
    for ending in (".npz", ".mtx", ".graphml", ".json"):
        write_graph(families.cycle(4), tmp_path / f"cycle{ending}")
        with pytest.raises(GraphFileError, match=r"contradictory.* 5"):
            read_graph(tmp_path / f"cycle{ending}", n_arms=5)
        assert read_graph(tmp_path / f"cycle{ending}", n_arms=4, undirected=True) == families.cycle(4)


# -- npz --------------------------------------------------------------------------------------------------


def save_npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def own_arrays(**changes):
    arrays = {
        "sidelight_graph": np.int64(1),
        "n_arms": np.int64(3),
        "out_indptr": np.array([0, 1, 2, 2]),
        "out_indices": np.array([1, 2], dtype=np.int32),
        "universal": np.array([], dtype=np.int32),
        "has_loop": np.zeros(3, dtype=bool),
    }
    return {name: value for name, value in (arrays | changes).items() if value is not None}


def test_npz_layout_is_as_documented(tmp_path):
    path = save_npz(tmp_path / "g.npz", **own_arrays())
    assert read_graph(path) == FeedbackGraph.from_edges(3, [(0, 1), (1, 2)])


BAD_ARRAYS = {
    "version": ({"sidelight_graph": np.int64(2)}, "version 2 is unknown"),
    "no arms": ({"n_arms": np.int64(0)}, "at least one arm"),
    "float arms": ({"n_arms": np.float64(3)}, "n_arms must be one whole number"),
    "many arms": ({"n_arms": np.int64(4)}, "has_loop must be 4 booleans"),
    "loops": ({"has_loop": np.zeros(3)}, "has_loop must be 3 booleans"),
    "loop contradiction": ({"has_loop": np.ones(3, bool)}, "contradicts"),
    "target": ({"out_indices": np.array([1, 3])}, r"out_indices must be within 0..2, got 1..3"),
    "negative": ({"out_indices": np.array([-1, 1])}, "out_indices"),
    "float target": ({"out_indices": np.array([1.0, 2.0])}, "out_indices"),
    "falling": ({"out_indptr": np.array([0, 2, 1, 2])}, "out_indptr"),
    "start": ({"out_indptr": np.array([1, 1, 2, 2])}, "out_indptr"),
    "end": ({"out_indptr": np.array([0, 1, 1, 1])}, "out_indptr"),
    "beyond": ({"out_indptr": np.array([0, 1, 9, 2])}, "out_indptr"),
    "short": ({"out_indptr": np.array([0, 2])}, "out_indptr"),
    "matrix": ({"out_indices": np.array([[1, 2]])}, "out_indices"),
    "universal": ({"universal": np.array([7])}, "universal"),
    "missing": ({"universal": None}, "universal"),
    "labels": ({"labels_text": np.array([97], np.uint8), "labels_end": np.array([1])}, "3 labels, got 1"),
    "label ends": (
        {"labels_text": np.array([97], np.uint8), "labels_end": np.array([1, 2, 3])},
        "labels_end",
    ),
    "label bytes": (
        {"labels_text": np.array([233, 98, 99], np.uint8), "labels_end": np.array([1, 2, 3])},
        "utf-8",
    ),
    "label ends missing": ({"labels_text": np.array([97], np.uint8)}, "labels_end"),
    "label type": ({"labels_text": np.array(["a"]), "labels_end": np.array([1])}, "cast"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays(tmp_path, name):
    changes, message = BAD_ARRAYS[name]
    path = save_npz(tmp_path / "bad.npz", **own_arrays(**changes))
    with pytest.raises(GraphFileError, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_scipy_npz(tmp_path, kind, make):
    matrix = np.array([[0, 1.0, 0], [0, 0, 1], [1, 1, 0]])
    sparse.save_npz(tmp_path / "m.npz", make(matrix).asformat(kind))
    assert read_graph(tmp_path / "m.npz") == FeedbackGraph.from_adjacency(matrix)


def test_bad_scipy_npz(tmp_path):
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(GraphFileError, match=r"square, got shape \(2, 3\)"):
        read_graph(tmp_path / "m.npz")
    sparse.save_npz(tmp_path / "huge.npz", sparse.coo_array(([1], ([0], [1])), shape=(2**40, 2**40)))
    with pytest.raises(GraphFileError, match="mistake in the ids"):
        read_graph(tmp_path / "huge.npz")
    for rows in ([0, 5, 1, 2], [0, 1, 2, 2]):
        arrays = {"indptr": np.array(rows), "indices": np.array([0, 9]), "data": np.ones(2)}
        save_npz(tmp_path / "w.npz", format=np.array(b"csr"), shape=np.array([3, 3]), **arrays)
        with pytest.raises(GraphFileError, match=r"w\.npz"):
            read_graph(tmp_path / "w.npz")


def test_npz_with_pickled_objects_is_refused(tmp_path):
    np.savez(tmp_path / "own.npz", **own_arrays(has_loop=np.array([{}, None, 1], dtype=object)))
    np.savez(tmp_path / "other.npz", format=np.array([object()], dtype=object))
    np.save(tmp_path / "array.npy", np.array([object()], dtype=object))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    for name in ("own", "other", "array"):
        with pytest.raises(GraphFileError, match=rf"{name}\.npz.*"):
            read_graph(tmp_path / f"{name}.npz")


def test_damaged_npz(tmp_path):
    write_graph(families.cycle(100), tmp_path / "g.npz")
    whole = (tmp_path / "g.npz").read_bytes()
    middle = bytearray(whole)
    middle[len(whole) // 2] ^= 0xFF
    plain = io.BytesIO()
    np.save(plain, np.eye(3))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "hello")
    cases = [
        b"",
        b"PK",
        b"not a zip",
        whole[:100],
        whole[:-30],
        bytes(middle),
        plain.getvalue(),
        other.getvalue(),
    ]
    for content in cases:
        path = put(tmp_path, "bad.npz", content)
        with pytest.raises(GraphFileError, match=r"bad\.npz"):
            read_graph(path)


# -- Matrix Market, GraphML, JSON -------------------------------------------------------------------------


MATRICES = {
    "general": np.array([[0, 1, 0], [0, 0, 0.5], [2e-9, 0, 1]]),
    "symmetric": np.array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 1]]),
    "skew-symmetric": np.array([[0, 1, 0], [-1, 0, 0.5], [0, -0.5, 0]]),
    "hermitian": np.array([[0, 1j, 0], [-1j, 0, 0.5], [0, 0.5, 1]]),
    "complex": np.array([[0, 1j, 0], [0, 0, 0.5], [0, 0, 1]]),
    "integer": np.array([[0, 7, 0], [0, 0, -3], [0, 10, 1]]),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("layout", [np.asarray, sparse.coo_array])
def test_mtx_of_other_programs(tmp_path, name, layout):
    path = tmp_path / "m.mtx"
    scipy_io.mmwrite(path, layout(MATRICES[name]), comment="of another program")
    expected = FeedbackGraph.from_adjacency(MATRICES[name] != 0)
    assert read_graph(path) == expected
    path.write_bytes(path.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n"))
    assert read_graph(path) == expected


def test_mtx_zeros_are_no_edges(tmp_path):
    head = "%%MatrixMarket matrix coordinate real general\n%\n\n2 2 4\n"
    path = put(tmp_path, "m.mtx", head + "1 1 0\n1 2 -0.0e5\n\n% note\n2 1 1e-300\n2 2 0.01\n")
    assert read_graph(path) == FeedbackGraph.from_edges(2, [(1, 0), (1, 1)])


HEAD = "%%MatrixMarket matrix coordinate pattern general\n"
REAL = HEAD.replace("pattern", "real")
ARRAY = HEAD.replace("coordinate pattern", "array real")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: not a Matrix Market"),
        ("hello\n", "line 1: not a Matrix Market"),
        (HEAD.replace("pattern", "quaternion") + "2 2 1\n1 1\n", "unknown kind"),
        (HEAD.replace("coordinate", "array") + "2 2\n", "cannot be a pattern"),
        (HEAD, "line 2: expected 3 whole numbers"),
        (HEAD + "2 2\n", "line 2: expected 3 whole numbers"),
        (HEAD + "2 2 1.5\n", "line 2: expected 3 whole numbers"),
        (HEAD + "-3 -3 1\n1 1\n", "line 2: expected 3 whole numbers"),
        (HEAD + "0 0 0\n", "at least one arm"),
        (HEAD + "2 3 1\n1 1\n", "square, got 2 x 3"),
        (HEAD + "3 3 2\n1 1\n", "2 entries, there are 1|2 entries, more than"),
        (HEAD + "3 3 1\n1 1\n1 2\n", "1 entries, there are 2"),
        (HEAD + "3 3 1\n0 1\n", "line 3: expected two positions in 1..3, got '0 1'"),
        (HEAD + "3 3 1\n4 1\n", "line 3"),
        (HEAD + "3 3 1\n1 99999999999999999999999\n", "line 3"),
        (HEAD + "3 3 1\n1 1 1\n", "line 3"),
        (HEAD + "3 3 1\n1\n1 1\n", "line 3"),
        (HEAD + "3 3 1\nx y\n", "line 3"),
        (HEAD + "3 3 2\n1 1\n\n1 1.5\n", "line 5"),
        (HEAD.encode() + b"3 3 1\n1 1\xbd", "line 3"),
        (HEAD + "3 3 99999999999\n1 1\n", "more than there are"),
        (HEAD + "2000000000 2000000000 1\n1 1\n", "mistake in the ids"),
        (REAL + "2 2 1\n1 2 nan\n", "line 3.*'1 2 nan'"),
        (REAL + "2 2 1\n1 2 .\n", "line 3"),
        (REAL + "2 2 1\n1 2\n", "line 3"),
        (ARRAY + "2 2\n1\n2\n3\n", "4 numbers expected|4 entries, more than"),
        (ARRAY + "2 2\n1\n2\n3\nx\n", "cannot be read"),
        (ARRAY + "2 2\n1\n2\n3\nnan\n", "NaN"),
        (ARRAY + "90000 90000\n1\n", "more than there are"),
        (b"\xff\xfe\x00binary", "line 1: not a Matrix Market"),
    ],
)
def test_bad_mtx(tmp_path, content, message):
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "bad.mtx", content))


def test_graphml_of_other_programs(tmp_path):
    graph = nx.Graph([("x", "y"), ("y", "z")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    read = read_graph(tmp_path / "g.graphml")
    assert read == FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1)], "xyz")
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from([(2, {"label": "c"}), (0, {"label": "a"}), (1, {"label": "b"})])
    shuffled.add_edge(2, 0)
    nx.write_graphml(shuffled, tmp_path / "s.graphml")
    assert read_graph(tmp_path / "s.graphml") == FeedbackGraph.from_edges(3, [(2, 0)], "abc")


@pytest.mark.parametrize("content", ["", "<graphml>", "<graphml/>", "<html></html>", b"\x00\xff", "{}"])
def test_bad_graphml(tmp_path, content):
    with pytest.raises(GraphFileError, match=r"bad\.graphml"):
        read_graph(put(tmp_path, "bad.graphml", content))


def test_empty_graphml(tmp_path):
    nx.write_graphml(nx.DiGraph(), tmp_path / "none.graphml")
    with pytest.raises(GraphFileError, match="no nodes"):
        read_graph(tmp_path / "none.graphml")


@pytest.mark.parametrize("label", ["", "bell \x07", "return \r"])
def test_labels_that_xml_cannot_hold(tmp_path, label):
    with pytest.raises(GraphFileError, match="GraphML cannot hold the label"):
        write_graph(FeedbackGraph.from_edges(1, [], [label]), tmp_path / "g.graphml")
    assert not list(tmp_path.iterdir())


def test_json_of_other_programs(tmp_path):
    path = put(tmp_path, "g.json", '{"edges": [[0, 1], [1, 1]]}')
    assert read_graph(path) == FeedbackGraph.from_edges(2, [(0, 1), (1, 1)])
    assert read_graph(path, n_arms=4).n_arms == 4
    for graph, expected in [
        (nx.path_graph(["x", "y"]), FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], "xy")),
        (nx.DiGraph([(0, 1), (2, 0)]), FeedbackGraph.from_edges(3, [(0, 1), (2, 0)])),
        (families.teams([2, 3]).to_networkx(), families.teams([2, 3])),
    ]:
        path = put(tmp_path, "link.json", json.dumps(nx.node_link_data(graph, edges="links")))
        assert read_graph(path) == expected
        path = put(tmp_path, "link.json", json.dumps(nx.node_link_data(graph, edges="edges")))
        assert read_graph(path) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ('{"n_arms": 3, "edges": [[0, 1]', "cannot be read"),
        ("[1, 2]", "expected an object"),
        ("{}", 'expected "edges"'),
        ('{"n_arms": 3}', 'expected "edges"'),
        ('{"n_arms": 3, "edges": {}}', 'expected "edges"'),
        ('{"n_arms": 3, "edges": [[0, 1.5]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": [[0, true]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": [[0, NaN]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": ["01"]}', "pair"),
        ('{"n_arms": 3, "edges": [7]}', "pair"),
        ('{"n_arms": 3, "edges": [[0, 1, 2]]}', "pairs"),
        ('{"n_arms": 3, "edges": [[0], [1, 2]]}', "pairs"),
        ('{"n_arms": 3, "edges": [[0, 3]]}', r"\(0, 3\)"),
        ('{"n_arms": 3, "edges": [[0, -1]]}', r"\(0, -1\)"),
        ('{"n_arms": "3", "edges": []}', "'3'"),
        ('{"n_arms": 0, "edges": []}', "at least one arm"),
        ('{"n_arms": 3, "edges": [], "labels": ["a"]}', "contradictory"),
        ('{"n_arms": 1, "edges": [], "labels": [1]}', "list of texts"),
        ('{"n_arms": 2, "edges": [], "labels": ["a", "a"]}', "repeated: a"),
        ('{"edges": []}', "pass n_arms"),
        ('{"edges": [[0, 99999999999999999999999]]}', "mistake in the ids"),
        ('{"n_arms": 3000000000, "edges": []}', "mistake in the ids"),
        ('{"nodes": [], "links": []}', "no nodes"),
        ('{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "distinct"),
        ('{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 9}]}', "node-link"),
        ('{"nodes": [{"id": 0}], "links": [[0, 0]]}', "node-link"),
        ('{"nodes": [{"id": [0]}], "links": []}', "node-link"),
        ('{"nodes": [1], "links": []}', "node-link"),
        ('{"nodes": 1, "links": []}', "node-link"),
        (b"\xff\xff\xff", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_bad_json(tmp_path, content, message):
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "bad.json", content))


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
        with pytest.raises(GraphFileError, match="null"):
            call(f"a\0b{ending}")


@pytest.mark.parametrize("path", ["graph.txt", "graph", "graph.gz", "graph.json.gz", "", 7, None, b"g.csv"])
def test_unknown_endings_and_non_paths(path):
    for call in (read_graph, lambda path: write_graph(families.cycle(3), path)):
        with pytest.raises(GraphFileError, match=r"unknown ending|given by its path"):
            call(path)


def test_bad_options(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n")
    for n_arms in (0, 2.5, "3"):
        with pytest.raises(InvalidGraph, match=str(n_arms)):
            read_graph(path, n_arms=n_arms)
    write_graph(families.cycle(3), tmp_path / "g.json")
    with pytest.raises(GraphFileError, match="csv files only"):
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

    def interrupted(self, most=0):
        yield np.array([[0, 1]], dtype=np.int32)
        raise KeyboardInterrupt

    monkeypatch.setattr(FeedbackGraph, "edge_blocks", interrupted)
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


# -- files that ask for more than they are ----------------------------------------------------------------


def lying_npy(shape, dtype="<i8"):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()


BOMBS = {
    "zeros": (lambda: np.zeros(2**25, dtype=np.int64), r"asks for 268,43\d,\d+ bytes"),
    "shape": (lambda: lying_npy((10**13,)), "does not fit its size"),
    "no items": (lambda: lying_npy((0, 10**13)), None),
    "overflow": (lambda: lying_npy((2**62, 4)), "does not fit its size"),
    "objects": (lambda: lying_npy((1,), "|O"), "object"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_archives_are_bounded(tmp_path, name):
    make, message = BOMBS[name]
    content, path = make(), tmp_path / "bomb.npz"
    if isinstance(content, bytes):
        np.savez(path, **own_arrays(out_indices=None))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("out_indices.npy", content)
    else:
        np.savez_compressed(path, **own_arrays(out_indices=content))
    assert path.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(GraphFileError, match=message):
        read_graph(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_gz_is_bounded(tmp_path):
    line = b"0,1\n"
    path = put(tmp_path, "g.csv.gz", gzip.compress(b"src,dst\n" + line * 1000))
    assert read_graph(path, limit=8 + 4000).n_edges == 1
    with pytest.raises(GraphFileError, match=r"more than 4,007 bytes; pass a larger limit"):
        read_graph(path, limit=4007)
    put(tmp_path, "g.nodes.csv.gz", gzip.compress(b"id,label\n0,a\n1," + b"b" * 10**5))
    with pytest.raises(GraphFileError, match=r"g.nodes.csv.gz .*more than 5,000 bytes"):
        read_graph(path, limit=5000)


def test_the_limit_is_an_option_of_npz_too(tmp_path):
    write_graph(families.cycle(1000), tmp_path / "g.npz")
    assert read_graph(tmp_path / "g.npz", limit=10**5) == families.cycle(1000)
    with pytest.raises(GraphFileError, match="limit of 1,000"):
        read_graph(tmp_path / "g.npz", limit=1000)
    with pytest.raises(InvalidOption, match="limit must be"):
        read_graph(tmp_path / "g.npz", limit=0)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"edges": ' + "[" * 10**6, '{"a":' * 10**6])
def test_json_is_nested_in_vain(tmp_path, text):
    with pytest.raises(GraphFileError, match=r"cannot be read as \.json"):
        read_graph(put(tmp_path, "g.json", text))


# -- real data --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sidelight.errors.WeightsIgnored")
def test_real_graphs_match_their_cards():
    if not DATA.is_dir():
        pytest.skip("shared/data is not beside the repository")
    cards = sorted(DATA.glob("*.json"))
    assert cards
    for card in cards:
        facts = json.loads(card.read_text())
        path = card.with_name(f"{facts['name']}.csv.gz")
        once = read_graph(path, n_arms=facts["N"])
        graph = read_graph(path, n_arms=facts["N"], undirected=not facts["directed"])
        assert once.n_edges == facts["E"], card.name
        assert once.has_loop.sum() == facts["self_loops"]
        assert graph.n_edges == facts["E"] * (1 if facts["directed"] else 2) - (
            0 if facts["directed"] else facts["self_loops"]
        )
        seen = facts["observability"]["a_as_is"]
        strong = graph.has_loop | graph.is_universal
        assert strong.sum() == seen["strongly"]
        assert (graph.in_degree == 0).sum() == seen["non_observable"]
        assert (graph.labels is not None) == card.with_name(f"{facts['name']}.nodes.csv.gz").exists()


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
