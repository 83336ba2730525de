"""Graphs that differ a little from others: repaired where data lack edges, or with what theorems ask of reveals that
may fail.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight._types import Floats, Longs, frozen
from sidelight.errors import InvalidGraph
from sidelight.graph.edges import gather_rows
from sidelight.graph.feedback_graph import FeedbackGraph

# -- repairs ----------------------------------------------------------------------------------------------


def with_loops(g: FeedbackGraph, unobservable_only: bool = False) -> FeedbackGraph:
    """The graph in which, besides, every arm reveals itself, or every arm that nothing reveals.

    A loop that may fail stays as it is.

    >>> chain = FeedbackGraph.from_edges(2, [(0, 1)])
    >>> with_loops(chain).n_edges, with_loops(chain, unobservable_only=True).n_edges
    (3, 2)
    """
    looped = g.has_loop | (g.in_degree == 0) if unobservable_only else np.ones(g.n_arms, dtype=bool)
    more = np.flatnonzero(looped & ~g.has_loop & ~g.is_universal)
    edges = g.explicit.and_also(more, more)
    return FeedbackGraph._of(edges._replace(universal_loops=looped[g.universal]))


def observable_part(g: FeedbackGraph) -> tuple[FeedbackGraph, Longs]:
    """The largest induced subgraph in which some arm reveals every arm, and the sorted arms that are not in it.

    Leaving out an arm may leave others unseen, so this goes on until nothing changes. Linear in arms and edges.

    >>> chain = FeedbackGraph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 2)])
    >>> observable_part(chain)
    (FeedbackGraph(n_arms=2, n_edges=2), array([0, 1]))
    """
    degree = g.in_degree.copy()
    degree[g.is_universal] = 1  # seen as long as any other arm is left
    dropped = np.zeros(g.n_arms, dtype=bool)
    now = np.flatnonzero(degree == 0)
    while now.size:
        dropped[now] = True
        lost = gather_rows(g.out_indptr, g.out_indices, now)[1]
        np.subtract.at(degree, lost, 1)
        touched = np.unique(lost)
        now = touched[(degree[touched] == 0) & ~dropped[touched]]
    remaining = np.flatnonzero(~dropped)
    if remaining.size == 1 and not g.has_loop[remaining[0]]:
        remaining = remaining[:0]
    if remaining.size == 0:
        raise InvalidGraph(f"none of the {g.n_arms} arms stays observable: no arm would be left")
    gone = np.flatnonzero(dropped)
    return (g if gone.size == 0 else g.subgraph(remaining)), gone


# -- reveals that may fail --------------------------------------------------------------------------------


def levels(g: FeedbackGraph, most: int = 12) -> list[float]:
    """Probabilities that edges have, from the largest; where there are more than `most`, evenly chosen ones."""
    if g.out_probability is None:
        return [1.0]
    probabilities = np.unique(g.out_probability)[::-1]
    if g.universal.size and probabilities[0] < 1:
        probabilities = np.append(1.0, probabilities)
    if probabilities.size > most:
        spread = np.linspace(0, probabilities.size - 1, most).round().astype(np.int64)
        probabilities = probabilities[np.unique(spread)]
    return [float(r) for r in probabilities]


def loop_probability(g: FeedbackGraph) -> Floats:
    """(n,) how likely playing each arm reveals its own loss, 0 for arms without self-loop."""
    chances = g.has_loop.astype(np.float64)
    if g.in_probability is not None:
        loops = np.flatnonzero(g.in_indices == g.in_targets)
        chances[g.in_indices[loops]] = g.in_probability[loops]
    return chances


def sharpened(g: FeedbackGraph, power: float) -> FeedbackGraph:
    """The same graph with r^power in the place of every probability r."""
    if g.out_probability is None or g.in_probability is None or power == 1:
        return g
    powers = [
        frozen(np.maximum(r**power, np.finfo(float).tiny), np.float64)
        for r in (g.out_probability, g.in_probability)
    ]
    return replace(g, out_probability=powers[0], in_probability=powers[1])
