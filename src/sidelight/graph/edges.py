"""What feedback graphs are made of: edges as arrays, checked, sorted and in compressed rows (CSR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import MAX_ARMS, is_whole
from sidelight._types import Bools, Floats, Indices, Ints, Longs
from sidelight.errors import InvalidGraph, listing


class Edges(NamedTuple):
    """Edges as somebody else has them: in any order, some perhaps twice; and whatever is known besides."""

    n_arms: int | None  # None where only the edges tell
    sources: Indices
    targets: Indices
    labels: Sequence[str] | None = None
    universal: Indices | None = None  # arms that all others reveal, with no edges for it
    universal_loops: Bools | None = None  # do these reveal themselves? None: all of them
    probabilities: Floats | None = None  # of each edge, None if all are certain
    unread: str | None = None  # what a file says that a graph does not hold


# -- edges of other forms -----------------------------------------------------------------------------------


def pairs_of(edges: Iterable[Sequence[int]] | Indices) -> Longs:
    """(E, 2) integer array, refusing anything that would be rounded or reinterpreted."""
    try:
        pairs = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges))
    except (TypeError, ValueError) as error:
        raise InvalidGraph(f"edges must be pairs (i, j) of arms: {error}") from None
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidGraph(f"edges must be pairs (i, j), got an array of shape {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise InvalidGraph(f"edges must join whole-number arms, got values of type {pairs.dtype}")
    if pairs.dtype.kind == "u" and pairs.max() > np.iinfo(np.int64).max:
        raise InvalidGraph(f"arm {pairs.max()} is too large")
    return pairs.astype(np.int64, copy=False)


def edges_of_matrix(
    adjacency: Any, labels: Sequence[str] | None = None, probabilities: bool = False
) -> Edges:
    """The edges of a square matrix of 0 and 1, or of `probabilities`; see `FeedbackGraph.from_adjacency`."""
    if hasattr(adjacency, "columns") and hasattr(adjacency, "to_numpy"):
        labels = _frame_labels(adjacency) if labels is None else labels
        adjacency = adjacency.to_numpy()
    packed = sparse.issparse(adjacency)
    matrix = cast(Any, adjacency).tocoo() if packed else np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGraph(f"the adjacency matrix must be square, got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise InvalidGraph(f"the adjacency matrix must hold numbers or booleans, got {matrix.dtype}")
    _refuse_entries(np.asarray(matrix.data) if packed else matrix, probabilities)
    if probabilities and packed:
        matrix = cast(Any, adjacency).tocsr().tocoo()  # entries given twice are added up, as SciPy has it
        if (matrix.data > 1).any():
            raise InvalidGraph(f"entries of one edge add up to {matrix.data.max()}, which is no probability")
    rows, cols = matrix.nonzero()
    chances: Any = None
    if probabilities:
        chances = matrix.data[matrix.data != 0] if packed else matrix[rows, cols]
    return Edges(checked_arm_count(matrix.shape[0]), rows, cols, labels, probabilities=chances)


def _refuse_entries(values: Any, probabilities: bool) -> None:
    """An error where entries are neither 0 nor 1, or no probabilities where these are meant."""
    fine = (values >= 0) & (values <= 1) if probabilities else (values == 0) | (values == 1)
    wrong = values[~fine]
    if wrong.size == 0:
        return
    if wrong[0] != wrong[0]:
        raise InvalidGraph("the adjacency matrix contains NaN; use 0 for no edge")
    if probabilities:
        raise InvalidGraph(
            f"the adjacency matrix must hold probabilities, numbers in [0, 1], got {wrong[0]}; use 0 for no edge"
        )
    raise InvalidGraph(
        f"the adjacency matrix must hold 0 and 1 only, got {wrong[0]}; weights are not used: pass A != 0 to make"
        " every non-zero entry an edge, or probabilities=True if entries say how likely an arm reveals another"
    )


def _frame_labels(frame: Any) -> list[str] | None:
    """The names of a DataFrame's rows, which must be those of its columns; None where they only count."""
    rows, columns = list(frame.index), list(frame.columns)
    if rows != columns and len(rows) == len(columns):
        at = next(i for i, (row, column) in enumerate(zip(rows, columns, strict=True)) if row != column)
        raise InvalidGraph(
            f"rows and columns must name the same arms in the same order, but row {at} is {rows[at]!r} and column"
            f" {at} is {columns[at]!r}; use frame.loc[names, names], or frame.to_numpy() if names do not matter"
        )
    return None if rows == list(range(len(rows))) else [str(name) for name in rows]


def edges_of_networkx(graph: Any) -> Edges:
    """The edges of a networkx graph, an undirected one both ways; see `FeedbackGraph.from_networkx`."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise InvalidGraph(f"expected a networkx graph, got {type(graph).__name__}")
    index = {node: i for i, node in enumerate(graph.nodes)}
    pairs = np.array([(index[u], index[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
    chances = None
    if (given := likely_edges(data for _, _, data in graph.edges(data=True))) is not None:
        chances = checked_probabilities(given, pairs)
    if not graph.is_directed():
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        chances = None if chances is None else np.concatenate([chances, chances])
    labels: list[str] | None = [str(node) for node in graph.nodes]
    if all(node == i for node, i in index.items()):
        names = [data.get("label") for _, data in graph.nodes(data=True)]
        texts = [name for name in names if isinstance(name, str)]
        labels = texts if texts and len(set(texts)) == len(index) else None
    return Edges(checked_arm_count(len(index)), pairs[:, 0], pairs[:, 1], labels, probabilities=chances)


def edges_of_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Edges:
    """The edges that `FeedbackGraph.to_arrays` describes; every array is checked, since files can be damaged."""
    n = checked_arm_count(_scalar(arrays, "n_arms"))
    has_loop = arrays["has_loop"]
    if has_loop.dtype != np.bool_ or has_loop.shape != (n,):
        raise InvalidGraph(f"has_loop must be {n} booleans, got {has_loop.dtype} {has_loop.shape}")
    targets = _integers(arrays, "out_indices", n - 1)
    starts = _integers(arrays, "out_indptr", targets.size)
    universal = _integers(arrays, "universal", n - 1)
    degrees = np.diff(starts)
    if starts.size != n + 1 or starts[0] != 0 or starts[-1] != targets.size or (degrees < 0).any():
        raise InvalidGraph("out_indptr does not describe the rows of out_indices")
    sources = np.repeat(np.arange(n, dtype=np.int32), degrees)
    looped = np.zeros(n, dtype=bool)
    looped[universal] = has_loop[universal]
    looped[targets[sources == targets]] = True
    if not np.array_equal(looped, has_loop):
        raise InvalidGraph("has_loop contradicts the edges")
    labels = _labels(arrays) if "labels_text" in arrays else None
    chances = _chances(arrays, targets.size) if "out_probability" in arrays else None
    return Edges(n, sources, targets, labels, universal, has_loop[universal], chances)


def _scalar(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> int:
    value = arrays[name]
    if value.shape != () or value.dtype.kind not in "iu":
        raise InvalidGraph(f"{name} must be one whole number, got {value.dtype} {value.shape}")
    return int(value)


def _integers(arrays: Mapping[str, npt.NDArray[Any]], name: str, most: int) -> npt.NDArray[Any]:
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InvalidGraph(f"{name} must be a flat array of whole numbers, got {values.dtype} {values.shape}")
    if values.size and not (values.min() >= 0 and values.max() <= most):
        raise InvalidGraph(
            f"{name} must be within 0..{most}, got {values.min()}..{values.max()}: the file is damaged"
        )
    return values


def _labels(arrays: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    text = arrays["labels_text"].astype(np.uint8, casting="equiv").tobytes()
    ends = _integers(arrays, "labels_end", len(text)).tolist()
    return [text[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]


def _chances(arrays: Mapping[str, npt.NDArray[Any]], edges: int) -> Floats:
    chances = arrays["out_probability"]
    if chances.dtype != np.float64 or chances.shape != (edges,):
        raise InvalidGraph(f"out_probability must be {edges} numbers, got {chances.dtype} {chances.shape}")
    if not ((chances > 0) & (chances <= 1)).all():
        raise InvalidGraph("out_probability must be in (0, 1]: the file is damaged")
    return chances


def likely_edges(attributes: Iterable[Any]) -> list[Any] | None:
    """The `probability` among the attributes of each edge, 1 where there is none; None if no edge has one."""
    given = [edge.get("probability") for edge in attributes]
    if all(value is None for value in given):
        return None
    return [1.0 if value is None else value for value in given]


# -- checks -------------------------------------------------------------------------------------------------


def checked_arm_count(n_arms: object) -> int:
    """`n_arms` as an int, or an error: a graph has at least one arm and at most 2³¹−1."""
    if not is_whole(n_arms):
        raise InvalidGraph(f"n_arms must be a whole number, got {n_arms!r}")
    if n_arms < 1:
        raise InvalidGraph(f"a feedback graph needs at least one arm, got n_arms={n_arms}")
    if n_arms > MAX_ARMS:
        raise InvalidGraph(f"at most {MAX_ARMS:,} arms are supported, got n_arms={n_arms:,}")
    return int(n_arms)


def refuse_outside(n: int, sources: Indices, targets: Indices) -> None:
    """An error that shows the edges which do not join arms 0..n−1."""
    if all(ends.size == 0 or (ends.min() >= 0 and ends.max() < n) for ends in (sources, targets)):
        return
    bad = np.flatnonzero((sources < 0) | (sources >= n) | (targets < 0) | (targets >= n))
    shown = [(int(sources[at]), int(targets[at])) for at in bad[:10]]
    raise InvalidGraph(
        f"edges must join arms 0..{n - 1}, got {listing(shown)}"
        f" ({bad.size} of {len(sources)} edges); raise n_arms or renumber the arms"
    )


def checked_probabilities(given: object, pairs: Indices) -> Floats:
    """One probability in (0, 1] for each of the (E, 2) edges, or an error that names the edge."""
    try:
        values = np.asarray(given)
        if values.size and values.dtype.kind not in "iuf":
            raise TypeError(f"values of type {values.dtype}")
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidGraph(f"probabilities must be numbers in (0, 1]: {error}") from None
    chances: Floats = np.full(len(pairs), values) if values.ndim == 0 else values
    if chances.shape != (len(pairs),):
        raise InvalidGraph(f"{len(pairs)} edges need {len(pairs)} probabilities, got shape {chances.shape}")
    wrong = np.flatnonzero(~((chances > 0) & (chances <= 1)))  # also NaN
    if wrong.size:
        i, j = pairs[wrong[0]].tolist()
        raise InvalidGraph(
            f"the probability of edge ({i}, {j}) must be in (0, 1], got {float(chances[wrong[0]])}"
            f" ({wrong.size} of {len(pairs)} edges); leave out edges that never reveal"
        )
    return chances


def checked_labels(labels: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """Distinct labels for n arms, or an error that shows the repeated ones."""
    if labels is None:
        return None
    names = tuple(str(label) for label in labels)
    if len(names) != n:
        raise InvalidGraph(f"{n} arms need {n} labels, got {len(names)}")
    if len(set(names)) != n:
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise InvalidGraph(f"labels must be distinct, repeated: {listing(repeated)}")
    return names


# -- order --------------------------------------------------------------------------------------------------


class Listed(NamedTuple):
    """Edges by source, then target, each once."""

    rows: Ints
    cols: Ints
    chances: Floats | None = None

    def where(self, chosen: Bools) -> Listed:
        """Those of a mask, without probabilities if all of theirs are 1."""
        chances = None if self.chances is None else self.chances[chosen]
        certain = chances is None or bool((chances == 1).all())
        return Listed(self.rows[chosen], self.cols[chosen], None if certain else chances)


def listed(n: int, sources: Indices, targets: Indices, probabilities: Floats | None) -> Listed:
    """The edges in order; an error where one is given with two probabilities."""
    if probabilities is not None and (probabilities < 1).any():
        return _listed_with_chances(np.asarray(sources), np.asarray(targets), np.asarray(probabilities))
    ones = np.ones(len(sources), dtype=np.int8)
    every = sparse.coo_array((ones, (np.asarray(sources), np.asarray(targets))), shape=(n, n)).tocsr()
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(every.indptr))
    return Listed(rows, every.indices.astype(np.int32, copy=False))


def _listed_with_chances(sources: Indices, targets: Indices, probabilities: Floats) -> Listed:
    order = np.lexsort((targets, sources))
    rows, cols, chances = sources[order], targets[order], probabilities[order].astype(np.float64)
    again = np.zeros(rows.size, dtype=bool)
    again[1:] = (np.diff(rows) == 0) & (np.diff(cols) == 0)
    differ = np.flatnonzero(again[1:] & (np.diff(chances) != 0))
    if differ.size:
        at = int(differ[0])
        raise InvalidGraph(
            f"edge ({rows[at]}, {cols[at]}) is given with two probabilities, {chances[at]:g} and {chances[at + 1]:g}"
        )
    return Listed(rows[~again].astype(np.int32), cols[~again].astype(np.int32), chances[~again])


def revealed_by_all_others(n: int, edges: Listed) -> Bools:
    """(n,) does every other arm reveal the arm for certain, and does its loop, if it has one, never fail?"""
    if n < 2:
        return np.zeros(n, dtype=bool)
    rows, cols, chances = edges
    sure = edges if chances is None else edges.where(chances == 1)
    others = np.bincount(sure.cols, minlength=n)
    others[sure.cols[sure.rows == sure.cols]] -= 1  # loops do not count, and no arm has two
    found: Bools = others == n - 1
    if chances is not None:  # a loop that may fail must be listed, and its arm with it
        found[cols[(rows == cols) & (chances < 1)]] = False
    return found


# -- compressed rows ----------------------------------------------------------------------------------------


def grouped(part: Indices, n_parts: int) -> tuple[Indices, Indices]:
    """(members sorted by part, start of each part); entries with part −1 belong nowhere."""
    order = np.argsort(part, kind="stable")
    order = order[np.searchsorted(part[order], 0) :]
    return order, pointers(np.bincount(part[order], minlength=n_parts))


def pointers(counts: Indices) -> Longs:
    """Starts of consecutive runs of the given lengths, and the end."""
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr


def gather_rows(indptr: Indices, indices: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """(length of each of `rows`, their entries one after the other) of a CSR pattern."""
    counts, where = _entries(indptr, rows)
    return counts, indices[where]


def gather_values(indptr: Indices, values: Floats, rows: Indices) -> Floats:
    """The values of the entries that `gather_rows` gives."""
    return values[_entries(indptr, rows)[1]]


def _entries(indptr: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """(length of each of `rows`, where their entries are)."""
    starts = indptr[rows]
    counts = indptr[np.asarray(rows) + 1] - starts
    offsets = np.repeat(starts - pointers(counts)[:-1], counts)
    return counts, offsets + np.arange(len(offsets))
