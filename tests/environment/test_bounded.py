"""Losses uniform around their means."""

import numpy as np
import pytest
from loss_tables import table
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import sidelight as sl

env = sl.environments
ROUNDS = 4_000


def test_bounded_losses_are_uniform_around_their_means():
    """χ² of 20 equal cells for each arm; p-values of a fixed seed."""
    means, width = np.array([0.5, 0.3, 0.8]), np.array([0.5, 0.1, 0.2])
    losses = table(env.bounded(means, width), seed=5, rounds=ROUNDS)
    for arm in range(3):
        low, high = means[arm] - width[arm], means[arm] + width[arm]
        assert low <= losses[:, arm].min()
        assert losses[:, arm].max() <= high
        counts = np.histogram(losses[:, arm], bins=20, range=(low, high))[0]
        assert counts.sum() == ROUNDS
        assert stats.chisquare(counts).pvalue > 1e-3


def test_bounded_arms_are_independent():
    losses = table(env.bounded([0.5, 0.5, 0.5]), seed=1, rounds=ROUNDS) - 0.5
    correlation = 12 * losses.T @ losses / ROUNDS
    assert_allclose(np.diag(correlation), 1, atol=0.06)
    assert (np.abs(correlation[~np.eye(3, dtype=bool)]) <= 4.5 / np.sqrt(ROUNDS)).all()


def test_the_widest_bounded_arms_and_those_without_width():
    assert_array_equal(env.bounded([0.0, 0.25, 0.5, 0.9, 1.0]).width, [0, 0.25, 0.5, 1 - 0.9, 0])
    still = env.bounded([0.0, 0.3, 1.0], width=0.0)
    assert_array_equal(table(still, rounds=20), np.tile([0.0, 0.3, 1.0], (20, 1)))


@pytest.mark.parametrize(
    ("means", "width", "shown"),
    [
        ([0.5, 0.1], 0.2, r"arm 1 .*0\.1.*0\.2"),
        ([0.5, 0.9], [0.1, 0.2], "arm 1"),
        ([0.5], -0.1, r"-0\.1"),
        ([0.5], float("nan"), "nan"),
        ([0.5, 0.5], [0.1, 0.1, 0.1], r"\(3,\)"),
        ([0.5, 1.5], None, r"arm 1 .*1\.5"),
        ([0.5], "wide", "wide"),
    ],
)
def test_bounded_losses_that_leave_the_unit_interval(means, width, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        env.bounded(means, width)
