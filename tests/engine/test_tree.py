"""Sum trees against plain sums."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_entries import INTERPRETED, plant, regrow, tally_leaves
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from simplex_twin import tree_levels

from sidelight.engine.random import seeded_words
from sidelight.engine.simplex.tree import FANOUT, n_nodes

SIZES = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 1000, 4095, 4096, 4097]
FIRST, AT = 3, 5  # trees lie somewhere inside larger arrays
DRAWS = 2_000 if INTERPRETED else 200_000


class Tree:
    """A tree in the middle of arrays whose other cells nobody may touch."""

    def __init__(self, leaves):
        self.count = len(leaves)
        self.leaf = np.concatenate([np.full(FIRST, np.pi), leaves, np.full(2, np.pi)])
        self.node = np.full(AT + n_nodes(self.count) + 4, -7.0)

    @property
    def leaves(self):
        return self.leaf[FIRST : FIRST + self.count]

    @property
    def nodes(self):
        return self.node[AT : AT + n_nodes(self.count)]

    def plant(self):
        return plant(self.leaf, FIRST, self.count, self.node, AT)

    def regrow(self, changed, values):
        totals = np.empty(len(changed))
        changed, values = np.asarray(changed, dtype=np.int64), np.asarray(values, dtype=np.float64)
        regrow(self.leaf, FIRST, self.count, self.node, AT, changed, values, totals)
        return totals

    def draws(self, count, seed):
        counts = np.zeros(self.count, dtype=np.int64)
        tally_leaves(self.leaf, FIRST, self.count, self.node, AT, count, seeded_words(seed), counts)
        return counts

    def assert_in_order(self):
        assert_allclose(self.nodes, np.concatenate(tree_levels(self.leaves)), rtol=1e-14)
        assert_array_equal(self.node[:AT], -7.0)
        assert_array_equal(self.node[-4:], -7.0)
        assert_array_equal(self.leaf[:FIRST], np.pi)
        assert_array_equal(self.leaf[-2:], np.pi)


def test_nodes_are_counted():
    assert FANOUT == 16
    for count in SIZES:
        assert n_nodes(count) == sum(len(level) for level in tree_levels(np.zeros(count)))


@pytest.mark.parametrize("count", SIZES)
def test_totals_are_plain_sums(count):
    tree = Tree(np.random.default_rng(count).exponential(size=count))
    assert_allclose(tree.plant(), math.fsum(tree.leaves), rtol=1e-14)
    tree.assert_in_order()


def test_totals_of_every_size_up_to_a_thousand():
    leaves = 10.0 ** np.random.default_rng(0).uniform(-9, 9, size=1000)
    for count in range(1, 1001, 13 if INTERPRETED else 1):
        assert_allclose(Tree(leaves[:count]).plant(), math.fsum(leaves[:count]), rtol=1e-14)


@pytest.mark.parametrize("count", SIZES)
def test_changing_leaves_is_planting_afresh(count, scale):
    """Bit for bit: a node is always the fresh sum of its children, so rounding cannot accumulate."""
    rng = np.random.default_rng(count)
    tree = Tree(rng.exponential(size=count))
    tree.plant()
    changed = rng.integers(0, count, size=10 * scale)
    changed[:2] = 0, count - 1
    values = np.where(rng.random(changed.size) < 0.3, 0.0, 10.0 ** rng.uniform(-300, 28, size=changed.size))
    totals = tree.regrow(changed, values)
    tree.assert_in_order()
    afresh = Tree(tree.leaves.copy())
    assert afresh.plant() == totals[-1]
    assert_array_equal(afresh.nodes, tree.nodes)


@settings(deadline=None, derandomize=True, max_examples=20 if INTERPRETED else 100)
@given(
    st.integers(1, 600),
    st.lists(st.tuples(st.integers(0, 10**6), st.one_of(st.just(0.0), st.floats(1e-12, 1e12))), min_size=1),
)
def test_every_total_on_the_way_is_a_plain_sum(count, changes):
    tree = Tree(np.ones(count))
    tree.plant()
    totals = tree.regrow([i % count for i, _ in changes], [value for _, value in changes])
    leaves = np.ones(count)
    for (i, value), total in zip(changes, totals, strict=True):
        leaves[i % count] = value
        assert_allclose(total, math.fsum(leaves), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 255, 256, 257, 1000, 4097])
@pytest.mark.parametrize("kind", ["equal", "wide", "holes"])
def test_draws_follow_the_leaves(count, kind):
    rng = np.random.default_rng(count)
    leaves = {
        "equal": np.ones(count),
        "wide": 10.0 ** rng.uniform(-6, 3, size=count),
        "holes": rng.exponential(size=count) * (rng.random(count) < 0.4),
    }[kind]
    leaves[count // 2] = leaves.max(initial=1.0)
    tree = Tree(leaves)
    tree.plant()
    counts = tree.draws(DRAWS, seed=count)
    assert counts.sum() == DRAWS
    assert_array_equal(counts[leaves == 0.0], 0)
    expected = DRAWS * leaves / leaves.sum()
    rare = expected < 8.0
    counts, expected = (np.append(cells[~rare], cells[rare].sum()) for cells in (counts, expected))
    counts, expected = counts[expected > 0.5], expected[expected > 0.5]
    if expected.size > 1:
        assert stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue > 1e-3


@pytest.mark.parametrize("count", [16, 17, 257, 4097])
@pytest.mark.parametrize("where", ["first", "last", "middle"])
def test_a_single_leaf_among_zeros_is_always_drawn(count, where):
    leaves = np.zeros(count)
    at = {"first": 0, "last": count - 1, "middle": count // 2}[where]
    leaves[at] = 1e-300
    tree = Tree(leaves)
    assert tree.plant() == 1e-300
    assert tree.draws(300, seed=1)[at] == 300
