"""t-packing independent sets: arms that are hard to tell apart, how they are found, and the regret they prove."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sidelight._check import checked_count, checked_horizon
from sidelight._types import Indices, Longs, frozen
from sidelight.analysis._kernels import greedy_packing
from sidelight.analysis.domination.domination import fractional_domination
from sidelight.analysis.observability import observability
from sidelight.errors import InfeasibleRequest, InvalidOption, SolverError
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.graph.edges import gather_rows
from sidelight.graph.names import names

# -- search: greedily at any size, exactly by integer programs when small -----------------------------------


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

    Without t the values to try end early: |S|/t is at most the size of the largest independent set over t, and at
    most the fractional domination number δ of the candidates: for a cover x, |S| ≤ Σ_u x_u |Nout(u) ∩ S| ≤ t·Σx.
    """
    model = _Model(g, candidates, time.monotonic() + time_limit)
    if t is not None:
        arms, bound = model.largest(t, start[0])
        return arms, t, bound

    def rate(found: tuple[Indices, int]) -> float:
        return packing_rate(len(found[0]), found[1])

    revealed = candidates[g.in_degree[candidates] > 0]
    ceiling = float(len(candidates) - len(revealed))
    if len(revealed):
        ceiling += fractional_domination(g, cover=revealed).value
    arms, bound = model.largest(len(candidates), start[0])
    best, upper = max(start, (arms, model.level(arms)), key=rate), math.log(bound)
    for level in range(1, int(bound) + 1):
        if min(bound / level, ceiling) <= rate(best) * (1.0 + 1e-12):
            break
        arms, size = model.largest(level, start[0][:1])
        best, upper = max(best, (arms, level), key=rate), max(upper, size / level)
    return *best, max(upper, rate(best))


class _Model:
    """max Σs  s.t.  s_i + s_j ≤ 1 on edges,  Σ_{i ∈ Nout(u)} s_i ≤ t for every arm u,  s binary; until `stop`."""

    def __init__(self, g: FeedbackGraph, candidates: Indices, stop: float) -> None:
        self.candidates, self.stop = candidates, stop
        ones = np.ones(len(g.in_indices))
        into = sparse.csc_array((ones, g.in_indices, g.in_indptr), shape=(g.n_arms, g.n_arms))
        self.observed: Any = into[:, candidates].tocsr()
        inside = self.observed[candidates]
        ends = np.concatenate(sparse.triu(inside + inside.T, 1).nonzero())
        edge = np.tile(np.arange(len(ends) // 2), 2)
        self.edges = sparse.csr_array(
            (np.ones(len(ends)), (edge, ends)), shape=(len(ends) // 2, len(candidates))
        )

    def level(self, arms: Indices) -> int:
        """The least t for which the set is t-packing."""
        chosen = np.isin(self.candidates, arms).astype(float)
        return max(int((self.observed @ chosen).max()), 1)

    def largest(self, t: int, start: Indices) -> tuple[Indices, float]:
        """(largest set found, upper bound on the size of any)."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import; few graphs get here

        n, left = len(self.candidates), self.stop - time.monotonic()
        if left <= 0.0:
            return start, float(n)
        constraints = [LinearConstraint(self.observed, -np.inf, t)]
        if self.edges.shape[0]:
            constraints.append(LinearConstraint(self.edges, -np.inf, 1))
        solution = milp(
            -np.ones(n),
            integrality=np.ones(n, dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options={"time_limit": left},
        )
        bound = float(n)
        if solution.mip_dual_bound is not None:
            bound = min(bound, float(math.floor(1e-6 - solution.mip_dual_bound)))
        arms = start if solution.x is None else self.candidates[np.asarray(solution.x) > 0.5]
        return (arms if len(arms) >= len(start) else start), max(bound, float(len(arms)))


# -- sets ---------------------------------------------------------------------------------------------------


EXACT_ARMS = 40
"""Up to this many candidate arms the search is exact unless told otherwise: about a second at worst."""


@dataclass(frozen=True, eq=False, repr=False)
class PackingSet:
    """An independent set S of which no arm reveals more than t members; the set is its own certificate.

    No member reveals a member, itself included. `upper` is a proven upper bound, on |S| if t was asked for
    and on the rate otherwise, or None after a greedy search; `exact` says that S attains it.
    """

    arms: Longs  # sorted members of S
    t: int
    exact: bool
    upper: float | None = None

    @property
    def rate(self) -> float:
        """max{log|S|, |S|/t}, the strength of the lower bound it proves; 0 for the empty set."""
        return packing_rate(len(self.arms), self.t)

    def verify(self, graph: FeedbackGraph) -> bool:
        """True if S is a t-packing independent set of `graph`; otherwise SolverError naming an offending arm."""
        if self.arms.size == 0:
            return True
        members = graph.checked_arms(self.arms)
        inside = np.zeros(graph.n_arms, dtype=bool)
        inside[members] = True
        looped = members[graph.has_loop[members]]
        if looped.size:
            raise SolverError(f"arm {looped[0]} reveals itself, so no independent set contains it")
        everywhere = members[graph.is_universal[members]]
        if everywhere.size and members.size > 1:
            raise SolverError(f"arm {everywhere[0]} is revealed by every other member")
        counts, sources = gather_rows(graph.in_indptr, graph.in_indices, members)
        edges = np.flatnonzero(inside[sources])
        if edges.size:
            target = np.repeat(members, counts)[edges[0]]
            raise SolverError(f"member {sources[edges[0]]} reveals member {target}")
        seen = np.bincount(sources, minlength=graph.n_arms)
        over = np.flatnonzero(seen > self.t)
        if over.size or self.t < 1:  # the only member may be universal: then everyone else reveals just it
            busiest = int(np.argmax(seen))
            raise SolverError(f"arm {busiest} reveals {seen[busiest]} members, more than t = {self.t}")
        return True

    def __repr__(self) -> str:
        how = "exact" if self.exact else "greedy" if self.upper is None else f"at most {self.upper:.6g}"
        return f"PackingSet({len(self.arms)} arms, t={self.t}, rate={self.rate:.6g}, {how})"


def packing_independent_set(
    graph: GivenGraph,
    t: int | None = None,
    *,
    exact: bool | None = None,
    seed: int = 0,
    time_limit: float = 10.0,
) -> PackingSet:
    """The largest t-packing independent set found, or, without t, the one of the greatest rate.

        |Nout(u) ∩ S| ≤ t for every arm u,  rate = max{log|S|, |S|/t}        (paper, Preliminaries)

    Up to 40 candidate arms are searched exactly, within `time_limit` seconds; more of them, or
    `exact=False`, greedily in several seeded orders, in linear time. `exact=True` searches exactly at any
    size (about a hundred arms are realistic) and raises SolverError if time runs out before the proof.

    >>> from sidelight.graph import FeedbackGraph
    >>> g = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (0, 2), (0, 3)])
    >>> packing_independent_set(g, t=2)
    PackingSet(2 arms, t=2, rate=1, exact)
    """
    graph = graph_of(graph, "packing_independent_set")
    if t is not None:
        t = checked_count("t", t)
    if not time_limit > 0:
        raise InvalidOption(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    loopless = np.flatnonzero(~graph.has_loop)
    candidates = loopless[~graph.is_universal[loopless]]
    arms: Indices
    upper: float | None
    if candidates.size <= 1:  # two members exclude a universal arm: some other member would reveal it
        arms, level = candidates if candidates.size else loopless[:1], t or 1
        upper = score(len(arms), level, t)
    else:
        (arms, level), upper = greedy_packing_set(graph, candidates, t, seed), None
        if exact or (exact is None and candidates.size <= EXACT_ARMS):
            arms, level, upper = exact_packing(graph, candidates, t, (arms, level), time_limit)
    attained = upper is not None and score(len(arms), level, t) >= upper * (1.0 - 1e-12)
    if exact and not attained:
        raise SolverError(
            f"no proof within {time_limit:g} s: the best set has {len(arms)} arms at "
            f"t = {level}, upper bound {upper:.6g}; raise time_limit or pass exact=None"
        )
    return PackingSet(frozen(np.sort(arms), np.int64), level, attained, upper)


# -- the regret that no algorithm avoids on a weakly observable graph ---------------------------------------


PACKING_SOURCE = "Proposition packing-lb (Chen, Huang, Li & Zhang 2021)"


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound on the minimax regret, up to a universal constant unless `constant` gives it.

    The regret of any algorithm on some losses is at least c·value; `constant` is None where the source states
    Ω(value) without naming c, so that `value` compares graphs and horizons but not algorithms.
    """

    value: float
    certificate: PackingSet
    source: str
    constant: float | None = None


def packing_lower_bound(
    graph: GivenGraph, horizon: int, *, exact: bool | None = None, seed: int = 0, time_limit: float = 10.0
) -> LowerBound:
    """rate^{1/3}·T^{2/3} for the best packing found, rate = max{log|S|, |S|/t}.

    Holds for weakly observable graphs, as Ω(·): the universal constant is not stated, so `constant` is None
    and the value is a rate, not an amount of loss. The other options go to `packing_independent_set`.

    >>> from sidelight.graph import FeedbackGraph
    >>> bound = packing_lower_bound(FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)]), horizon=1000)
    >>> round(bound.value, 6), bound.certificate
    (100.0, PackingSet(1 arms, t=1, rate=1, exact))
    """
    graph, horizon = graph_of(graph, "packing_lower_bound"), checked_horizon(horizon)
    classes = observability(graph)
    if classes.graph == "unobservable":
        raise InfeasibleRequest(
            "the lower bound is for weakly observable graphs, but nothing reveals "
            f"arms {names(graph, classes.unobservable.tolist())}: regret there is linear in T"
        )
    if classes.graph == "strong":
        raise InfeasibleRequest(
            "the lower bound is for weakly observable graphs, but every arm is strongly observable: "
            "regret there is of order √T"
        )
    certificate = packing_independent_set(graph, exact=exact, seed=seed, time_limit=time_limit)
    value = certificate.rate ** (1 / 3) * float(horizon) ** (2 / 3)
    return LowerBound(value, certificate, PACKING_SOURCE)
