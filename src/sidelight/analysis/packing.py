"""t-packing independent sets: sets of arms that are expensive to tell apart, and prove it themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._check import checked_count
from sidelight._types import Indices, Longs, frozen
from sidelight.analysis.packing_search import exact_packing, greedy_packing_set, packing_rate, score
from sidelight.errors import InvalidOption, SolverError
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.graph.edges import gather_rows

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

    def verify(self, g: FeedbackGraph) -> bool:
        """True if S is a t-packing independent set of `g`; otherwise SolverError naming an offending arm."""
        if self.arms.size == 0:
            return True
        members = g.checked_arms(self.arms)
        inside = np.zeros(g.n_arms, dtype=bool)
        inside[members] = True
        looped = members[g.has_loop[members]]
        if looped.size:
            raise SolverError(f"arm {looped[0]} reveals itself, so no independent set contains it")
        everywhere = members[g.is_universal[members]]
        if everywhere.size and members.size > 1:
            raise SolverError(f"arm {everywhere[0]} is revealed by every other member")
        counts, sources = gather_rows(g.in_indptr, g.in_indices, members)
        edges = np.flatnonzero(inside[sources])
        if edges.size:
            target = np.repeat(members, counts)[edges[0]]
            raise SolverError(f"member {sources[edges[0]]} reveals member {target}")
        seen = np.bincount(sources, minlength=g.n_arms)
        over = np.flatnonzero(seen > self.t)
        if over.size or self.t < 1:  # the only member may be universal: then everyone else reveals just it
            busiest = int(np.argmax(seen))
            raise SolverError(f"arm {busiest} reveals {seen[busiest]} members, more than t = {self.t}")
        return True

    def __repr__(self) -> str:
        how = "exact" if self.exact else "greedy" if self.upper is None else f"at most {self.upper:.6g}"
        return f"PackingSet({len(self.arms)} arms, t={self.t}, rate={self.rate:.6g}, {how})"


def packing_independent_set(
    g: GivenGraph,
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
    g = graph_of(g, "packing_independent_set")
    if t is not None:
        t = checked_count("t", t)
    if not time_limit > 0:
        raise InvalidOption(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    loopless = np.flatnonzero(~g.has_loop)
    candidates = loopless[~g.is_universal[loopless]]
    arms: Indices
    upper: float | None
    if candidates.size <= 1:  # two members exclude a universal arm: some other member would reveal it
        arms, level = candidates if candidates.size else loopless[:1], t or 1
        upper = score(len(arms), level, t)
    else:
        (arms, level), upper = greedy_packing_set(g, candidates, t, seed), None
        if exact or (exact is None and candidates.size <= EXACT_ARMS):
            arms, level, upper = exact_packing(g, candidates, t, (arms, level), time_limit)
    attained = upper is not None and score(len(arms), level, t) >= upper * (1.0 - 1e-12)
    if exact and not attained:
        raise SolverError(
            f"no proof within {time_limit:g} s: the best set has {len(arms)} arms at "
            f"t = {level}, upper bound {upper:.6g}; raise time_limit or pass exact=None"
        )
    return PackingSet(frozen(np.sort(arms), np.int64), level, attained, upper)
