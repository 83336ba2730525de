"""A bound is shown as proved only while the game goes as its theorem assumes."""

import numpy as np
import pytest

import sidelight as sl

PLAN = sl.plan("cycle:4", 2000)
WORST = sl.environments.bernoulli([0, 1, 1, 1])


def answered(policy, decision):
    policy.observe(decision, np.full(decision.reveals.size, 0.5))


def late(policy):
    first, second = policy.decide(), policy.decide()
    answered(policy, first)
    answered(policy, second)


def cancelled(policy):
    policy.cancel(policy.decide())


def asked_while_open(policy):
    policy.decide()
    policy.ask()


@pytest.mark.parametrize(
    "happens", [late, cancelled, asked_while_open, lambda policy: policy.decide(count=2)]
)
@pytest.mark.parametrize("plan", [PLAN, sl.plan("cycle:4"), sl.baselines.exp3_ix(sl.families.mab(4))])
def test_none_for_a_policy_to_which_something_else_happened(plan, happens):
    policy = plan.policy(seed=1)
    answered(policy, policy.decide())
    assert policy.bound_at(2000) == plan.bound_at(2000).value
    happens(policy)
    for same in (policy, policy.copy(), sl.Policy.from_bytes(policy.to_bytes())):
        assert same.bound_at(2000) is None


def test_late_answers_have_a_bound_of_their_own_where_one_is_proved():
    plan = sl.baselines.chlz21(sl.families.cycle(4), 2000)
    policy = plan.policy(seed=1)
    late(policy)
    assert policy.bound_at(2000) == pytest.approx(plan.bound_at(2000, delay=1 / 2000).value)
    policy.cancel(policy.decide())
    assert policy.bound_at(2000) is None


def test_simulated_late_answers_are_not_certified_by_a_bound_for_answers_at_once():
    run = sl.simulate(PLAN, WORST, delay=1999)
    assert run.mean[-1] > run.bound.value
    assert not run.bound.certified
    assert "answers come at once" in repr(run.bound)
    assert "not certified" in repr(run)
    assert run.certificate[:, -1].mean() >= run.mean[-1]
    assert sl.simulate(PLAN, WORST).bound.certified


@pytest.mark.parametrize("delay", [20, ("geometric", 5.0), np.arange(2000) % 7])
def test_simulated_late_answers_of_a_plan_with_a_bound_for_them(delay):
    plan = sl.baselines.chlz21(sl.families.cycle(4), 2000)
    run = sl.simulate(plan, WORST, seeds=4, delay=delay)
    assert run.bound.certified
    assert run.bound.value > plan.bound.value
    assert run.mean[-1] <= run.bound.value


def test_play_on_other_graphs_is_not_certified_by_the_bound_of_the_plan():
    rings = [sl.FeedbackGraph.from_edges(4, [(i, (i + 1) % 4) for i in range(4)])]
    environment = sl.environments.changing(sl.environments.bernoulli([0.4, 0.5, 0.5, 0.5]), rings)
    run = sl.simulate(sl.plan("full:4"), environment, horizon=2000)
    assert not run.bound.certified
    assert "on the plan's graph" in repr(run.bound)
