"""The Hamming-code partition of the hypercube."""

from __future__ import annotations

import numpy as np

from sidelight._types import Bools, Longs
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import named, names
from sidelight.partition.partition import Partition


def hypercube(graph: FeedbackGraph) -> Partition:
    """The cube Q_d in 2^{d−k} blocks of 2^k ≤ 2d arms with δ ≤ 2 each, where 2^k − 1 ≤ d < 2^{k+1} − 1.

    Arms are numbered by bit strings: i and j reveal each other exactly when they differ in one bit, as
    in `families.hypercube(d)`; any other graph raises `InfeasibleRequest`.

    The syndrome of an arm is the exclusive or of the columns c(b) of its set bits, where c(b) = b + 1 for
    the first 2^k − 1 bits and all later bits share the last column, 2^k − 1: that is the Hamming code of
    Q_{2^k−1}, extended bit by bit (…1 → …01, …10; …0 → …00, …11). The arms of syndrome 0, each with its
    neighbour across bit 0, which has syndrome 1, are the dominating pairs. Every other arm has syndrome
    s ≥ 2 and joins the pair of its neighbour across bit s − 1, whose syndrome is 0. Of the neighbours the
    lemma lets an arm choose from, this one makes all blocks equal: a centre and its 2^k − 1 neighbours
    across the first bits. Weight 1 on both arms of the pair covers the block.

    Source: section 5.4 of He & Zhang (Theorem hypercube), on the Hamming code of JP90.
    """
    d = _dimension(graph)
    k = (d + 1).bit_length() - 1
    last = 2**k - 1
    arms = np.arange(graph.n_arms)
    syndrome = np.zeros_like(arms)
    for b in range(d):
        syndrome ^= np.where(arms >> b & 1, min(b + 1, last), 0)
    centre = np.where(syndrome == 0, arms, arms ^ (1 << np.maximum(syndrome - 1, 0)))
    return Partition.from_labels(graph, centre)


def _dimension(graph: FeedbackGraph) -> int:
    """The d of which `graph` is the hypercube, or an error that says what does not fit."""
    n = graph.n_arms
    d = n.bit_length() - 1
    if n != 2**d or d < 1:
        raise InfeasibleRequest(f"a hypercube has 2, 4, 8, … arms, this graph has {n}; use another partition")
    arms, source = np.arange(n), graph.out_sources
    fits = ~graph.has_loop & (graph.out_degree == d)
    fits[source[_several_bits(source ^ graph.out_indices)]] = False
    for everywhere in graph.universal[:1].tolist():
        fits &= ~_several_bits(arms ^ everywhere)
    if not fits.all():
        arm = int(np.argmin(fits))
        found, wanted = graph.out_neighbors(arm).tolist(), sorted(arm ^ 1 << b for b in range(d))
        raise InfeasibleRequest(
            f"not a hypercube numbered by bit strings: arm {named(graph, arm)} reveals {names(graph, found)}, "
            f"not {names(graph, wanted)};"
            " number the arms as families.hypercube does, or use another partition"
        )
    return d


def _several_bits(numbers: Longs) -> Bools:
    """Which of the numbers have more than one bit set?"""
    several: Bools = numbers & (numbers - 1) != 0
    return several
