"""Which arms a flat plan covers, which it leaves to their self-loops, and which to all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sidelight._types import Longs
from sidelight.graph.colours import colours
from sidelight.planning.exploration import EXACT_CURVE, Cover, Solved

EVERY_SPLIT = 8
"""Up to so many arms every number of arms is tried in every role; beyond, a few."""

FULLY = 1 - 1e-9
"""Arms with this coverage are covered, but for rounding."""


class Roles(NamedTuple):
    """Arms that are neither covered nor shifted have self-loops, and see themselves."""

    cover: Cover  # of some arms, from any
    shifted: Longs  # universal arms, with a potential of their own


def roles(solved: Solved) -> Iterator[Roles]:
    """The splits to be weighed; at least one arm is covered, and at least one is not.

    A bound depends on how many arms have which role, and on the mass of the cover. A split of a graph is also one
    of every graph with an edge or a loop more: no such edge raises the smallest bound over all splits. Which arms are
    shifted matters little to the mass, so only their number is varied, and covers are those of `partial_covers`.
    """
    g = solved.graph
    alike = (colours(g)[g.universal], g.has_loop[g.universal])
    order = g.universal[np.lexsort(alike)].astype(np.int64)  # loop-less ones first, then by colour
    small, exact = g.n_arms <= EVERY_SPLIT, g.n_arms <= EXACT_CURVE
    for n_shifted in range(order.size + 1) if small else sorted({0, int((~g.has_loop)[order].sum())}):
        shifted = order[:n_shifted]
        needed = np.ones(g.n_arms, dtype=bool)
        needed[shifted] = False
        loopless, most = np.flatnonzero(needed & ~g.has_loop), 0
        for cover in solved.covers_of(needed):
            fully = solved.coverage(cover.weights) >= FULLY
            able = np.flatnonzero(needed & g.has_loop & fully)
            numbers = range(most, able.size + 1) if small else _few(most, able.size, exact)
            for n_more in numbers:
                covered = np.sort(np.concatenate([loopless, able[:n_more]]))
                if 0 < covered.size < g.n_arms:
                    yield Roles(Cover(cover.weights, cover.mass, covered), shifted)
            most = max(most, able.size + 1)


def _few(least: int, most: int, between: bool) -> list[int]:
    """Both ends, and powers of two between them if asked for; nothing if there is nothing between."""
    powers = [2**j for j in range(most.bit_length())] if between else []
    return sorted({k for k in (least, *powers, most) if least <= k <= most})
