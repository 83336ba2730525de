"""The compiled policy and the naive twin play the same game, round by round, to 1e−9.

The twin computes its own parameters from the paper's formulas. From the plan it takes only what the paper
leaves free: which optimal cover x*, which pruning, and which blocks of a hybrid use negative entropy; it
checks each. The policy holds cumulative sums and solves for a multiplier (follow the regularised leader),
the twin moves probability vectors by one mirror step a round, so agreement also shows that the two forms
are one algorithm.

Both run freely for all rounds: the twin is never reset to the policy's state. Estimates ℓ/P feed rounding
back (an error ε of P becomes ε/P²), most of all far below the thresholds, where some seeds reach 1e−10. So
those games are also compared one step at a time from the policy's state, where nothing can build up.
"""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import naive
import sidelight as sl
from instances import CASE_IDS, CASES, INSTANCES
from sidelight.kernels import layout

ROUNDS = 1_000
BELOW = ("cliques_far_below_threshold", "every_kind_below_threshold")
MIXED = ("cliques", "dense_and_sparse", "every_kind", *BELOW)


@pytest.fixture(params=["lists", "buckets"])
def _form(request, monkeypatch):
    """Every Tsallis group visited one by one, or every one of them kept in buckets: the same algorithm."""
    monkeypatch.setattr(layout, "LARGEST_LIST", {"lists": 10**9, "buckets": 1}[request.param])


def plan_of(named, realization):
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    return sl.plan(g, named.horizon, partition=sl.Partition(g, named.blocks), realization=realization)


def mixed_plan(name):
    """The named instance with its first block of size ≥ 2 clustered, the second adaptive, and so on."""
    named = next(named for named in INSTANCES if named.name == name)
    weak = [k for k, block in enumerate(named.blocks) if len(block) > 1]
    choice = {k: ("clustered", "adaptive")[at % 2] for at, k in enumerate(weak)}
    plan = plan_of(named, choice)
    first = [named.blocks[k][0] for k in weak]
    assert_array_equal(plan.tuning.inner_power[first], [2 * (at % 2) for at in range(len(weak))])
    return named, plan


def inner_state(policy, instance):
    """X_k of every block and Y, as the policy holds them."""
    by_arm = policy.inside_probabilities
    return [by_arm[V] for V in instance.blocks], policy.block_probabilities


def twin_of(named, plan, realization):
    """The paper's parameters for the blocks of the plan; x*, pruning and hybrid choices are the plan's."""
    tuning = plan.tuning
    start = tuning.block_start
    blocks = [tuning.block_arms[first:last] for first, last in itertools.pairwise(start)]
    instance = naive.Instance.from_edges(named.n_arms, named.edges, blocks)
    weights = naive.optimal_weights(instance)
    for k in instance.U2:
        V = instance.blocks[k]
        explored = tuning.local_exploration[V] + tuning.global_exploration[V]
        if explored.sum() > 0:  # both parts are proportional to x*; neither is there: x* is not used
            weights[k] = explored / explored.sum() * weights[k].sum()
    if realization == "clustered":
        parameters = naive.clustered_parameters(instance, named.horizon, weights)
    elif realization == "adaptive":
        parameters = naive.adaptive_parameters(instance, named.horizon, weights, tuning.parent)
    else:
        entropy = [k for k in instance.U2 if tuning.inner_power[instance.blocks[k][0]] == 0]
        parameters = naive.hybrid_parameters(instance, named.horizon, weights, tuning.parent, entropy)
    return instance, parameters


def hostile_losses(rounds, n_arms, seed):
    """Coins of different bias, the order of arms reversed half way, every third round not a coin."""
    rng = np.random.default_rng(seed)
    means = np.linspace(0.05, 0.95, n_arms)
    turned = np.where(np.arange(rounds)[:, None] < rounds // 2, means, means[::-1])
    coins = (rng.random((rounds, n_arms)) < turned).astype(float)
    fractions = rng.random((rounds, n_arms)) * turned
    return np.where(np.arange(rounds)[:, None] % 3 == 2, fractions, coins)


def play(plan, losses, seed):
    """Arms drawn by the policy and the distribution it announced before each draw."""
    policy = plan.policy(seed=seed)
    arms, announced = [], []
    for loss in losses:
        announced.append(policy.probabilities)
        arm = policy.ask()
        policy.tell(loss[plan.graph.out_neighbors(arm)])
        arms.append(arm)
    return arms, np.array(announced)


def check_trajectory(named, plan, realization):
    losses = hostile_losses(ROUNDS, named.n_arms, seed=len(named.name))
    arms, announced = play(plan, losses, seed=11)
    instance, parameters = twin_of(named, plan, realization)
    expected = np.array(naive.run(instance, parameters, arms, losses))
    assert_allclose(announced.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert_allclose(announced, expected, rtol=0, atol=1e-9)
    if named.n_arms > 1:
        assert np.ptp(announced, axis=0).max() > 1e-3  # the losses moved it: agreement is not idleness


@pytest.mark.usefixtures("_form")
@pytest.mark.parametrize(("named", "realization"), CASES, ids=CASE_IDS)
def test_policy_follows_the_paper(named, realization):
    check_trajectory(named, plan_of(named, realization), realization)


@pytest.mark.usefixtures("_form")
@pytest.mark.parametrize("name", MIXED)
def test_policy_follows_the_paper_with_blocks_chosen_by_hand(name):
    named, plan = mixed_plan(name)
    check_trajectory(named, plan, "hybrid")


@pytest.mark.usefixtures("_form")
@pytest.mark.parametrize("name", BELOW)
def test_every_single_step_follows_the_paper(name):
    """From the policy's own X and Y, each round's Z and each update agree, whatever rounding did before."""
    named, plan = mixed_plan(name)
    instance, parameters = twin_of(named, plan, "hybrid")
    twin, policy = naive.TwoLevelOSMD(instance, parameters), plan.policy(seed=11)
    for loss in hostile_losses(ROUNDS, named.n_arms, seed=3):
        assert_allclose(policy.probabilities, twin.distribution(), rtol=0, atol=1e-12)
        arm = policy.ask()
        policy.tell(loss[plan.graph.out_neighbors(arm)])
        twin.step(arm, loss)
        X, Y = inner_state(policy, instance)
        assert_allclose(Y, twin.Y, rtol=0, atol=1e-12)
        for k in instance.U2:
            assert_allclose(X[k], twin.X[k], rtol=0, atol=1e-12)
        twin.X, twin.Y = X, Y


@pytest.mark.parametrize(("named", "realization"), CASES, ids=CASE_IDS)
def test_tuning_is_the_papers(named, realization):
    """Every array the engine plays from, against the formulas evaluated by the twin."""
    plan = plan_of(named, realization)
    tuning, (instance, p) = plan.tuning, twin_of(named, plan, realization)
    assert_allclose(tuning.global_exploration, p.gamma_constant, rtol=1e-9, atol=1e-14)
    assert_allclose(tuning.local_exploration, p.gamma_local, rtol=1e-9, atol=1e-14)
    assert_array_equal(tuning.parent, p.parent)
    for k in range(instance.m):
        assert_allclose(tuning.adaptive[k], p.adaptive.get(k, 0.0), rtol=1e-12)
        if k in instance.U2:
            entropy = p.block_potential[k] == "entropy"
            V = instance.blocks[k]
            assert (tuning.inner_power[V] == (0 if entropy else 2)).all()
            assert_allclose(tuning.inner_rate[V], (1 if entropy else 2) * p.block_rate[k], rtol=1e-9)
        if instance.m > 1:
            power, rate = (
                (0, p.eta_loopless)
                if k in instance.U1N
                else (2, 2 * (p.eta_loop if k in instance.U1S else p.eta))
            )
            assert tuning.top_power[k] == power
            assert_allclose(tuning.top_rate[k], rate, rtol=1e-9)


def test_hybrid_mixes_realizations_on_its_own():
    """Among the instances there is one where the hybrid is neither clustered nor adaptive everywhere."""
    named = next(named for named in INSTANCES if named.name == "clique_and_long_directed_cycle")
    assert_array_equal(plan_of(named, "hybrid").tuning.inner_power, [2] * 60 + [0] * 5)
