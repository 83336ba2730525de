"""Independent sets and clique covers of a connected graph that peeling leaves: exact where a rule applies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_bipartite_matching

from sidelight._types import Longs
from sidelight.analysis.domination.covering import listed_program
from sidelight.analysis.domination.program import solve_covering
from sidelight.analysis.independence.search import Adjacency, Search, greedy_cover, greedy_set, swapped

SEARCHED_ARMS = 256
"""Largest component searched exhaustively: the depth of the search is at most this."""

PROGRAM_EDGES = 1_000_000
"""Largest component with a fractional cover; beyond, the greedy cover stands."""

PROGRAM_GAP = 0.005
"""How close to the best fractional cover: far below what separates it from the independence number."""


class Bracket(NamedTuple):
    """An independent set, cliques that cover the graph with total weight at least 1 everywhere."""

    chosen: list[int]
    cliques: list[list[int]]
    weights: list[float]
    searched: bool  # was it proven by exhaustion that no set is larger?


def bracket(graph: Adjacency, nodes: int) -> tuple[Bracket, int]:
    """(the bracket of a connected graph, nodes of the search that are left)."""
    side = two_sides(graph)
    if side is not None:
        return _bipartite(graph, side), nodes
    cliques = greedy_cover(graph, np.argsort(graph.degree, kind="stable"))
    ones = [1.0] * len(cliques)
    chosen = swapped(graph, greedy_set(graph))
    if len(chosen) == len(cliques):
        return Bracket(chosen, cliques, ones, False), nodes
    if (graph.degree == 2).all():  # an odd cycle: all its edges, with half a weight each, prove (n − 1)/2
        edges = np.column_stack(sparse.triu(graph.matrix()).nonzero()).tolist()
        return Bracket(chosen, edges, [0.5] * len(edges), False), nodes
    if graph.n <= SEARCHED_ARMS and nodes > 0:
        search = Search(graph, nodes)
        finished = search.larger_than(chosen)
        chosen, nodes = search.best, search.nodes
        if finished:
            return Bracket(chosen, cliques, ones, True), nodes
    return _programmed(graph, Bracket(chosen, cliques, ones, False)), nodes


def proven_size(graph: Adjacency, claimed: int, nodes: int) -> bool:
    """Is the independence number of the graph at most `claimed`? Proven again, by the rules of `bracket`."""
    search = Search(graph, nodes)
    return graph.n <= SEARCHED_ARMS and search.larger_than([-1] * claimed) and len(search.best) == claimed


def two_sides(graph: Adjacency) -> Longs | None:
    """(n,) the side 0 or 1 of every vertex of a connected bipartite graph; None if it is not bipartite."""
    both = sparse.kron(
        np.array([[0, 1], [1, 0]]), graph.matrix()
    )  # every vertex twice: odd walks change copies
    count, side = connected_components(both, directed=False)
    return None if count == 1 else side[: graph.n].astype(np.int64)


def _bipartite(graph: Adjacency, side: Longs) -> Bracket:
    """A largest independent set, and as many edges and vertices that cover the graph (Kőnig, Gallai)."""
    left, right = np.flatnonzero(side == 0), np.flatnonzero(side == 1)
    across = graph.matrix()[left][:, right].tocsr()
    partner = maximum_bipartite_matching(across, perm_type="column").astype(np.int64)  # of each left vertex
    # Alternating paths from unmatched left vertices: left to right by any edge, right to left by the matching.
    matched = np.flatnonzero(partner >= 0)
    n_left, n_right = len(left), len(right)
    rows, columns = across.nonzero()
    source = n_left + n_right
    free = np.flatnonzero(partner < 0)
    tails = np.concatenate([rows, n_left + partner[matched], np.full(len(free), source)])
    heads = np.concatenate([n_left + columns, matched, free])
    walk = sparse.csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(source + 1,) * 2)
    reached = np.zeros(source + 1, dtype=bool)
    reached[breadth_first_order(walk, source, directed=True, return_predecessors=False)] = True
    chosen = np.concatenate([left[reached[:n_left]], right[~reached[n_left:source]]])
    edges = np.column_stack([left[matched], right[partner[matched]]]).tolist()
    alone = np.setdiff1d(np.arange(graph.n), np.ravel(edges) if edges else [])
    cliques = edges + [[v] for v in alone.tolist()]
    return Bracket(np.sort(chosen).tolist(), cliques, [1.0] * len(cliques), False)


def _programmed(graph: Adjacency, found: Bracket) -> Bracket:
    """The bracket, tightened from both sides by a fractional clique cover, min Σ_C w_C with Σ_{C ∋ v} w_C ≥ 1.

    The cover bounds every independent set; its dual, a fractional one, says which vertices to try first.
    """
    if len(graph.indices) > 2 * PROGRAM_EDGES:
        return found
    cliques = edge_cliques(graph)
    sizes = np.array([len(clique) for clique in cliques])
    owner, vertex = np.repeat(np.arange(len(cliques)), sizes), np.concatenate([*map(np.array, cliques)])
    by_vertex = owner[np.argsort(vertex, kind="stable")]
    program = listed_program(len(cliques), np.bincount(vertex, minlength=graph.n), by_vertex)
    weights, packing, _ = solve_covering(program, PROGRAM_GAP)
    guided = swapped(graph, _first_come(graph, np.argsort(-np.round(packing, 6), kind="stable")))
    chosen = max(found.chosen, guided, key=len)
    if int(weights.sum() + 1e-6) >= len(found.cliques):
        return found._replace(chosen=chosen)
    used = np.flatnonzero(weights > 0.0)
    return Bracket(chosen, [cliques[c] for c in used.tolist()], weights[used].tolist(), False)


def _first_come(graph: Adjacency, order: Longs) -> list[int]:
    """The independent set of vertices accepted in `order`."""
    blocked = np.zeros(graph.n, dtype=bool)
    chosen = []
    for v in order.tolist():
        if not blocked[v]:
            chosen.append(v)
            blocked[graph.indices[graph.indptr[v] : graph.indptr[v + 1]]] = True
    return chosen


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
