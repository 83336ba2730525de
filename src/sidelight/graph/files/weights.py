"""Weights in graph files: an edge is there or not, so they are not read, and a warning says so."""

import warnings
from pathlib import Path

import numpy as np

from sidelight._types import Bools
from sidelight.errors import GraphFileError, WeightsIgnored


def warn_of_weights(path: Path, what: str, depth: int = 1) -> None:
    """`what` is not read; `depth` calls lie between here and `read_graph`, whose caller is pointed at."""
    warnings.warn(f"{path}: {what}", WeightsIgnored, stacklevel=depth + 3)


def edges_of(path: Path, values: np.ndarray, depth: int = 1) -> Bools:
    """Which entries of a matrix are edges: all but 0, with a warning if there are others than 0 and 1."""
    if np.isnan(values).any():
        raise GraphFileError("the matrix contains NaN; use 0 for no edge")
    edges: Bools = values != 0
    if (values[edges] != 1).any():
        warn_of_weights(
            path, "the values of the matrix are not read, every entry other than 0 is an edge", depth + 1
        )
    return edges


def probable_edges(values: np.ndarray) -> Bools:
    """Which entries of a matrix of probabilities are edges: all but 0."""
    wrong = values[~((values >= 0) & (values <= 1))]
    if wrong.size:
        raise GraphFileError(f"probabilities are numbers in [0, 1], 0 for no edge, got {wrong[0]}")
    edges: Bools = values != 0
    return edges
