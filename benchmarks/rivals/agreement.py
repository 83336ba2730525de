"""Rivals are only worth beating if they do the same job: fed the same arms and losses, the same distribution."""

import numpy as np

LARGEST_DIFFERENCE = 1e-9


def largest_difference(rival, plan, means, rounds=300, seed=5):
    """max |Z_rival/Z_engine − 1| over `rounds` rounds of the engine's own play."""
    policy = plan.policy(seed=seed)
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(rounds):
        worst = max(worst, float(np.abs(rival.probabilities / policy.probabilities - 1.0).max()))
        arm = policy.ask()
        seen = policy.graph.out_neighbors(arm)
        losses = (rng.random(seen.size) < means[seen]).astype(np.float64)
        policy.tell(losses)
        rival.learn(arm, losses)
    return worst
