"""Taking slack, as a kernel and as written on paper."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from sidelight.analysis._kernels import take_slack


def naive_take(a, order, most, slack):
    taken, slack = np.zeros(len(most)), slack.copy()
    for v in order:
        taken[v] = max(0.0, min([most[v], *slack[a[v] > 0]]))
        slack -= taken[v] * a[v]
    return taken, slack


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
@settings(deadline=None, derandomize=True)
def test_slack_is_taken_in_order(seed, n, m):
    rng = np.random.default_rng(seed)
    a = (rng.random((n, m)) < rng.uniform(0.1, 0.9)).astype(float)  # rows without constraints included
    order, most, slack = rng.permutation(n), rng.exponential(1, n), rng.normal(0.5, 0.5, m)
    expected, left = naive_take(a, order, most, slack)
    rows, taken = sparse.csr_array(a), np.zeros(n)
    take_slack(rows.indptr, rows.indices, order, most, slack, taken)
    assert_allclose(taken, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(slack, left, rtol=1e-12, atol=1e-12)
