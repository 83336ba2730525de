"""Exploration that follows the distribution in large blocks, kept lazily: what plans promise of it, in play.

The twin is told what the policy explores and computes all that follows: what is played, estimates, sums, and the
point that minimises the potential at those sums.
"""

import functools
import itertools

import naive
import numpy as np
import pytest
from dense_engine import Dense
from kernel_entries import exploration, unpack
from numpy.testing import assert_allclose
from stronger_twins import flat_plan, flat_ways, potential_of

import sidelight as sl
from sidelight.engine.fields import views
from sidelight.engine.simplex.store import POWER_BUCKETS
from sidelight.environment.base import environment_key
from sidelight.planning import LAZY_FACTOR


def cycle_beside_loops():
    """A directed cycle of 70, 8 arms with self-loops, and one arm that all others reveal."""
    n = 79
    edges = [(i, (i + 1) % 70) for i in range(70)] + [(i, i) for i in range(70, 78)]
    edges += [(i, 78) for i in range(78)] + [(71, 3), (5, 72)]
    return sl.FeedbackGraph.from_edges(n, edges)


def beside_loops(name, horizon=10**6):
    g = cycle_beside_loops()
    return flat_plan(g, horizon, name, dict(flat_ways(g))[name])


def two_cycles(horizon=10**5):
    edges = [(i, (i + 1) % 80) for i in range(80)] + [((i + 1) % 80, i) for i in range(80)]
    edges += [(80 + i, 80 + (i + 1) % 60) for i in range(60)] + [(i, i) for i in range(140, 143)] + [(3, 90)]
    g = sl.FeedbackGraph.from_edges(143, edges)
    blocks = [range(80), range(80, 140), *([v] for v in range(140, 143))]
    partition = sl.Partition(g, [list(block) for block in blocks])
    return sl.plan(g, horizon, partition=partition, realization="interpolated")


MAKERS = {
    "cycle of 400": lambda: sl.plan(sl.families.cycle(400), 10**7, realization="flat"),
    "cycle of 100, short": lambda: sl.plan(sl.families.cycle(100), 2_000, realization="flat"),
    "two cycles and loops": two_cycles,
    "covered beside loops": functools.partial(beside_loops, "covered"),
    "shifted beside loops": functools.partial(beside_loops, "shifted"),
}
each = pytest.mark.parametrize("name", MAKERS)


@functools.cache
def planned(name):
    plan = MAKERS[name]()
    assert (plan.tuning.spread > 0).any()
    return plan


def assert_explores_enough(policy):
    """γ between g and κg of the tuning, every arm with a load seen β·X^{1−h}, and Z made of X, Y and γ."""
    plan = policy.plan
    tuning, inside, gamma, Z = (
        plan.tuning,
        policy._game.inside_probabilities,
        exploration(policy._game.memory),
        policy.probabilities,
    )
    constant = tuning.global_exploration
    due = tuning.exploration(plan.graph, inside) - constant
    held = gamma - constant
    assert (held >= due * (1 - 1e-9)).all()
    assert (held <= LAZY_FACTOR * due * (1 + 1e-9)).all()
    assert gamma.sum() <= tuning.most_exploration * (1 + 1e-9)
    assert_allclose(views(policy._game.memory)["gamma"], gamma.sum(), rtol=1e-12)
    owner = tuning.block_of
    alpha = np.bincount(owner, weights=tuning.local_exploration)[owner]
    mixed = (1 - alpha) * inside + tuning.local_exploration
    expected = (1 - gamma.sum()) * policy._game.block_probabilities[owner] * mixed + gamma
    assert_allclose(Z, expected, rtol=1e-10)
    assert abs(Z.sum() - 1) <= 1e-12
    seen = plan.graph.to_sparse().T @ Z
    owed = np.flatnonzero(tuning.load > 0)
    needed = tuning.spread[owner[owed]] * inside[owed] ** (1 / tuning.inner_power[owed])
    assert (seen[owed] >= needed * (1 - 1e-9)).all()
    return held, due


def ahead(policy, environment, first, last, seed=5):
    """Many rounds, in one compiled call."""
    nothing = np.zeros(0, dtype=np.int64)
    world = environment.world, environment.function, environment_key(seed)
    policy._play(*world, first, last, 0.0, nothing)


def world_of(plan):
    return sl.environments.switching(plan.graph.n_arms, period=5_000, gap=0.45)


@each
def test_every_round_explores_what_is_due(name):
    """Round by round, from the start and again after many rounds."""
    plan = planned(name)
    policy, environment, t, ratios = plan.policy(seed=1), world_of(plan), 0, []
    for _ in range(2):
        for _ in range(200):
            held, due = assert_explores_enough(policy)
            ratios.append((held[due > 0] / due[due > 0]).min())
            policy.tell(environment.losses(5, t, plan.graph.out_neighbors(policy.ask())))
            t += 1
        ahead(policy, environment, t, t + 3_000)
        t += 3_000
    assert min(ratios) < max(ratios)  # lazy indeed


@each
def test_long_games_explore_what_is_due(name):
    """After each of many long stretches: buckets have been refreshed, and the best arm has changed."""
    plan = planned(name)
    policy, environment = plan.policy(seed=2), world_of(plan)
    stretch = 10_000
    refs = [views(policy._game.memory)["ref"].copy()]
    for leg in range(20):
        ahead(policy, environment, leg * stretch, (leg + 1) * stretch)
        assert_explores_enough(policy)
        refs.append(views(policy._game.memory)["ref"].copy())
    assert policy.round == 20 * stretch
    assert any((one != other).any() for one, other in itertools.pairwise(refs[1:]))


@each
def test_points_belong_to_the_sums_of_the_estimates(name):
    """X and Y against the twin's, from estimates (ℓ − c)/P that the twin computes from what was played."""
    plan = planned(name)
    dense, tuning = Dense(plan.graph, plan.tuning), plan.tuning
    policy, rng = plan.policy(seed=3), np.random.default_rng(4)
    arms, blocks = np.zeros(dense.n), np.zeros(dense.m)
    top = [potential_of(*each_) for each_ in zip(tuning.top_power, tuning.top_rate, strict=True)]
    for t in range(301):
        if t % 100 == 0:
            X = policy._game.inside_probabilities
            for V in (V for V in dense.blocks if len(V) > 1):
                potentials = [potential_of(tuning.inner_power[v], tuning.inner_rate[v]) for v in V]
                assert_allclose(X[V], naive.solve_multiplier(potentials, -arms[V]), rtol=0, atol=1e-10)
            assert_allclose(
                policy._game.block_probabilities, naive.solve_multiplier(top, -blocks), rtol=0, atol=1e-10
            )
        losses = rng.random(dense.n) * (rng.random(dense.n) < 0.7)
        arm = policy.ask()
        guess, block_guess = dense.estimates(policy._game.memory, arm, losses)
        policy.tell(losses[plan.graph.out_neighbors(arm)])
        arms += guess
        blocks += block_guess
    assert np.ptp(arms) > 1


@each
def test_estimates_are_unbiased(name):
    """E ℓ̃ = ℓ − c and E L̃_k = ⟨X̃_k, ℓ_k − c⟩: a sum over every arm, each told to a copy of the policy."""
    plan = planned(name)
    dense, policy = Dense(plan.graph, plan.tuning), plan.policy(seed=6)
    ahead(policy, world_of(plan), 0, 300)
    assert POWER_BUCKETS in unpack(policy._game.memory)[2].form
    dense.assert_unbiased(policy._game.memory, np.random.default_rng(7).random(dense.n), tolerance=1e-7)
