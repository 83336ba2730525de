"""Graphs that change from round to round, one after another in the arrays of one struct: who reveals whom there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight._types import frozen
from sidelight.engine._numba.jit import inlined, kernel
from sidelight.engine.constants import FAILED
from sidelight.engine.random import arm_unit, edge_word, round_word

OWN, UNKNOWN, FIRST_OTHER = range(3)
"""Where a plan's graphs are in their list. The plan's own is the first; then comes the graph that exploration is
planned for while nobody knows which strongly observable graph will be shown afterwards; then all others."""

SAME, MORE, OTHER = range(3)
"""What a graph is to the first of its list: the same, one with more edges, or one that lacks some."""

NO_ARM = 0xFFFFFFFF
"""Whose random number says which graph a round has."""


class Graphs(NamedTuple):
    """Graphs on the same n arms, one after another, each with its cover; all arrays are read-only."""

    n_arms: int
    out_start: np.ndarray  # (K·(n+1),) explicit edges by source
    out_arms: np.ndarray
    out_chance: np.ndarray  # r, how likely each of these reveals; like `out_share` empty if all are certain
    out_share: np.ndarray  # r^{1/s−1}, which what is explored for an arm is multiplied by
    in_start: np.ndarray  # (K·(n+1),) the same edges by target
    in_arms: np.ndarray
    in_chance: np.ndarray
    universal_start: np.ndarray  # (K+1,)
    universal: np.ndarray  # arms that every other arm reveals
    seen_how: np.ndarray  # (K·n,) by edges, by all others or by all
    loops: np.ndarray  # (K·n,) does it reveal itself?
    cover: np.ndarray  # (K·n,) x*
    inverse_load: np.ndarray  # (K·n,) 1/c, 0 for arms that are not covered
    lean: np.ndarray  # (K,) where it is not 0, a strength of lean/β is offered too (Lemma 4)
    only: np.ndarray  # (K,) is that the only one?
    relation: np.ndarray  # (K,) what it is to the first graph
    lifted: np.ndarray  # (K·n,) 1 for arms that may be lifted
    signed: np.ndarray  # (K,) may losses be shifted: see `fields`
    covered: np.ndarray  # (K,) are all arms covered?
    fails: np.ndarray  # (K,) may any reveal fail?


class Sequence(NamedTuple):
    """Which graph a round has: order[(t // period) mod size], or one that is drawn anew in every round."""

    period: int
    order: np.ndarray  # (m,) int64
    cumulative: np.ndarray  # (K,) of the probabilities that graphs are drawn with; none: they are not drawn


# As in any list of graphs arrays are read-only: kernels are compiled for one type.
_LONG, _INT, _FLOAT, _BOOL = (frozen((), dtype) for dtype in (np.int64, np.int32, np.float64, np.bool_))
NO_GRAPHS = Graphs(
    0, _LONG, _INT, _FLOAT, _FLOAT, _LONG, _INT, _FLOAT, _LONG, _INT, _INT, _BOOL, _FLOAT, _FLOAT, _FLOAT, _BOOL,
    _LONG, _FLOAT, _LONG, _BOOL, _BOOL,
)  # fmt: skip
"""Where every round has the player's own graph."""
NO_SEQUENCE = Sequence(1, _LONG, _FLOAT)


@inlined()
def graph_of(sequence, word, t):
    """The graph of round t; `word` is the random word of the round."""
    k = 0
    if sequence.cumulative.size == 0:
        k = sequence.order[(t // sequence.period) % sequence.order.size]
    else:
        unit = arm_unit(word, NO_ARM)
        while k < sequence.cumulative.size - 1 and unit >= sequence.cumulative[k]:
            k += 1
    return k


@kernel()
def which_graphs(sequence, key, first, out):
    """The graphs of rounds first, first + 1, …"""
    for index in range(out.size):
        out[index] = graph_of(sequence, round_word(key, first + index), first + index)


@inlined()
def list_revealed(indptr, indices, universal, loops, arm, targets):
    """Write the arms that `arm` reveals to targets, in increasing order; return how many.

    The arrays are those of one graph: its explicit edges by source, its universal arms, who reveals itself.
    """
    # Losses are told in the order of arms, whichever way an arm is revealed.
    edge, end = indptr[arm], indptr[arm + 1]
    u = 0
    count = 0
    while edge < end or u < universal.size:  # both lists rise: merge them
        if u == universal.size or (edge < end and indices[edge] < universal[u]):
            targets[count] = indices[edge]
            edge += 1
            count += 1
        else:
            v = universal[u]
            u += 1
            if v != arm or loops[v]:
                targets[count] = v
                count += 1
    return count


@inlined()
def list_revealed_in(graphs, k, arm, targets):
    """`list_revealed` in graph k of a list."""
    n = graphs.n_arms
    return list_revealed(
        graphs.out_start[k * (n + 1) : (k + 1) * (n + 1)],
        graphs.out_arms,
        graphs.universal[graphs.universal_start[k] : graphs.universal_start[k + 1]],
        graphs.loops[k * n : (k + 1) * n],
        arm,
        targets,
    )


@inlined()
def drop_failed(graphs, k, word, arm, targets, losses, count):
    """Mark what `arm` fails to reveal in the round of this word."""
    n = graphs.n_arms
    edge, end = graphs.out_start[k * (n + 1) + arm], graphs.out_start[k * (n + 1) + arm + 1]
    for index in range(count):
        while edge < end and graphs.out_arms[edge] < targets[index]:
            edge += 1
        # What is not in the row is revealed by everyone, and never fails.
        if edge < end and graphs.out_arms[edge] == targets[index]:
            unit = arm_unit(edge_word(word, arm), targets[index])
            losses[index] = losses[index] if unit < graphs.out_chance[edge] else FAILED
