"""Covers that leave arms with self-loops to themselves, as far as that pays: mass against what is missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.analysis import linear
from sidelight.errors import SolverError
from sidelight.graph import FeedbackGraph
from sidelight.graph.altered import loop_probability
from sidelight.graph.colours import colours

LEAST_PRICE = 2.0**-20
"""The price of missing an arm at which the least mass comes first."""

ALL_CORNERS, SOME_CORNERS = 16, 3
"""Up to so many arms all corners are found; beyond, those of so many levels of chords."""

TIE = 1e-7
"""Among covers that are equally good, prices differ by so much, and not by labels: the same arms are left out."""

ROUNDING = 1e-9
"""A point counts as a corner of the curve if it is so far below the chord."""


@dataclass(frozen=True, eq=False)
class PartialCover:
    """x ≥ 0 with Σ_{j ∈ Nin(i)} x_j ≥ 1 for every arm i without self-loop, among those that need it.

    Where reveals may fail, x_j counts with the probability that j reveals i, and what an arm misses counts 1/r times,
    r the probability that it reveals itself.

    >>> from sidelight.graph import families
    >>> covers = partial_covers(families.loopy_star(4), np.ones(4, dtype=bool), np.array([1.0, 0.0, 0.0, 0.0]))
    >>> [(cover.mass, cover.missed) for cover in covers]
    [(0.0, 4.0), (1.0, 0.0)]
    """

    weights: Floats  # (n,) x
    mass: float  # Σ x
    missed: float  # Σ over those with self-loops of (1 − Σ_{j ∈ Nin(i)} x_j)₊


def partial_covers(graph: FeedbackGraph, needed: Bools, full: Floats) -> list[PartialCover]:
    """Corners of the convex curve of least `mass` at each `missed`, from the least mass to a `full` cover (n,).

    With price λ from 0 to ∞,

        min Σ x + λΣ y   s.t.   Σ_{j ∈ Nin(i)} x_j + y_i ≥ 1 for arms needed,   y_i = 0 without self-loop,   x, y ≥ 0.

    (y_i/r_i in the sum, r_i as above, where reveals may fail.)
    An edge or a loop more only adds solutions, so the curve never rises; relabelling arms does not change it. All
    corners for graphs of up to `ALL_CORNERS` arms, for others those that chords find first. A linear program each.
    """
    n = graph.n_arms
    seen = np.zeros((n, n))
    seen[tuple(graph.edges().T[::-1])] = graph.edge_probabilities()
    weight = 1 / np.where(graph.has_loop, loop_probability(graph), 1.0)
    may_miss = graph.has_loop | ~needed
    tie = 1 + TIE * np.concatenate([colours(graph, needed), colours(graph, needed)])
    bounds = [(0.0, None)] * n + [(0.0, None if missed else 0.0) for missed in may_miss]

    def solved(price: float) -> PartialCover:
        solution = linear.solved(
            f"a covering program of {n} arms",
            tie * np.concatenate([np.ones(n), np.where(needed, price * weight, 0.0)]),
            A_ub=-np.hstack([seen, np.eye(n)]),
            b_ub=-np.ones(n),
            bounds=bounds,
        )
        weights = np.maximum(solution.x[:n], 0.0)
        return partial_cover(graph, needed, weights, seen @ weights)

    def between(left: PartialCover, right: PartialCover, depth: int) -> Iterator[PartialCover]:
        """Corners strictly between two points of the curve."""
        if depth == 0 or left.missed - right.missed <= ROUNDING or right.mass - left.mass <= ROUNDING:
            return
        price = (right.mass - left.mass) / (left.missed - right.missed)
        middle = solved(price)
        if middle.mass + price * middle.missed < left.mass + price * left.missed - ROUNDING:
            yield from between(left, middle, depth - 1)
            yield middle
            yield from between(middle, right, depth - 1)

    last, first = partial_cover(graph, needed, full, seen @ full), solved(LEAST_PRICE)
    if last.mass - first.mass <= ROUNDING:
        return [last]
    return [first, *between(first, last, n if n <= ALL_CORNERS else SOME_CORNERS), last]


def partial_cover(graph: FeedbackGraph, needed: Bools, weights: Floats, coverage: Floats) -> PartialCover:
    """These weights, scaled up by rounding errors where an arm without self-loop is not covered quite."""
    least = float(coverage[needed & ~graph.has_loop].min(initial=1.0))
    if least < 1 - 1e-6:
        raise SolverError(f"an arm without self-loop is covered {least!r} < 1")
    weights, coverage = weights / least, coverage / least
    alone = needed & graph.has_loop
    missed = float((np.maximum(1 - coverage[alone], 0.0) / loop_probability(graph)[alone]).sum())
    return PartialCover(weights, float(weights.sum()), missed if missed > ROUNDING else 0.0)


def lower_hull(covers: Sequence[PartialCover]) -> list[PartialCover]:
    """Those that are corners of the convex curve below all of them, from the least mass on."""
    ordered = sorted(covers, key=lambda cover: (cover.mass, cover.missed))
    hull: list[PartialCover] = []
    for cover in ordered:
        if hull and cover.missed >= hull[-1].missed - ROUNDING:
            continue
        while len(hull) > 1 and _above(hull[-2], hull[-1], cover):
            hull.pop()
        hull.append(cover)
    return hull


def _above(left: PartialCover, middle: PartialCover, right: PartialCover) -> bool:
    """Is the middle one on or above the chord between the others?"""
    share = (middle.mass - left.mass) / (right.mass - left.mass)
    return middle.missed >= left.missed + share * (right.missed - left.missed) - ROUNDING
