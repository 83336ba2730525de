"""The independence number: the size of the largest set of arms that reveal nothing of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Floats, Longs
from sidelight.analysis.domination.covering import listed_program
from sidelight.analysis.domination.program import solve_covering
from sidelight.analysis.independence import search
from sidelight.analysis.independence.search import Adjacency, adjacency
from sidelight.errors import SolverError, listing
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.graph.edges import pointers

NODES = 20_000
"""Nodes of exhaustive search on one graph: a second or two, and the same answer on every machine."""

SEARCHED_ARMS = 256
"""Largest component searched exhaustively: the depth of the search is at most this."""

PROGRAM_EDGES = 1_000_000
"""Largest component with a fractional cover; beyond, the greedy cover stands."""

PROGRAM_GAP = 0.005
"""How close to the best fractional cover: far below what separates it from the independence number."""

ROUNDING = 1e-9
"""How far the weights at an arm may miss 1: rounding of sums, nothing else."""


@dataclass(frozen=True, eq=False, repr=False)
class IndependenceNumber:
    """lower ≤ α(G) ≤ upper, with the set and the cover that prove it.

    No arm of `arms` reveals another one. Every arm lies in cliques (sets of arms that pairwise reveal in at least
    one direction) of total weight at least 1, and an independent set has at most one arm in each: so α is at
    most the total weight, rounded down for each group of overlapping cliques. Groups in `searched` count with
    the number that exhaustive search has proven instead, where the cliques cannot.
    """

    arms: Longs  # sorted members of the independent set
    upper: int
    clique_start: Longs  # (number of cliques + 1,)
    clique_arms: Longs  # clique k is clique_arms[clique_start[k]:clique_start[k + 1]]
    weights: Floats  # (number of cliques,) all 1 unless the cover is fractional
    searched: tuple[tuple[Longs, int], ...] = ()  # (arms, independence number among them)

    @property
    def lower(self) -> int:
        """Size of the independent set."""
        return len(self.arms)

    @property
    def exact(self) -> bool:
        """Is α(G) known?"""
        return self.lower == self.upper

    @property
    def cover(self) -> list[Longs]:
        """The cliques, one array of arms each."""
        return np.split(self.clique_arms, self.clique_start[1:-1])

    def verify(self, graph: FeedbackGraph) -> bool:
        """True if set and cover prove the bracket in `graph`; otherwise SolverError naming what does not hold.

        Linear in the edges for sets and covers; groups in `searched` are searched again.
        """
        ordinary, undirected = adjacency(graph)
        rank = np.full(graph.n_arms, -1, dtype=np.int64)
        rank[ordinary] = np.arange(len(ordinary))
        self._verify_set(graph, rank, undirected)
        incidence = self._verify_cover(graph, rank, undirected)
        searched = [(np.sort(rank[graph.checked_arms(arms)]), number) for arms, number in self.searched]
        for vertices, number in searched:
            if vertices[0] < 0 or not proven_size(undirected.induced(vertices), number, 10 * NODES):
                raise SolverError(
                    f"no proof that {number} arms are the most among {listing(ordinary[vertices].tolist())}"
                )
        # Universal arms are adjacent to everyone: they matter only where there are no others.
        bound = _rounded_total(incidence, self.weights, searched) if len(ordinary) else 1
        if bound > self.upper:
            raise SolverError(f"the cover proves α ≤ {bound}, not α ≤ {self.upper}")
        if self.lower > self.upper:
            raise SolverError(f"the set has {self.lower} arms, more than {self.upper}")
        return True

    def _verify_set(self, graph: FeedbackGraph, rank: Longs, undirected: Adjacency) -> None:
        members = graph.checked_arms(self.arms)
        universal = members[graph.is_universal[members]]
        if universal.size and len(members) > 1:
            raise SolverError(f"arm {universal[0]} is revealed by every other member")
        inside = np.zeros(undirected.n, dtype=bool)
        inside[rank[members[rank[members] >= 0]]] = True
        sources = np.repeat(np.arange(undirected.n), undirected.degree)
        edges = np.flatnonzero(inside[sources] & inside[undirected.indices])
        if edges.size:
            ordinary = np.flatnonzero(rank >= 0)
            pair = ordinary[sources[edges[0]]], ordinary[undirected.indices[edges[0]]]
            raise SolverError(f"members {pair[0]} and {pair[1]} are adjacent")

    def _verify_cover(self, graph: FeedbackGraph, rank: Longs, undirected: Adjacency) -> sparse.csr_array:
        """Check cliques and weights; the (cliques, ordinary arms) incidence."""
        if len(self.weights) != len(self.clique_start) - 1 or not (self.weights >= 0.0).all():
            raise SolverError("every clique needs a weight of at least 0")
        listed = _incidence(self.clique_start, self.clique_arms, graph.n_arms)
        if listed.nnz != len(self.clique_arms):
            raise SolverError("a clique lists an arm twice, or one that does not exist")
        covered = listed.T @ self.weights
        short = np.flatnonzero(covered < 1.0 - ROUNDING)
        if short.size:
            raise SolverError(f"arm {short[0]} is covered {float(covered[short[0]])!r} < 1")
        incidence = _incidence(self.clique_start, rank[self.clique_arms], undirected.n)
        size = np.diff(incidence.indptr)
        pairs = np.asarray((incidence @ undirected.matrix()).multiply(incidence).sum(axis=1)).ravel()
        torn = np.flatnonzero(pairs != size * (size - 1))
        if torn.size:
            raise SolverError(f"arms {listing(self.cover[int(torn[0])].tolist())} are not a clique")
        return incidence

    def __repr__(self) -> str:
        span = f"{self.lower}, exact" if self.exact else f"{self.lower} to {self.upper}"
        return f"IndependenceNumber({span}, {len(self.weights)} cliques)"


def independence_number(graph: GivenGraph) -> IndependenceNumber:
    """Size of the largest set of arms with no edge between two of them in either direction; loops are ignored.

        lower = |S| ≤ α(G) ≤ ⌊Σ_C w_C⌋,   where  Σ_{C ∋ v} w_C ≥ 1 for every arm v,  w ≥ 0,  C cliques

    Arms whose neighbours form a clique are taken first, which is exact and solves most sparse graphs. What is
    left is exact if small enough for branch and bound; else it is bracketed by local search and a fractional clique
    cover, which meet in most bipartite graphs (Kőnig). Deterministic: searches are limited in nodes, never in
    seconds. Arms that everyone reveals take no room, so a million arms with full feedback are answered at once.

    >>> from sidelight.graph import families
    >>> independence_number(families.cycle(7))
    IndependenceNumber(3, exact, 4 cliques)
    """
    graph = graph_of(graph, "independence_number")
    ordinary, undirected = adjacency(graph)
    if len(ordinary) == 0:
        return _result(graph, ordinary, [0], [list(range(graph.n_arms))], [1.0], [])

    chosen, cliques, kernel = search.peel_exactly(undirected)
    weights = [1.0] * len(cliques)
    searched: list[tuple[Longs, int]] = []
    nodes = NODES
    for vertices, part in undirected.induced(kernel).components():
        arms = kernel[vertices]
        proven, nodes = bracket(part, nodes)
        chosen += arms[proven.chosen].tolist()
        cliques += [arms[clique].tolist() for clique in proven.cliques]
        weights += proven.weights
        if proven.searched:
            searched.append((arms, len(proven.chosen)))
    return _result(graph, ordinary, chosen, cliques, weights, searched)


def _result(
    g: FeedbackGraph,
    ordinary: Longs,
    chosen: list[int],
    cliques: list[list[int]],
    weights: list[float],
    searched: list[tuple[Longs, int]],
) -> IndependenceNumber:
    """The certificate in terms of arms; vertices beyond the ordinary arms are the universal ones."""
    arms = np.concatenate([ordinary, g.universal]).astype(np.int64)
    if len(ordinary) and g.universal.size:  # adjacent to everyone, they are covered wherever vertex 0 is
        everywhere = range(len(ordinary), len(arms))
        cliques = [[*clique, *everywhere] if 0 in clique else clique for clique in cliques]
    start = pointers(np.fromiter(map(len, cliques), dtype=np.int64, count=len(cliques)))
    members = np.fromiter(chain.from_iterable(cliques), dtype=np.int64, count=int(start[-1]))
    weighted = np.array(weights)
    upper = 1
    if len(ordinary):
        upper = _rounded_total(_incidence(start, members, len(ordinary)), weighted, searched)
    result = IndependenceNumber(
        arms=np.sort(arms[chosen]),
        upper=upper,
        clique_start=start,
        clique_arms=arms[members],
        weights=weighted,
        searched=tuple((arms[vertices], number) for vertices, number in searched),
    )
    for array in (result.arms, result.clique_start, result.clique_arms, result.weights):
        array.flags.writeable = False
    return result


def _incidence(start: Longs, vertices: Longs, n: int) -> sparse.csr_array:
    """(cliques, n) how often each clique lists each vertex; vertices outside 0..n−1 are left out."""
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    keep = (vertices >= 0) & (vertices < n)
    entries = np.ones(int(keep.sum()), dtype=np.int32)
    where = owner[keep], vertices[keep]
    return sparse.coo_array((entries, where), shape=(len(start) - 1, n)).tocsr()


def _rounded_total(
    incidence: sparse.csr_array, weights: Floats, searched: Sequence[tuple[Longs, int]]
) -> int:
    """What the cover proves: weights rounded down by group of overlapping cliques, searched groups as found.

    An independent set splits over any partition of the arms, and the groups are one.
    """
    count, n = incidence.shape
    outside = np.ones(n, dtype=np.int32)
    for vertices, _ in searched:
        outside[vertices] = 0
    counted = incidence @ outside > 0
    clique, vertex = incidence.nonzero()
    ones = np.ones(len(clique), dtype=np.int8)
    links = sparse.coo_array((ones, (clique, count + vertex)), shape=(count + n, count + n))
    groups, label = connected_components(links, directed=False)
    totals = np.bincount(label[:count][counted], weights=weights[counted], minlength=groups)
    return int(np.floor(totals * (1.0 + 2 * ROUNDING)).sum()) + sum(number for _, number in searched)


# -- what peeling leaves: exact where a rule applies ---------------------------------------------------------


class Bracket(NamedTuple):
    """An independent set, cliques that cover the graph with total weight at least 1 everywhere."""

    chosen: list[int]
    cliques: list[list[int]]
    weights: list[float]
    searched: bool  # was it proven by exhaustion that no set is larger?


def bracket(graph: Adjacency, nodes: int) -> tuple[Bracket, int]:
    """(the bracket of a connected graph, nodes of the search that are left)."""
    cliques = search.greedy_cover(graph, np.argsort(graph.degree, kind="stable"))
    ones = [1.0] * len(cliques)
    chosen = search.swapped(graph, search.greedy_set(graph))
    if len(chosen) == len(cliques):
        return Bracket(chosen, cliques, ones, False), nodes
    if graph.n <= SEARCHED_ARMS and nodes > 0:
        exhaustive = search.Search(graph, nodes)
        finished = exhaustive.larger_than(chosen)
        chosen, nodes = exhaustive.best, exhaustive.nodes
        if finished:
            return Bracket(chosen, cliques, ones, True), nodes
    return _programmed(graph, Bracket(chosen, cliques, ones, False)), nodes


def proven_size(graph: Adjacency, claimed: int, nodes: int) -> bool:
    """Is the independence number of the graph at most `claimed`? Proven again, by the rules of `bracket`."""
    if graph.n > SEARCHED_ARMS:
        return False
    exhaustive = search.Search(graph, nodes)
    return exhaustive.larger_than([-1] * claimed) and len(exhaustive.best) == claimed


def _programmed(graph: Adjacency, before: Bracket) -> Bracket:
    """The bracket, tightened from both sides by a fractional clique cover, min Σ_C w_C with Σ_{C ∋ v} w_C ≥ 1.

    The cover bounds every independent set; its dual, a fractional one, says which vertices to try first.
    """
    if len(graph.indices) > 2 * PROGRAM_EDGES:
        return before
    cliques = edge_cliques(graph)
    sizes = np.array([len(clique) for clique in cliques])
    owner, vertex = np.repeat(np.arange(len(cliques)), sizes), np.concatenate([*map(np.array, cliques)])
    by_vertex = owner[np.argsort(vertex, kind="stable")]
    program = listed_program(len(cliques), np.bincount(vertex, minlength=graph.n), by_vertex)
    weights, packing, _ = solve_covering(program, PROGRAM_GAP)
    guided = search.swapped(graph, np.argsort(-np.round(packing, 6), kind="stable").tolist())
    chosen = max(before.chosen, guided, key=len)
    if int(weights.sum() + 1e-6) >= len(before.cliques):
        return before._replace(chosen=chosen)
    used = np.flatnonzero(weights > 0.0)
    return Bracket(chosen, [cliques[c] for c in used.tolist()], weights[used].tolist(), False)


def edge_cliques(graph: Adjacency) -> list[list[int]]:
    """Maximal cliques, greedily chosen, such that every edge lies in one of them."""
    rows = np.split(graph.indices, graph.indptr[1:-1])
    near = [set(row.tolist()) for row in rows]
    uncovered = [{u for u in around if u > v} for v, around in enumerate(near)]
    cliques = []
    for v in range(graph.n):
        while uncovered[v]:
            u = min(uncovered[v])
            clique, candidates = [v, u], near[v] & near[u]
            while candidates:
                w = min(candidates)
                clique.append(w)
                candidates &= near[w]
            clique.sort()
            for k, each in enumerate(clique):
                uncovered[each].difference_update(clique[k + 1 :])
            cliques.append(clique)
    return cliques
