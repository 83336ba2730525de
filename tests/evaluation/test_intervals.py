"""Intervals: they cover as often as they say, on seeded samples, and follow their formulas."""

from math import log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from recorded import record

import sidelight as sl
from sidelight.evaluation.intervals import Bounded, bernstein, bootstrap, lower_bound

RUNS = 200


def heavy(rng, n):
    """Weights as a rare arm has them: 1/p with probability p, nothing otherwise; mean 1."""
    return np.where(rng.random(n) < 0.01, 100.0, 0.0) * 0.3, 0.3


def changing(rng, n):
    """Means that change, and depend on what happened before."""
    terms, means, last = np.empty(n), np.empty(n), 0.0
    for t in range(n):
        means[t] = 0.8 if last > 0.5 else 0.2 + 0.4 * (t > n / 2)
        chance = 0.1 + 0.8 * (last > 0.5)
        terms[t] = last = means[t] / chance * (rng.random() < chance)
    return terms, means.mean()


def coins(rng, n):
    return (rng.random(n) < 0.5).astype(float), 0.5


def certain(rng, n):
    return np.full(n, 1.0), 1.0


@pytest.mark.parametrize("draw", [heavy, changing, coins, certain], ids=lambda draw: draw.__name__)
def test_the_lower_bound_fails_at_most_as_often_as_it_says(draw):
    rng = np.random.default_rng(1)
    failures = 0
    for _ in range(RUNS):
        terms, mean = draw(rng, 200)
        failures += lower_bound(0.1, Bounded(terms)) > mean
    assert failures <= 0.1 * RUNS


def test_it_is_not_empty_talk():
    """At 10,000 coins it is within twice the normal approximation, and never below the Bernstein bound."""
    rng = np.random.default_rng(2)
    terms, _ = coins(rng, 10_000)
    gap = terms.mean() - lower_bound(0.025, Bounded(terms))
    assert 0 < gap < 2 * 1.96 * 0.5 / 100
    terms, _ = heavy(rng, 10_000)
    assert terms.mean() - lower_bound(0.025, Bounded(terms)) < bernstein(terms, 0.05, 30.0)


def test_it_is_the_supermartingale_of_its_proof():
    """At the bound, the mixture of wealths is 1/error: written out as in the docstring."""
    rng = np.random.default_rng(3)
    terms = rng.random(50) * 2
    bound = lower_bound(0.2, Bounded(terms, -0.5), most=2.0)
    n, width = 50, 2.5
    guesses = [min(max((terms[:t].sum() + 0.75) / (t + 1), -0.5), 2.0) for t in range(n)]
    best = max(np.log2(n) / 2 - 1 - np.log2(width), 1.0)
    rates = [2.0**-k for k in range(1, int(np.ceil(best)) + 8)]
    shares = np.array([2.0 ** -abs(k - best) for k in range(1, len(rates) + 1)])
    shares /= shares.sum()
    excess = (n * bound - sum(guesses)) / width
    wealth = 0.0
    for rate, share in zip(rates, shares, strict=True):
        product = np.prod([1 + rate * (z - c) / width for z, c in zip(terms, guesses, strict=True)])
        wealth += share * product * np.exp(-rate * excess)
    assert_allclose(wealth, 1 / 0.2, rtol=1e-9)


def test_two_sequences_cost_little_more_than_the_better_one():
    """Each alone, with half the error, is at most the mixture."""
    rng = np.random.default_rng(5)
    heavy_terms, calm = Bounded(heavy(rng, 2000)[0]), Bounded(0.3 + 0.1 * rng.standard_normal(2000), -1.0)
    both = lower_bound(0.05, heavy_terms, calm)
    assert both >= max(lower_bound(0.025, heavy_terms), lower_bound(0.025, calm))
    assert both <= 0.3


def test_the_bound_stays_in_its_range():
    assert lower_bound(0.05, Bounded(np.zeros(10))) == 0.0
    assert lower_bound(0.05, Bounded(np.empty(0))) == 0.0
    assert lower_bound(0.05, Bounded(np.full(10_000, 50.0))) == 1.0
    assert lower_bound(0.05, Bounded(np.full(3, 1.0))) == 0.0


def test_bernstein_by_hand():
    terms = np.array([0.0, 1.0, 1.0, 0.0])
    expected = sqrt(2 * (1 / 3) * log(80) / 4) + 7 * 2 * log(80) / 9
    assert bernstein(terms, 0.05, width=2.0) == pytest.approx(expected)
    assert bernstein(terms[:1], 0.05, width=2.0) == float("inf")


def test_the_bootstrap_draws_decisions_again():
    rng = np.random.default_rng(4)
    weights = rng.random(400) + 0.5
    low, high = bootstrap(weights * 0.3, weights, 0.05, 200, seed=1)
    assert low == pytest.approx(0.3)
    assert high == pytest.approx(0.3)
    low, high = bootstrap(weights, None, 0.05, 500, seed=1)
    assert low < weights.mean() < high
    assert_allclose((high - low) / 2, 1.96 * weights.std() / 20, rtol=0.15)
    assert (low, high) == bootstrap(weights, None, 0.05, 500, seed=1)


# -- whole logs, of policies that learn -------------------------------------------------------------------


def test_coverage_on_logs_of_a_learning_policy():
    """95 % intervals of three targets and of their difference; the truth is the mean of the losses themselves."""
    graph, rounds, runs = sl.families.cycle(4), 150, 60
    world = sl.environments.drifting(4, period=50)
    plan = sl.plan(graph, horizon=rounds, realization="fixed")  # one that goes on exploring
    uniform, everything = np.full(4, 0.25), np.arange(4)
    kinds = {
        "martingale": {},
        "floor": {"floor": 1e-2},
        "clipped": {"clip": 5.0},
        "bernstein": {"interval": "bernstein", "floor": 1e-2, "method": "ips"},
    }
    failures = dict.fromkeys([*kinds, "difference"], 0)
    for seed in range(runs):
        log = record(plan.policy(seed=seed), lambda t, arms, seed=seed: world.losses(seed, t, arms), rounds)
        losses = np.array([world.losses(seed, t, everything) for t in range(rounds)]).mean(axis=0)
        truth = {"first": losses[0], "uniform": losses @ uniform}
        targets = {"first": 0, "uniform": uniform}
        for kind, options in kinds.items():
            found = sl.evaluate(log, targets, **options)
            failures[kind] += sum(not row.low <= truth[row.target] <= row.high for row in found)
        apart = found.difference("first", "uniform")
        failures["difference"] += not apart.low <= truth["first"] - truth["uniform"] <= apart.high
    assert all(count <= 0.05 * runs for count in failures.values()), failures
