"""The numbers of docs/theory/signed.md: bounds that prices give, closed forms, and maxima bounded on cells."""

from functools import partial

import numpy as np
import pytest
import signed_twin as signed

import sidelight as sl


def weak(name, T):
    """The bound of a graph all of whose arms are covered, by the cover that the library finds, order 1."""
    graph = WEAK[name]()
    found = sl.fractional_domination(graph)
    cover = np.zeros(graph.n_arms)
    cover[found.arms] = found.weights
    load = [cover[graph.in_neighbors(i)].sum() for i in range(graph.n_arms)]
    return signed.weak_bound(graph.n_arms, cover.sum() / min(load), T, 1.0)


WEAK = {
    "cycle:20": partial(sl.families.cycle, 20),
    "revealing_action:20": partial(sl.families.revealing_action, 20),
    "teams:5x4": partial(sl.families.teams, [4] * 5),
    "hypercube:7": partial(sl.families.hypercube, 7),
}


# what, its arguments, the bound that the page prints
BOUNDS = [
    (weak, ("cycle:20", 1e4), 1_777),
    (weak, ("cycle:20", 1e5), 8_349),
    (weak, ("cycle:20", 1e6), 38_958),
    (weak, ("revealing_action:20", 1e5), 3_897),
    (weak, ("teams:5x4", 1e5), 7_303),
    (weak, ("hypercube:7", 1e5), 11_935),
    (lambda n, T: signed.universal_bound(n, T)[0], (20, 1e4), 179),
]


@pytest.mark.parametrize(("bound", "arguments", "printed"), BOUNDS)
def test_bounds_are_as_printed(bound, arguments, printed):
    found = bound(*arguments)
    assert 0.995 * printed < found <= printed


def test_closed_forms():
    """Theorems A and B against their prices, and what the searches find is below them."""
    for n, delta, s in ((20, 10.0, 1.0), (50, 3.0, 0.5)):
        D, q = signed.diameter(s, n), delta**s
        for T in (6.75 * D * q, 1e5):
            beta = (T * (2 * q / 27) ** 0.5 / D) ** (2 / 3)
            closed = 2 ** (1 / 3) * (D * q) ** (1 / 3) * T ** (2 / 3)
            assert beta >= 1.5 * q * (1 - 1e-12)
            assert D * beta + T * signed.weak_closed_form(beta / q)[0] == pytest.approx(closed)
        assert signed.weak_bound(n, delta, T, s) <= closed
    for n in (2, 5, 20, 300):
        D = signed.diameter(0.5, n)
        for T, Q in ((32.0 * n, n), (1e4 * n, n), (64.0 * n**1.5, n / 4), (1e3 * n**1.5, 1.0)):
            if T * (Q / n) ** 0.5 < 32 * n:
                continue
            beta = (T * Q**0.5 / (8 * D)) ** 0.5
            assert beta**2 >= n * (1 - 1e-12)
            closed = (2 * T * (Q * n) ** 0.5 * (1 - n**-0.5)) ** 0.5 + 3 * n * (n / Q) ** 0.5
            assert D * beta + T * signed.loops_price(n, beta, Q)[1] <= closed
    # without a horizon: v' = κ(cv/D)^{−1/2} from 0, and (1+c)v at c = ½
    D, q, T = 2.0, 3.0, 1e4
    v = (1.5 * (8 * q / 27) ** 0.5 * (D / 0.5) ** 0.5 * T) ** (2 / 3)
    assert 1.5 * v == pytest.approx((4.5 * D * q) ** (1 / 3) * T ** (2 / 3))
    # all arms revealed by all others: 2√0.2381 < 0.976 for many arms and rounds
    assert signed.universal_price(10**6, 1e7, 0.081, 0.5185, 1e-3, False, 20_000) * 1e7 < 0.2381


def test_the_maximum_over_pi_is_bounded_from_above_and_closely():
    for n, beta, k, c, tau in ((20, 30.6, 0.09, 0.5, 0.1), (100, 300.0, 0.085, 0.51, 0.05)):
        fine, coarse = (signed.universal_price(n, beta, k, c, tau, False, cells) for cells in (50_000, 100))
        gamma = k / (beta * (1 - 1 / n))
        P = (1 - gamma) * (1 - tau)
        pi = np.exp(np.linspace(np.log(k), np.log(k + beta * tau), 5000))
        w = (1 - c) / pi + c / (beta * P)
        lost = (pi * (pi - k) * (np.expm1(w) - w)).max() / (1 - gamma) / beta + gamma * tau
        drawn = tau * max((1 - c) ** 2, c**2 * signed.phi(c / (beta * P))) / (2 * beta * P**2)
        assert drawn + lost <= fine * (1 + 1e-12)
        assert fine <= coarse * (1 + 1e-12)


def test_the_diameter_of_two_groups():
    """H ≤ D = W_0."""
    rng = np.random.default_rng(10)
    for _ in range(60):
        n_W, n_S = (int(n) for n in rng.integers(1, 8, 2))
        h, s, beta, beta_S = rng.choice([0.5, 1.0]), rng.choice([0.3, 0.5]), *np.exp(rng.uniform(0, 4, 2))
        group = np.arange(n_W + n_S) < n_W
        orders, tau = np.where(group, h, s), np.where(group, beta, beta_S)
        D = signed.two_group_diameter(beta, beta_S, n_W, n_S, h, s)
        assert signed.entropy(rng.dirichlet(np.ones(group.size)), orders, tau) <= D * (1 + 1e-12)
        assert signed.money(np.zeros(group.size), orders, tau) == pytest.approx(D, rel=1e-8)
