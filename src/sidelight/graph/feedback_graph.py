"""The feedback graph: who reveals whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import MAX_ARMS, is_whole
from sidelight._files import digest
from sidelight._types import Bools, Floats, Indices, Ints, Longs, frozen
from sidelight.errors import InvalidGraph, listing
from sidelight.graph.csr import gather_rows, gather_values

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
        n = checked_arm_count(n_arms)
        pairs = _as_pairs(edges)
        if pairs.size:
            bad = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
            if bad.size:
                shown = [tuple(int(v) for v in pairs[row]) for row in bad[:10]]
                raise InvalidGraph(
                    f"edges must join arms 0..{n - 1}, got {listing(shown)}"
                    f" ({bad.size} of {len(pairs)} edges); raise n_arms or renumber the arms"
                )
        chances = None if probabilities is None else _checked_probabilities(probabilities, pairs)
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
        if hasattr(adjacency, "columns") and hasattr(adjacency, "to_numpy"):
            labels = _frame_labels(adjacency) if labels is None else labels
            adjacency = adjacency.to_numpy()
        matrix = cast(Any, adjacency).tocoo() if sparse.issparse(adjacency) else np.asarray(adjacency)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidGraph(f"the adjacency matrix must be square, got shape {matrix.shape}")
        if matrix.dtype.kind not in "biuf":
            raise InvalidGraph(f"the adjacency matrix must hold numbers or booleans, got {matrix.dtype}")
        values = np.asarray(matrix.data) if sparse.issparse(adjacency) else matrix
        if probabilities:
            wrong = values[~((values >= 0) & (values <= 1))]
        else:
            wrong = values[(values != 0) & (values != 1)]
        if wrong.size:
            needed = "probabilities, numbers in [0, 1]" if probabilities else "0 and 1 only"
            advice = (
                "use 0 for no edge"
                if probabilities
                else "weights are not used: pass A != 0 to make every non-zero entry an edge, or probabilities=True"
                " if entries say how likely an arm reveals another"
            )
            raise InvalidGraph(
                f"the adjacency matrix must hold {needed}, got {wrong[0]}; {advice}"
                if wrong[0] == wrong[0]
                else "the adjacency matrix contains NaN; use 0 for no edge"
            )
        if probabilities and sparse.issparse(adjacency):
            matrix = cast(Any, adjacency).tocsr().tocoo()  # entries given twice are added up, as SciPy has it
            if (matrix.data > 1).any():
                raise InvalidGraph(
                    f"entries of one edge add up to {matrix.data.max()}, which is no probability"
                )
        rows, cols = matrix.nonzero()
        chances: Any = None
        if probabilities:
            chances = matrix.data[matrix.data != 0] if sparse.issparse(adjacency) else matrix[rows, cols]
        return cls._from_arrays(checked_arm_count(matrix.shape[0]), rows, cols, labels, probabilities=chances)

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any]) -> FeedbackGraph:
        """Graph from networkx; an undirected edge reveals both ways, arms follow the order of the nodes.

        Labels are the nodes themselves, or, where these are just 0..n−1, their `label` attributes if every
        node has its own. An edge attribute `probability` says how likely the edge reveals, 1 where it has none.
        """
        if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
            raise InvalidGraph(f"expected a networkx graph, got {type(graph).__name__}")
        index = {node: i for i, node in enumerate(graph.nodes)}
        pairs = np.array([(index[u], index[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
        given = [data.get("probability") for _, _, data in graph.edges(data=True)]
        chances = None
        if any(value is not None for value in given):
            chances = _checked_probabilities([1.0 if value is None else value for value in given], pairs)
        if not graph.is_directed():
            pairs = np.concatenate([pairs, pairs[:, ::-1]])
            chances = None if chances is None else np.concatenate([chances, chances])
        labels: list[str] | None = [str(node) for node in graph.nodes]
        if all(node == i for node, i in index.items()):
            names = [data.get("label") for _, data in graph.nodes(data=True)]
            texts = [name for name in names if isinstance(name, str)]
            labels = texts if texts and len(set(texts)) == len(index) else None
        return cls._from_arrays(
            checked_arm_count(len(index)), pairs[:, 0], pairs[:, 1], labels, probabilities=chances
        )

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

        if probabilities is not None and (probabilities < 1).any():
            rows, cols, chances = _sorted_edges(n, sources, targets, probabilities)
        else:
            ones = np.ones(len(sources), dtype=np.int8)
            every = sparse.coo_array((ones, (np.asarray(sources), np.asarray(targets))), shape=(n, n)).tocsr()
            rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(every.indptr))
            cols, chances = every.indices.astype(np.int32, copy=False), None
        looped = cols[rows == cols]
        has_loop[looped] = True

        if n >= 2:
            certain = cols if chances is None else cols[chances == 1]
            others = np.bincount(certain, minlength=n)
            sure_loops = looped if chances is None else cols[(rows == cols) & (chances == 1)]
            others[sure_loops] -= 1  # in-degree without the loop; no arm is in `looped` twice
            found = others == n - 1
            if chances is not None:  # a loop that may fail must be listed, and its arm with it
                found[np.setdiff1d(looped, sure_loops)] = False
            everywhere |= found
        if everywhere.any():
            keep = ~everywhere[cols]
            rows, cols = rows[keep], cols[keep]
            chances = None if chances is None else chances[keep]
        if chances is not None and (chances == 1).all():
            chances = None
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        marks = np.ones(cols.size, dtype=np.int8) if chances is None else np.arange(cols.size)
        explicit = sparse.csr_array((marks, cols, indptr), shape=(n, n))
        by_target = explicit.tocsc()  # a linear pass, sorted because the rows are
        return cls(
            n_arms=n,
            out_indptr=frozen(indptr, np.int64),
            out_indices=frozen(cols, np.int32),
            in_indptr=frozen(by_target.indptr, np.int64),
            in_indices=frozen(by_target.indices, np.int32),
            universal=frozen(np.flatnonzero(everywhere), np.int32),
            has_loop=frozen(has_loop, np.bool_),
            labels=_checked_labels(labels, n),
            out_probability=None if chances is None else frozen(chances, np.float64),
            in_probability=None if chances is None else frozen(chances[by_target.data], np.float64),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> FeedbackGraph:
        """The graph that `to_arrays` described; every array is checked, since files can be damaged."""
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
        labels = _labels(arrays) if "labels_text" in arrays else None
        chances = None
        if "out_probability" in arrays:
            chances = arrays["out_probability"]
            if chances.dtype != np.float64 or chances.shape != targets.shape:
                raise InvalidGraph(
                    f"out_probability must be {targets.size} numbers, got {chances.dtype} {chances.shape}"
                )
            if not ((chances > 0) & (chances <= 1)).all():
                raise InvalidGraph("out_probability must be in (0, 1]: the file is damaged")
        graph = cls._from_arrays(n, sources, targets, labels, universal, has_loop[universal], chances)
        if not np.array_equal(graph.has_loop, has_loop):
            raise InvalidGraph("has_loop contradicts the edges")
        return graph

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

    def levels(self, most: int = 12) -> list[float]:
        """Probabilities that edges have, from the largest; where there are more than `most`, evenly chosen ones."""
        if self.out_probability is None:
            return [1.0]
        found = np.unique(self.out_probability)[::-1]
        if self.universal.size and found[0] < 1:
            found = np.append(1.0, found)
        if found.size > most:
            found = found[np.unique(np.linspace(0, found.size - 1, most).round().astype(np.int64))]
        return [float(r) for r in found]

    @cached_property
    def loop_probability(self) -> Floats:
        """(n,) how likely playing each arm reveals its own loss, 0 for arms without self-loop."""
        found = self.has_loop.astype(np.float64)
        if self.in_probability is not None:
            loops = np.flatnonzero(self.in_indices == self.in_targets)
            found[self.in_indices[loops]] = self.in_probability[loops]
        return frozen(found, np.float64)

    def sharpened(self, power: float) -> FeedbackGraph:
        """The same graph with r^power in the place of every probability r."""
        if self.out_probability is None or self.in_probability is None or power == 1:
            return self
        powers = [
            frozen(np.maximum(r**power, np.finfo(float).tiny), np.float64)
            for r in (self.out_probability, self.in_probability)
        ]
        return replace(self, out_probability=powers[0], in_probability=powers[1])

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

    def edge_blocks(self, most: int = 1_000_000) -> Iterator[Ints]:
        """The rows of `edges()` in batches of about `most`, so that a dense graph need not fit in memory."""
        for pairs, _ in self.likely_edge_blocks(most):
            yield pairs

    def likely_edge_blocks(self, most: int = 1_000_000) -> Iterator[tuple[Ints, Floats]]:
        """`edge_blocks`, each with the probabilities of its edges."""
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
        from sidelight import _html
        from sidelight.graph.sketch import sketch

        labels = None if self.labels is None else ", ".join(self.labels[:12]) + ", …" * (self.n_arms > 12)
        fails = None if self.out_probability is None else f"{int((self.out_probability < 1).sum()):,} edges"
        rows = [
            ("arms with self-loop", f"{int(self.has_loop.sum()):,}"),
            ("revealed by all others", f"{self.universal.size:,}" if self.universal.size else None),
            (
                "revealed by none",
                f"{hidden:,}" if (hidden := int((self.in_degree == 0).sum())) else None,
            ),
            ("may fail", fails),
            ("labels", labels),
        ]
        title = f"Feedback graph: {self.n_arms:,} arms, {self.n_edges:,} edges"
        return _html.panel(title, sketch(self), _html.facts(rows))


def checked_arm_count(n_arms: object) -> int:
    """`n_arms` as an int, or an error: a graph has at least one arm and at most 2³¹−1."""
    if not is_whole(n_arms):
        raise InvalidGraph(f"n_arms must be a whole number, got {n_arms!r}")
    if n_arms < 1:
        raise InvalidGraph(f"a feedback graph needs at least one arm, got n_arms={n_arms}")
    if n_arms > MAX_ARMS:
        raise InvalidGraph(f"at most {MAX_ARMS:,} arms are supported, got n_arms={n_arms:,}")
    return int(n_arms)


def _checked_probabilities(given: object, pairs: Longs) -> Floats:
    """One probability in (0, 1] for each edge, or an error that names the edge."""
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


def _sorted_edges(
    n: int, sources: Indices, targets: Indices, probabilities: Floats
) -> tuple[Ints, Ints, Floats]:
    """Edges by source, then target, each once; an error where an edge has two probabilities."""
    order = np.lexsort((targets, sources))
    rows, cols = np.asarray(sources)[order], np.asarray(targets)[order]
    chances: Floats = np.asarray(probabilities, dtype=np.float64)[order]
    again = np.zeros(rows.size, dtype=bool)
    again[1:] = (np.diff(rows) == 0) & (np.diff(cols) == 0)
    differ = np.flatnonzero(again[1:] & (np.diff(chances) != 0))
    if differ.size:
        at = int(differ[0])
        raise InvalidGraph(
            f"edge ({rows[at]}, {cols[at]}) is given with two probabilities, {chances[at]:g} and {chances[at + 1]:g}"
        )
    return rows[~again].astype(np.int32), cols[~again].astype(np.int32), chances[~again]


def _pairs(matrix: sparse.csr_array, start: int) -> Ints:
    """(row, column) of every entry, rows counted from `start`."""
    rows = np.repeat(np.arange(start, start + matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    return np.column_stack([rows, matrix.indices.astype(np.int32, copy=False)])


def _as_pairs(edges: Iterable[Sequence[int]] | Indices) -> Longs:
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


def _checked_labels(labels: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    if labels is None:
        return None
    names = tuple(str(label) for label in labels)
    if len(names) != n:
        raise InvalidGraph(f"{n} arms need {n} labels, got {len(names)}")
    if len(set(names)) != n:
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise InvalidGraph(f"labels must be distinct, repeated: {listing(repeated)}")
    return names
