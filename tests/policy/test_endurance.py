"""A million rounds of hostile losses: nothing drifts, nothing becomes NaN."""

import numpy as np
import pytest

import sidelight as sl

ROUNDS = 10**6


def plan_on(graph, partition, realization):
    return sl.plan(graph, ROUNDS, partition=partition(graph), realization=realization)


PLANS = {
    "bandit": lambda: plan_on(sl.families.mab(50), sl.partitions.singletons, "clustered"),
    "ring": lambda: plan_on(sl.families.cycle(60), sl.partitions.single, "adaptive"),
    "cliques": lambda: plan_on(sl.families.cliques([3, 30, 4]), sl.partitions.components, "clustered"),
    "cube": lambda: plan_on(sl.families.hypercube(6), sl.partitions.hypercube, "clustered"),
    "blind clique": lambda: plan_on(sl.families.loopless_clique(6), sl.partitions.singletons, "clustered"),
    "corrupted full": lambda: plan_on(sl.families.corrupted_full(8, 2), sl.partitions.corrupted, "hybrid"),
}


def patterns(n):
    one_costly = np.zeros((1, n))
    one_costly[0, n // 2] = 1.0
    one_free = 1.0 - one_costly
    return {
        "all 0": np.zeros((1, n)),
        "all 1": np.ones((1, n)),
        "alternating": np.array([np.zeros(n), np.ones(n)]),
        "one arm always 1": one_costly,
        "one arm always 0": one_free,
    }


@pytest.mark.slow
@pytest.mark.parametrize("pattern", patterns(1))
@pytest.mark.parametrize("name", PLANS)
def test_a_million_hostile_rounds(name, pattern):
    plan = PLANS[name]()
    environment = sl.environments.matrix(patterns(plan.graph.n_arms)[pattern], repeat=True)
    run = sl.simulate(plan, environment, seeds=[3], checkpoints=[10, 1000, ROUNDS])
    assert np.isfinite(run.cost).all()
    assert np.isfinite(run.ledger).all()
    assert run.regret[0, -1] <= plan.bound.value  # fixed losses: one seed, far below an expectation bound
    task_end = replay_to_the_end(plan, environment)
    p = task_end.probabilities
    assert np.isfinite(p).all()
    assert (p >= 0.0).all()
    assert abs(p.sum() - 1.0) <= 1e-12
    assert abs(task_end._game.block_probabilities.sum() - 1.0) <= 1e-12


def replay_to_the_end(plan, environment):
    """The policy after all rounds, through the same kernel that simulation uses."""
    from sidelight.engine.play import play
    from sidelight.environment.base import environment_key

    policy = plan.policy(seed=3)
    plays = np.zeros(0, dtype=np.int64)
    key = environment_key(3)
    play(
        policy._game.memory,
        environment.world,
        environment.function,
        key,
        0,
        ROUNDS,
        0.0,
        policy._game.scratch,
        plays,
    )
    return policy


def test_probabilities_down_to_1e_minus_300_stay_probabilities():
    """One arm of a clique pays every time for a very long horizon's worth of certainty: others vanish."""
    graph = sl.families.cliques([4, 4])
    plan = sl.plan(graph, 100, partition=sl.partitions.components(graph), realization="clustered")
    losses = np.ones((1, 8))
    losses[0, 0] = 0.0
    policy = plan.policy(seed=1)
    from sidelight.engine.play import play
    from sidelight.environment.base import environment_key

    world = sl.environments.matrix(losses, repeat=True)
    nothing = np.zeros(0, dtype=np.int64)
    key = environment_key(1)
    smallest = 1.0
    for first in range(0, 60_000, 2_000):
        play(
            policy._game.memory,
            world.world,
            world.function,
            key,
            first,
            first + 2_000,
            0.0,
            policy._game.scratch,
            nothing,
        )
        inside = policy._game.inside_probabilities
        smallest = min(smallest, inside[inside > 0.0].min())
        p = policy.probabilities
        assert np.isfinite(p).all()
        assert (p >= 0.0).all()
        assert abs(p.sum() - 1.0) <= 1e-12
    assert smallest < 1e-290 or (policy._game.inside_probabilities == 0.0).any()
