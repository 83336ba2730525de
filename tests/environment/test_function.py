"""One's own losses, compiled or not."""

import pytest
from numba import njit

import sidelight as sl


@pytest.mark.parametrize("compiled", [False, True])
def test_functions_that_leave_the_unit_interval(compiled):
    def too_much(t, arm):
        return 0.5 if t < 20 else 1.5

    environment = sl.environments.function(njit(too_much) if compiled else too_much, 3)
    plan = sl.plan(sl.families.mab(3), horizon=50)
    with pytest.raises(sl.SidelightError, match=r"\[0, 1\]"):
        sl.simulate(plan, environment)


def test_functions_that_are_none():
    with pytest.raises(sl.InvalidOption, match=r"0\.5"):
        sl.environments.function(0.5, 3)
    for n_arms in (0, -1):
        with pytest.raises(sl.InvalidOption, match=str(n_arms)):
            sl.environments.function(lambda t, arm: 0.0, n_arms)
