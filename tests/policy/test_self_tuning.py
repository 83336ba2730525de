"""Self-tuning plans being played: certificates keep their promises on every run, and there is one game to play."""

import numpy as np
import pytest
from policy_kinds import played, turn

import sidelight as sl
from sidelight import families
from sidelight.engine.fields import views

GRAPHS = {
    "cycle": families.cycle(12),
    "teams": families.cliques([4, 4, 4]),
    "bandit": families.mab(30),
    "revealing action": families.revealing_action(15),
    "loop-less clique": families.loopless_clique(9),
    "hub": families.loopy_star(12),
    "hypercube": families.hypercube(5),
    "corrupted": families.corrupted_mab(14, 2),
}
T = 3000


def coins(graph, gap):
    means = np.full(graph.n_arms, 0.5)
    means[-1] -= gap
    return sl.environments.bernoulli(means)


def number(policy, name):
    return float(views(policy._game.memory)[name])


@pytest.mark.parametrize("name", GRAPHS)
def test_the_certificate_keeps_below_the_bound_on_every_run(name):
    plan = sl.plan(GRAPHS[name], realization="self-tuning")
    for gap in (0.3, 0.0):
        run = sl.simulate(plan, coins(plan.graph, gap), seeds=range(5), horizon=T)
        bounds = [plan.bound_at(int(t)).value for t in run.checkpoints if t > 0]
        assert (run.certificate[:, run.checkpoints > 0] <= np.array(bounds) * (1 + 1e-9)).all()
        assert run.regret[:, -1].mean() <= run.certificate[:, -1].mean()


@pytest.mark.parametrize("slack", [0.0, 0.1])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_budget_is_never_exceeded(name, slack):
    plan = sl.plan(GRAPHS[name], T, realization="self-tuning", slack=slack)
    for gap in (0.3, 0.0):
        run = sl.simulate(plan, coins(plan.graph, gap), seeds=range(5), horizon=T)
        assert (run.certificate <= plan.tuning.self_tuning.budget * (1 + 1e-9)).all()
        assert (run.certificate <= plan.bound.value * (1 + 1e-9)).all()


@pytest.mark.parametrize("kind", ["self-tuning", "self-tuning budget", "self-tuning buckets"])
def test_whatever_is_affordable_stays_affordable_after_every_round(kind):
    policy = played(kind, 0)
    rule = policy.plan.tuning.self_tuning
    for _ in range(400):
        before = number(policy, "charged")
        turn(policy)
        assert 0.0 <= number(policy, "charged") - before <= 1.0
        assert number(policy, "slack") >= -1e-9
        beta, spent = number(policy, "beta"), policy.certificate().value
        if rule.horizon:
            left = rule.horizon - policy.round
            go = min(rule.cost_to_go(beta, left)[0], rule.cost_elsewhere(beta, left)[0])
            go = left * number(policy, "worst_cost") if policy._game.fallen else go
            assert spent + go <= rule.budget * (1 + 1e-9)
        else:
            floor = rule.first + rule.share * number(policy, "charged") / rule.diameter
            assert beta * (1 + rule.patience) * (1 + 1e-12) >= floor


def test_the_potential_behind_a_budget_takes_over_before_anything_is_said_of_the_next_round():
    """Also in what is saved, which goes on as the same game."""
    policy, turns = sl.plan(families.mab(8), 300, slack=0.03).policy(seed=1), 0
    while not policy._game.fallen:
        said = policy.probabilities
        arm = policy.ask()
        np.testing.assert_array_equal(policy.probabilities, said)
        policy.tell([float(arm == said.argmax())])
        kept, turns = sl.Policy.from_bytes(policy.to_bytes()), turns + 1
        np.testing.assert_allclose(kept.probabilities, policy.probabilities, rtol=1e-9)
        assert kept.certificate().value == pytest.approx(policy.certificate().value, rel=1e-12)
        assert policy.certificate().value <= policy.plan.tuning.self_tuning.budget * (1 + 1e-9)
    assert 10 < turns < 300
