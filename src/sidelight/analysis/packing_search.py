"""Search for t-packing independent sets: greedily at any size, exactly by integer programs when small."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sidelight._types import Indices
from sidelight.analysis._packing_kernels import greedy_packing
from sidelight.analysis.domination.domination import fractional_domination
from sidelight.graph import FeedbackGraph
from sidelight.graph.csr import gather_rows

RANDOM_ORDERS = 2
"""Seeded orders tried by the greedy search besides the orders by degree."""


class Found(NamedTuple):
    """Members, their t, and a proven upper bound on what was maximised, if there is one."""

    arms: Indices
    t: int
    upper: float | None = None

    @property
    def rate(self) -> float:
        """max{log|S|, |S|/t}."""
        return packing_rate(len(self.arms), self.t)


def packing_rate(size: int, t: int) -> float:
    """max{log size, size/t}, and 0 for size 0."""
    return max(math.log(size), size / t) if size else 0.0


def greedy_packing_set(g: FeedbackGraph, candidates: Indices, t: int | None, seed: int) -> Found:
    """Best of several greedy passes; without t, over doubling values of t as well."""
    best, best_score = Found(candidates[:1], 1 if t is None else int(t)), -1.0
    for order in _orders(g, candidates, seed):
        for level in [int(t)] if t is not None else _levels(g):
            arms, seen = _greedy(g, order.copy(), level)
            own = level if t is not None else max(int(seen.max()), 1)
            score = len(arms) if t is not None else packing_rate(len(arms), own)
            if score > best_score:
                best, best_score = Found(arms, own), score
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


def _greedy(g: FeedbackGraph, order: Indices, t: int) -> tuple[Indices, Indices]:
    seen = np.zeros(g.n_arms, dtype=np.int64)
    blocked = np.zeros(g.n_arms, dtype=bool)
    size = greedy_packing(
        g.out_indptr, g.out_indices, g.in_indptr, g.in_indices, order, min(t, g.n_arms), blocked, seen
    )
    return order[:size].copy(), seen


def exact_packing(
    g: FeedbackGraph, candidates: Indices, t: int | None, start: Found, time_limit: float
) -> Found:
    """Improve `start` to the optimum, or to the best set and bound that `time_limit` seconds allow.

    No t-packing set exceeds t·δ, δ the fractional domination number of the candidates: for a cover x,
    |S| ≤ Σ_u x_u |Nout(u) ∩ S| ≤ t·Σx. So the values of t to try end early.
    """
    stop = time.monotonic() + time_limit
    model = _Model(g, candidates)
    ceiling = _ceiling(g, candidates)
    if t is not None:
        limit = min(math.floor(t * ceiling + 1e-6), len(candidates))
        arms, bound = model.largest(int(t), limit, start.arms, stop)
        return Found(arms, int(t), bound)

    largest, bound = model.largest(len(candidates), len(candidates), start.arms, stop)
    options = [start, Found(largest, model.level(largest))]
    upper = math.log(bound)
    for level in range(1, int(bound) + 1):
        best = max(option.rate for option in options)
        if min(bound / level, ceiling) <= best * (1.0 + 1e-12):
            break
        limit = min(math.floor(level * ceiling + 1e-6), int(bound))
        if limit <= best * level * (1.0 + 1e-12):
            continue
        arms, size = model.largest(level, limit, start.arms[:1], stop)
        options.append(Found(arms, level))
        upper = max(upper, size / level)
    best_option = max(options, key=lambda option: option.rate)
    return best_option._replace(upper=max(upper, best_option.rate))


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
