"""Sums over many cells of which few change: a tree with sixteen children to a node.

Leaves are cells first..first+count of an array; the levels above them lie one after another in `node`, from the
parents of the leaves up to the root, each filled up with zeros to whole families of sixteen. A node is always the
fresh sum of its children, so rounding never accumulates; changing leaves and drawing one in proportion to its value
both take O(log n).
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine._numba.pointers import prefetch
from sidelight.engine.random import coming_unit, next_unit

FANOUT = 16  # two cache lines of doubles; at a million leaves twice as fast as a binary indexed tree
_BITS = 4


def n_nodes(count: int) -> int:
    """Cells of `node` that a tree over `count` leaves needs."""
    total = 0
    while True:
        count = (count + FANOUT - 1) // FANOUT
        if count <= 1:
            return total + 1
        total += (count + FANOUT - 1) // FANOUT * FANOUT


@inlined()
def families(count):
    """How many families of sixteen hold so many."""
    return (count + FANOUT - 1) >> _BITS


@inlined()
def family_sum(cell, at):
    """Σ of sixteen cells, in pairs: a short chain of additions."""
    # The order of additions is fixed, so a node depends on its children only, not on which of them changed.
    a = (cell[at] + cell[at + 1]) + (cell[at + 2] + cell[at + 3])
    b = (cell[at + 4] + cell[at + 5]) + (cell[at + 6] + cell[at + 7])
    c = (cell[at + 8] + cell[at + 9]) + (cell[at + 10] + cell[at + 11])
    d = (cell[at + 12] + cell[at + 13]) + (cell[at + 14] + cell[at + 15])
    return (a + b) + (c + d)


@inlined()
def sum_of(cell, first, last):
    """Σ of up to sixteen cells first..last."""
    if last - first == FANOUT:
        return family_sum(cell, first)
    total = 0.0
    for i in range(first, last):
        total += cell[i]
    return total


@internal()
def renew_leaves(leaf, first, count, node, at, changed, n):
    """Leaves changed[0..n] have changed: renew the nodes above them, level by level. Overwrites `changed`.

    Neighbours in the list that share a parent renew it once.
    """
    noinline()
    cell, begin, size = leaf, first, count
    while True:
        n_above = 0
        last = -1
        # `changed` is overwritten from the front with the parents: never more than the children read so far.
        for index in range(n):
            i = changed[index] >> _BITS
            # A parent that comes up again later in the list is only summed twice, which is harmless: no
            # sorting is needed.
            if i != last:
                last = i
                node[at + i] = sum_of(cell, begin + FANOUT * i, begin + min(FANOUT * i + FANOUT, size))
                changed[n_above] = i
                n_above += 1
        n = n_above
        above = families(size)
        if above == 1:
            return
        # Levels are padded with zeros to whole families, so upper ones need no test for the end.
        cell, begin, size = node, at, FANOUT * families(above)
        at += size


@inlined()
def renew_leaf(leaf, first, count, node, at, i):
    """Leaf `first + i` has changed: renew the nodes above it."""
    cell, begin, size = leaf, first, count
    while True:
        i = i >> _BITS
        node[at + i] = sum_of(cell, begin + FANOUT * i, begin + min(FANOUT * i + FANOUT, size))
        above = families(size)
        if above == 1:
            return
        cell, begin, size = node, at, FANOUT * families(above)
        at += size


@internal()
def renew_tree(leaf, first, count, node, at):
    """Renew every node."""
    noinline()
    cell, begin, size = leaf, first, count
    while True:
        above = families(size)
        for i in range(FANOUT * families(above) if above > 1 else 1):  # beyond the end there is nothing: 0
            node[at + i] = sum_of(cell, begin + FANOUT * i, begin + min(FANOUT * i + FANOUT, size))
        if above == 1:
            return
        cell, begin, size = node, at, FANOUT * families(above)
        at += size


@inlined()
def tree_total(count, node, at):
    """Σ of the leaves: the root."""
    above = families(count)
    while above > 1:
        at += FANOUT * families(above)
        above = families(above)
    return node[at]


@inlined()
def pick(cell, first, last, target):
    """The cell of first..last in which the running sum passes `target`; never one that is zero."""
    chosen = first
    for i in range(first, last):
        # If rounding leaves some of the target at the end, the last cell with a positive value is chosen: an
        # arm of probability zero is never drawn.
        if cell[i] > 0.0:
            chosen = i
            target -= cell[i]
            if target < 0.0:
                break
    return chosen


@inlined()
def climb(count, at):
    """(where the root is, how many levels below it hold nodes)."""
    level, size = 0, families(count)
    while size > 1:
        at += FANOUT * families(size)
        size = families(size)
        level += 1
    return at, level


@inlined()
def level_below(count, at, level):
    """Where the nodes below those at `at`, `level` levels above the leaves' parents, begin."""
    # a level below begins as many cells earlier as it has
    return at - FANOUT * families((count + (1 << (_BITS * level)) - 1) >> (_BITS * level))


@internal()
def draw_leaf(leaf, first, count, node, at, rng_state):
    """A leaf (counted from 0) with probability in proportion to its value."""
    noinline()
    at, level = climb(count, at)
    i = 0
    while level > 0:
        below = level_below(count, at, level)
        # A fresh uniform on each level: one number stretched over all of them would leave few bits for rare
        # leaves.
        target = next_unit(rng_state) * node[at + i]
        i = pick(node, below + FANOUT * i, below + FANOUT * i + FANOUT, target) - below
        at = below
        level -= 1
    target = next_unit(rng_state) * node[at + i]
    return pick(leaf, first + FANOUT * i, first + min(FANOUT * i + FANOUT, count), target) - first


@internal()
def coming_family(leaf, first, count, node, at, words, ahead, skipped):
    """The family in which `draw_leaf` will find its leaf `ahead` rounds from now, after `skipped` draws; asks for it.

    Unless leaves change until then: it serves to prefetch only.
    """
    noinline()
    at, level = climb(count, at)
    i = 0
    while level > 0:
        below = level_below(count, at, level)
        target = coming_unit(words, ahead, skipped) * node[at + i]
        i = pick(node, below + FANOUT * i, below + FANOUT * i + FANOUT, target) - below
        at = below
        level -= 1
        skipped += 1
    prefetch(leaf, first + FANOUT * i)
    prefetch(leaf, first + min(FANOUT * i + FANOUT, count) - 1)
    return i


@inlined()
def coming_leaf(leaf, first, count, node, at, words, ahead, skipped, i):
    """The leaf that it will be, in family i."""
    target = coming_unit(words, ahead, skipped + climb(count, at)[1]) * node[at + i]
    return pick(leaf, first + FANOUT * i, first + min(FANOUT * i + FANOUT, count), target) - first
