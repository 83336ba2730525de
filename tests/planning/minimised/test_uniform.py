"""Uniform play as a plan: only on request; what it claims, and that it is what is played."""

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidOption
from sidelight.graph import families
from sidelight.planning import Potential, Tuning, check_certificate, compare_bounds, plan


@pytest.mark.parametrize(
    "make", [families.mab, families.cycle, families.loopless_clique, families.revealing_action]
)
def test_auto_learns_where_its_bound_is_vacuous_and_says_so(make):
    g, vacuous = make(6), []
    for horizon in (1, 20, 400, 100_000):
        made, found = plan(g, horizon), compare_bounds(g, horizon)
        assert made.realization != "uniform"
        assert made.bound.vacuous == (made.bound.value >= horizon * (1 - 1e-12))
        assert made.bound.vacuous == (horizon < made.bound.informative_from)
        assert ("vacuous" in repr(made)) == ("VACUOUS" in made.summary()) == made.bound.vacuous
        assert found.auto.informative != made.bound.vacuous
        assert found.ahead == ()
        uniform = next(row for row in found.upper if row.name == "uniform play")
        assert not uniform.learns
        assert uniform.lack == "does not learn"
        vacuous.append(made.bound.vacuous)
    # Where nearly everything is revealed, or one arm tells, the bound says something from the first round on.
    assert vacuous[0] == (make in (families.mab, families.cycle))
    assert not vacuous[-1]
    assert vacuous == sorted(vacuous, reverse=True)
    policy = plan(g, 1).policy(seed=1)
    before, arm = policy.probabilities, policy.ask()
    policy.tell({int(seen): float(k == 0) for k, seen in enumerate(g.out_neighbors(arm))})
    assert np.abs(policy.probabilities - before).max() > 1e-3 or g.out_neighbors(arm).size == 0


def test_what_a_uniform_plan_says():
    made = plan(families.cycle(8), 20, realization="uniform")
    assert made.realization == "uniform"
    assert made.bound.value == pytest.approx(17.5)
    assert made.bound.certified
    assert made.bound.vacuous
    assert "of order T" in made.summary()
    assert all(condition.holds for condition in check_certificate(made))
    assert type(made.bound).from_dict(made.bound.to_dict()).to_dict() == made.bound.to_dict()


def test_what_does_not_go_with_it():
    g = families.cycle(6)
    with pytest.raises(InvalidOption, match="without a horizon"):
        plan(g, None, realization="uniform")
    with pytest.raises(InvalidOption, match="one block"):
        plan(families.mab(3), 20, sl.partitions.singletons(families.mab(3)), "uniform")
    with pytest.raises(InvalidOption, match="search"):
        plan(g, 20, realization="uniform", search=1.0)


def test_the_checker_does_not_take_learning_for_standing_still():
    made = plan(families.cycle(8), 20, realization="uniform")
    faster = Tuning.flat(8, Potential(1.0, 0.1))
    object.__setattr__(made, "tuning", faster)
    assert not all(condition.holds for condition in check_certificate(made))


def test_it_plays_uniformly_whatever_it_sees():
    g = families.cycle(8)
    policy = sl.plan(g, 20, realization="uniform").policy(seed=3)
    for _ in range(20):
        np.testing.assert_allclose(policy.probabilities, 1 / 8, rtol=1e-12)
        arm = policy.ask()
        policy.tell({int(seen): float(seen % 2) for seen in g.out_neighbors(arm)})
