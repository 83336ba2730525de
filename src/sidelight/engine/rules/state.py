"""What a rule keeps: the graph, a count and a sum per arm, a distribution, a random stream."""

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined

ROUND, PENDING, TOTAL, N_NUMBERS = range(4)
"""Completed rounds; the arm that was asked for, −1 for none; a sum of the rule's own, such as ΣQ of Exp3-IX."""


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
    """The probability that the next play reveals `arm`, where every arm reveals itself."""
    first, end = state.in_indptr[arm], state.in_indptr[arm + 1]
    if first == end:  # no explicit edges: every arm reveals it
        return 1.0
    total = 0.0
    for edge in range(first, end):
        total += state.probabilities[state.in_indices[edge]]
    return total
