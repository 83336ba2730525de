"""Search for t-packing independent sets: greedily at any size, exactly by integer programs when small."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from sidelight._types import Indices
from sidelight.analysis._packing_kernels import greedy_packing
from sidelight.analysis.domination.domination import fractional_domination
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import gather_rows

RANDOM_ORDERS = 2
"""Seeded orders tried by the greedy search besides the orders by degree."""


def packing_rate(size: int, t: int) -> float:
    """max{log size, size/t}, and 0 for size 0."""
    return max(math.log(size), size / t) if size else 0.0


def score(size: int, level: int, t: int | None) -> float:
    """What is maximised: the size of a set where t was asked for, otherwise its rate."""
    return packing_rate(size, level) if t is None else float(size)


def greedy_packing_set(
    g: FeedbackGraph, candidates: Indices, t: int | None, seed: int
) -> tuple[Indices, int]:
    """(members, their t) of the best of several greedy passes; without t, over doubling values of t as well."""
    best, highest = (candidates[:1], 1), -1.0
    for order in _orders(g, candidates, seed):
        for level in _levels(g) if t is None else [t]:
            arms, seen, blocked = (
                order.copy(),
                np.zeros(g.n_arms, dtype=np.int64),
                np.zeros(g.n_arms, dtype=bool),
            )
            edges = g.out_indptr, g.out_indices, g.in_indptr, g.in_indices
            size = greedy_packing(*edges, arms, min(level, g.n_arms), blocked, seen)
            own = max(int(seen.max()), 1) if t is None else t
            if score(size, own, t) > highest:
                best, highest = (arms[:size], own), score(size, own, t)
    return best


def _orders(g: FeedbackGraph, candidates: Indices, seed: int) -> Iterator[Indices]:
    """Few neighbours first, then few observers first, then random."""
    into, out = np.diff(g.in_indptr)[candidates], np.diff(g.out_indptr)[candidates]
    yield candidates[np.argsort(into + out, kind="stable")]
    yield candidates[np.argsort(into, kind="stable")]
    rng = np.random.default_rng(seed)
    for _ in range(RANDOM_ORDERS):
        yield rng.permutation(candidates)


def _levels(g: FeedbackGraph) -> list[int]:
    """1, 2, 4, … and the greatest out-degree, at which t no longer restricts."""
    most = max(int(np.diff(g.out_indptr).max()), 1)
    return [*(2**k for k in range((most - 1).bit_length())), most]


def exact_packing(
    g: FeedbackGraph, candidates: Indices, t: int | None, start: tuple[Indices, int], time_limit: float
) -> tuple[Indices, int, float]:
    """Improve `start` to the optimum, or to the best (members, t, upper bound) that `time_limit` seconds allow.

    No t-packing set exceeds t·δ, δ the fractional domination number of the candidates: for a cover x,
    |S| ≤ Σ_u x_u |Nout(u) ∩ S| ≤ t·Σx. So the values of t to try end early.
    """
    stop = time.monotonic() + time_limit
    model = _Model(g, candidates)
    ceiling = _ceiling(g, candidates)
    if t is not None:
        limit = min(math.floor(t * ceiling + 1e-6), len(candidates))
        arms, bound = model.largest(t, limit, start[0], stop)
        return arms, t, bound

    best = start
    arms, bound = model.largest(len(candidates), len(candidates), start[0], stop)
    upper, level = math.log(bound), model.level(arms)
    for tried in range(1, int(bound) + 2):
        best = max(best, (arms, level), key=lambda found: packing_rate(len(found[0]), found[1]))
        rate = packing_rate(len(best[0]), best[1]) * (1.0 + 1e-12)
        if tried > bound or min(bound / tried, ceiling) <= rate:
            break
        limit = min(math.floor(tried * ceiling + 1e-6), int(bound))
        if limit > rate * tried:
            level = tried
            arms, size = model.largest(level, limit, start[0][:1], stop)
            upper = max(upper, size / level)
    return *best, max(upper, packing_rate(len(best[0]), best[1]))


def _ceiling(g: FeedbackGraph, candidates: Indices) -> float:
    """δ of the candidates that something reveals plus the number of the others: |S| ≤ t·that."""
    revealed = candidates[g.in_degree[candidates] > 0]
    blind = len(candidates) - len(revealed)
    return blind + (fractional_domination(g, cover=revealed).value if len(revealed) else 0.0)


class _Model:
    """max Σs  s.t.  s_i + s_j ≤ 1 on edges,  Σ_{i ∈ Nout(u)} s_i ≤ t for every arm u,  s binary."""

    def __init__(self, g: FeedbackGraph, candidates: Indices) -> None:
        n = len(candidates)
        self.candidates = candidates
        counts, sources = gather_rows(g.in_indptr, g.in_indices, candidates)
        target = np.repeat(np.arange(n), counts)
        rows, observer = np.unique(sources, return_inverse=True)
        self.observed = sparse.csr_array(
            (np.ones(len(target)), (observer, target)), shape=(max(len(rows), 1), n)
        )
        rank = np.full(g.n_arms, -1)
        rank[candidates] = np.arange(n)
        inside = rank[sources] >= 0
        pairs = np.column_stack([rank[sources[inside]], target[inside]])
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        edge = np.repeat(np.arange(len(pairs)), 2)
        self.edges = sparse.csr_array((np.ones(2 * len(pairs)), (edge, pairs.ravel())), shape=(len(pairs), n))

    def level(self, arms: Indices) -> int:
        """The least t for which the set is t-packing."""
        chosen = np.isin(self.candidates, arms).astype(float)
        return max(int((self.observed @ chosen).max()), 1)

    def largest(self, t: int, limit: int, start: Indices, stop: float) -> tuple[Indices, float]:
        """(largest set found, upper bound on the size of any); `limit` is a bound known beforehand."""
        if len(start) >= limit:
            return start, float(limit)
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import; few graphs get here

        left = stop - time.monotonic()
        if left <= 0.0:
            return start, float(limit)
        n = len(self.candidates)
        constraints = [LinearConstraint(self.observed, -np.inf, t)]
        if self.edges.shape[0]:
            constraints.append(LinearConstraint(self.edges, -np.inf, 1))
        found = milp(
            -np.ones(n),
            integrality=np.ones(n, dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options={"time_limit": left},
        )
        bound = float(limit)
        if found.mip_dual_bound is not None:
            bound = min(bound, float(math.floor(1e-6 - found.mip_dual_bound)))
        arms = start if found.x is None else self.candidates[np.asarray(found.x) > 0.5]
        return (arms if len(arms) >= len(start) else start), max(bound, float(len(arms)))
