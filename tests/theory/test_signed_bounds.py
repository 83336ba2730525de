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


def corrupted(n, T):
    """One weak arm, seen through an arm that has a loop as all others have: W is that arm alone, δ = 1."""
    return signed.two_group_bound(1, n - 1, 1.0, T)[0]


# what, its arguments, the bound that the page prints
BOUNDS = [
    (signed.bandit_bound, (20, 1e4, 0.6), 541),
    (signed.bandit_bound, (20, 1e5, 0.75), 1_679),
    (signed.bandit_bound, (20, 1e6, 0.75), 5_308),
    (signed.bandit_bound, (100, 1e4, 0.6), 1_333),
    (signed.bandit_bound, (100, 1e6, 0.6), 13_245),
    (weak, ("cycle:20", 1e4), 1_777),
    (weak, ("cycle:20", 1e5), 8_349),
    (weak, ("cycle:20", 1e6), 38_958),
    (weak, ("revealing_action:20", 1e5), 3_897),
    (weak, ("teams:5x4", 1e5), 7_303),
    (weak, ("hypercube:7", 1e5), 11_935),
    (corrupted, (20, 1e4), 820),
    (corrupted, (20, 1e5), 3_046),
    (corrupted, (20, 1e6), 12_108),
    (corrupted, (100, 1e5), 5_380),
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


def test_the_hull_is_bounded_from_above_and_closely():
    """Points of arms with masses x < 1/N < x′ show how large Σh can be; cells are above that, by little."""
    for n, s, beta, K in ((20, 0.5, 60.0, 2.0), (20, 0.6, 40.0, 2.5), (100, 0.75, 200.0, 4.0)):
        c = signed.bandit_shift(n, beta, s)
        k = signed.hull_weight(n, beta, s, c, K)
        x = np.append(np.exp(np.linspace(-30, 0, 1500)), (beta * K) ** (-1 / s))  # with the kink
        h = signed.height(x, beta, s, c, K, k)
        low, high = x < 1 / n, x >= 1 / n
        left, right = x[low][:, None], x[high][None, :]
        share = (right - 1 / n) / (right - left)
        found = n * float((share * h[low][:, None] + (1 - share) * h[high][None, :]).max())
        assert found <= signed.hull_price(n, beta, s, c, K, 20_000) <= 1.002 * found
        assert signed.hull_price(n, beta, s, c, K, 20_000) <= signed.hull_price(n, beta, s, c, K, 500) * (
            1 + 1e-9
        )
    assert signed.hull_price(20, 1.0, 0.5, 0.5, 2.0) == np.inf


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


def test_two_group_prices_fall_in_both_temperatures_and_meet_the_pure_cases():
    rng = np.random.default_rng(9)
    for _ in range(200):
        beta, beta_S, gamma, c, K = (
            *np.exp(rng.uniform(1, 6, 2)),
            rng.uniform(0.01, 0.5),
            rng.uniform(0, 0.5),
            1.8,
        )
        rest = (2, 5, 1.5, 5, 1.0, 0.5, gamma, c, K)
        price = signed.two_group_price(beta, beta_S, *rest)
        assert signed.two_group_price(1.3 * beta, beta_S, *rest) <= price * (1 + 1e-9)
        assert signed.two_group_price(beta, 1.3 * beta_S, *rest) <= price * (1 + 1e-9)
        alone = signed.two_group_price(beta, 1.0, 3, 0, 1.5, 0, 1.0, 0.5, gamma, c, K)
        assert alone == pytest.approx(float(signed.weak_round(1.5 / (beta * gamma), gamma, c, 1.0)))


def test_the_diameter_of_two_groups_and_what_a_change_of_potential_costs():
    """H ≤ D, W_0 = D, and Lemma 6: W′ − W ≤ K, between orders too."""
    rng = np.random.default_rng(10)
    for _ in range(60):
        n_W, n_S = (int(n) for n in rng.integers(1, 8, 2))
        h, s, beta, beta_S = rng.choice([0.5, 1.0]), rng.choice([0.3, 0.5]), *np.exp(rng.uniform(0, 4, 2))
        group = np.arange(n_W + n_S) < n_W
        orders, tau = np.where(group, h, s), np.where(group, beta, beta_S)
        D = signed.two_group_diameter(beta, beta_S, n_W, n_S, h, s)
        assert signed.entropy(rng.dirichlet(np.ones(group.size)), orders, tau) <= D * (1 + 1e-12)
        assert signed.money(np.zeros(group.size), orders, tau) == pytest.approx(D, rel=1e-8)
        before = float(np.exp(rng.uniform(-1, 3)))
        K = signed.climb([(n_W, h, beta, 0.5, before), (n_S, s, beta_S, 0.5, before)])
        for spread in (0.0, 1.0, 10.0):
            L = spread * rng.normal(size=group.size) * before
            rise = signed.money(L, orders, tau) - signed.money(L, 0.5, before)
            assert rise <= K * (1 + 1e-9) + 1e-9
        same = signed.climb([(n_W, h, beta, h, 0.4 * beta), (n_S, s, beta_S, s, 0.4 * beta_S)])
        assert 0.6 * D * (1 - 1e-9) <= same <= 0.6 * D * 1.01
