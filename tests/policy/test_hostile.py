"""Losses that no friend would choose: distributions stay distributions for 20 000 rounds and beyond the horizon."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.engine.fields import views

ROUNDS = 20_000
EVERY = 97  # rounds between two looks; prime, so that no period hides from it


def all_zero(rounds, n, rng):
    return np.zeros((rounds, n))


def all_one(rounds, n, rng):
    return np.ones((rounds, n))


def alternating(rounds, n, rng):
    """All 0, all 1, all 0, …"""
    return np.repeat(np.arange(rounds)[:, None] % 2, n, axis=1).astype(float)


def one_arm_always_one(rounds, n, rng):
    losses = np.zeros((rounds, n))
    losses[:, n // 2] = 1
    return losses


def one_arm_never(rounds, n, rng):
    """Every other arm is driven towards probability zero."""
    losses = np.ones((rounds, n))
    losses[:, n // 2] = 0
    return losses


def good_arm_turns_bad(rounds, n, rng):
    """After half of the game the arm that was best is the worst, and everything must come back."""
    losses = one_arm_never(rounds, n, rng)
    losses[rounds // 2 :] = 1 - losses[rounds // 2 :]
    return losses


def tiny_and_huge(rounds, n, rng):
    """Losses over three hundred orders of magnitude, with exact zeros and ones between them."""
    losses = 10.0 ** -rng.uniform(0, 320, size=(rounds, n))
    losses[rng.random((rounds, n)) < 0.1] = 0
    losses[rng.random((rounds, n)) < 0.1] = 1
    return losses


SEQUENCES = [
    all_zero,
    all_one,
    alternating,
    one_arm_always_one,
    one_arm_never,
    good_arm_turns_bad,
    tiny_and_huge,
]

ALL_KINDS = sl.FeedbackGraph.from_edges(
    9,
    [(u, v) for v in (0, 1) for u in range(9) if u != v]
    + [(2, 3), (3, 4), (4, 2), (5, 5), (6, 7), (7, 8), (8, 7), (7, 6), (5, 3)],
)
KINDS = sl.Partition(ALL_KINDS, [[0], [1], [2, 3, 4], [5], [6, 7, 8]])

PLANS = {  # every realization, every kind of block; horizon ROUNDS unless it says otherwise
    "mab": lambda: sl.plan(sl.families.mab(8), ROUNDS),
    "loopless_clique": lambda: sl.plan(sl.families.loopless_clique(6), ROUNDS),
    "cycle, adaptive": lambda: sl.plan(sl.families.cycle(10), ROUNDS, realization="adaptive"),
    "revealing_action, clustered": lambda: sl.plan(
        sl.families.revealing_action(6), ROUNDS, realization="clustered"
    ),
    "cliques, by hand": lambda: sl.plan(
        g := sl.families.cliques([3, 4, 2]),
        ROUNDS,
        partition=sl.partitions.components(g),
        realization={0: "clustered", 1: "adaptive", 2: "clustered"},
    ),
    "every kind, hybrid": lambda: sl.plan(ALL_KINDS, ROUNDS, partition=KINDS, realization="hybrid"),
    "every kind, far below the threshold": lambda: sl.plan(
        ALL_KINDS, 20, partition=KINDS, realization="adaptive"
    ),
}


def check_distributions(policy, g):
    p, y = policy.probabilities, policy._game.block_probabilities
    assert (p >= 0).all()  # false for NaN
    assert (y >= 0).all()
    assert abs(p.sum() - 1) <= 1e-12
    assert abs(y.sum() - 1) <= 1e-12
    assert p[g.in_neighbors(int(np.argmin(p)))].sum() > 0


def play(plan, losses, seed, every=EVERY):
    """Play and look often; the policy after the last round."""
    g, policy = plan.graph, plan.policy(seed=seed)
    revealed = [g.out_neighbors(arm) for arm in range(g.n_arms)]
    for t, loss in enumerate(losses):
        policy.tell(loss[revealed[policy.ask()]])
        if t % every == 0:
            check_distributions(policy, g)
    check_distributions(policy, g)
    assert policy.round == len(losses)
    for arm in range(g.n_arms):
        assert all(np.isfinite(part) for part in policy.ledger(arm).values())
    return policy


@pytest.mark.parametrize("losses", SEQUENCES, ids=lambda sequence: sequence.__name__)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_hostile_losses(plan, losses):
    plan = plan()
    n = plan.graph.n_arms
    sequence = losses(ROUNDS, n, np.random.default_rng(1))
    policy = play(plan, sequence, seed=1)
    never = plan.tuning.shift == 0 and views(policy._game.memory).get("shifts", 0.0) == 0
    if losses is all_zero and never:  # nothing was ever lost or shifted, nothing was learned
        assert_allclose(policy.probabilities, plan.policy(seed=1).probabilities, rtol=1e-14)
    if losses is one_arm_never and plan.bound.certified:
        assert np.argmax(policy.probabilities) == n // 2
    if losses is one_arm_always_one and plan.bound.certified:
        best = np.argsort(policy.probabilities - plan.policy(seed=1).probabilities)
        assert best[0] == n // 2  # the arm that lost is the one that was given up most


@pytest.mark.parametrize("loses", [False, True])
def test_an_adversary_that_watches_the_likeliest_arm(loses):
    """Only the currently best arm is seen to lose, so the lead changes all the time; or all others are."""
    for g in (
        sl.families.cycle(7),
        sl.families.mab(5),
        sl.families.cliques([3, 3]),
        sl.families.loopless_clique(4),
    ):
        policy = sl.plan(g, horizon=4_000).policy(seed=3)
        for t in range(4_000):
            best = int(np.argmax(policy.probabilities))
            arms = g.out_neighbors(policy.ask())
            policy.tell(((arms == best) == loses).astype(float))
            if t % 50 == 0:
                check_distributions(policy, g)


SMALL = {
    "one arm": ("mab:1", "clustered"),
    "two arms": ("mab:2", "clustered"),
    "a loop-less pair": ("loopless_clique:2", "clustered"),
    "a pair as one block": ("loopless_clique:2", "adaptive"),
    "apple tasting": ("apple_tasting", "clustered"),
    "three on a directed ring": ("cycle:3:directed", "adaptive"),
    "weak": ("cliques:2,3", "hybrid"),
}


@pytest.mark.parametrize(("spec", "realization"), SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("horizon", [1, 2, 7, 2**62])
def test_short_and_endless_horizons_on_small_graphs(spec, realization, horizon):
    """T = 1 and T below every threshold give a correct policy, and play goes on past the horizon."""
    g = sl.families.parse(spec)
    plan = sl.plan(g, horizon, realization=realization)
    for sequence, seed in itertools.product((all_one, alternating, one_arm_never), (1, 2)):
        play(plan, sequence(150, g.n_arms, None), seed, every=1)
