"""Alias tables: the law they imply is computed exactly from the table, then the draws are checked against it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_entries import INTERPRETED, tally_alias
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sidelight.engine.alias import alias_tables
from sidelight.engine.random import seeded_words

WEIGHTS = {
    "one": [3.0],
    "equal": [1.0] * 7,
    "two": [1.0, 1e-9],
    "zeros at both ends": [0.0, 2.0, 0.0, 5.0, 0.0],
    "one of many": [0.0, 0.0, 0.0, 4.0],
    "wide": list(10.0 ** np.arange(-150.0, 150.0, 12.5)),
    "thirds": [1 / 3, 1 / 3, 1 / 3],
    "many": list(np.random.default_rng(0).exponential(size=200)),
    "huge": [1e307, 1e307, 2e307],
    "tiny": [1e-300, 3e-300],
}


def law(keep, other, first, last):
    """Probability of every cell: it is picked and kept, or another cell's alias."""
    probability = np.zeros(last - first)
    for cell in range(first, last):
        assert first <= other[cell] < last
        assert 0.0 <= keep[cell] <= 1.0
        probability[cell - first] += keep[cell]
        probability[other[cell] - first] += 1.0 - keep[cell]
    return probability / (last - first)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_tables_imply_the_weights(weights):
    weights = np.array(weights)
    keep, other = alias_tables(weights, np.array([0, weights.size]))
    probability = law(keep, other, 0, weights.size)
    assert_allclose(
        probability, weights / weights.max() / (weights / weights.max()).sum(), rtol=0, atol=1e-14
    )
    assert_array_equal(probability[weights == 0.0], 0.0)


@settings(deadline=None, derandomize=True, max_examples=60 if INTERPRETED else 300)
@given(
    st.lists(
        st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e12)), min_size=0, max_size=12),
        min_size=1,
        max_size=5,
    )
)
def test_segments_are_prepared_one_by_one(segments):
    starts = np.concatenate([[0], np.cumsum([len(segment) for segment in segments])]).astype(np.int64)
    weights = np.array([w for segment in segments for w in segment], dtype=float)
    kept = weights.copy()
    keep, other = alias_tables(weights, starts)
    assert_array_equal(weights, kept)
    for segment, first, last in zip(segments, starts[:-1], starts[1:], strict=True):
        if sum(segment) > 0.0:
            expected = np.array(segment) / sum(segment)
            probability = law(keep, other, first, last)
            assert_allclose(probability, expected, rtol=0, atol=1e-14)
            assert_array_equal(probability[expected == 0.0], 0.0)
        else:  # nothing to draw: untouched
            assert_array_equal(keep[first:last], 1.0)
            assert_array_equal(other[first:last], np.arange(first, last))


def test_draws_follow_the_table_of_their_segment():
    draws = 4_000 if INTERPRETED else 400_000
    starts = np.array([0, 3, 8, 9])
    weights = np.array([1.0, 0.0, 3.0, 0.5, 1.5, 0.0, 7.0, 0.2, 2.0])
    keep, other = alias_tables(weights, starts)
    for index, (first, last) in enumerate(itertools.pairwise(starts)):
        counts = np.zeros(weights.size, dtype=np.int64)
        tally_alias(keep, other, int(first), int(last), draws, seeded_words(index), counts)
        inside = np.arange(weights.size)
        inside = (inside >= first) & (inside < last)
        assert counts[~inside].sum() == 0
        assert counts[weights == 0.0].sum() == 0
        likely = inside & (weights > 0.0)
        expected = draws * weights[likely] / weights[likely].sum()
        if likely.sum() > 1:
            assert stats.chisquare(counts[likely], expected).pvalue > 1e-3


def test_no_segments_and_no_weights():
    keep, other = alias_tables(np.zeros(0), np.array([0, 0]))
    assert keep.size == other.size == 0
