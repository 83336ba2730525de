"""What feedback graphs are made of: edges as arrays, checked, sorted and in compressed rows (CSR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import MAX_ARMS, is_whole
from sidelight._types import Bools, Floats, Indices, Longs
from sidelight.errors import GraphFileError, InvalidGraph, listing

TRUSTED_ARMS = 10_000_000
"""A file may claim this many arms without having edges for them."""

ARMS_PER_EDGE = 10
"""Beyond, a graph with more arms than this per edge is taken for a mistake in the ids."""


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

    def where(self, chosen: Bools) -> Edges:
        """The edges of a mask."""
        chances = None if self.probabilities is None else self.probabilities[chosen]
        return self._replace(
            sources=self.sources[chosen], targets=self.targets[chosen], probabilities=chances
        )

    def and_also(self, sources: Indices, targets: Indices, probabilities: Floats | None = None) -> Edges:
        """These edges and more, which are certain unless `probabilities` says otherwise."""
        chances = self.probabilities
        if chances is not None:
            chances = np.append(chances, np.ones(len(sources)) if probabilities is None else probabilities)
        return self._replace(
            sources=np.append(self.sources, sources),
            targets=np.append(self.targets, targets),
            probabilities=chances,
        )

    def both_ways(self) -> Edges:
        """Every edge, and its reverse with the same probability."""
        return self.and_also(self.targets, self.sources, self.probabilities)


# -- edges of other forms -----------------------------------------------------------------------------------


def edges_of_pairs(
    n_arms: int | None, pairs: Iterable[Sequence[int]] | Indices, labels: Any, probabilities: object
) -> Edges:
    """The edges of pairs (i, j); see `FeedbackGraph.from_edges`."""
    ends = pairs_of(pairs)
    chances = None if probabilities is None else checked_probabilities(probabilities, ends)
    return Edges(n_arms, ends[:, 0], ends[:, 1], labels, probabilities=chances)


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
    adjacency: Any, labels: Sequence[str] | None = None, *, probabilities: bool = False, weights: bool = False
) -> Edges:
    """The edges of a square matrix of 0 and 1, or of `probabilities`; see `FeedbackGraph.from_adjacency`.

    Where `weights` are allowed every entry but 0 is an edge, and `unread` says what became of them.
    """
    if hasattr(adjacency, "columns") and hasattr(adjacency, "to_numpy"):
        labels = _frame_labels(adjacency) if labels is None else labels
        adjacency = adjacency.to_numpy()
    values: Any = adjacency if sparse.issparse(adjacency) else np.asarray(adjacency)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InvalidGraph(f"the matrix must be square, got shape {values.shape}")
    if values.dtype.kind not in "biuf":
        raise InvalidGraph(f"the adjacency matrix must hold numbers or booleans, got {values.dtype}")
    entries: Any = sparse.coo_array(values)
    if probabilities:
        entries = entries.tocsr().tocoo()  # entries given twice are added up, as SciPy has it
    here = entries.data != 0
    nonzero = entries.data[here]
    weighed = _refuse_entries(nonzero, probabilities, weights)
    unread = "the values of the matrix are not read, every entry other than 0 is an edge" if weighed else None
    return Edges(
        checked_arm_count(values.shape[0]),
        entries.row[here],
        entries.col[here],
        labels,
        probabilities=nonzero.astype(np.float64) if probabilities else None,
        unread=unread,
    )


def _refuse_entries(values: Any, probabilities: bool, weights: bool) -> bool:
    """An error where entries are not what they are meant to be; are they weights?"""
    fine = (values > 0) & (values <= 1) if probabilities else values == 1
    wrong = values[~fine]
    if wrong.size == 0:
        return False
    if (wrong != wrong).any():
        raise InvalidGraph("the matrix contains NaN; use 0 for no edge")
    if probabilities:
        raise InvalidGraph(
            f"the matrix must hold probabilities, numbers in [0, 1], got {wrong[0]}; use 0 for no edge"
        )
    if weights:
        return True
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


def edges_of_networkx(graph: Any, *, renumbered: bool = False) -> Edges:
    """The edges of a networkx graph, an undirected one both ways; see `FeedbackGraph.from_networkx`.

    Where `renumbered`, as in files, nodes called 0..n−1 in any order are the arms of these numbers, and `label`
    attributes come before the names of nodes.
    """
    if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise InvalidGraph(f"expected a networkx graph, got {type(graph).__name__}")
    nodes = list(graph.nodes)
    n = checked_arm_count(len(nodes))
    if renumbered and {str(node) for node in nodes} == {str(arm) for arm in range(n)}:
        nodes.sort(key=lambda node: int(str(node)))
        numbered = True
    else:
        numbered = all(node == i for i, node in enumerate(nodes))
    index = {node: i for i, node in enumerate(nodes)}
    labels: list[str] | None = None if numbered else [str(node) for node in nodes]
    if numbered or renumbered:
        names = [name for node in nodes if isinstance(name := graph.nodes[node].get("label"), str)]
        labels = names if len(set(names)) == n else labels
    attributes = [data for _, _, data in graph.edges(data=True)]
    likely: list[Any] | None = [data.get("probability", 1.0) for data in attributes]
    if not any("probability" in data for data in attributes):
        likely = None
    edges = edges_of_pairs(n, [(index[u], index[v]) for u, v in graph.edges()], labels, likely)
    if any("weight" in data for data in attributes):
        edges = edges._replace(unread="the weights of edges are not read, every edge counts")
    return edges if graph.is_directed() else edges.both_ways()


def edges_of_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Edges:
    """The edges that `FeedbackGraph.to_arrays` describes; every array is checked, since files can be damaged."""
    n = checked_arm_count(arrays["n_arms"].tolist())
    has_loop = _array(arrays, "has_loop", "b", n)
    targets = _array(arrays, "out_indices", "iu", most=n - 1)
    starts = _array(arrays, "out_indptr", "iu", n + 1, most=targets.size)
    universal = _array(arrays, "universal", "iu", most=n - 1)
    degrees = np.diff(starts)
    if starts[0] != 0 or starts[-1] != targets.size or (degrees < 0).any():
        raise InvalidGraph("out_indptr does not describe the rows of out_indices")
    sources = np.repeat(np.arange(n, dtype=np.int32), degrees)
    looped = np.zeros(n, dtype=bool)
    looped[universal] = has_loop[universal]
    looped[targets[sources == targets]] = True
    if not np.array_equal(looped, has_loop):
        raise InvalidGraph("has_loop contradicts the edges")
    labels = chances = None
    if "labels_text" in arrays:
        text = arrays["labels_text"].astype(np.uint8, casting="equiv").tobytes()
        ends = _array(arrays, "labels_end", "iu", most=len(text)).tolist()
        labels = [text[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]
    if "out_probability" in arrays:
        chances = _array(arrays, "out_probability", "f", targets.size)
        if not ((chances > 0) & (chances <= 1)).all():
            raise InvalidGraph("out_probability must be in (0, 1]: the file is damaged")
    return Edges(n, sources, targets, labels, universal, has_loop[universal], chances)


def _array(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, kinds: str, size: int | None = None, *, most: int = -1
) -> npt.NDArray[Any]:
    """A flat array of these kinds of numbers, of one size, within 0..most; whatever is not asked for may be any."""
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind not in kinds or size not in (None, values.size):
        what = {"b": "booleans", "f": "numbers"}.get(kinds, "whole numbers")
        count = "a flat array of" if size is None else f"{size}"
        raise InvalidGraph(f"{name} must be {count} {what}, got {values.dtype} {values.shape}")
    if most >= 0 and values.size and not (values.min() >= 0 and values.max() <= most):
        raise InvalidGraph(
            f"{name} must be within 0..{most}, got {values.min()}..{values.max()}: the file is damaged"
        )
    return values


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


def plausible_arm_count(n: int, edges: int, confirmed: bool) -> int:
    """`n`, unless it would need memory out of all proportion to the edges and nobody confirmed it."""
    if not confirmed and n > max(TRUSTED_ARMS, ARMS_PER_EDGE * edges):
        raise GraphFileError(
            f"{n:,} arms with only {edges:,} edges look like a mistake in the ids;"
            f" pass n_arms={n} to confirm them, or named=True if the ids of a csv file are arbitrary numbers"
        )
    return checked_arm_count(n)


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


def in_order(n: int, edges: Edges) -> Edges:
    """The edges by source, then target, each once; an error where one is given with two probabilities."""
    sources: Indices = np.asarray(edges.sources)
    targets: Indices = np.asarray(edges.targets)
    chances = edges.probabilities
    if chances is None or (chances == 1).all():
        ones = np.ones(len(sources), dtype=np.int8)
        every = sparse.coo_array((ones, (sources, targets)), shape=(n, n)).tocsr()
        owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(every.indptr))
        return edges._replace(
            sources=owners, targets=every.indices.astype(np.int32, copy=False), probabilities=None
        )
    order = np.lexsort((targets, sources))
    rows, cols, chances = sources[order], targets[order], chances[order].astype(np.float64)
    again = np.append(False, (np.diff(rows) == 0) & (np.diff(cols) == 0))
    differ = np.flatnonzero(again[1:] & (np.diff(chances) != 0))
    if differ.size:
        at = int(differ[0])
        raise InvalidGraph(
            f"edge ({rows[at]}, {cols[at]}) is given with two probabilities, {chances[at]:g} and {chances[at + 1]:g}"
        )
    return edges._replace(
        sources=rows.astype(np.int32), targets=cols.astype(np.int32), probabilities=chances
    ).where(~again)


def revealed_by_all_others(n: int, edges: Edges) -> Bools:
    """(n,) does every other arm reveal the arm for certain, and does its loop, if it has one, never fail?"""
    if n < 2:
        return np.zeros(n, dtype=bool)
    chances = edges.probabilities
    sure = edges if chances is None else edges.where(chances == 1)
    others = np.bincount(sure.targets, minlength=n)
    others[sure.targets[sure.sources == sure.targets]] -= 1  # loops do not count, and no arm has two
    result: Bools = others == n - 1
    if chances is not None:  # a loop that may fail must be listed, and its arm with it
        result[edges.targets[(edges.sources == edges.targets) & (chances < 1)]] = False
    return result


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


def gather_rows(indptr: Indices, entries: Any, rows: Indices) -> tuple[Indices, Any]:
    """(length of each of `rows`, their entries one after the other) of compressed rows."""
    starts = indptr[rows]
    counts = indptr[np.asarray(rows) + 1] - starts
    offsets = np.repeat(starts - pointers(counts)[:-1], counts)
    return counts, entries[offsets + np.arange(len(offsets))]
