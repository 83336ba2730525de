"""Certificates of games that the engine plays stay below what was promised, on every run and at every t."""

import numpy as np
import pytest

import sidelight as sl

F = sl.families

GRAPHS = {
    "cycle": F.cycle(8),
    "bandit": F.mab(8),
    "one corrupted": F.corrupted_mab(8, 1),
    "no loops": F.loopless_clique(6),
    "full": F.full(6),
    "revealing": F.revealing_action(8),
    "buckets": F.cycle(40),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("horizon", [None, 600])
@pytest.mark.parametrize("opposed", [False, True])
def test_certificates_keep_their_promise(name, horizon, opposed):
    g, rng = GRAPHS[name], np.random.default_rng(2)
    made = sl.plan(g, horizon, realization="self-tuning")
    policy = made.policy(seed=3)
    for t in range(1, 601):
        arm = policy.ask()
        seen = g.out_neighbors(arm)
        if opposed:  # whoever is played most loses
            losses = (policy.probabilities[seen] > 1.01 / g.n_arms).astype(float)
        else:
            losses = (rng.random(seen.size) < 0.5 - 0.3 * (seen == g.n_arms - 1)).astype(float)
        policy.tell(losses)
        if horizon is not None:
            assert policy.certificate().value <= made.bound.value * (1 + 1e-9)
        elif t % 20 == 0:
            assert policy.certificate().value <= made.bound_at(t).value
