"""The feedback graph: who reveals whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import is_whole
from sidelight._files import digest
from sidelight._types import Bools, Floats, Indices, Ints, Longs, frozen
from sidelight.errors import InvalidGraph, listing
from sidelight.graph.edges import (
    Edges,
    Listed,
    checked_arm_count,
    checked_labels,
    checked_probabilities,
    edges_of_arrays,
    edges_of_matrix,
    edges_of_networkx,
    gather_rows,
    gather_values,
    listed,
    pairs_of,
    pointers,
    refuse_outside,
    revealed_by_all_others,
)

if TYPE_CHECKING:
    import networkx as nx


MAX_MATERIALIZED_EDGES = 2**31 - 1
"""Largest number of edges written out one by one (`edges`, `to_sparse`)."""


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackGraph:
    """Arms 0..n−1; an edge (i, j) says that playing i reveals the loss of j.

    Stored in O(n + explicit edges): an arm that *every other arm* reveals is kept as one entry of
    `universal` instead of n−1 edges, so full feedback and loop-less cliques with 10⁵ arms fit. The
    explicit edges are all edges into the other arms, in CSR form both ways. Use the class methods
    (`from_edges`, `from_adjacency`, `from_networkx`) or `sidelight.families` to make one.

    Reveals may fail: an edge then has a known probability in (0, 1), and whether it reveals is drawn afresh in every
    round, independently of the losses. Where all edges are certain nothing of that is stored.
    """

    n_arms: int
    out_indptr: Longs  # (n+1,) explicit edges by source
    out_indices: Ints  # sorted within a row
    in_indptr: Longs  # (n+1,) the same edges by target
    in_indices: Ints
    universal: Ints  # sorted arms revealed by every other arm
    has_loop: Bools  # (n,) does playing the arm reveal its own loss?
    labels: tuple[str, ...] | None = None
    out_probability: Floats | None = None  # of each explicit edge by source, None if all are certain
    in_probability: Floats | None = None  # the same by target

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # pickling forgets that
        self.__dict__.update({"out_probability": None, "in_probability": None} | state)

    # -- making one -----------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        n_arms: int,
        edges: Iterable[Sequence[int]] | Indices,
        labels: Sequence[str] | None = None,
        *,
        probabilities: float | Sequence[float] | Floats | None = None,
    ) -> FeedbackGraph:
        """Graph on `n_arms` arms from pairs (i, j): playing i reveals j. Duplicates count once.

        Where reveals may fail, `probabilities` says how likely each edge reveals, one number in (0, 1] for each or
        one for all.

        >>> FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2)]).out_neighbors(1)
        array([0, 2], dtype=int32)
        >>> FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], probabilities=[0.9, 1]).probability(0, 1)
        0.9
        """
        n, pairs = checked_arm_count(n_arms), pairs_of(edges)
        refuse_outside(n, pairs[:, 0], pairs[:, 1])
        chances = None if probabilities is None else checked_probabilities(probabilities, pairs)
        return cls._from_arrays(n, pairs[:, 0], pairs[:, 1], labels, probabilities=chances)

    @classmethod
    def from_adjacency(
        cls, adjacency: Any, labels: Sequence[str] | None = None, *, probabilities: bool = False
    ) -> FeedbackGraph:
        """Graph from a square matrix of 0 and 1 (or booleans): A[i, j] = 1 means that i reveals j.

        Dense, SciPy sparse, or a pandas DataFrame, whose names become the labels. With `probabilities=True` entries
        are numbers in [0, 1], how likely i reveals j. Otherwise other numbers than 0 and 1 are refused: pass `A != 0`
        to make every weight an edge.
        """
        return cls._of(edges_of_matrix(adjacency, labels, probabilities))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any]) -> FeedbackGraph:
        """Graph from networkx; an undirected edge reveals both ways, arms follow the order of the nodes.

        Labels are the nodes themselves, or, where these are just 0..n−1, their `label` attributes if every
        node has its own. An edge attribute `probability` says how likely the edge reveals, 1 where it has none.
        """
        return cls._of(edges_of_networkx(graph))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> FeedbackGraph:
        """The graph that `to_arrays` described; every array is checked, since files can be damaged."""
        return cls._of(edges_of_arrays(arrays))

    @classmethod
    def _of(cls, edges: Edges) -> FeedbackGraph:
        """The graph of edges whose ids and probabilities are in range."""
        return cls._from_arrays(checked_arm_count(edges.n_arms), *edges[1:-1])

    @classmethod
    def _from_arrays(
        cls,
        n: int,
        sources: Indices,
        targets: Indices,
        labels: Sequence[str] | None = None,
        universal: Indices | None = None,
        universal_loops: Bools | None = None,
        probabilities: Floats | None = None,
    ) -> FeedbackGraph:
        """Trusted constructor: ids and probabilities are in range. `universal` arms may be given instead of edges."""
        has_loop = np.zeros(n, dtype=bool)
        everywhere = np.zeros(n, dtype=bool)
        if universal is not None and len(universal):
            has_loop[universal] = True if universal_loops is None else universal_loops
            if n >= 2:
                everywhere[universal] = True
            elif has_loop[0]:  # one arm has no "every other arm": its loop is an ordinary edge
                sources = targets = np.zeros(1, dtype=np.int64)
                probabilities = None
        edges = listed(n, sources, targets, probabilities)
        has_loop[edges.cols[edges.rows == edges.cols]] = True
        everywhere |= revealed_by_all_others(n, edges)
        if everywhere.any():
            edges = edges.where(~everywhere[edges.cols])
        return cls._compressed(n, edges, np.flatnonzero(everywhere), has_loop, checked_labels(labels, n))

    @classmethod
    def _compressed(
        cls, n: int, edges: Listed, universal: Indices, has_loop: Bools, labels: tuple[str, ...] | None
    ) -> FeedbackGraph:
        """The explicit edges in CSR form both ways, every array read-only."""
        rows, cols, chances = edges
        indptr = pointers(np.bincount(rows, minlength=n))
        marks = np.ones(cols.size, dtype=np.int8) if chances is None else np.arange(cols.size)
        by_target = sparse.csr_array(
            (marks, cols, indptr), shape=(n, n)
        ).tocsc()  # sorted because the rows are
        return cls(
            n_arms=n,
            out_indptr=frozen(indptr, np.int64),
            out_indices=frozen(cols, np.int32),
            in_indptr=frozen(by_target.indptr, np.int64),
            in_indices=frozen(by_target.indices, np.int32),
            universal=frozen(universal, np.int32),
            has_loop=frozen(has_loop, np.bool_),
            labels=labels,
            out_probability=None if chances is None else frozen(chances, np.float64),
            in_probability=None if chances is None else frozen(chances[by_target.data], np.float64),
        )

    # -- reading it -----------------------------------------------------------------------------------

    def out_neighbors(self, arm: int) -> Ints:
        """Sorted arms whose loss is revealed when `arm` is played."""
        arm = self._checked_arm(arm)
        row = self.out_indices[self.out_indptr[arm] : self.out_indptr[arm + 1]]
        if self.universal.size == 0:
            return row
        seen = self.universal if self.has_loop[arm] else self.universal[self.universal != arm]
        return seen if row.size == 0 else np.sort(np.concatenate([row, seen]))

    def in_neighbors(self, arm: int) -> Ints:
        """Sorted arms that reveal the loss of `arm`."""
        arm = self._checked_arm(arm)
        if not self.is_universal[arm]:
            return self.in_indices[self.in_indptr[arm] : self.in_indptr[arm + 1]]
        everyone = np.arange(self.n_arms, dtype=np.int32)
        return everyone if self.has_loop[arm] else np.delete(everyone, arm)

    def reveals(self, i: int, j: int) -> bool:
        """Does playing i reveal the loss of j?"""
        i, j = self._checked_arm(i), self._checked_arm(j)
        if i == j:
            return bool(self.has_loop[i])
        if self.is_universal[j]:
            return True
        row = self.out_indices[self.out_indptr[i] : self.out_indptr[i + 1]]
        at = int(np.searchsorted(row, j))
        return at < row.size and int(row[at]) == j

    # -- reveals that may fail ------------------------------------------------------------------------

    @property
    def certain(self) -> bool:
        """Does every edge always reveal?"""
        return self.out_probability is None

    def probability(self, i: int, j: int) -> float:
        """How likely playing i reveals the loss of j: 1 for a certain edge, 0 where there is none."""
        i, j = self._checked_arm(i), self._checked_arm(j)
        if not self.reveals(i, j):
            return 0.0
        if self.out_probability is None or self.is_universal[j]:
            return 1.0
        first, end = self.out_indptr[i], self.out_indptr[i + 1]
        return float(self.out_probability[first + np.searchsorted(self.out_indices[first:end], j)])

    def reveal_probabilities(self, arm: int) -> Floats:
        """How likely playing `arm` reveals each of `out_neighbors(arm)`."""
        revealed = self.out_neighbors(arm)
        chances = np.ones(revealed.size)
        if self.out_probability is not None:
            row = slice(self.out_indptr[arm], self.out_indptr[arm + 1])
            chances[np.searchsorted(revealed, self.out_indices[row])] = self.out_probability[row]
        return chances

    def seen(self, played: npt.ArrayLike) -> Floats:
        """(n,) how likely each arm is seen if arms are played with these probabilities: P_i = Σ_j Z_j·r_{ji}."""
        z = np.asarray(played, dtype=np.float64)
        if z.shape != (self.n_arms,):
            raise InvalidGraph(f"{self.n_arms} arms need {self.n_arms} probabilities, got shape {z.shape}")
        shown = z[self.in_indices]
        if self.in_probability is not None:
            shown = shown * self.in_probability
        found: Floats = np.bincount(self.in_targets, weights=shown, minlength=self.n_arms).astype(np.float64)
        arms = self.universal
        found[arms] = z.sum() - np.where(self.has_loop[arms], 0.0, z[arms])
        return found

    def at_least(self, r: float) -> FeedbackGraph:
        """The graph of the edges that reveal with probability r or more, all of them certain.

        >>> lossy = FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)], probabilities=[0.5, 0.9, 1])
        >>> lossy.at_least(0.9).edges().tolist()
        [[1, 2], [2, 0]]
        """
        if self.out_probability is None:
            return self
        kept = self.out_probability >= r
        return FeedbackGraph._from_arrays(
            self.n_arms,
            self.out_sources[kept],
            self.out_indices[kept],
            self.labels,
            self.universal,
            self.has_loop[self.universal],
        )

    @property
    def out_sources(self) -> Longs:
        """The source of each explicit edge, as `out_indices` lists them."""
        return np.repeat(np.arange(self.n_arms), np.diff(self.out_indptr))

    @property
    def in_targets(self) -> Longs:
        """The target of each explicit edge, as `in_indices` lists them."""
        return np.repeat(np.arange(self.n_arms), np.diff(self.in_indptr))

    @cached_property
    def is_universal(self) -> Bools:
        """(n,) is the arm revealed by every other arm?"""
        mask = np.zeros(self.n_arms, dtype=bool)
        mask[self.universal] = True
        return frozen(mask, np.bool_)

    @cached_property
    def out_degree(self) -> Longs:
        """(n,) number of arms that each arm reveals."""
        loopless = (self.is_universal & ~self.has_loop).astype(np.int64)
        return frozen(np.diff(self.out_indptr) + self.universal.size - loopless, np.int64)

    @cached_property
    def in_degree(self) -> Longs:
        """(n,) number of arms that reveal each arm."""
        degree = np.diff(self.in_indptr)
        degree[self.universal] = self.n_arms - 1 + self.has_loop[self.universal]
        return frozen(degree, np.int64)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges, those into universal arms included."""
        return int(self.in_degree.sum())

    @cached_property
    def content(self) -> str:
        """A digest of the arms and edges, labels aside: the same for graphs that reveal the same."""
        arrays = self.to_arrays()
        names = sorted(name for name in arrays if not name.startswith("labels"))
        return digest(*(part for name in names for part in (f"{name} {arrays[name].shape}", arrays[name])))

    def contains(self, other: FeedbackGraph) -> bool:
        """Has it every edge of `other`, which has the same arms, each at least as likely to reveal as there?"""
        listed = self._chances(other.out_sources, other.out_indices)
        # An arm that all others reveal is listed all the same where its loop may fail.
        apart = other.universal[~self.is_universal[other.universal]]
        if (self.in_degree[apart] < self.n_arms - 1).any():
            return False
        targets = np.repeat(apart, self.n_arms)
        sources = np.tile(np.arange(self.n_arms), apart.size)
        needed = (sources != targets) | other.has_loop[targets]
        return bool(
            (listed >= (1.0 if other.out_probability is None else other.out_probability)).all()
            and (self._chances(sources, targets) == 1)[needed].all()
            and (self.has_loop | ~other.has_loop).all()
        )

    def _chances(self, sources: Longs, targets: Ints) -> Floats:
        """How likely each of `sources` reveals each of `targets`: 0 where there is no edge."""
        keys, mine = (
            np.int64(self.n_arms) * i + j
            for i, j in ((sources, targets), (self.out_sources, self.out_indices))
        )
        at = np.searchsorted(mine, keys)
        listed = np.append(mine, -1)[at] == keys
        explicit = np.ones(mine.size) if self.out_probability is None else self.out_probability
        everywhere = self.is_universal[targets] & ((sources != targets) | self.has_loop[targets])
        found: Floats = np.where(listed, np.append(explicit, 0.0)[at], np.where(everywhere, 1.0, 0.0))
        return found

    # -- other forms ----------------------------------------------------------------------------------

    def edges(self) -> Ints:
        """(n_edges, 2) all pairs (i, j) with i revealing j, sorted."""
        return _pairs(self.to_sparse(), 0)

    def edge_probabilities(self) -> Floats:
        """(n_edges,) how likely each of `edges()` reveals."""
        return self.to_sparse().data.astype(np.float64)

    def edge_blocks(self, most: int = 1_000_000) -> Iterator[tuple[Ints, Floats]]:
        """The rows of `edges()` and their probabilities, about `most` at a time: for dense graphs."""
        ends = np.cumsum(self.out_degree)
        start = 0
        while start < self.n_arms:
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + most, side="right")))
            rows = self._rows(start, stop)
            if rows.nnz:
                yield _pairs(rows, start), rows.data
            start = stop

    def to_sparse(self) -> sparse.csr_array:
        """Every edge as a SciPy CSR matrix of ones, or of probabilities where reveals may fail.

        Refuses graphs too dense to write out.
        """
        if self.n_edges > MAX_MATERIALIZED_EDGES:
            raise InvalidGraph(
                f"{self.n_edges:,} edges are too many to write out one by one; "
                "work with `universal` and the explicit CSR arrays instead"
            )
        return self._rows(0, self.n_arms)

    def _rows(self, start: int, stop: int) -> sparse.csr_array:
        """Rows start..stop−1 of the adjacency matrix."""
        shape = stop - start, self.n_arms
        indptr = self.out_indptr[start : stop + 1]
        indices = self.out_indices[indptr[0] : indptr[-1]]
        entries: npt.NDArray[Any] = np.ones(indices.size, dtype=np.int8)
        if self.out_probability is not None:
            entries = self.out_probability[indptr[0] : indptr[-1]].copy()
        explicit = sparse.csr_array((entries, indices, indptr - indptr[0]), shape=shape)
        if self.universal.size == 0:
            return explicit
        rows = np.tile(np.arange(start, stop, dtype=np.int32), self.universal.size)
        cols = np.repeat(self.universal, shape[0])
        keep = (rows != cols) | self.has_loop[cols]
        ones = np.ones(int(keep.sum()), dtype=entries.dtype)
        total = explicit + sparse.csr_array((ones, (rows[keep] - start, cols[keep])), shape=shape)
        total.sort_indices()
        return sparse.csr_array(total)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Plain arrays of numbers that say everything about the graph, for files; see `from_arrays`.

        Labels are one run of UTF-8 bytes, `labels_text`, and where each ends in it, `labels_end`.
        """
        arrays: dict[str, npt.NDArray[Any]] = {
            "n_arms": np.array(self.n_arms),
            "out_indptr": self.out_indptr,
            "out_indices": self.out_indices,
            "universal": self.universal,
            "has_loop": self.has_loop,
        }
        if self.out_probability is not None:
            arrays["out_probability"] = self.out_probability
        if self.labels is not None:
            encoded = [label.encode() for label in self.labels]
            arrays["labels_text"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            arrays["labels_end"] = np.cumsum([len(label) for label in encoded], dtype=np.int64)
        return arrays

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Directed networkx graph on 0..n−1, with a `label` on each node when there are labels.

        Where reveals may fail, every edge has its `probability`.
        """
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(range(self.n_arms))
        graph.add_edges_from((int(i), int(j)) for i, j in self.edges())
        if not self.certain:
            likely = zip(map(tuple, self.edges().tolist()), self.edge_probabilities().tolist(), strict=True)
            nx.set_edge_attributes(graph, dict(likely), "probability")
        if self.labels is not None:
            nx.set_node_attributes(graph, dict(enumerate(self.labels)), "label")
        return graph

    def subgraph(self, arms: Sequence[int] | Indices) -> FeedbackGraph:
        """Graph induced by `arms`, renumbered 0..len(arms)−1 in the order given."""
        chosen = self.checked_arms(arms)
        n = len(chosen)
        new_id = np.full(self.n_arms, -1, dtype=np.int64)
        new_id[chosen] = np.arange(n)
        degrees, found = gather_rows(self.out_indptr, self.out_indices, chosen)
        targets, sources = new_id[found], np.repeat(np.arange(n), degrees)
        inside = targets >= 0
        universal = np.flatnonzero(self.is_universal[chosen])
        labels = None if self.labels is None else [self.labels[arm] for arm in chosen]
        chances = None
        if self.out_probability is not None:
            chances = gather_values(self.out_indptr, self.out_probability, chosen)[inside]
        return FeedbackGraph._from_arrays(
            n, sources[inside], targets[inside], labels, universal, self.has_loop[chosen][universal], chances
        )

    def symmetrized(self) -> FeedbackGraph:
        """The graph with every edge also reversed, for data that hold each undirected edge once.

        Where reveals may fail, an edge that is there both ways must have one probability.

        >>> FeedbackGraph.from_edges(3, [(0, 1), (1, 2)]).symmetrized().n_edges
        4
        """
        n, rest = self.n_arms, np.flatnonzero(~self.is_universal)
        if self.universal.size * rest.size + self.out_indices.size > MAX_MATERIALIZED_EDGES:
            raise InvalidGraph(
                f"reversing {self.n_edges:,} edges would write out more than {MAX_MATERIALIZED_EDGES:,}"
            )
        rows, cols = self.out_sources, self.out_indices
        # What all arms reveal must now reveal all arms: only edges into the others need to be written.
        back = np.repeat(self.universal, rest.size), np.tile(rest, self.universal.size)
        r, chances = self.out_probability, None
        if r is not None:
            chances = np.concatenate([r, r, np.ones(back[0].size)])
        return FeedbackGraph._from_arrays(
            n,
            np.concatenate([rows, cols, back[0]]),
            np.concatenate([cols, rows, back[1]]),
            self.labels,
            self.universal,
            self.has_loop[self.universal],
            chances,
        )

    # -- small print ----------------------------------------------------------------------------------

    def checked_arms(self, arms: Sequence[int] | Indices) -> Longs:
        """`arms` as an array of distinct arm ids, or an error that names the offending ones."""
        chosen = np.asarray(arms)
        if chosen.size == 0:
            raise InvalidGraph("a set of arms must not be empty")
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise InvalidGraph(f"arms must be a flat sequence of whole numbers, got {arms!r}")
        chosen = chosen.astype(np.int64)
        outside = chosen[(chosen < 0) | (chosen >= self.n_arms)]
        if outside.size:
            raise InvalidGraph(f"arms must be in 0..{self.n_arms - 1}, got {listing(outside.tolist())}")
        values, counts = np.unique(chosen, return_counts=True)
        if (counts > 1).any():
            raise InvalidGraph(f"arms given more than once: {listing(values[counts > 1].tolist())}")
        return chosen

    def _checked_arm(self, arm: int) -> int:
        if type(arm) is not int and not is_whole(arm):  # plays come here: the usual case first
            raise InvalidGraph(f"an arm is a whole number in 0..{self.n_arms - 1}, got {arm!r}")
        if not 0 <= arm < self.n_arms:
            raise InvalidGraph(f"arm {arm} does not exist: the graph has arms 0..{self.n_arms - 1}")
        return int(arm)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeedbackGraph):
            return NotImplemented
        return (
            self.n_arms == other.n_arms
            and self.labels == other.labels
            and np.array_equal(self.out_indptr, other.out_indptr)
            and np.array_equal(self.out_indices, other.out_indices)
            and np.array_equal(self.universal, other.universal)
            and np.array_equal(self.has_loop, other.has_loop)
            and self.certain == other.certain
            and (self.certain or np.array_equal(self.out_probability, other.out_probability))  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        start = self.out_indices[:64].tobytes(), self.universal[:64].tobytes()
        return hash((self.n_arms, self.n_edges, *start))

    def __repr__(self) -> str:
        fails = "" if self.out_probability is None else f", may_fail={int((self.out_probability < 1).sum())}"
        return f"FeedbackGraph(n_arms={self.n_arms}, n_edges={self.n_edges}{fails})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from sidelight.graph.sketch import panel

        return panel(self)


def _pairs(matrix: sparse.csr_array, start: int) -> Ints:
    """(row, column) of every entry, rows counted from `start`."""
    rows = np.repeat(np.arange(start, start + matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    return np.column_stack([rows, matrix.indices.astype(np.int32, copy=False)])
