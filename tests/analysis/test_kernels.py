"""Compiled passes over edges against the loops they stand for."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from sidelight.analysis._kernels import greedy_packing, take_slack


def naive_take(a, order, most, slack):
    taken, slack = np.zeros(len(most)), slack.copy()
    for v in order:
        taken[v] = max(0.0, min([most[v], *(slack / np.maximum(a[v], 1e-9))[a[v] > 0]]))
        slack -= taken[v] * a[v]
    return taken, slack


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
@settings(deadline=None, derandomize=True)
def test_slack_is_taken_in_order(seed, n, m):
    rng = np.random.default_rng(seed)
    there = rng.random((n, m)) < rng.uniform(0.1, 0.9)  # rows without constraints included
    a = np.where(there, rng.choice([1.0, 0.5, 0.3], (n, m)), 0.0)
    order, most, slack = rng.permutation(n), rng.exponential(1, n), rng.normal(0.5, 0.5, m)
    expected, left = naive_take(a, order, most, slack)
    rows, taken = sparse.csr_array(a), np.zeros(n)
    take_slack(rows.indptr, rows.indices, rows.data, order, most, slack, taken)
    assert_allclose(taken, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(slack, left, rtol=1e-12, atol=1e-12)


def naive_greedy(a, order, t, blocked):
    chosen = []
    for v in order:
        trial = [*chosen, v]
        independent = not a[np.ix_(trial, trial)].any()
        if not blocked[v] and independent and a[:, trial].sum(axis=1).max() <= t:
            chosen = trial
    return chosen


@given(st.integers(1, 9), st.integers(1, 4), st.sampled_from([0.1, 0.3, 0.6]), st.integers(0, 10**6))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_greedy_accepts_whatever_fits(n, t, density, seed):
    rng = np.random.default_rng(seed)
    a = (rng.random((n, n)) < density).astype(int)
    order = rng.permutation(n)
    blocked = np.diag(a) > 0
    expected = naive_greedy(a, order, t, blocked)
    out, into = sparse.csr_array(a), sparse.csc_array(a)
    seen, ours = np.zeros(n, dtype=np.int64), order.copy()
    size = greedy_packing(out.indptr, out.indices, into.indptr, into.indices, ours, t, blocked.copy(), seen)
    assert ours[:size].tolist() == expected
    assert seen.tolist() == a[:, expected].sum(axis=1).tolist()
