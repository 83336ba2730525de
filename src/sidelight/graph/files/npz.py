"""Graphs as .npz: our own arrays (the quickest to load), or a matrix saved by `scipy.sparse.save_npz`.

    sidelight_graph   version of this layout: 1, or 2 where reveals may fail
    n_arms            number of arms
    out_indptr, out_indices    CSR of the edges into arms that are not universal (see `FeedbackGraph`)
    universal         arms that every other arm reveals
    has_loop          (n,) booleans
    out_probability   (version 2) how likely each of these edges reveals
    labels_text, labels_end    optional: all labels as one run of UTF-8 bytes, and where each ends

Nothing is pickled, in either direction.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sidelight._archive import read_arrays
from sidelight._files import replacing
from sidelight._formats import Options
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, edges_of_arrays, edges_of_matrix, plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph

VERSION, WITH_PROBABILITIES = 1, 2


def write(graph: FeedbackGraph, path: Path) -> None:
    """Write the arrays listed above."""
    with replacing(path) as file:
        version = VERSION if graph.certain else WITH_PROBABILITIES
        np.savez(file, sidelight_graph=np.int64(version), **graph.to_arrays())  # type: ignore[arg-type]


def read(path: Path, options: Options) -> Edges:
    """The edges of an .npz file, every array checked; entries of a matrix may be `probabilities`."""
    arrays = read_arrays(path, options.limit)
    if "sidelight_graph" in arrays:
        version = arrays.pop("sidelight_graph")
        if not any(np.array_equal(version, each) for each in (VERSION, WITH_PROBABILITIES)):
            raise GraphFileError(
                f"layout version {version} is unknown here, expected {VERSION} or {WITH_PROBABILITIES}"
            )
        return edges_of_arrays(arrays)
    if "format" not in arrays:
        raise GraphFileError(
            f"neither a graph written by write_graph nor a matrix of scipy.sparse.save_npz:"
            f" it holds {', '.join(list(arrays)[:10]) or 'nothing'}"
        )
    matrix: Any = sparse.load_npz(path)  # what it will allocate is known by now
    plausible_arm_count(matrix.shape[0], matrix.nnz, options.n_arms is not None)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # compiled loops trust the indices
    return edges_of_matrix(matrix, probabilities=options.probabilities, weights=True)
