"""examples/paying_to_look.py: exact laws of one round, the bound on paper and in play."""

import re
import runpy
from copy import deepcopy
from itertools import product
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

EXAMPLE = Path(__file__).parents[1] / "examples" / "paying_to_look.py"
Rule = runpy.run_path(str(EXAMPLE))["PayToLook"]


def new(n, costs, seed=0):
    return Rule(np.broadcast_to(costs, n), seed)


def learnt(n, costs, rounds=30, seed=5):
    """A policy in the middle of a game, and the generator that told it losses."""
    policy, rng = new(n, costs, seed), np.random.default_rng(seed)
    for _ in range(rounds):
        _, looks = policy.ask()
        policy.tell(looks, rng.random(looks.size) ** 2)
    return policy, rng


def played(costs, losses, seed):
    """(regret plus payments, certificate) of a game against a table of losses (T, n)."""
    policy, paid = new(losses.shape[1], costs, seed), 0.0
    for row in losses:
        arm, looks = policy.ask()
        paid += row[arm]
        policy.tell(looks, row[looks])
    return paid - losses.sum(axis=0).min() + policy.spent, policy.certificate()


COSTS = {"dear": 3.0, "cheap": 0.05, "nothing": 0.0, "mixed": [0.0, 0.02, 5.0, 0.4]}


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_estimates_are_unbiased_and_noise_is_priced(costs):
    """Over all sets of arms that can be looked at: E ℓ̂ = ℓ, E⟨q, ℓ̂²⟩/(2β) + E payments ≤ what β is raised for."""
    policy, rng = learnt(4, costs)
    losses, q, p, before = rng.random(4), policy.probabilities, policy.looking, policy.sums
    mean, noise, paid, total = np.zeros(4), 0.0, 0.0, 0.0
    for chosen in product((False, True), repeat=4):
        chance = np.prod(np.where(chosen, p, 1 - p))
        if chance == 0:
            continue
        twin, looks = deepcopy(policy), np.flatnonzero(chosen)
        twin.tell(looks, losses[looks])
        estimates = twin.sums - before  # up to the same number for all arms
        estimates -= estimates.min() if len(looks) < 4 else (estimates - losses / p).mean()
        mean += chance * estimates
        noise += chance * (q @ estimates**2) / (2 * policy.beta)
        paid += chance * (twin.spent - policy.spent)
        total += chance
        raised = 2 * log(4) * (twin.beta - policy.beta)
        assert_allclose(twin.beta, policy.beta + raised / (2 * log(4)))
    assert_allclose(total, 1)
    assert_allclose(mean, losses)
    assert_allclose(paid, p @ policy.costs)
    assert noise + paid <= raised
    assert_allclose(raised, q @ (1 / p) / (2 * policy.beta) + p @ policy.costs)


def test_the_chance_to_look_is_the_best_for_its_price():
    policy, _ = learnt(4, COSTS["mixed"])
    q, c, grid = policy.probabilities, policy.costs, np.linspace(1e-4, 1, 5_001)
    priced = q[:, None] / (2 * policy.beta * grid) + grid * c[:, None]
    found = q / (2 * policy.beta * policy.looking) + policy.looking * c
    assert (found <= priced.min(axis=1) * (1 + 1e-12)).all()
    most = sqrt(2 * c.sum() / policy.beta) + 1 / (2 * policy.beta)  # a_t ≤ √(2/β)·C + 1/(2β)
    assert found.sum() <= most


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_the_first_round_could_double_the_temperature(costs):
    policy = new(4, costs)
    beta, C = policy.first, sqrt(policy.costs.sum())
    assert sqrt(2 / beta) * C + 1 / (2 * beta) == pytest.approx(2 * log(4) * beta, rel=1e-12)


@pytest.mark.parametrize("n", [2, 10, 1000])
@pytest.mark.parametrize("cost", [0.0, 0.01, 1.0, 100.0])
def test_the_closed_form_is_above_the_recursion(n, cost):
    """β_{t+1} = β_t + a(β_t)/(2 log N) with the largest a, round by round, and the leading constant."""
    policy, height = new(n, cost), log(n)
    C = sqrt(n * cost)
    beta = last = policy.first
    for t in range(1, 20_001):
        last, beta = beta, beta + (sqrt(2 / beta) * C + 1 / (2 * beta)) / (2 * height)
        if t in (1, 2, 10, 20_000):
            exact = height * (last + 2 * (beta - policy.first))
            assert exact <= policy.bound_at(t)
    assert policy.bound_at(20_000) < 1.3 * exact
    far = 10**15
    leading = 3.1202 * height ** (1 / 3) * (C * far) ** (2 / 3) + 2.1214 * sqrt(far * height)
    assert policy.bound_at(far) <= leading * (1 + 1e-6)


GAMES = {
    "gap": lambda rng, T: (rng.random((T, 5)) < [0.5, 0.5, 0.3, 0.5, 0.5]).astype(float),
    "switching": lambda rng, T: np.eye(5)[(np.arange(T) * 5 // T)] * 0.8,
    "all alike": lambda rng, T: np.ones((T, 5)),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("cost", [0.0, 0.02, 0.5])
def test_regret_and_payments_stay_below(game, cost):
    T = 500
    losses = GAMES[game](np.random.default_rng(1), T)
    paid, certified = np.array([played(cost, losses, seed) for seed in range(8)]).T
    bound = new(5, cost).bound_at(T)
    assert paid.mean() + 3 * paid.std() / sqrt(8) < certified.mean()
    assert (certified <= bound).all()


def test_dear_looks_are_rare():
    rates = []
    for cost in (0.01, 0.1, 1.0, 10.0):
        policy, _ = learnt(6, cost, rounds=300)
        rates.append(policy.spent / cost / 300)
    assert (np.diff(rates) < 0).all()
    assert rates[-1] < 0.4 < rates[0]


def test_seeds_decide():
    def game(seed):
        policy, _ = learnt(4, 0.1, seed=seed)
        return policy.ask()[0], policy.spent

    assert game(3) == game(3)
    assert game(3) != game(4)


@pytest.mark.parametrize("seed", [1, 17, 23])
def test_arms_out_of_the_race_cost_nothing(seed):
    """Their probability may underflow to 0, and so that of looking at them: the round still has a price."""
    row, policy, out = np.append(0.0, np.ones(19)), new(20, 0.001, seed), 0
    for _ in range(1_000):
        _, looks = policy.ask()
        policy.tell(looks, row[looks])
        out += policy.looking.min() == 0.0
        assert 0 < policy.price() < np.inf
    assert out > 100  # or this has shown nothing
    assert policy.certificate() <= policy.bound_at(1_000)


def test_what_it_prints(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    first, second, third = (
        [float(word.replace(",", "")) for word in re.findall(r"\d[\d,]*\.?\d*", line)]
        for line in capsys.readouterr().out.splitlines()
    )
    regret, paid, _ = second
    assert regret == pytest.approx(first[0] - first[-1], abs=1.0)
    assert regret + paid < third[0] <= third[1]
