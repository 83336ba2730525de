"""Order ½ inside the bound of a larger order: what falling back costs, and policies that do."""

from dataclasses import replace

import numpy as np
import pytest
from self_tuning_twin import entropy, money

import sidelight as sl
from sidelight import families
from sidelight.engine.constants import ROOM
from sidelight.engine.self_tuning import prices
from sidelight.planning.potentials import diameter
from sidelight.policy.snapshot import restore, snapshot

T = 2000


def costs(b1, s0, beta, s, n):
    return prices.crossing(b1, s0, float(diameter(s0, n)), beta, s, float(diameter(s, n)), float(n))


def test_crossing_orders_costs_no_more_than_lemma_5_says():
    """max_x b₁H'(x) − βH(x) on random distributions, and on those that are alike on some arms."""
    rng = np.random.default_rng(0)
    for _ in range(5000):
        n = int(rng.integers(2, 40))
        s = float(rng.choice([0.3, 0.5, 0.7]))
        s0 = float(rng.choice([0.75, 0.9, 1.0]))
        beta = float(np.exp(rng.uniform(-2, 6)))
        b1 = beta * float(np.exp(rng.uniform(-1, 4)))
        bound = costs(b1, s0, beta, s, n)
        x = rng.dirichlet(np.full(n, np.exp(rng.uniform(-3, 3))))
        k = int(rng.integers(1, n + 1))
        even = np.where(np.arange(n) < k, 1 / k, 0.0)
        for point in (x, even):
            assert b1 * entropy(point, s0) - beta * entropy(point, s) <= bound + 1e-9 * (1 + b1)
    # attained: all arms alike while β is small
    assert costs(100.0, 1.0, 1.0, 0.5, 16) == pytest.approx(100 * np.log(16) - 12, rel=1e-12)


def test_what_the_base_costs_more_is_bounded_by_it():
    """W of the base less W of play, whatever was learnt."""
    rng = np.random.default_rng(1)
    for _ in range(1000):
        n = int(rng.integers(2, 12))
        beta, b1 = np.exp(rng.uniform(-1, 4)), np.exp(rng.uniform(1, 6))
        L = rng.exponential(size=n) * np.exp(rng.uniform(-2, 7))
        assert money(L, b1, 1.0) - money(L, beta, 0.5) <= costs(b1, 1.0, beta, 0.5, n) + 1e-9 * b1


@pytest.mark.parametrize(
    "graph", [families.cycle(20), families.teams([4] * 5), families.hypercube(4)], ids=str
)
def test_the_smallest_bound_is_kept_and_order_one_half_played(graph):
    plan, fixed = sl.plan(graph, T), sl.plan(graph, T, realization="fixed")
    assert plan.parameters["s"] == 0.5
    assert plan.base.parameters["s"] > 0.5
    assert plan.bound.value == plan.base.bound.value <= fixed.bound.value + 2 * ROOM
    assert all(condition.holds for condition in sl.check_certificate(plan))


def test_graphs_whose_rounds_cost_as_much_as_the_bound_says_are_played_as_before():
    assert sl.plan(families.mab(20), T).base is None
    assert sl.plan(families.revealing_action(20), 100_000).base is None
    assert sl.plan(families.cycle(20), T, s=1.0).base is None
    assert sl.plan(families.cycle(20), T, s="bound").base is None


@pytest.mark.parametrize(
    "change",
    [
        {"start": 2.0},  # times
        {"base_diameter": 0.9},
        {"base_weak": 0.9},
        {"base_order": 0.9},
        {"budget": 0.99},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_prove_the_bound_is_caught(change):
    plan = sl.plan(families.cycle(20), T)
    (name, factor), rule = *change.items(), plan.tuning.self_tuning
    forged = replace(rule, **{name: factor * getattr(rule, name)})
    plan = replace(plan, tuning=replace(plan.tuning, self_tuning=forged))
    assert not all(condition.holds for condition in sl.check_certificate(plan))


def against_the_leader(policy, rounds):
    """Losses that follow whoever is likeliest; arms that were played."""
    arms = []
    for _ in range(rounds):
        leads = policy.probabilities
        arm = policy.ask()
        policy.tell((leads == leads.max()).astype(float)[policy.graph.out_neighbors(arm)])
        arms.append(arm)
    return arms


def tight(room=1.4):
    """A plan that has hardly any room beyond what falling back costs."""
    plan = sl.plan(families.cycle(20), T)

    def less(plan):
        rule = plan.tuning.self_tuning
        return replace(
            plan, tuning=replace(plan.tuning, self_tuning=replace(rule, budget=rule.budget - ROOM + room))
        )

    return replace(less(plan), base=less(plan.base))


def falling():
    """(seed, round): a game of the tight plan in which it falls back, and after how many rounds."""
    for seed in range(20):
        policy = tight().policy(seed=seed)
        while policy.stage is policy.plan and policy.round < 300:
            against_the_leader(policy, 1)
        if policy.stage is not policy.plan and policy.round > 1:
            return seed, policy.round
    raise AssertionError("no game falls back")


def fallen_policy():
    seed, rounds = falling()
    policy = tight().policy(seed=seed)
    against_the_leader(policy, rounds)
    return policy


def test_the_budget_is_kept_where_the_base_takes_over():
    policy = fallen_policy()
    assert policy.stage is policy.plan.base
    assert 0 < policy.round < T
    while policy.round < T:
        against_the_leader(policy, 1)
        assert policy.certificate().value <= policy.plan.bound.value
        assert abs(policy.probabilities.sum() - 1) < 1e-12


def test_a_snapshot_after_the_fall_goes_on_bit_for_bit():
    policy = fallen_policy()
    again = policy.plan.policy(seed=9)
    restore(again, snapshot(policy))
    assert again.stage is policy.plan.base
    assert against_the_leader(again, 200) == against_the_leader(policy, 200)
    first, second = snapshot(again), snapshot(policy)
    assert all(np.array_equal(first[name], second[name]) for name in second)


@pytest.fixture
def unproved(monkeypatch):
    """A tight plan is played, but proves no bound: files of it are read all the same."""
    monkeypatch.setattr("sidelight.policy.saved_plan.CHECKED_ARMS", 1)


@pytest.mark.usefixtures("unproved")
def test_saved_copied_and_loaded_after_the_fall_it_goes_on_as_one(tmp_path):
    policy = fallen_policy()
    policy.save(tmp_path / "fallen.npz")
    loaded, copied = sl.Policy.load(tmp_path / "fallen.npz"), policy.copy()
    assert loaded.plan.parameters == policy.plan.parameters
    assert loaded.stage is loaded.plan.base
    assert loaded.certificate().value == policy.certificate().value
    played = against_the_leader(policy, 50)
    assert against_the_leader(loaded, 50) == played == against_the_leader(copied, 50)


@pytest.mark.usefixtures("unproved")
def test_saved_before_the_fall_it_falls_at_the_same_round(tmp_path):
    seed, rounds = falling()
    policy = tight().policy(seed=seed)
    against_the_leader(policy, rounds - 1)
    policy.save(tmp_path / "free.npz")
    loaded = sl.Policy.load(tmp_path / "free.npz")
    for _ in range(50):
        assert (policy.stage is policy.plan) == (loaded.stage is loaded.plan)
        assert against_the_leader(policy, 1) == against_the_leader(loaded, 1)
    assert loaded.stage is loaded.plan.base


def test_simulation_and_decisions_fall_in_the_same_round():
    """Losses of such a game, recorded: a fixed sequence on which the budget runs out."""
    seed, rounds = falling()
    policy, rows = tight().policy(seed=seed), []
    while len(rows) < rounds + 100:
        leads = policy.probabilities
        rows.append((leads == leads.max()).astype(float))
        policy.tell(rows[-1][policy.graph.out_neighbors(policy.ask())])
    assert policy.stage is policy.plan.base
    world = sl.environments.matrix(np.array(rows))
    run = sl.simulate(policy.plan, world, seeds=[seed], horizon=len(rows))
    again = policy.plan.policy(seed=seed)
    cost = 0.0
    for row in rows:
        arm = again.ask()
        cost += row[arm]
        again.tell(row[again.graph.out_neighbors(arm)])
    assert again.stage is again.plan.base
    assert run.certificate[0, -1] == pytest.approx(again.certificate().value, rel=1e-9)
    assert run.regret[0, -1] == pytest.approx(cost - np.array(rows).sum(axis=0).min(), abs=1e-9)


def test_late_answers_leave_it_free():
    """What is promised then is what sums certify; there is no budget to keep to."""
    policy = sl.plan(families.cycle(20), T).policy(seed=3)
    for _ in range(300):
        decisions = policy.decide(count=3)
        for decision in reversed(decisions):
            policy.observe(decision, np.where(decision.reveals == decision.arm, 1.0, 0.5))
    assert policy.stage is policy.plan
    assert policy.certificate().value > 0
