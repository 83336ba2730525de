"""Colours of arms that do not depend on their labels: equal for arms that look alike from where they stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Floats
from sidelight.graph.feedback_graph import FeedbackGraph

Words = npt.NDArray[np.uint64]

LOOKS = 6
"""Steps of refinement: so far away an arm sees what it is compared by."""


def colours(g: FeedbackGraph, marked: Bools | None = None) -> Floats:
    """(n,) numbers in [0, 1), equal for arms that a relabelling of the graph can exchange, mostly not for others.

    Colour refinement (1-dimensional Weisfeiler–Leman) with hashes: an arm's next colour follows from its own, those
    of the arms it reveals and those that reveal it. It starts from self-loops, and from what is `marked` (n,). A rule
    that breaks ties by colour gives the same on every labelling, unless it must choose among arms of one colour.

    >>> from sidelight.graph import families
    >>> len(set(colours(families.cycle(9)))), len(set(colours(families.corrupted_mab(9, 1))))
    (1, 3)
    """
    start = g.has_loop.astype(np.uint64) + np.uint64(2)
    if marked is not None:
        start += marked.astype(np.uint64) * np.uint64(16)
    now, universal = _mixed(start), g.is_universal
    for _ in range(LOOKS):
        revealed = _sums(g.out_indptr, _mixed(now + np.uint64(1))[g.out_indices])
        revealing = _sums(g.in_indptr, _mixed(now + np.uint64(2))[g.in_indices])
        if universal.any():  # their edges are not listed
            given, got = _mixed(now + np.uint64(1)), _mixed(now + np.uint64(2))
            own = universal & ~g.has_loop
            zero = np.uint64(0)
            revealed = revealed + given[universal].sum(dtype=np.uint64) - np.where(own, given, zero)
            everyone = got.sum(dtype=np.uint64) - np.where(g.has_loop, zero, got)
            revealing = np.where(universal, everyone, revealing)
        now = _mixed(now + _mixed(revealed) * np.uint64(3) + _mixed(revealing) * np.uint64(5))
    return (now >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _sums(start: npt.NDArray[np.integer], values: Words) -> Words:
    """Sums of consecutive stretches, modulo 2⁶⁴: the order inside a stretch does not matter."""
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(total[start[1:]] - total[start[:-1]])


def _mixed(x: Words) -> Words:
    """The finaliser of SplitMix64: every bit of x moves half of the bits of the answer."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
