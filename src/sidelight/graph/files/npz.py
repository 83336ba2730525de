"""Graphs as .npz: our own arrays (the quickest to load), or a matrix saved by `scipy.sparse.save_npz`.

    sidelight_graph   version of this layout, 1
    n_arms            number of arms
    out_indptr, out_indices    CSR of the edges into arms that are not universal (see `FeedbackGraph`)
    universal         arms that every other arm reveals
    has_loop          (n,) booleans
    labels_text, labels_end    optional: all labels as one run of UTF-8 bytes, and where each ends

Nothing is pickled, in either direction.
"""

from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._files import replacing
from sidelight.errors import GraphFileError
from sidelight.graph.arm_count import plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph, checked_arm_count

VERSION = 1


def write_npz(graph: FeedbackGraph, path: Path) -> None:
    """Write the arrays listed above."""
    arrays: dict[str, Any] = {
        "sidelight_graph": np.int64(VERSION),
        "n_arms": np.int64(graph.n_arms),
        "out_indptr": graph.out_indptr,
        "out_indices": graph.out_indices,
        "universal": graph.universal,
        "has_loop": graph.has_loop,
    }
    if graph.labels is not None:
        encoded = [label.encode() for label in graph.labels]
        arrays["labels_text"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["labels_end"] = np.cumsum([len(label) for label in encoded], dtype=np.int64)
    with replacing(path) as file:
        np.savez(file, **arrays)


def read_npz(path: Path, n_arms: int | None) -> FeedbackGraph:
    """The graph of an .npz file, every array checked."""
    with open(path, "rb") as file:  # np.load by name leaves a damaged file open
        return _read_open(file, n_arms)


def _read_open(file: IO[bytes], n_arms: int | None) -> FeedbackGraph:
    archive = np.load(file, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise GraphFileError("a single array, not an .npz archive; save it with write_graph")
    with archive:
        if "sidelight_graph" in archive.files:
            return _read_own({name: archive[name] for name in archive.files})
        if "format" not in archive.files:
            raise GraphFileError(
                f"neither a graph written by write_graph nor a matrix of scipy.sparse.save_npz:"
                f" it holds {', '.join(archive.files[:10]) or 'nothing'}"
            )
    file.seek(0)
    matrix: Any = sparse.load_npz(file)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphFileError(f"the matrix must be square, got shape {matrix.shape}")
    plausible_arm_count(matrix.shape[0], matrix.nnz, n_arms)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # compiled loops trust the indices
    return FeedbackGraph.from_adjacency(matrix)


def _read_own(arrays: dict[str, npt.NDArray[Any]]) -> FeedbackGraph:
    if (version := _scalar(arrays, "sidelight_graph")) != VERSION:
        raise GraphFileError(f"layout version {version} is unknown here, expected {VERSION}")
    n = checked_arm_count(_scalar(arrays, "n_arms"))
    has_loop = arrays["has_loop"]
    if has_loop.dtype != np.bool_ or has_loop.shape != (n,):
        raise GraphFileError(f"has_loop must be {n} booleans, got {has_loop.dtype} {has_loop.shape}")
    targets = _integers(arrays, "out_indices", 0, n - 1)
    starts = _integers(arrays, "out_indptr", 0, targets.size)
    universal = _integers(arrays, "universal", 0, n - 1)
    degrees = np.diff(starts)
    if starts.size != n + 1 or starts[0] != 0 or starts[-1] != targets.size or (degrees < 0).any():
        raise GraphFileError("out_indptr does not describe the rows of out_indices")
    sources = np.repeat(np.arange(n, dtype=np.int32), degrees)
    labels = _labels(arrays) if "labels_text" in arrays else None
    graph = FeedbackGraph._from_arrays(n, sources, targets, labels, universal, has_loop[universal])
    if not np.array_equal(graph.has_loop, has_loop):
        raise GraphFileError("has_loop contradicts the edges")
    return graph


def _scalar(arrays: dict[str, npt.NDArray[Any]], name: str) -> int:
    value = arrays[name]
    if value.shape != () or value.dtype.kind not in "iu":
        raise GraphFileError(f"{name} must be one whole number, got {value.dtype} {value.shape}")
    return int(value)


def _integers(arrays: dict[str, npt.NDArray[Any]], name: str, least: int, most: int) -> npt.NDArray[Any]:
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise GraphFileError(
            f"{name} must be a flat array of whole numbers, got {values.dtype} {values.shape}"
        )
    if values.size and not (least <= values.min() and values.max() <= most):
        raise GraphFileError(
            f"{name} must be within {least}..{most}, got {values.min()}..{values.max()}: the file is damaged"
        )
    return values


def _labels(arrays: dict[str, npt.NDArray[Any]]) -> list[str]:
    text = arrays["labels_text"].astype(np.uint8, casting="equiv").tobytes()
    ends = _integers(arrays, "labels_end", 0, len(text)).tolist()
    return [text[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]
