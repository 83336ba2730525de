"""Policies whose reveals may fail: what they are told, what they keep, and that simulation plays the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from recorded import record

import sidelight as sl
from sidelight.engine.fields import views
from sidelight.errors import InvalidFeedback

R = np.array([[0.5, 1.0, 0.0], [0.0, 0.25, 0.8], [1.0, 0.0, 0.0]])
G = sl.FeedbackGraph.from_adjacency(R, ["a", "b", "c"], probabilities=True)


@pytest.fixture(scope="module")
def plan():
    return sl.plan(G)


def decided(policy, arm):
    """A decision for this arm; others are answered."""
    while True:
        decision = policy.decide()
        if decision.arm == arm:
            return decision
        policy.observe(decision, np.full(decision.reveals.size, 0.5))


def learnt(policy, decision, told):
    """(3,) what an answer adds to the sums, times the probabilities of being seen, and the shift."""
    c, P = float(views(policy._game.memory)["shift"]), R.T @ policy.probabilities
    before, _ = policy._game.sums(), policy.observe(decision.id, told)
    after = policy._game.sums()
    return P * (after.arm_sums - before.arm_sums + after.arm_least[0] - before.arm_least[0]), c


def test_seen_is_how_likely_an_arm_is_seen_at_all(plan):
    policy = plan.policy(seed=1)
    for _ in range(20):
        chances = policy.probabilities
        decision = policy.decide()
        assert_allclose(decision.seen, (R.T @ chances)[decision.reveals], rtol=1e-12)
        policy.observe(decision, np.full(decision.reveals.size, 0.5))


@pytest.mark.parametrize(
    "told",
    [
        {1: 0.75},
        {1: 0.75, 0: None},
        {"b": 0.75},
        {"b": 0.75, "a": None},
        {1: 0.75, 0: float("nan")},
        [None, 0.75],
        [float("nan"), 0.75],
        np.array([np.nan, 0.75]),
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["self-tuning", "fixed"])
def test_a_reveal_that_failed_moves_nothing_and_a_loss_of_zero_is_an_estimate(told, way):
    policy = sl.plan(G, **WAYS[way]).policy(seed=1)
    decision = decided(policy, 0)
    found, c = learnt(policy.copy(), decision, {0: 0.0, 1: 0.75})
    assert c > 0
    assert_allclose(found, [-c, 0.75 - c, 0.0], rtol=0, atol=1e-12)
    assert_allclose(learnt(policy, decision, told)[0], [0.0, 0.75 - c, 0.0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({0: 0.5}, r"also reveals 1 \('b'\), which never fails, .* cancel the decision, or plan on"),
        ({0: 0.5, 1: None}, "which never fails"),
        ([0.5, None], "which never fails"),
        (np.array([0.5, np.nan]), "which never fails"),
        ({1: 0.5, 2: 0.5}, r"does not reveal 2 \('c'\)"),
        ({1: 1.5}, r"arm 1 \('b'\) must be in \[0, 1\], got 1.5"),
        ([float("nan"), -0.5], "got -0.5"),
        ([0.5], "align them"),
        ({1: "x"}, "must be a number"),
    ],
    ids=str,
)
def test_what_is_refused_changes_nothing(plan, told, says):
    policy = plan.policy(seed=1)
    decision = decided(policy, 0)
    before = policy.probabilities
    with pytest.raises(InvalidFeedback, match=says):
        policy.observe(decision, told)
    assert_array_equal(policy.probabilities, before)
    policy.observe(decision, {1: 0.5})


def test_where_all_reveals_are_certain_a_failure_is_refused_with_the_way_out():
    policy = sl.plan(sl.families.cycle(5)).policy(seed=1)
    decision = policy.decide()
    one, two = decision.reveals.tolist()
    for told in (
        {one: 0.5},
        {one: 0.5, two: None},
        {one: 0.5, two: float("nan")},
        [0.5, None],
        [0.5, np.nan],
    ):
        with pytest.raises(InvalidFeedback, match="cancel the decision, or plan on a graph whose edge has"):
            policy.observe(decision, told)
    policy.cancel(decision)


def test_rewards_too(plan):
    policy = plan.policy(seed=1, rewards=(0, 10))
    decision = decided(policy, 0)
    found, c = learnt(policy.copy(), decision, {0: 10.0, 1: 2.5})  # the largest reward is a loss of 0
    assert_allclose(found, [-c, 0.75 - c, 0.0], rtol=0, atol=1e-12)
    assert_allclose(learnt(policy, decision, {1: 2.5})[0], [0.0, 0.75 - c, 0.0], rtol=0, atol=1e-12)
    with pytest.raises(InvalidFeedback, match="must be in"):
        policy.observe(decided(policy, 0), {1: 11.0})


WAYS = {
    "self-tuning": {},
    "entropy": {"order": 1.0},
    "budget": {"horizon": 300},
    "fixed": {"horizon": 300, "realization": "fixed"},
}


@pytest.mark.parametrize("way", WAYS)
def test_simulation_is_the_loop_of_ask_and_tell(way):
    made, coins = sl.plan(G, **WAYS[way]), sl.environments.bernoulli([0.5, 0.4, 0.6])
    run = sl.simulate(made, coins, seeds=[3], horizon=300, jobs=1)
    policy, plays = made.policy(seed=3), np.zeros(3, dtype=int)
    for t in range(300):
        arm = policy.ask()
        plays[arm] += 1
        policy.tell(coins.heard(3, t, G, arm))
    assert_array_equal(run.plays[0], plays)
    assert run.certificate[0, -1] == pytest.approx(policy.certificate().value, rel=1e-12)


def test_late_answers_too():
    made, coins = sl.plan(G), sl.environments.bernoulli([0.5, 0.4, 0.6])
    compiled = sl.simulate(made, coins, seeds=[3], horizon=200, delay=7, jobs=1)
    policy, plays, waiting = made.policy(seed=3), np.zeros(3, dtype=int), {}
    for t in range(200):
        decision = policy.decide()
        plays[decision.arm] += 1
        waiting[t + 7] = (t, decision)
        if t in waiting:
            decided_at, answered = waiting.pop(t)
            policy.observe(answered, coins.heard(3, decided_at, G, answered.arm))
    assert_array_equal(compiled.plays[0], plays)


def test_logs_have_what_was_revealed(tmp_path, plan):
    coins, rounds = sl.environments.bernoulli([0.2, 0.5, 0.8]), 200
    policy, shown = plan.policy(seed=5), []
    with policy.log(tmp_path / "log.csv"):
        for t in range(rounds):
            decision = policy.decide()
            heard = coins.heard(5, t, G, decision.arm)
            policy.observe(decision, heard)
            kept = ~np.isnan(heard)
            shown += zip(decision.reveals[kept], heard[kept], decision.seen[kept], strict=True)
    log = sl.Log.read(tmp_path / "log.csv")
    assert log.n_rounds == rounds  # those that revealed nothing included
    assert_array_equal(log.revealed, [arm for arm, _, _ in shown])
    assert_array_equal(log.value, [loss for _, loss, _ in shown])
    assert_allclose(log.seen, [seen for _, _, seen in shown], rtol=1e-12)
    same = record(plan.policy(seed=5), lambda t, _: coins.heard(5, t, G, shown_arm(plan, t)), 1)
    assert same.n_rounds == 1
    target = np.array([0.0, 1.0, 0.0])
    value = sum(loss / seen for arm, loss, seen in shown if arm == 1) / rounds
    assert sl.evaluate(log, target).methods["ips"].value == pytest.approx(value)


def shown_arm(plan, t):
    """The arm of the first rounds of seed 5, whatever they reveal."""
    assert t == 0
    return plan.policy(seed=5).ask()
