"""The losses that kernels make are those of the Python classes, bit for bit, and those of a loop by hand."""

import math

import numpy as np
import pytest
from kernel_entries import INTERPRETED, coins, door
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.engine import random
from sidelight.engine._numba.jit import kernel
from sidelight.engine.losses import cost_of, loss_of
from sidelight.engine.random import ROUGH, round_word
from sidelight.environment.base import environment_key

env = sl.environments
arm_unit, hashed_unit, rough_unit = map(door, (random.arm_unit, random.hashed_unit, random.rough_unit))
word_of = door(round_word)
N, ROUNDS = 6, 150
RNG = np.random.default_rng(11)
ROWS = RNG.uniform(0.25, 0.75, (4, N))


@kernel(cache=False)
def world_losses(world, function, key, losses, costs):
    """All losses and costs of the first rounds."""
    for t in range(losses.shape[0]):
        word = round_word(key, t)
        for arm in range(losses.shape[1]):
            losses[t, arm] = loss_of(world, function, word, t, arm)
            costs[t, arm] = cost_of(world, function, t, arm)


def stairs(t, arm):
    return ((3 * t + 2 * arm) % 7) / 7


SOURCE = np.array([0, ~0, 0, 3, ~5, 5])
ENVIRONMENTS = {
    "coins": env.bernoulli(ROWS[0]),
    "rows of coins": env.Coins(ROWS, period=7),
    "table": env.matrix(RNG.random((ROUNDS, N))),
    "repeated table": env.matrix(RNG.random((11, N)), repeat=True),
    "function": env.function(njit(stairs), N),
    "bounded": env.bounded(ROWS[1]),
    "bounded, rows": env.Bounded(ROWS, [0.0, 0.05, 0.1, 0.15, 0.2, 0.25], period=9),
    "drifting": env.Drifting(ROWS, period=7),
    "drifting, one row": env.Drifting(ROWS[:1], period=3),
    "drifting at once": env.Drifting(ROWS, period=1),
    "opposed": env.Opposed(ROWS, SOURCE, period=5),
    "opposed, certain": env.Opposed([[0.0, 1.0, 0.5, 1.0, 0.0, 1.0]], SOURCE),
    "newsvendor": env.newsvendor(RNG.integers(0, 9, ROUNDS), np.arange(N), over=2, under=5),
    "hard": env.hard(sl.families.cycle(N), 1000, seed=3),
}
if INTERPRETED:  # without a compiler there are no compiled functions
    del ENVIRONMENTS["function"]
each = pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)


def in_python(environment, seed):
    arms = np.arange(environment.n_arms)
    losses = np.array([environment.losses(seed, t, arms) for t in range(ROUNDS)])
    costs = np.array([[environment.costs(seed, t, arm) for arm in arms] for t in range(ROUNDS)])
    return losses, costs


@each
@pytest.mark.parametrize("seed", [0, 2**62 + 5])
def test_compiled_losses_are_those_of_python(environment, seed):
    losses, costs = np.empty((ROUNDS, N)), np.empty((ROUNDS, N))
    world_losses(environment.world, environment.function, environment_key(seed), losses, costs)
    expected, expected_costs = in_python(environment, seed)
    assert_array_equal(losses, expected)
    assert_array_equal(costs, expected_costs)
    assert ((losses >= 0) & (losses <= 1)).all()


def by_hand(environment, seed, t, arm):
    """A loss from its definition, one number at a time."""
    key = environment_key(seed)
    rows, period = environment.means, environment.period
    leg, into = divmod(t, period)
    mean, after = rows[leg % len(rows)][arm], rows[(leg + 1) % len(rows)][arm]
    if isinstance(environment, env.Drifting):
        mean = (1 - into / period) * mean + into / period * after
    source = environment.source[arm] if isinstance(environment, env.Opposed) else arm
    if source < 0:
        return float(hashed_unit(key, t, -1 - source) >= 1 - mean), mean
    unit = hashed_unit(key, t, source)
    if isinstance(environment, env.Bounded):
        low, high = mean - environment.width[arm], mean + environment.width[arm]
        return pytest.approx(low + unit * (high - low), abs=1e-12), mean
    return float(unit < mean), mean


@pytest.mark.parametrize(
    "name", ["coins", "rows of coins", "bounded, rows", "drifting", "drifting at once", "opposed"]
)
def test_losses_are_what_their_definition_says(name):
    environment = ENVIRONMENTS[name]
    losses, costs = in_python(environment, seed=4)
    for t in range(ROUNDS):
        for arm in range(N):
            loss, mean = by_hand(environment, 4, t, arm)
            assert losses[t, arm] == loss
            assert costs[t, arm] == mean


@each
def test_totals_are_sums_of_costs(environment):
    costs = in_python(environment, seed=1)[1]
    exact = np.array([[math.fsum(costs[:t, arm]) for arm in range(N)] for t in range(ROUNDS + 1)])
    rounds = np.arange(ROUNDS + 1)
    assert_allclose(environment.totals(rounds, seed=1), exact, rtol=1e-13, atol=1e-13)
    assert_allclose(environment.best_totals(rounds, seed=1), exact.min(axis=1), rtol=1e-13, atol=1e-13)
    best = environment.best_arm(ROUNDS, seed=1)
    assert exact[-1, best] <= exact[-1].min() + 1e-12
    shuffled = np.array([70, 3, 150, 3, 0])
    assert_allclose(environment.totals(shuffled, seed=1), exact[shuffled], rtol=1e-13, atol=1e-13)


def test_totals_far_ahead():
    """Closed forms hold over many cycles: 10¹² rounds are as quick as ten."""
    for environment in (env.Drifting(ROWS, period=7), env.Coins(ROWS, period=7), env.Bounded(ROWS, 0.1)):
        far = environment.totals(np.array([4 * 7 * 10**11]))[0]
        assert_allclose(far, ROWS.mean(axis=0) * 4 * 7 * 10**11, rtol=1e-12)


NEAR = {
    "the number itself": lambda u, rough: u,
    "just above it": lambda u, rough: np.nextafter(u, 1.0),
    "just below it": lambda u, rough: np.nextafter(u, 0.0),
    "the rough number": lambda u, rough: rough,
    "between the two": lambda u, rough: 0.5 * (u + rough),
    "the end of what is undecided": lambda u, rough: rough + ROUGH,
    "its beginning": lambda u, rough: rough - ROUGH,
    "anything": lambda u, rough: 0.4,
    "never": lambda u, rough: 0.0,
    "always": lambda u, rough: 1.0,
}


@pytest.mark.parametrize("near", NEAR.values(), ids=NEAR)
@pytest.mark.parametrize("who", ["all", "one", "last"])
def test_runs_of_coins_are_flipped_exactly(near, who):
    """However close a mean is to the number that decides: rough numbers never have the last word."""
    n, first = 100, 7
    for t in range(5):
        word = np.uint64(word_of(environment_key(1), t))
        units = np.array([arm_unit(word, arm) for arm in range(n)])
        chosen = {"all": np.arange(n), "one": [40], "last": [n - 1]}[who]
        means = np.full(n, 0.5)
        means[chosen] = [near(units[arm], rough_unit(word, arm)) for arm in chosen]
        out = np.full(n - first + 1, -1.0)
        coins(means, word, first, n - first, out)
        assert_array_equal(out[:-1], (units < means)[first:])
        assert out[-1] == -1.0
