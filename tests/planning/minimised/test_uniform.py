"""Uniform play as the plan of last resort: when it is chosen, what it claims, and that it is what is played."""

import numpy as np
import pytest

import sidelight as sl
from sidelight.graph import families
from sidelight.planning import Potential, Tuning, check_certificate, compare_bounds, plan


@pytest.mark.parametrize("make", [families.mab, families.cycle, families.loopless_clique, families.full])
def test_auto_is_uniform_exactly_where_nothing_else_is_smaller(make):
    n = 6
    g, kinds = make(n), []
    for horizon in (1, 20, 400, 100_000):
        made, found = plan(g, horizon), compare_bounds(g, horizon)
        others = [
            row.value for row in found.upper if row.certified and row.name not in ("auto", "uniform play")
        ]
        assert (made.realization == "uniform") == (min(others) > (1 - 1 / n) * horizon * (1 + 1e-12))
        assert made.bound.value <= (1 - 1 / n) * horizon * (1 + 1e-12)
        assert found.ahead == ()
        kinds.append(made.realization == "uniform")
    assert kinds[0]
    assert not kinds[-1]
    assert kinds == sorted(kinds, reverse=True)


def test_what_a_uniform_plan_says():
    made = plan(families.cycle(8), 20)
    assert made.realization == "uniform"
    assert made.bound.value == pytest.approx(17.5)
    assert made.bound.certified
    assert not made.bound.informative
    assert "of order T" in made.summary()
    assert all(condition.holds for condition in check_certificate(made))
    assert type(made.bound).from_dict(made.bound.to_dict()).to_dict() == made.bound.to_dict()
    learning = plan(families.cycle(8), 10**6)
    assert all(c.realization != "uniform" for c in learning.considered)


def test_the_checker_does_not_take_learning_for_standing_still():
    made = plan(families.cycle(8), 20)
    faster = Tuning.flat(8, Potential(1.0, 0.1))
    object.__setattr__(made, "tuning", faster)
    assert not all(condition.holds for condition in check_certificate(made))


def test_it_plays_uniformly_whatever_it_sees():
    g = families.cycle(8)
    policy = sl.plan(g, 20).policy(seed=3)
    for _ in range(20):
        np.testing.assert_allclose(policy.probabilities, 1 / 8, rtol=1e-12)
        arm = policy.ask()
        policy.tell({int(seen): float(seen % 2) for seen in g.out_neighbors(arm)})
