"""Fractional weak domination: the least exploration mass that keeps every arm observed, of one set or of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sidelight._check import checked_number
from sidelight._types import Floats, Indices, frozen
from sidelight.analysis.domination.covering import CoveringProgram, covering_program, split
from sidelight.analysis.domination.program import EXACT_GAP, SMALLEST_GAP, solve_covering
from sidelight.errors import InvalidGraph, SolverError, UnobservableGraph, listing
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.graph.names import names

ROUNDING = 1e-9
"""How far a certificate may miss a constraint: rounding of sums, nothing else."""


@dataclass(frozen=True, eq=False, repr=False)
class Domination:
    """A cover of arms and the packing that proves how close to optimal it is.

    Cover: x ≥ 0 on `arms` with Σ_{v ∈ Nin(u) ∩ arms} x_v ≥ 1 for every u in `cover`. Packing: y ≥ 0 on
    `cover` with Σ_{u ∈ Nout(v) ∩ cover} y_u ≤ 1 for every v in `arms`. Any packing sums to at most any cover,
    so the domination number δ* lies between `lower` and `value`. Where reveals may fail, every term of both sums is
    multiplied by the probability of its edge.
    """

    value: float  # Σ weights
    weights: Floats  # (len(arms),) the cover x
    packing: Floats  # (len(cover),) its dual y
    arms: Indices  # the sources
    cover: Indices  # the arms to be revealed
    method: str  # the rules that found it

    @cached_property
    def lower(self) -> float:
        """Σ packing, a proven lower bound on δ*."""
        return float(self.packing.sum())

    @property
    def gap(self) -> float:
        """Proven relative gap, value/lower − 1."""
        return max(self.value / self.lower - 1.0, 0.0) if self.lower > 0.0 else math.inf

    @property
    def exact(self) -> bool:
        """Is `value` δ* up to rounding?"""
        return self.gap <= EXACT_GAP

    def verify(self, graph: FeedbackGraph) -> bool:
        """True if every claim holds in `graph`; otherwise SolverError naming the first that does not.

        Recomputes coverage and load from the graph alone.
        """
        sides = (("weight", self.weights, self.arms), ("packing", self.packing, self.cover))
        for name, values, at in sides:
            if values.shape != at.shape:
                raise SolverError(f"{name} has shape {values.shape} for {len(at)} arms")
            graph.checked_arms(at)
            bad = np.flatnonzero(~(values >= 0.0) | ~np.isfinite(values))
            if bad.size:
                raise SolverError(f"the {name} of arm {at[bad[0]]} is {float(values[bad[0]])!r}, not ≥ 0")
        total, mass = float(self.weights.sum()), float(self.packing.sum())
        if not abs(total - self.value) <= ROUNDING * max(1.0, total):
            raise SolverError(f"the weights sum to {total!r}, not to the value {self.value!r}")
        x, y = np.zeros(graph.n_arms), np.zeros(graph.n_arms)
        x[self.arms], y[self.cover] = self.weights, self.packing
        coverage, load = graph.seen(x)[self.cover], graph.shown(y)[self.arms]
        short, over = np.flatnonzero(coverage < 1.0 - ROUNDING), np.flatnonzero(load > 1.0 + ROUNDING)
        if short.size:
            raise SolverError(f"arm {self.cover[short[0]]} is covered {float(coverage[short[0]])!r} < 1")
        if over.size:
            raise SolverError(f"arm {self.arms[over[0]]} carries packing {float(load[over[0]])!r} > 1")
        if mass > total * (1.0 + ROUNDING):
            raise SolverError(f"the packing {mass!r} exceeds the cover {total!r}")
        return True

    def __repr__(self) -> str:
        close = "exact" if self.exact else f"gap {self.gap:.2%}"
        covered = "" if self.cover is self.arms else f", cover={len(self.cover)} arms"
        return f"Domination(value={self.value:.6g}, {close}, {len(self.arms)} arms{covered}, {self.method!r})"


def fractional_domination(
    graph: GivenGraph,
    arms: Sequence[int] | Indices | None = None,
    *,
    cover: Sequence[int] | Indices | None = None,
    tolerance: float | None = None,
) -> Domination:
    """Fractional weak domination number of the graph or of a block, with primal and dual certificate.

        min Σ_{v ∈ arms} x_v   s.t.   Σ_{v ∈ Nin(u) ∩ arms} x_v ≥ 1 for u ∈ cover,   x ≥ 0     (LP 𝒫)

    Where reveals may fail, x_v counts with the probability that v reveals u.
    `arms` defaults to all arms and `cover` to `arms`. Closed forms and small programs are exact; large ones
    are solved to a proven gap of 1 % unless `tolerance` asks for another (below 1e-6: exactly, however long
    that takes). Without `tolerance` the best certificate found is returned with its honest `gap`.

    Raises UnobservableGraph naming the arms of `cover` that nothing in `arms` reveals, SolverError if an
    explicit `tolerance` was not reached.

    >>> from sidelight.graph import FeedbackGraph
    >>> fractional_domination(FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)])).value
    3.0
    """
    graph, tolerance = graph_of(graph, "fractional_domination"), checked_tolerance(tolerance)
    sources = np.arange(graph.n_arms) if arms is None else graph.checked_arms(arms)
    targets = sources if cover is None else graph.checked_arms(cover)
    program = covering_program(graph, sources, targets)
    check_revealed(graph, program, targets, whole=arms is None)
    return solved(program, sources, targets, tolerance)


def solved(program: CoveringProgram, arms: Indices, cover: Indices, tolerance: float | None) -> Domination:
    """The certificate of a program whose sources are `arms` and whose targets are `cover`."""
    weights, packing, rules = solve_covering(program, tolerance)
    for array in (weights, packing, arms, cover):
        array.flags.writeable = False
    result = Domination(float(weights.sum()), weights, packing, arms, cover, " + ".join(rules))
    if tolerance is not None and result.gap > max(tolerance, EXACT_GAP):
        raise SolverError(
            f"a relative gap of {tolerance:g} was not reached: the domination number is proven to lie in "
            f"[{result.lower:.9g}, {result.value:.9g}], a gap of {result.gap:.3g}; ask for a larger tolerance, "
            f"or for one below {SMALLEST_GAP:g} to solve exactly"
        )
    return result


def checked_tolerance(tolerance: float | None) -> float | None:
    """`tolerance` as a float, or an error: a relative gap is a number of at least 0."""
    return None if tolerance is None else checked_number("tolerance", tolerance, least=0.0)


def check_revealed(g: FeedbackGraph, program: CoveringProgram, cover: Indices, whole: bool) -> None:
    """Raise UnobservableGraph if some target has no source."""
    blind = cover[program.in_degree == 0]
    if blind.size:
        hidden = np.sort(blind).tolist()
        who = "nothing" if whole else "nothing in the given set"
        them = "it" if len(hidden) == 1 else "them"
        raise UnobservableGraph(
            f"{who} reveals arm{'s' * (len(hidden) > 1)} {names(g, hidden)}; add edges into {them}, or drop {them}",
            hidden,
        )


# -- many blocks at once, solving equal blocks once ---------------------------------------------------------


def block_dominations(
    graph: FeedbackGraph, blocks: Sequence[Sequence[int] | Indices], *, tolerance: float | None = None
) -> list[Domination]:
    """`fractional_domination(graph, block)` for disjoint blocks; those of the same shape share one solution.

    Same shape means equal after renumbering the arms of each block by their position, so 10⁵ cliques of ten
    cost one small program. Shared certificates share their (read-only) arrays.

    >>> from sidelight.graph import FeedbackGraph
    >>> g = FeedbackGraph.from_edges(5, [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)])
    >>> [d.value for d in block_dominations(g, [[0, 1], [2, 3, 4]])]
    [2.0, 3.0]
    """
    tolerance = checked_tolerance(tolerance)
    if not blocks:
        return []
    members = [np.asarray(block) for block in blocks]
    if any(block.size == 0 for block in members):
        raise InvalidGraph(f"a block must not be empty, got {listing([block.tolist() for block in members])}")
    flat = frozen(graph.checked_arms(np.concatenate(members)), np.int64)
    shared: dict[bytes, Domination] = {}
    result = []
    block = np.repeat(np.arange(len(members)), [len(each) for each in members])
    whole = covering_program(graph, flat, flat, block)
    for own, _, program in split(whole, block, block, len(members)):
        arms = flat[own[0] : own[0] + len(own)]  # a slice, so that the arms stay read-only
        key = program.signature()
        solution = shared.get(key)
        if solution is None:
            check_revealed(graph, program, arms, whole=False)
            solution = shared[key] = solved(program, arms, arms, tolerance)
            result.append(solution)
        else:
            result.append(
                Domination(solution.value, solution.weights, solution.packing, arms, arms, solution.method)
            )
    return result
