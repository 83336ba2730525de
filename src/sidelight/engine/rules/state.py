"""What a small policy keeps: the graph, a count and a sum per arm, a distribution, a random stream."""

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined

UNIFORM, LEADER, UCB, THOMPSON, IMPLICIT, TSALLIS = range(6)
"""The rules; see `observed` and `weighted`."""

ROUND, PENDING, TOTAL, N_NUMBERS = range(4)
"""Completed rounds; the arm that was asked for, −1 for none; ΣQ of the rule IMPLICIT."""


class Desk(NamedTuple):
    """All that a rule reads and writes; `numbers`, `counts`, `sums`, `shares` and `words` change while playing."""

    rule: int
    out_indptr: np.ndarray
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray
    universal: np.ndarray
    loops: np.ndarray
    numbers: np.ndarray  # (N_NUMBERS,)
    counts: np.ndarray  # (n,) observations
    sums: np.ndarray  # (n,) of observed losses, or of loss estimates
    shares: np.ndarray  # (n,) distribution of the next play, where the rule keeps one
    words: np.ndarray  # (4,) random stream
    targets: np.ndarray  # scratch: the arms that one play reveals
    told: np.ndarray  # scratch: their losses


@inlined()
def list_revealed(desk, arm):
    """Write the arms that `arm` reveals to desk.targets, in order; return how many."""
    edge, end = desk.out_indptr[arm], desk.out_indptr[arm + 1]
    u = 0
    count = 0
    while edge < end or u < desk.universal.size:
        if u == desk.universal.size or (edge < end and desk.out_indices[edge] < desk.universal[u]):
            desk.targets[count] = desk.out_indices[edge]
            edge += 1
            count += 1
        else:
            v = desk.universal[u]
            u += 1
            if v != arm or desk.loops[v]:
                desk.targets[count] = v
                count += 1
    return count


@inlined()
def seen(desk, arm):
    """The probability that the next play reveals `arm`, where every arm reveals itself."""
    first, end = desk.in_indptr[arm], desk.in_indptr[arm + 1]
    if first == end:  # no explicit edges: every arm reveals it
        return 1.0
    total = 0.0
    for edge in range(first, end):
        total += desk.shares[desk.in_indices[edge]]
    return total
