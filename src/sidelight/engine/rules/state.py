"""What a rule keeps: the graph, a count and a sum per arm, a distribution, a random stream."""

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined

ROUND, PENDING, TOTAL, N_NUMBERS = range(4)
"""Rounds that are decided, without the pending one; the arm that was drawn last and waits to be told of, −1 for none;
a sum of the rule's own, such as ΣQ of Exp3-IX."""

ADDED, N_KEPT = range(2)
SEEN, DIVISOR, PER_ARM = range(3)
"""What is kept of a draw: what its round adds to TOTAL; then for every arm that it reveals, in order, the probability
of being seen and what its loss is divided by."""


class RuleState(NamedTuple):
    """All that a rule reads and writes; what is below `numbers` changes while playing."""

    out_indptr: np.ndarray
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray
    universal: np.ndarray
    loops: np.ndarray
    numbers: np.ndarray  # (N_NUMBERS,)
    counts: np.ndarray  # (n,) observations
    sums: np.ndarray  # (n,) of observed losses, or of loss estimates
    probabilities: np.ndarray  # (n,) of the next play, where the rule keeps them
    words: np.ndarray  # (4,) random stream
    targets: np.ndarray  # scratch: the arms that one play reveals
    losses: np.ndarray  # scratch: their losses
    kept: np.ndarray  # scratch: what is kept of a draw that is learnt from at once


@inlined()
def on_graph(state, graphs, k, probabilities):
    """The state on graph k of a list (`engine.changing.state.Graphs`), where arms are drawn like this."""
    n = graphs.n_arms
    return RuleState(
        graphs.out_start[k * (n + 1) : (k + 1) * (n + 1)],
        graphs.out_arms,
        graphs.in_start[k * (n + 1) : (k + 1) * (n + 1)],
        graphs.in_arms,
        graphs.universal[graphs.universal_start[k] : graphs.universal_start[k + 1]],
        graphs.loops[k * n : (k + 1) * n],
        state.numbers,
        state.counts,
        state.sums,
        probabilities,
        state.words,
        state.targets,
        state.losses,
        state.kept,
    )


@inlined()
def count_round(state, kept):
    """A round is decided."""
    state.numbers[ROUND] += 1.0
    state.numbers[TOTAL] += kept[ADDED]


@inlined()
def list_revealed(state, arm):
    """Write the arms that `arm` reveals to state.targets, in order; return how many."""
    edge, end = state.out_indptr[arm], state.out_indptr[arm + 1]
    u = 0
    count = 0
    while edge < end or u < state.universal.size:  # both lists rise: merge them
        if u == state.universal.size or (edge < end and state.out_indices[edge] < state.universal[u]):
            state.targets[count] = state.out_indices[edge]
            edge += 1
            count += 1
        else:
            v = state.universal[u]
            u += 1
            if v != arm or state.loops[v]:
                state.targets[count] = v
                count += 1
    return count


@inlined()
def seen(state, arm):
    """The probability that the next play reveals `arm`."""
    first, end = state.in_indptr[arm], state.in_indptr[arm + 1]
    if first == end:  # no explicit edges: every arm reveals it, or every other
        return 1.0 if state.loops[arm] else 1.0 - state.probabilities[arm]
    total = 0.0
    for edge in range(first, end):
        total += state.probabilities[state.in_indices[edge]]
    return total
