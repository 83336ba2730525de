"""Matrix Market files of other programs, and damaged ones."""

import re
from pathlib import Path

import numpy as np
import pytest
from graph_files import put
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from sidelight.errors import GraphFileError, WeightsIgnored
from sidelight.graph import FeedbackGraph, read_graph
from sidelight.graph.files import mtx

MATRICES = {
    "general": np.array([[0, 1, 0], [0, 0, 0.5], [2e-9, 0, 1]]),
    "symmetric": np.array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 1]]),
    "skew-symmetric": np.array([[0, 1, 0], [-1, 0, 0.5], [0, -0.5, 0]]),
    "integer": np.array([[0, 7, 0], [0, 0, -3], [0, 10, 1]]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_mtx_of_other_programs(tmp_path, name):
    path = tmp_path / "m.mtx"
    scipy_io.mmwrite(path, sparse.coo_array(MATRICES[name]), comment="of another program")
    expected = FeedbackGraph.from_adjacency(MATRICES[name] != 0)
    assert read_weighted(path) == expected
    path.write_bytes(path.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n"))
    assert read_weighted(path) == expected


@pytest.mark.parametrize("kind", [int, float])
def test_ones_are_no_weights(tmp_path, kind):
    matrix = (MATRICES["general"] != 0).astype(kind)
    scipy_io.mmwrite(tmp_path / "m.mtx", sparse.coo_array(matrix))
    assert read_graph(tmp_path / "m.mtx") == FeedbackGraph.from_adjacency(matrix != 0)  # without a warning


def test_mtx_zeros_are_no_edges(tmp_path):
    head = "%%MatrixMarket matrix coordinate real general\n%\n\n2 2 4\n"
    path = put(tmp_path, "m.mtx", head + "1 1 0\n1 2 -0.0e5\n\n% note\n2 1 1e-300\n2 2 0.01\n")
    assert read_weighted(path) == FeedbackGraph.from_edges(2, [(1, 0), (1, 1)])


def read_weighted(path):
    """The graph of a file with weights, which says that they are not read."""
    with pytest.warns(WeightsIgnored, match="the values of the matrix are not read") as said:
        graph = read_graph(path)
    assert [warning.filename for warning in said] == [__file__]
    return graph


HEAD = "%%MatrixMarket matrix coordinate pattern general\n"
REAL = HEAD.replace("pattern", "real")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: not a Matrix Market"),
        ("hello\n", "line 1: not a Matrix Market"),
        (HEAD.replace("pattern", "quaternion") + "2 2 1\n1 1\n", "quaternion general is not read"),
        (HEAD.replace("coordinate", "array") + "2 2\n", "array pattern general is not read.*mmread"),
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
        (b"\xff\xfe\x00binary", "line 1: not a Matrix Market"),
    ],
)
def test_bad_mtx(tmp_path, content, message):
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "bad.mtx", content))


def naive_entries(text, values, size):
    """(kept entries, number of entries, first line that is none), one line at a time."""
    kept, entries = [], 0
    for number, line in enumerate(text.split(b"\n")[:-1]):
        words = line.replace(b"\r", b" ").split()
        if words and not words[0].startswith(b"%"):
            positions = [int(word) if word.isdigit() else 0 for word in words[:2]]
            known = all(
                set(word) <= set(b"0123456789+-.eE") and re.search(rb"\d", word) for word in words[2:]
            )
            inside = all(1 <= position <= size for position in positions)
            if len(words) != 2 + values or not known or not inside:
                return kept, entries, number
            entries += 1
            if values == 0 or any(float(word) for word in words[2:]):
                kept.append((positions[0] - 1, positions[1] - 1))
    return kept, entries, None


reals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value == 0 or abs(value) > 1e-300),
    st.sampled_from([0, -0.0, 1, 10, 0.01, 1e-5]),
).map(lambda value: repr(value).encode())
words = st.one_of(
    st.integers(1, 9).map(lambda value: str(value).encode()),
    reals,
    st.sampled_from([b"0", b"10", b"nan", b"x", b"\xff", b"."]),
)
entry_lines = st.one_of(
    st.tuples(st.integers(1, 9).map(str), st.integers(1, 9).map(str)).map(
        lambda pair: " ".join(pair).encode()
    ),
    st.tuples(st.just(b" 3\t4 "), reals).map(b" ".join),
    st.lists(words, min_size=1, max_size=4).map(b" ".join),
    st.sampled_from([b"", b"\r", b"1 2\r", b"% note", b"  "]),
)


@pytest.mark.filterwarnings("ignore::sidelight.errors.WeightsIgnored")
@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(entry_lines, max_size=8), st.sampled_from([0, 1]))
@example([b"1 1", b"9 9"], 0)
@example([b"1 1 0.0e9", b"2 3 1e-5"], 1)
def test_entries_like_split_and_float(rows, values):
    text = b"".join(row + b"\n" for row in rows)
    kept, entries, line = naive_entries(text, values, 9)
    head = mtx._Head(values, "general", 9, entries, lines=2)
    if line is not None:
        with pytest.raises(GraphFileError, match=f"line {line + 3}: expected"):
            mtx._entries(Path("g.mtx"), head, text)
    else:
        places, found = mtx._entries(Path("g.mtx"), head, text)
        assert [tuple(place) for place in places.T[found != 0].tolist()] == kept
