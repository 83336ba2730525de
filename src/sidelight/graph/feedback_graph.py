"""The feedback graph: who reveals whom."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import is_whole
from sidelight._files import digest
from sidelight._types import Bools, Floats, Indices, Ints, Longs, frozen
from sidelight.errors import InvalidGraph, listing
from sidelight.graph import edges as read
from sidelight.graph.edges import Edges

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
        self.__dict__.update(state)

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
        pairs = read.edges_of_pairs(read.checked_arm_count(n_arms), edges, labels, probabilities)
        read.refuse_outside(n_arms, pairs.sources, pairs.targets)
        return cls._of(pairs)

    @classmethod
    def from_adjacency(
        cls, adjacency: Any, labels: Sequence[str] | None = None, *, probabilities: bool = False
    ) -> FeedbackGraph:
        """Graph from a square matrix of 0 and 1 (or booleans): A[i, j] = 1 means that i reveals j.

        Dense, SciPy sparse, or a pandas DataFrame, whose names become the labels. With `probabilities=True` entries
        are numbers in [0, 1], how likely i reveals j. Otherwise other numbers than 0 and 1 are refused: pass `A != 0`
        to make every weight an edge.
        """
        return cls._of(read.edges_of_matrix(adjacency, labels, probabilities=probabilities))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any]) -> FeedbackGraph:
        """Graph from networkx; an undirected edge reveals both ways, arms follow the order of the nodes.

        Labels are the nodes themselves, or, where these are just 0..n−1, their `label` attributes if every
        node has its own. An edge attribute `probability` says how likely the edge reveals, 1 where it has none.
        """
        return cls._of(read.edges_of_networkx(graph))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> FeedbackGraph:
        """The graph that `to_arrays` described; every array is checked, since files can be damaged."""
        return cls._of(read.edges_of_arrays(arrays))

    @classmethod
    def _of(cls, edges: Edges) -> FeedbackGraph:
        """Whatever makes a graph ends here: ids and probabilities are in range."""
        n = read.checked_arm_count(edges.n_arms)
        has_loop = np.zeros(n, dtype=bool)
        everywhere = np.zeros(n, dtype=bool)
        if edges.universal is not None and len(edges.universal):
            has_loop[edges.universal] = True if edges.universal_loops is None else edges.universal_loops
            if n >= 2:
                everywhere[edges.universal] = True
            elif has_loop[0]:  # one arm has no "every other arm": its loop is an ordinary edge
                zero = np.zeros(1, dtype=np.int64)
                edges = edges._replace(sources=zero, targets=zero, probabilities=None)
        listed = read.in_order(n, edges)
        has_loop[listed.targets[listed.sources == listed.targets]] = True
        everywhere |= read.revealed_by_all_others(n, listed)
        if everywhere.any():
            listed = listed.where(~everywhere[listed.targets])
        return cls._compressed(n, listed, np.flatnonzero(everywhere), has_loop)

    @classmethod
    def _compressed(cls, n: int, listed: Edges, universal: Indices, has_loop: Bools) -> FeedbackGraph:
        """The explicit edges in CSR form both ways, every array read-only; probabilities only if one is below 1."""
        indptr = read.pointers(np.bincount(listed.sources, minlength=n))
        chances = listed.probabilities
        if chances is not None and (chances == 1).all():
            chances = None
        marks = np.ones(len(listed.targets), dtype=np.int8) if chances is None else np.arange(len(chances))
        # Sorted within a column because the rows are.
        by_target = sparse.csr_array((marks, listed.targets, indptr), shape=(n, n)).tocsc()
        return cls(
            n_arms=n,
            out_indptr=frozen(indptr, np.int64),
            out_indices=frozen(listed.targets, np.int32),
            in_indptr=frozen(by_target.indptr, np.int64),
            in_indices=frozen(by_target.indices, np.int32),
            universal=frozen(universal, np.int32),
            has_loop=frozen(has_loop, np.bool_),
            labels=read.checked_labels(listed.labels, n),
            out_probability=None if chances is None else frozen(chances, np.float64),
            in_probability=None if chances is None else frozen(chances[by_target.data], np.float64),
        )

    @property
    def explicit(self) -> Edges:
        """The graph as what it is made of, for graphs that differ a little."""
        loops = self.has_loop[self.universal]
        return Edges(
            self.n_arms,
            self.out_sources,
            self.out_indices,
            self.labels,
            self.universal,
            loops,
            self.out_probability,
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
        return self.probability(i, j) > 0

    # -- reveals that may fail ------------------------------------------------------------------------

    @property
    def certain(self) -> bool:
        """Does every edge always reveal?"""
        return self.out_probability is None

    def probability(self, i: int, j: int) -> float:
        """How likely playing i reveals the loss of j: 1 for a certain edge, 0 where there is none."""
        i, j = self._checked_arm(i), self._checked_arm(j)
        if self.is_universal[j]:
            return float(i != j or self.has_loop[j])
        first, end = self.out_indptr[i], self.out_indptr[i + 1]
        at = first + np.searchsorted(self.out_indices[first:end], j)
        if at == end or self.out_indices[at] != j:
            return 0.0
        return 1.0 if self.out_probability is None else float(self.out_probability[at])

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
        z = self._per_arm(played)
        seen = _sums(self.in_targets, z[self.in_indices], self.in_probability, self.n_arms)
        arms = self.universal
        seen[arms] = z.sum() - np.where(self.has_loop[arms], 0.0, z[arms])
        return seen

    def shown(self, values: npt.ArrayLike) -> Floats:
        """(n,) the sum over what each arm reveals, Σ_j r_{ij}·y_j."""
        y = self._per_arm(values)
        everywhere = np.where(self.is_universal, y, 0.0)
        listed = _sums(self.out_sources, y[self.out_indices], self.out_probability, self.n_arms)
        return np.asarray(listed + everywhere.sum() - np.where(self.has_loop, 0.0, everywhere))

    def _per_arm(self, values: npt.ArrayLike) -> Floats:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (self.n_arms,):
            raise InvalidGraph(f"{self.n_arms} arms need {self.n_arms} numbers, got shape {numbers.shape}")
        return numbers

    def at_least(self, r: float) -> FeedbackGraph:
        """The graph of the edges that reveal with probability r or more, all of them certain.

        >>> lossy = FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)], probabilities=[0.5, 0.9, 1])
        >>> lossy.at_least(0.9).edges().tolist()
        [[1, 2], [2, 0]]
        """
        if self.out_probability is None:
            return self
        return FeedbackGraph._of(self.explicit.where(self.out_probability >= r)._replace(probabilities=None))

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
    def digest(self) -> str:
        """SHA-256 of arms, labels and edges, the same whatever file they came in: it names graphs in results."""
        arrays = (
            self.out_indptr.astype("<i8"),
            self.out_indices.astype("<i4"),
            self.universal.astype("<i4"),
            self.has_loop.astype("u1"),
            *(() if self.out_probability is None else (self.out_probability.astype("<f8"),)),
        )
        return digest(json.dumps([self.n_arms, self.labels]), *arrays)

    @cached_property
    def content(self) -> str:
        """The digest without labels: the same for graphs that reveal the same."""
        return self.digest if self.labels is None else replace(self, labels=None).digest

    def contains(self, other: FeedbackGraph) -> bool:
        """Has it every edge of `other`, which has the same arms, each at least as likely to reveal as there?"""
        apart = other.universal[~self.is_universal[other.universal]]
        if apart.size:
            # An arm that all others reveal is listed all the same where its loop may fail.
            if self.in_probability is None or other.has_loop[apart].any():
                return False
            sure = (self.in_probability == 1) & (self.in_indices != self.in_targets)
            if (np.bincount(self.in_targets[sure], minlength=self.n_arms)[apart] < self.n_arms - 1).any():
                return False
        needed = 1.0 if other.out_probability is None else other.out_probability
        likely = self._chances(other.out_sources, other.out_indices) >= needed
        return bool(likely.all() and (self.has_loop | ~other.has_loop).all())

    def _chances(self, sources: Longs, targets: Ints) -> Floats:
        """How likely each of `sources` reveals each of `targets`: 0 where there is no edge."""
        width = np.int64(self.n_arms)
        keys, mine = width * sources + targets, width * self.out_sources + self.out_indices
        at = np.searchsorted(mine, keys)
        listed = np.append(mine, -1)[at] == keys
        explicit = np.ones(mine.size) if self.out_probability is None else self.out_probability
        everywhere = self.is_universal[targets] & ((sources != targets) | self.has_loop[targets])
        return np.where(listed, np.append(explicit, 0.0)[at], everywhere.astype(np.float64))

    # -- other forms ----------------------------------------------------------------------------------

    def edges(self) -> Ints:
        """(n_edges, 2) all pairs (i, j) with i revealing j, sorted."""
        matrix = self.to_sparse()
        rows = np.repeat(np.arange(self.n_arms, dtype=np.int32), np.diff(matrix.indptr))
        return np.column_stack([rows, matrix.indices.astype(np.int32, copy=False)])

    def edge_probabilities(self) -> Floats:
        """(n_edges,) how likely each of `edges()` reveals."""
        return self.to_sparse().data.astype(np.float64)

    def to_sparse(self) -> sparse.csr_array:
        """Every edge as a SciPy CSR matrix of ones, or of probabilities where reveals may fail.

        Refuses graphs too dense to write out.
        """
        if self.n_edges > MAX_MATERIALIZED_EDGES:
            raise InvalidGraph(
                f"{self.n_edges:,} edges are too many to write out one by one; "
                "work with `universal` and the explicit CSR arrays instead"
            )
        n, entries = self.n_arms, np.ones(self.out_indices.size, dtype=np.int8)
        data: npt.NDArray[Any] = entries if self.out_probability is None else self.out_probability.copy()
        explicit = sparse.csr_array((data, self.out_indices, self.out_indptr.copy()), shape=(n, n))
        if self.universal.size == 0:
            return explicit
        rows, cols = np.tile(np.arange(n, dtype=np.int32), self.universal.size), np.repeat(self.universal, n)
        keep = (rows != cols) | self.has_loop[cols]
        ones = np.ones(int(keep.sum()), dtype=data.dtype)
        total = explicit + sparse.csr_array((ones, (rows[keep], cols[keep])), shape=(n, n))
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
        edges = self.edges().T.tolist()
        if self.certain:
            graph.add_edges_from(zip(*edges, strict=True))
        else:
            likely = self.edge_probabilities().tolist()
            graph.add_weighted_edges_from(zip(*edges, likely, strict=True), weight="probability")
        if self.labels is not None:
            nx.set_node_attributes(graph, dict(enumerate(self.labels)), "label")
        return graph

    def subgraph(self, arms: Sequence[int] | Indices) -> FeedbackGraph:
        """Graph induced by `arms`, renumbered 0..len(arms)−1 in the order given."""
        chosen = self.checked_arms(arms)
        n = len(chosen)
        new_id = np.full(self.n_arms, -1, dtype=np.int64)
        new_id[chosen] = np.arange(n)
        degrees, revealed = read.gather_rows(self.out_indptr, self.out_indices, chosen)
        universal = np.flatnonzero(self.is_universal[chosen])
        chances = self.out_probability
        edges = Edges(
            n,
            np.repeat(np.arange(n), degrees),
            new_id[revealed],
            None if self.labels is None else [self.labels[arm] for arm in chosen],
            universal,
            self.has_loop[chosen][universal],
            None if chances is None else read.gather_rows(self.out_indptr, chances, chosen)[1],
        )
        return FeedbackGraph._of(edges.where(edges.targets >= 0))

    def symmetrized(self) -> FeedbackGraph:
        """The graph with every edge also reversed, for data that hold each undirected edge once.

        Where reveals may fail, an edge that is there both ways must have one probability.

        >>> FeedbackGraph.from_edges(3, [(0, 1), (1, 2)]).symmetrized().n_edges
        4
        """
        rest = np.flatnonzero(~self.is_universal)
        if self.universal.size * rest.size + self.out_indices.size > MAX_MATERIALIZED_EDGES:
            raise InvalidGraph(
                f"reversing {self.n_edges:,} edges would write out more than {MAX_MATERIALIZED_EDGES:,}"
            )
        # What all arms reveal must now reveal all arms: only edges into the others need to be written.
        back = np.repeat(self.universal, rest.size), np.tile(rest, self.universal.size)
        return FeedbackGraph._of(self.explicit.both_ways().and_also(*back))

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
        mine, theirs = self.to_arrays(), other.to_arrays()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[key], theirs[key]) for key in mine)

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


def _sums(owner: Longs, values: Floats, probability: Floats | None, n: int) -> Floats:
    """(n,) sums of the values of each owner, times their probabilities."""
    weights = values if probability is None else values * probability
    return np.bincount(owner, weights=weights, minlength=n).astype(np.float64)
