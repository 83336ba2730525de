"""Draw from a fixed distribution in constant time (Walker's alias method)."""

import numpy as np

from sidelight.engine._numba.jit import inlined, internal, kernel
from sidelight.engine.random import next_unit


@internal()
def fill_alias(weights, first, last, keep, other, stack):
    """Prepare cells first..last for weights[first:last] ≥ 0, not all zero; `stack` is scratch of that length.

    Cell i is kept with probability keep[i], else its alias other[i] is taken (Vose's construction).
    """
    count = last - first
    total = 0.0
    for i in range(first, last):
        total += weights[i]
    # Two stacks in one array, from both ends: cells that lack probability and cells that have some to give.
    small = 0
    large = count
    for i in range(first, last):
        keep[i] = weights[i] * count / total
        other[i] = i
        if keep[i] < 1.0:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < count:
        small -= 1
        light, heavy = stack[small], stack[large]
        # The light cell is filled up by the heavy one and is done; what the heavy one has left decides where
        # it goes.
        other[light] = heavy
        keep[heavy] -= 1.0 - keep[light]
        if keep[heavy] < 1.0:
            large += 1
            stack[small] = heavy
            small += 1
    # What is left differs from 1 by rounding only; a cell of weight zero must not be kept for that.
    for index in range(small):
        keep[stack[index]] = 1.0 if weights[stack[index]] > 0.0 else 0.0
    for index in range(large, count):
        keep[stack[index]] = 1.0


@inlined()
def draw_alias(keep, other, first, last, words):
    """An index in first..last with the prepared probabilities."""
    # Two random numbers: the fraction left of the first would have few bits where there are many cells.
    count = last - first
    # unit·count may round up to count.
    cell = first + min(int(next_unit(words) * count), count - 1)
    return cell if next_unit(words) < keep[cell] else other[cell]


def alias_tables(weights: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(keep, other) for the segments starts[k]..starts[k+1]; segments without weight are left unprepared."""
    keep = np.ones(weights.size)
    other = np.arange(weights.size, dtype=np.int32)
    sizes = np.diff(starts)
    stack = np.zeros(int(sizes.max(initial=0)), dtype=np.int32)
    fill_aliases(np.ascontiguousarray(weights), starts.astype(np.int64), keep, other, stack)
    return keep, other


@kernel()
def fill_aliases(weights, starts, keep, other, stack):
    """`fill_alias` for every segment that has weight."""
    for k in range(starts.size - 1):
        total = 0.0
        for i in range(starts[k], starts[k + 1]):
            total += weights[i]
        # A block without local exploration: its table is never read.
        if total > 0.0:
            fill_alias(weights, starts[k], starts[k + 1], keep, other, stack)
