"""K from the potential of free play to a base: above every state, and next to the largest."""

import numpy as np
import pytest
import signed_twin as twin

from sidelight.planning.signed.arms import Arms, Recipe
from sidelight.planning.signed.climb import climbs
from sidelight.planning.signed.smallest import Base
from sidelight.planning.signed.table import STEP

CASES = [
    (1, 19, 1.0, 0.45, 0.05),
    (0, 20, 0.75, 0.75, 1.0),
    (30, 0, 1.0, 1.0, 1.0),
    (6, 900, 0.9, 0.5, 0.2),
    (0, 2, 0.5, 0.5, 1.0),
]


def base(n_W, n_S, h, s, ratio):
    arms = Arms(n_W, n_S, lambda o: 1.0, lambda o: float(max(n_S, 1)))
    return arms, Base.known(arms, h, s, 1.0, ratio, Recipe(0.0, np.inf, 0.0), 1)


def reached(rho, order, n_W, n_S, h, s, ratio):
    """The largest difference over points with a few equal arms on each side, and any mass there."""
    mass = np.concatenate([np.exp(np.linspace(-25, 0, 300)), 1 - np.exp(np.linspace(-12, -0.1, 100)), [0.0]])
    best = 0.0

    def height(x, o):
        logs = np.log(np.where(x > 0, x, 1.0))
        return -x * logs if o == 1 else x * np.expm1((o - 1) * logs) / (o * (1 - o))

    def side(n, o, tau, z):
        return n * (rho * tau * height(z / n, o) - height(z / n, order))

    def few(n):
        return sorted({k for k in (1, 2, 3, 4, 5, 8, 20, n // 2, n) if 1 <= k <= n})

    for a in few(n_W) or [0]:
        for b in few(n_S) or [0]:
            z = mass if a and b else np.ones(1) if b else np.zeros(1)
            total = (side(a, h, 1.0, 1 - z) if a else 0.0) + (side(b, s, ratio, z) if b else 0.0)
            best = max(best, float(np.max(total)))
    return best


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", [0.5, 1.0])
def test_climbs_are_above_every_state_and_near_the_largest(case, order):
    arms, to = base(*case)
    rho, k = climbs(arms, to, order)
    assert np.log(rho) / np.log(STEP) == pytest.approx(np.round(np.log(rho) / np.log(STEP)), abs=1e-6)
    assert (np.diff(k) >= 0).all()
    assert (k <= rho * to.diameter * (1 + 1e-12)).all()
    assert (np.diff(k) / np.diff(rho) <= 1.002 * to.diameter).all()
    for at in (0.02, 0.5, 1.0, 1.5, 4.0, 20.0, 300.0, 1e5):
        row = int(np.searchsorted(rho, at))
        largest = reached(rho[row], order, *case)
        assert largest <= k[row] * (1 + 1e-9) + 1e-12
        if at >= 20:  # before, mixtures of points exceed every point
            assert k[row] <= 1.003 * largest + 1e-3 * rho[row]


def test_climbs_bound_what_a_change_of_potential_costs():
    rng = np.random.default_rng(3)
    for n_W, n_S, h, s, ratio in ((1, 6, 1.0, 0.45, 0.1), (0, 5, 0.75, 0.75, 1.0)):
        arms, to = base(n_W, n_S, h, s, ratio)
        rho, k = climbs(arms, to, 0.5)
        group = np.arange(n_W + n_S) < n_W
        for _ in range(60):
            beta, row = np.exp(rng.uniform(-1, 3)), int(rng.integers(100, rho.size - 200))
            L = (
                rng.exponential()
                * rng.choice([0.1, 1.0, 10.0])
                * rng.normal(size=group.size)
                * beta
                * rho[row]
            )
            tau = beta * rho[row] * np.where(group, 1.0, ratio)
            rise = twin.money(L, np.where(group, h, s), tau) - twin.money(L, 0.5, beta)
            assert rise <= beta * k[row] * (1 + 1e-9) + 1e-9


def test_one_order_costs_the_difference_of_temperatures():
    arms, to = base(0, 50, 0.5, 0.5, 1.0)
    rho, k = climbs(arms, to, 0.5)
    assert k == pytest.approx(np.maximum(rho - 1, 0) * to.diameter, abs=1e-3 * to.diameter, rel=1e-3)
