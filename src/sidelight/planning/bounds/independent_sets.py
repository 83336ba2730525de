"""How large independent sets can be, proved from cliques that a plan supplies.

The checker of certificates uses it, so like that it sees graphs only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Longs
from sidelight.graph import FeedbackGraph

ACCURACY = 1e-8
"""How far weights may miss their sums by rounding."""

MOST_NODES = 200_000
"""Nodes of one exhaustive search; the planner proves with a tenth of them."""


def _listed(graph: FeedbackGraph) -> sparse.csr_array:
    """(n, n) which arms reveal which others, those apart that everyone reveals."""
    n = graph.n_arms
    source = np.repeat(np.arange(n), np.diff(graph.out_indptr))
    entries = np.ones(source.size, dtype=np.int64)
    matrix = sparse.csr_array((entries, (source, graph.out_indices)), shape=(n, n))
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def is_symmetric(graph: FeedbackGraph) -> bool:
    """Do all edges go both ways, and no arm is revealed by all?"""
    return bool(graph.universal.size == 0 and (abs(_listed(graph) - _listed(graph).T)).nnz == 0)


def plain_independence(graph: FeedbackGraph, evidence: Any) -> int:
    """Σ x/P ≤ this over arms with self-loops that are not universal: edges that go both ways among them."""
    arms = np.flatnonzero(graph.has_loop & ~graph.is_universal)
    if arms.size == 0:
        return 0
    among = _listed(graph)[arms][:, arms]
    proof = evidence.mutual if np.array_equal(evidence.arms, arms) else None
    return _proven(among.multiply(among.T).tocsr(), proof)


def mutual_independence(graph: FeedbackGraph, evidence: Any) -> int:
    """Σ x/P over arms with self-loops, universal arms counting with x only, is at most this.

    Edges that go both ways among arms that are not universal, and one more clique for universal arms that do not
    reveal everyone; or these among the vertices, where that is less.
    """
    arms = np.flatnonzero(graph.has_loop & ~graph.is_universal)
    if arms.size == 0:
        return int(graph.universal.size > 0)
    everyone = graph.n_arms - 1 + graph.has_loop
    reserved = graph.universal[(np.asarray(graph.out_degree) < everyone)[graph.universal]].astype(np.int64)
    listed = _listed(graph)
    among = listed[arms][:, arms]
    proof = evidence.mutual if np.array_equal(evidence.arms, arms) else None
    apart = _proven(among.multiply(among.T).tocsr(), proof) + int(reserved.size > 0)
    if evidence.wider is None or not np.array_equal(evidence.reserved, reserved) or proof is None:
        return apart
    shown = listed[reserved][:, arms]  # everyone reveals these arms: what they reveal is mutual
    complete = sparse.csr_array(
        np.ones((reserved.size,) * 2, dtype=np.int64) - np.eye(reserved.size, dtype=np.int64)
    )
    both = sparse.vstack(
        [sparse.hstack([among.multiply(among.T), shown.T]), sparse.hstack([shown, complete])]
    )
    return min(apart, _proven(sparse.csr_array(both), evidence.wider))


def independence(graph: FeedbackGraph, evidence: Any) -> int:
    """α(G) is at most this: edges in either direction; universal arms take no room beside others."""
    arms = np.flatnonzero(~graph.is_universal)
    if arms.size == 0:
        return 1
    either = _listed(graph)
    return _proven((either + either.T)[arms][:, arms].tocsr().minimum(1), evidence.either, arms)


def _proven(adjacent: sparse.csr_array, proof: Any, arms: Longs | None = None) -> int:
    """The upper bound on the independence number that a cover by weighted cliques proves, whatever it claims.

    Weights count rounded down in each group of overlapping cliques; sets that the proof says were searched are
    searched again. A proof that is none proves the number of vertices.
    """
    n = adjacent.shape[0]
    if proof is None:
        return n
    rank = np.arange(n) if arms is None else np.full(int(arms.max()) + 1, -1)
    if arms is not None:
        rank[arms] = np.arange(n)
    owner = np.repeat(np.arange(len(proof.weights)), np.diff(proof.clique_start))
    member = np.asarray(proof.clique_arms)
    listed = member < len(rank)
    owner, member = owner[listed], rank[member[listed]]
    owner, member = owner[member >= 0], member[member >= 0]
    shape = (len(proof.weights), n)
    cliques = sparse.csr_array((np.ones(owner.size, dtype=np.int64), (owner, member)), shape=shape)
    size = np.diff(cliques.indptr)
    pairs = np.asarray((cliques @ adjacent).multiply(cliques).sum(axis=1)).ravel()
    covered = cliques.T @ proof.weights
    if (pairs != size * (size - 1)).any() or (proof.weights < 0).any() or (covered < 1 - ACCURACY).any():
        return n
    _, group = connected_components(cliques.T @ cliques)
    first = np.full(len(proof.weights), -1)
    first[owner] = group[member]
    used = first >= 0
    totals = np.floor(np.bincount(first[used], weights=proof.weights[used]) + ACCURACY)
    for vertices, size in proof.searched:
        those = np.unique(group[rank[np.asarray(vertices)]])
        inside = np.flatnonzero(np.isin(group, those))
        if size < totals[those].sum() and _has_none_larger(adjacent[inside][:, inside].tocsr(), size):
            totals[those] = np.eye(1, those.size)[0] * size  # what all of them hold together, booked once
    return int(totals.sum())


def _has_none_larger(adjacent: sparse.csr_array, size: int) -> bool:
    """Is it certain that no independent set has more than `size` vertices? By exhaustion, if that ends soon enough.

    Vertices are put into cliques one after another; a set takes one vertex of each at most, so of those that come
    first in the order only so many can follow a choice (Tomita & Seki's colouring bound, in the complement).
    """
    n = adjacent.shape[0]
    rows = np.split(adjacent.indices, adjacent.indptr[1:-1])
    neighbours = [sum(1 << int(u) for u in row) for row in rows]
    nodes = MOST_NODES

    def exists(among: int, wanted: int) -> bool:
        """May there be an independent set of so many vertices?"""
        nonlocal nodes
        nodes -= 1
        if wanted == 0 or nodes < 0:
            return True
        order, rest, cliques = [], among, 0
        while rest:
            cliques, clique = cliques + 1, rest
            while clique:
                v = clique.bit_length() - 1
                order.append((v, cliques))
                clique &= neighbours[v]
                rest ^= 1 << v
        for v, most in reversed(order):
            if most < wanted:
                return False
            among ^= 1 << v
            if exists(among & ~neighbours[v], wanted - 1):
                return True
        return False

    return not exists((1 << n) - 1, size + 1)
