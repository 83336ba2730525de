"""The smallest bounds that are known, from the numbers of graphs alone."""

from functools import partial

import numpy as np
import pytest
import signed_twin as twin

from sidelight.planning.signed.arms import Arms
from sidelight.planning.signed.prices import price
from sidelight.planning.signed.smallest import Base, ray_diameter, smallest
from sidelight.planning.signed.table import STEP
from sidelight.planning.tuning import lazy_factor


def bandits(n):
    return Arms(0, n, lambda o: 0.0, lambda o: float(n), lambda o: (n**o / 2, 0.0))


def covered(n, delta):
    return Arms(n, 0, lambda o: delta**o * (float(lazy_factor(n)) if o < 1 else 1.0), lambda o: 0.0)


def corrupted(n, **more):
    return Arms(1, n - 1, lambda o: 1.0, lambda o: n - 1.0, **more)


def loopless(n):
    return Arms(n, 0, lambda o: (n / (n - 1)) ** o, lambda o: 0.0, lambda o: (0.8, 0.8), universal=True)


def full(n):
    return Arms(0, n, lambda o: 0.0, lambda o: 1.0, lambda o: (0.125 if o == 1 else 0.5, 0.0))


BOUNDS = [  # arms, T, the bound that is known
    (partial(bandits, 20), 10**4, 532),
    (partial(bandits, 20), 10**5, 1_677),
    (partial(bandits, 20), 10**6, 5_303),
    (partial(bandits, 20), 10**9, 167_680),
    (partial(bandits, 100), 10**4, 1_336),
    (partial(bandits, 100), 10**6, 13_242),
    (partial(covered, 20, 10.0), 10**4, 1_777),
    (partial(covered, 20, 10.0), 10**5, 8_349),
    (partial(covered, 20, 10.0), 10**6, 38_958),
    (partial(covered, 20, 1.0), 10**5, 3_897),
    (partial(covered, 20, 20 / 3), 10**5, 7_303),
    (partial(covered, 128, 128 / 7), 10**5, 11_935),
    (partial(corrupted, 20), 10**4, 819),
    (partial(corrupted, 20), 10**5, 3_033),
    (partial(corrupted, 20), 10**6, 12_060),
    (partial(corrupted, 100), 10**5, 5_380),
    (partial(corrupted, 20, signed=False), 10**4, 1_192),
    (partial(loopless, 20), 10**4, 179),
    (partial(full, 20), 10**4, (10**4 / 2 * np.log(20)) ** 0.5 * (1 + 1e-9)),
]


@pytest.mark.parametrize(("arms", "T", "known"), BOUNDS)
def test_bounds_are_as_known(arms, T, known):
    base = smallest(arms(), T)
    assert 0.985 * known < base.value <= known
    costs = arms().costs([base.h], [base.s])
    assert base.w == float(price(costs, base.beta, base.ratio, base.recipe)[0])
    assert base.diameter == float(ray_diameter(costs, base.ratio)[0])
    assert base.value == pytest.approx(base.beta * base.diameter + T * base.w)
    assert Base.known(arms(), base.h, base.s, base.beta, base.ratio, base.recipe, T).value == base.value


def test_lifting_lazily_costs_little(monkeypatch):
    """More than 24 arms are lifted by a little more than they are owed."""
    lazy = [smallest(arms, 200 * 100).value for arms in (bandits(100), corrupted(100))]
    monkeypatch.setattr("sidelight.planning.signed.arms.EXACT_SPREAD", 1000)
    exact = [smallest(arms, 200 * 100).value for arms in (bandits(100), corrupted(100))]
    assert (np.array(lazy) / exact < 1.007).all()


def test_diameters_are_those_of_the_twin():
    rng = np.random.default_rng(2)
    for _ in range(200):
        n_W, n_S = int(10 ** rng.uniform(-0.5, 5)), int(10 ** rng.uniform(0, 5))
        h, s = float(rng.choice([0.5, 0.8, 1.0])), float(rng.choice([0.3, 0.5, 0.9]))
        ratio = np.exp(rng.uniform(-6, 1))
        found = float(ray_diameter(Arms(n_W, n_S, lambda o: 1.0, lambda o: 1.0).costs([h], [s]), ratio)[0])
        known = twin.two_group_diameter(1.0, ratio, n_W, n_S, h, s)
        assert known * (1 - 1e-6) <= found <= known * (1 + 1e-7)
        group = np.arange(n_W + n_S) < n_W
        x = np.where(group, 1.0, rng.exponential()) * rng.dirichlet(np.full(group.size, 50.0))
        assert twin.entropy(x / x.sum(), np.where(group, h, s), np.where(group, 1.0, ratio)) <= found


def test_the_table_of_a_base_has_its_temperature_as_a_row():
    arms, T = corrupted(20), 10**5
    base = smallest(arms, T)
    table = base.table(arms, 1.0, 4 * base.beta)
    row = int(np.flatnonzero(table.beta == base.beta)[0])
    assert table.w[row] <= base.w
    assert table.beta[0] <= 1 < table.beta[0] * STEP**1.01
    assert table.beta[-1] >= 4 * base.beta
    value = base.diameter * table.beta + T * table.w
    assert value.min() <= base.value
    assert value.argmin() in range(row - 12, row + 13)
    fewer = base.diameter * table.beta + T / 10 * table.w  # the same ray suits fewer rounds nearly as well
    assert fewer.min() <= 1.05 * smallest(arms, T // 10).value


def test_too_few_rounds_have_the_trivial_bound():
    base = smallest(covered(300, 150.0), 50)
    assert base.w == 1
    assert base.recipe == (0.0, np.inf, 0.0)
    assert base.value == pytest.approx(50.01, abs=0.05)
    assert smallest(bandits(20), 100).value < 62


def test_loops_that_fail_cost_more():
    several = [
        Arms(2, 4, lambda o: 2.0**o, lambda o, r=r: 4 * r ** (-1 / o), loop=r) for r in (1.0, 0.8, 0.3)
    ]
    values = [smallest(arms, 10**5).value for arms in several]
    assert values[0] < values[1] < values[2] < 1.2 * values[0]


def test_orders_may_be_given():
    base = smallest(corrupted(20), 10**4, (0.5,), (0.5,))
    assert (base.h, base.s) == (0.5, 0.5)
    assert base.value > smallest(corrupted(20), 10**4).value
