"""Exact laws of a policy in play, on random small legal instances and every realization.

The twin of `naive.py` is given the numbers of `plan.tuning` and the arms that the policy drew. It then holds the
same state, and expectations over the arm are sums over all arms: exact, never flaky.
"""

import functools
import itertools

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import INSTANCES
from numpy.testing import assert_allclose
from stronger_twins import flat_plan, flat_ways, potential_of, spreading

import sidelight as sl

REALIZATIONS = ("clustered", "adaptive", "hybrid", "by hand")
STRONGER = ("interpolated", "flat", "covered", "shifted", "spread 0.3", "spread 0.5", "spread 0.7")
PARTS = ("projection", "restriction", "global exploration", "local exploration")


@st.composite
def legal_instances(draw, most_arms=7):
    """(A, blocks): any adjacency, any blocks, and the few edges added that make the blocks legal."""
    n = draw(st.integers(1, most_arms))
    density = draw(st.sampled_from([0.1, 0.3, 0.7]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    A = rng.random((n, n)) < density
    colour = [draw(st.integers(0, n - 1)) for _ in range(n)]
    blocks = [[v for v in range(n) if colour[v] == k] for k in sorted(set(colour))]
    for V in blocks:
        if len(V) == 1:
            v = V[0]
            if naive.observability(A, v) != "strong":
                if n == 1 or draw(st.booleans()):
                    A[v, v] = True
                else:
                    A[:, v], A[v, v] = True, False
        else:
            for v in V:
                if not A[V, v].any():
                    A[draw(st.sampled_from(V)), v] = True
    return A, blocks


@st.composite
def plans(draw):
    A, blocks = draw(legal_instances())
    g = sl.FeedbackGraph.from_adjacency(A)
    partition = sl.Partition(g, blocks)
    realization = draw(st.sampled_from(REALIZATIONS))
    if realization == "by hand":
        realization = {int(k): draw(st.sampled_from(["clustered", "adaptive"])) for k in partition.weak}
    elif partition.weak.size == 0:
        realization = "clustered"
    horizon = draw(st.sampled_from([1, 30, 1_000, 100_000]))
    return sl.plan(g, horizon, partition=partition, realization=realization)


@functools.cache
def stronger_plan(named_at, realization):
    """A plan that the paper does not have, on a small named instance; None where it does not exist."""
    named = SMALL[named_at]
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    partition = sl.Partition(g, named.blocks)
    if realization == "interpolated":
        return sl.plan(g, named.horizon, partition=partition, realization=realization)
    if realization == "flat":
        return sl.plan(g, named.horizon, realization=realization)
    if realization.startswith("spread"):
        if not partition.weak.size:
            return None
        plan = sl.plan(g, 1_000, partition=partition, realization="interpolated")
        return spreading(plan, float(realization.split()[1]), lambda block: 0.01)[0]
    owed = dict(flat_ways(g)).get(realization)
    return None if owed is None else flat_plan(g, named.horizon, realization, owed)


SMALL = [named for named in INSTANCES if named.n_arms <= 8]
stronger_plans = st.builds(stronger_plan, st.integers(0, len(SMALL) - 1), st.sampled_from(STRONGER)).filter(
    lambda plan: plan is not None
)
games = st.tuples(st.one_of(plans(), stronger_plans), st.integers(0, 10**6), st.integers(0, 8))


def each_game(test):
    return settings(deadline=None, derandomize=True, max_examples=100)(given(games)(test))


def twin_of(plan):
    """The paper's algorithm with the numbers of this plan."""
    tuning, g = plan.tuning, plan.graph
    A = np.zeros((g.n_arms, g.n_arms), dtype=bool)
    for i in range(g.n_arms):
        A[i, g.out_neighbors(i)] = True
    blocks = [tuning.block_arms[a:b] for a, b in itertools.pairwise(tuning.block_start)]
    instance = naive.Instance(A, tuple(blocks))

    spreads = {}
    for k in np.flatnonzero(tuning.spread):
        V = instance.blocks[k]
        (q,) = np.unique(tuning.inner_power[V][tuning.load[V] > 0])
        spreads[int(k)] = naive.Spread(tuning.spread[k], 1 - 1 / q, tuning.cover[V], tuning.load[V] > 0)
    parameters = naive.Parameters(
        alpha=float("nan"),  # only its consequence, gamma_local, is played
        eta=None,
        eta_loop=None,
        eta_loopless=None,
        gamma_constant=tuning.global_exploration,
        gamma_local=tuning.local_exploration,
        parent=tuning.parent,
        adaptive={k: tuning.adaptive[k] for k in instance.U2 if tuning.adaptive[k] > 0},
        arm_potential=[
            potential_of(*both, tuning.corners)
            for both in zip(tuning.inner_power, tuning.inner_rate, strict=True)
        ],
        top_potential=[potential_of(*both) for both in zip(tuning.top_power, tuning.top_rate, strict=True)],
        spread=spreads,
        lifted=np.flatnonzero(tuning.lifted),
        floor=tuning.floor,
        c=tuning.shift,
    )
    return naive.TwoLevelOSMD(instance, parameters)


def losses_of(rng, n_arms):
    """Zeros, ones and fractions."""
    kind = rng.integers(3, size=n_arms)
    return np.where(kind == 0, 0.0, np.where(kind == 1, 1.0, rng.random(n_arms)))


def played(game):
    """A policy and its twin after the same rounds, and the generator of further losses."""
    plan, seed, rounds = game
    policy, twin, rng = plan.policy(seed=seed), twin_of(plan), np.random.default_rng(seed)
    for _ in range(rounds):
        losses = losses_of(rng, plan.graph.n_arms)
        arm = policy.ask()
        policy.tell(losses[plan.graph.out_neighbors(arm)])
        twin.step(arm, losses)
    return policy, twin, rng


# -- distributions ----------------------------------------------------------------------------------------


@each_game
def test_policy_and_twin_agree_on_distributions_that_see_every_arm(game):
    """On the simplex, and P(v) = Σ_{u ∈ Nin(v)} Z(u) > 0: no estimate divides by zero."""
    policy, twin, _ = played(game)
    for p in (policy.probabilities, policy._game.block_probabilities):
        assert (p >= 0).all()
        assert abs(p.sum() - 1) <= 1e-12
    assert policy.probabilities.shape == (policy.graph.n_arms,)
    assert policy._game.block_probabilities.shape == (policy.plan.partition.n_blocks,)
    assert_allclose(policy.probabilities, twin.distribution(), rtol=1e-9, atol=1e-9)
    assert_allclose(policy._game.block_probabilities, twin.Y, rtol=1e-9, atol=1e-9)
    for v in range(policy.graph.n_arms):
        assert policy.probabilities[policy.graph.in_neighbors(v)].sum() > 0


@each_game
def test_exploration_is_a_floor(game):
    """Z ≥ γ, and Z(V_k) ≥ (1−γ̄)·Y(k): the policy explores as much as its plan says."""
    policy, _, _ = played(game)
    tuning, p = policy.plan.tuning, policy.probabilities
    assert (p >= tuning.global_exploration * (1 - 1e-12)).all()
    for k, V in enumerate(policy.plan.partition.blocks):
        least = (1 - tuning.most_exploration) * policy._game.block_probabilities[k]
        assert p[V].sum() >= least * (1 - 1e-9)


# -- estimates and the regret decomposition ---------------------------------------------------------------


@each_game
def test_estimates_are_unbiased(game):
    """E ℓ̃ = ℓ − c and E L̃(k) = ⟨X̃_k, ℓ_k − c⟩, summing over every arm the policy may draw now."""
    policy, twin, rng = played(game)
    losses, p = losses_of(rng, policy.graph.n_arms), policy.probabilities
    shifted = losses - policy.plan.tuning.shift
    each = [twin.estimates(arm, losses) for arm in range(p.size)]
    mean = sum(p[arm] * estimate for arm, (estimate, _) in enumerate(each))
    mean_of_blocks = sum(p[arm] * L for arm, (_, L) in enumerate(each))
    expected = [twin.tilde(k) @ shifted[V] for k, V in enumerate(twin.instance.blocks)]
    assert_allclose(mean, shifted, rtol=1e-6, atol=1e-9)
    assert_allclose(mean_of_blocks, expected, rtol=1e-6, atol=1e-9)


@each_game
def test_regret_decomposes_round_by_round(game):
    """Lemma regret: ⟨ℓ, Z − e_{a*}⟩ ≤ projection + restriction + global + local, for every a*."""
    policy, twin, rng = played(game)
    losses = losses_of(rng, policy.graph.n_arms)
    for best in range(policy.graph.n_arms):
        parts = twin.ledger(losses, best)
        assert_allclose(parts.regret, losses @ policy.probabilities - losses[best], rtol=1e-6, atol=1e-7)
        assert parts.regret <= parts.total + 1e-7


@each_game
def test_ledger_records_the_parts_of_the_arm_played(game):
    """What `tell` adds to the ledger is what the estimates of the arm actually drawn say, for every a*."""
    policy, twin, rng = played(game)
    g, instance = policy.graph, twin.instance
    losses = losses_of(rng, g.n_arms)
    before = [policy.ledger(best) for best in range(g.n_arms)]
    arm = policy.ask()
    policy.tell(losses[g.out_neighbors(arm)])
    estimate, L = twin.estimates(arm, losses)
    for best in range(g.n_arms):
        k = instance.block_of(best)
        V, weak = instance.blocks[k], k in instance.U2
        added = {
            "projection": L @ twin.Y - L[k],
            "restriction": estimate[V] @ twin.X[k] - estimate[best] if weak else 0.0,
            "global exploration": twin.gamma().sum() * (1 - policy.plan.tuning.shift - L @ twin.Y),
            "local exploration": twin.parameters.gamma_local[V].sum() if weak else 0.0,
        }
        after = policy.ledger(best)
        assert tuple(after) == PARTS
        for part in PARTS:
            # An arm seen with probability P adds 1/P: the difference is as exact as the sums it is taken of.
            scale = 1 + np.abs(estimate).max() + abs(before[best][part])
            assert_allclose(
                after[part] - before[best][part], added[part], rtol=1e-6, atol=1e-8 * scale, err_msg=part
            )


def test_ledger_starts_empty_and_adds_up_to_the_regret_bound_in_the_mean():
    """Before round one all parts are 0; over runs their mean is at least the mean regret (Lemma regret)."""
    g = sl.families.cliques([3, 4])
    plan, rounds, runs = sl.plan(g, horizon=400), 400, 40
    losses = np.random.default_rng(1).random((rounds, g.n_arms)) * np.linspace(0.2, 1, g.n_arms)
    best = int(np.argmin(losses.sum(axis=0)))
    regret, ledger = np.zeros(runs), np.zeros(runs)
    for run in range(runs):
        policy = plan.policy(seed=run)
        assert set(policy.ledger(best).values()) == {0.0}
        for loss in losses:
            regret[run] += loss @ policy.probabilities - loss[best]
            policy.tell(loss[g.out_neighbors(policy.ask())])
        ledger[run] = sum(policy.ledger(best).values())
    standard_error = ledger.std(ddof=1) / np.sqrt(runs)
    assert regret.mean() <= ledger.mean() + 4 * standard_error
    assert regret.mean() <= plan.bound.value


# -- ask() draws from `probabilities` ---------------------------------------------------------------------

SAMPLED = ("every_kind", "corrupted_mab", "cliques", "directed_cycle", "loopless_clique")


def plan_named(name):
    """The instance planned as adaptive where it can be, else as clustered."""
    named = next(named for named in INSTANCES if named.name == name)
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    realization = "adaptive" if "adaptive" in named.realizations else "clustered"
    return sl.plan(g, named.horizon, partition=sl.Partition(g, named.blocks), realization=realization)


@pytest.mark.parametrize("name", SAMPLED)
def test_plays_minus_probabilities_are_a_martingale(name):
    """Σ_t (1[a_t = i] − p_t(i)) stays within 4.5 standard deviations while losses move the distribution."""
    plan = plan_named(name)
    g, policy, rng = plan.graph, plan.policy(seed=5), np.random.default_rng(3)
    drift, variance = np.zeros(g.n_arms), np.zeros(g.n_arms)
    for t in range(3_000):
        p = policy.probabilities
        arm = policy.ask()
        drift -= p
        drift[arm] += 1
        variance += p * (1 - p)
        arms = g.out_neighbors(arm)
        policy.tell((rng.random(arms.size) < (0.2 + 0.6 * ((arms + t // 500) % 3 == 0))).astype(float))
    assert (np.abs(drift) <= 4.5 * np.sqrt(variance)).all()
