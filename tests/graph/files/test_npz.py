"""Archives: the documented layout, matrices of SciPy, and files that ask for more than they are."""

import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from graph_files import put
from scipy import sparse

from sidelight.errors import GraphFileError, InvalidOption, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph

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
    "version": ({"sidelight_graph": np.int64(3)}, "version 3 is unknown"),
    "no arms": ({"n_arms": np.int64(0)}, "at least one arm"),
    "float arms": ({"n_arms": np.float64(3)}, "n_arms must be a whole number"),
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
    "labels": (
        {"labels_text": np.array([97], np.uint8), "labels_end": np.array([1])},
        "contradictory: the file 3, labels 1",
    ),
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


def test_weights_are_not_read_and_said_so(tmp_path):
    matrix = np.array([[0, 1.0, 0], [0, 0, 2.5], [-1, 1, 0]])
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(matrix))
    with pytest.warns(WeightsIgnored, match=r"m\.npz: the values of the matrix are not read") as said:
        graph = read_graph(tmp_path / "m.npz")
    assert graph == FeedbackGraph.from_adjacency(matrix != 0)
    assert [warning.filename for warning in said] == [__file__]


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(GraphFileError, match=r"pipe\.npz.*takes a regular file"):
        read_graph(tmp_path / "pipe.npz")


def test_bad_scipy_npz(tmp_path):
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(GraphFileError, match=r"square, got shape \(2, 3\)"):
        read_graph(tmp_path / "m.npz")
    sparse.save_npz(tmp_path / "nan.npz", sparse.csr_array([[0, np.nan], [1, 0]]))
    with pytest.raises(GraphFileError, match=r"nan\.npz: the matrix contains NaN"):
        read_graph(tmp_path / "nan.npz")
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


# -- files that ask for more than they are ----------------------------------------------------------------


def lying_npy(shape, dtype="<i8"):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()


BOMBS = {
    "zeros": (lambda: np.zeros(2**25, dtype=np.int64), r"asks for 268,43\d,\d+ bytes"),
    "shape": (lambda: lying_npy((10**13,)), "does not fit its size"),
    "no items": (lambda: lying_npy((0, 10**13)), None),
    "overflow": (lambda: lying_npy((2**62, 4)), "does not fit its size"),
    "objects": (lambda: lying_npy((1,), "|O"), "does not fit its size"),
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


def test_the_limit_is_an_option_of_npz_too(tmp_path):
    write_graph(families.cycle(1000), tmp_path / "g.npz")
    assert read_graph(tmp_path / "g.npz", limit=10**5) == families.cycle(1000)
    with pytest.raises(GraphFileError, match="limit of 1,000"):
        read_graph(tmp_path / "g.npz", limit=1000)
    with pytest.raises(InvalidOption, match="limit must be"):
        read_graph(tmp_path / "g.npz", limit=0)
