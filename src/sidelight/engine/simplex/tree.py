"""Sums over many cells of which few change: a tree with sixteen children to a node.

Leaves are cells first..first+count of an array; the levels above them lie one after another in `node`, from
the parents of the leaves up to the root. A node is always the fresh sum of its children, so rounding never
accumulates; changing a leaf and drawing one in proportion to its value both take O(log n).
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.random import next_unit

FANOUT = 16


def n_nodes(count: int) -> int:
    """Cells of `node` that a tree over `count` leaves needs."""
    total = 0
    while True:
        count = (count + FANOUT - 1) // FANOUT
        total += count
        if count <= 1:
            return total


@inlined()
def sum_of(cell, first, last):
    """Σ of the cells first..last, in order."""
    total = 0.0
    for i in range(first, last):
        total += cell[i]
    return total


@inlined()
def renew_leaf(leaf, first, count, node, root_level, i):
    """Leaf `first + i` has changed: renew the nodes above it."""
    i //= FANOUT
    at = root_level
    node[at + i] = sum_of(leaf, first + FANOUT * i, first + min(FANOUT * i + FANOUT, count))
    count = (count + FANOUT - 1) // FANOUT
    while count > 1:
        i //= FANOUT
        above = at + count
        node[above + i] = sum_of(node, at + FANOUT * i, at + min(FANOUT * i + FANOUT, count))
        at = above
        count = (count + FANOUT - 1) // FANOUT


@internal()
def renew_tree(leaf, first, count, node, at):
    """Renew every node."""
    noinline()
    n = (count + FANOUT - 1) // FANOUT
    for i in range(n):
        node[at + i] = sum_of(leaf, first + FANOUT * i, first + min(FANOUT * i + FANOUT, count))
    while n > 1:
        above = at + n
        for i in range((n + FANOUT - 1) // FANOUT):
            node[above + i] = sum_of(node, at + FANOUT * i, at + min(FANOUT * i + FANOUT, n))
        at = above
        n = (n + FANOUT - 1) // FANOUT


@inlined()
def tree_total(count, node, at):
    """Σ of the leaves: the root."""
    count = (count + FANOUT - 1) // FANOUT
    while count > 1:
        at += count
        count = (count + FANOUT - 1) // FANOUT
    return node[at]


@inlined()
def pick(cell, first, last, target):
    """The cell of first..last in which the running sum passes `target`; never one that is zero."""
    chosen = first
    for i in range(first, last):
        if cell[i] > 0.0:
            chosen = i
            target -= cell[i]
            if target < 0.0:
                break
    return chosen


@internal()
def draw_leaf(leaf, first, count, node, at, words):
    """A leaf (counted from 0) with probability in proportion to its value."""
    noinline()
    levels = 0
    size = count
    while size > 1 or levels == 0:
        size = (size + FANOUT - 1) // FANOUT
        levels += 1
    i = 0
    for level in range(levels - 1, -1, -1):
        # where that level begins, and how many nodes it has
        begin = at
        size = (count + FANOUT - 1) // FANOUT
        for _ in range(level):
            begin += size
            size = (size + FANOUT - 1) // FANOUT
        target = next_unit(words) * node[begin + i]
        if level == 0:
            return pick(leaf, first + FANOUT * i, first + min(FANOUT * i + FANOUT, count), target) - first
        below = (count + FANOUT - 1) // FANOUT
        under = at
        for _ in range(level - 1):
            under += below
            below = (below + FANOUT - 1) // FANOUT
        i = pick(node, under + FANOUT * i, under + min(FANOUT * i + FANOUT, below), target) - under
    return i
