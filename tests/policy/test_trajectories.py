"""The compiled policy and the naive twin play the same game, round by round, to 1e−9.

The twin computes its own parameters from the paper's formulas. From the plan it takes only what the paper
leaves free: which optimal cover x*, which pruning, and which blocks of a hybrid use negative entropy; it
checks each. The policy holds cumulative sums and solves for a multiplier (follow the regularised leader),
the twin moves probability vectors by one mirror step a round, so agreement also shows that the two forms
are one algorithm.

Both run freely for all rounds: the twin is never reset to the policy's state. Estimates ℓ/P feed rounding
back (an error ε of P becomes ε/P²), most of all far below the thresholds, where some seeds reach 1e−10. So
those games are also compared one step at a time from the policy's state, where nothing can build up.

For interpolated and flat plans the twin computes what follows from h, β and the rates, which those plans are free to
choose. Where exploration follows the distribution in small blocks it is played exactly, so trajectories agree as
they do for the paper's realizations; large blocks keep it lazily, and `test_lazy_spread.py` has the laws of that.
"""

import itertools

import naive
import numpy as np
import pytest
from instances import CASE_IDS, CASES, INSTANCES
from numpy.testing import assert_allclose, assert_array_equal
from stronger_twins import (
    explored_evenly,
    flat_plan,
    flat_twin,
    flat_ways,
    hand_plan,
    interpolated_twin,
    potential_twin,
    spreading,
)

import sidelight as sl
from sidelight.engine.simplex import store as layout

ROUNDS = 1_000
FEWER = 150  # the twin takes a millisecond a round
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
    by_arm = policy._game.inside_probabilities
    return [by_arm[V] for V in instance.blocks], policy._game.block_probabilities


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
    check_against(named, plan, *twin_of(named, plan, realization))


def check_against(named, plan, instance, parameters, rounds=ROUNDS):
    losses = hostile_losses(rounds, named.n_arms, seed=len(named.name))
    arms, announced = play(plan, losses, seed=11)
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


# -- interpolated and flat plans -------------------------------------------------------------------------------

EXACT = [named for named in INSTANCES if named.n_arms <= 24]  # spread, if any, is played exactly
by_name = pytest.mark.parametrize("named", EXACT, ids=lambda named: named.name)
FLAT = [
    (named, name)
    for named in EXACT
    for name, _ in flat_ways(sl.FeedbackGraph.from_edges(named.n_arms, named.edges))
]
by_flat = pytest.mark.parametrize(("named", "name"), FLAT, ids=lambda case: getattr(case, "name", case))


def flat_game(named, name):
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    owed = dict(flat_ways(g))[name]
    return flat_plan(g, named.horizon, name, owed), owed


@pytest.mark.usefixtures("_form")
@by_name
def test_interpolated_plans_follow_their_twin(named):
    plan = plan_of(named, "interpolated")
    check_against(named, plan, *interpolated_twin(plan), rounds=FEWER)


@pytest.mark.usefixtures("_form")
@by_name
def test_flat_plans_follow_their_twin(named):
    """One simplex: a block of covered arms, or strong arms alone."""
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    plan = sl.plan(g, named.horizon, realization="flat")
    if g.n_arms == 1:
        check_against(named, plan, *interpolated_twin(plan), rounds=FEWER)
        return
    instance, parameters = potential_twin(plan)
    if layout.LARGEST_LIST == 1 and (
        parameters.spread or parameters.floor
    ):  # in buckets what varies is kept lazily
        plan, parameters = explored_evenly(plan, parameters)
    check_against(named, plan, instance, parameters, rounds=FEWER)


def test_flat_plans_shift_and_lift_and_mix():
    tunings = [
        sl.plan(
            sl.FeedbackGraph.from_edges(named.n_arms, named.edges), named.horizon, realization="flat"
        ).tuning
        for named in EXACT
    ]
    assert sum(tuning.shift > 0 for tuning in tunings) > 15
    assert sum(tuning.floor > 0 for tuning in tunings) > 5
    assert sum(len(set(tuning.inner_power.tolist())) > 1 for tuning in tunings) > 5
    assert sum(tuning.spread.any() for tuning in tunings) > 1


@pytest.mark.usefixtures("_form")
@by_flat
def test_flat_plans_beside_strong_arms_follow_their_twin(named, name):
    """Covered arms, arms with self-loops and loop-less strong arms, each with its own potential, in one block."""
    plan, owed = flat_game(named, name)
    check_against(named, plan, *flat_twin(plan, owed), rounds=FEWER)


def test_flat_games_have_every_kind_of_arm():
    kinds = {name for _, name in FLAT}
    assert kinds == {"covered", "shifted"}
    groups = []
    for named, name in FLAT:
        tuning = flat_game(named, name)[0].tuning
        groups.append(len({*zip(tuning.inner_power.tolist(), tuning.inner_rate.tolist(), strict=True)}))
    assert max(groups) == 3
    assert min(groups) == 2


WEAK = [named for named in EXACT if any(len(block) > 1 for block in named.blocks)]


@pytest.mark.parametrize("h", [0.5, 0.7])
@pytest.mark.parametrize("named", WEAK, ids=lambda named: named.name)
def test_spread_exploration_follows_its_twin(named, h):
    plan = plan_of(named, "interpolated")
    plan, instance, parameters = spreading(plan, h, lambda k: 0.4 / np.sqrt(named.horizon + k))
    assert (plan.tuning.spread[instance.U2] > 0).all()
    check_against(named, plan, instance, parameters, rounds=FEWER)


@pytest.mark.parametrize("h", [0.5, 0.7])
@by_flat
def test_spread_beside_strong_arms_follows_its_twin(named, name, h):
    """Exploration follows the covered arms of a block only; the others have potentials of their own."""
    plan, owed = flat_game(named, name)
    instance, printed = flat_twin(plan, owed)
    covered = np.isin(np.arange(instance.n), owed)
    cover = instance.A[:, owed].any(axis=1).astype(float)
    beta, eta = 0.2 / cover.sum() ** h, 0.4 / np.sqrt(named.horizon)
    rest = {psi for psi, is_owed in zip(printed.arm_potential, covered, strict=True) if not is_owed}
    loop = max([psi.rate for psi in rest if isinstance(psi, naive.Tsallis)], default=0.0)
    loopless = max([psi.rate for psi in rest if isinstance(psi, naive.Entropy)], default=0.0)
    parameters = naive.flat_parameters(instance, cover, covered, h, beta, eta, loop, loopless, 0.1)
    check_against(named, hand_plan(plan, instance, parameters), instance, parameters, rounds=FEWER)


def test_hybrid_mixes_realizations_on_its_own():
    """Among the instances there is one where the hybrid is neither clustered nor adaptive everywhere."""
    named = next(named for named in INSTANCES if named.name == "clique_and_long_directed_cycle")
    assert_array_equal(plan_of(named, "hybrid").tuning.inner_power, [2] * 60 + [0] * 5)
