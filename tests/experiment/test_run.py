"""Regret is what was lost, not what rounding leaves in a sum."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sidelight.experiment.run import regret_of, rounding

ROUNDS = np.array([1, 10, 1_000, 100_000])


@pytest.mark.parametrize("loss", [0.1, 0.35, 1 / 3, 0.7])
def test_a_sum_is_off_by_no_more_than_its_rounding(loss):
    totals = np.cumsum(np.full(ROUNDS[-1], loss))[ROUNDS - 1]  # one addition a round, as in play
    exact = [int(n) * Fraction(loss) for n in ROUNDS]
    error = np.array([abs(float(Fraction(total) - want)) for total, want in zip(totals, exact, strict=True)])
    assert (error <= rounding(ROUNDS, totals)).all()
    assert error[-1] > 0.01 * rounding(ROUNDS, totals)[-1]  # nor by much less
    best = np.array([float(want) for want in exact])
    assert_array_equal(regret_of(totals, best, ROUNDS), 0.0)


def test_regret_beyond_rounding_is_kept_as_it_is():
    cost = 0.5 * ROUNDS
    lost = 2 * rounding(ROUNDS, cost) + 1e-15
    assert_array_equal(regret_of(cost + lost, cost, ROUNDS), cost + lost - cost)
    assert_array_equal(regret_of(cost - lost, cost, ROUNDS), cost - lost - cost)
