"""Means that move in straight lines."""

import numpy as np
import pytest
from loss_tables import table
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl

env = sl.environments
ROUNDS = 4_000


def test_the_lead_passes_gradually():
    environment = env.drifting(4, period=10, arms=[2, 0], gap=0.4)
    lead = np.array([environment.row(t) for t in range(41)])
    assert_allclose(lead[:, 2], 0.1 + 0.04 * np.abs((np.arange(41) + 10) % 20 - 10), atol=1e-12)
    assert_allclose(lead[:, 0] + lead[:, 2], 0.6)
    assert_array_equal(lead[:, [1, 3]], 0.5)
    assert np.abs(np.diff(lead, axis=0)).max() <= 0.04 + 1e-12


def test_drifting_coins_have_the_means_of_their_round():
    """Losses minus means of 4 000 rounds: the sum is a martingale with known variance."""
    environment = env.drifting(3, period=100)
    losses = table(environment, seed=2, rounds=ROUNDS)
    means = np.array([environment.row(t) for t in range(ROUNDS)])
    assert set(np.unique(losses)) == {0.0, 1.0}
    deviation = np.sqrt((means * (1 - means)).sum(axis=0))
    assert (np.abs((losses - means).sum(axis=0)) <= 4 * deviation).all()


@pytest.mark.parametrize("make", [env.drifting, env.switching])
def test_tables_that_would_not_fit_in_memory(make):
    with pytest.raises(sl.InvalidOption, match=r"1,000,000 arms.*range\(10\)"):
        make(1_000_000, period=10, arms=range(1_000))
    assert make(1_000_000, period=10).means.size <= 10**7
    assert make(1_000_000, period=10, arms=[0, 5]).n_arms == 1_000_000
