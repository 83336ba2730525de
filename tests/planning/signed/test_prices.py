"""Prices against exact rounds: random and structured states, and climbs to where cost ÷ price is largest.

Lifts and exploration are played as the engine may keep them: anywhere between what is owed and what lazy play adds.
"""

import numpy as np
import pytest
import signed_twin as twin
from worst_states import searched, simplex, spread, unit

from sidelight.planning.signed.arms import Arms, Recipe
from sidelight.planning.signed.prices import explored, hull_price, price, two_group_price
from sidelight.planning.signed.psi import SMALL, psi, psi_minus, with_growth
from sidelight.planning.signed.table import Table
from sidelight.planning.signed.universal import universal_price
from sidelight.planning.tuning import LAZY_FACTOR

SIZES = [pytest.param(60, 3, id="quick"), pytest.param(2000, 20, id="many", marks=pytest.mark.full)]
ABOVE = 1 + 1e-8
REACH = 65 / 63  # (1+ρ)/(1−ρ), ρ = 1/64


def costs_of(arms, h, s, lazy):
    """As for few arms, or for many, which are played lazily."""
    costs, above = arms.costs([h], [s]), REACH if lazy else 1.0
    below = np.array([above ** (-1 / (1 - s))])
    return costs._replace(above=above, below=below, weak=costs.weak * (LAZY_FACTOR if lazy else 1.0))


def lifts(X, S, beta_S, s, K, costs, where):
    """ℓ on S, so far (0 to 1) between what is owed and what lazy play may add."""
    root = X ** (1 - s) / (beta_S * K)
    least, most = root - X, costs.above * root - costs.below * X
    return np.where(S & np.isfinite(K), np.maximum(least, 0) * (1 - where) + np.maximum(most, 0) * where, 0.0)


def two_groups(rng):
    """Covered arms with sources anywhere, loops on the others, some of which fail; Z = (1−γ)X + bg + ℓ."""
    n_W = int(rng.integers(0, 5))
    n_S = int(rng.integers(n_W == 0, 10))
    n, W = n_W + n_S, np.arange(n_W + n_S) < n_W
    if n < 2:
        return two_groups(rng)
    h, s = float(rng.choice([0.5, 0.75, 0.9, 1.0])), float(rng.choice([0.3, 0.45, 0.5, 0.6, 0.75]))
    r = np.diag((~W).astype(float))
    for i in range(n_W):
        sources = rng.choice(
            np.delete(np.arange(n), i), size=rng.integers(1, min(n - 1, 3) + 1), replace=False
        )
        r[sources, i] = 1.0
    Q, loop = float(n_S), 1.0
    if rng.random() < 0.3:  # the arms with loops are one clique
        r[np.ix_(~W, ~W)], Q = 1.0, 1.0
    elif rng.random() < 0.3 and n_S:  # loops that fail
        works = rng.uniform(0.3, 1, n_S)
        r[~W, ~W] = works
        loop, Q = float(works.min()), float((works ** (-1 / s)).sum())
    cover = np.where(r[:, W].any(axis=1), rng.random(n) + 0.1, 0.0)
    cover /= (cover @ r)[W].min() if n_W else 1.0
    lazy, orders = bool(rng.random() < 0.5), np.where(W, h, s)
    costs = costs_of(Arms(n_W, n_S, lambda o: cover.sum() ** o, lambda o: Q, loop=loop), h, s, lazy)
    plainly, far = rng.random() < 0.15, rng.random(n) if lazy else np.zeros(n)

    def ratio(at):
        X, beta, c = simplex(at[:n]), np.exp(at[n]), 0.0 if plainly else 0.6 * unit(at[n + 1])
        ratio, K = np.exp(at[n + 2]), np.inf if plainly or not n_S else np.exp(at[n + 4])
        b = 0.5 * unit(at[n + 3]) / float(costs.weak[0]) if n_W else 0.0
        recipe = Recipe(np.array([b]), np.array([K]), np.array([c]))
        right = float(two_group_price(costs, beta, ratio, recipe)[0])
        if not right < np.inf:
            return 0.0
        g = twin.directions(r, cover, X, h, W) * (1 + far * (LAZY_FACTOR - 1)) if n_W else np.zeros(n)
        lift = lifts(X, ~W, beta * ratio, s, K, costs, np.roll(far, 1))
        gamma = b * g.sum() + lift.sum()
        assert gamma <= float(explored(costs, beta * ratio, recipe)[0]) * (1 + 1e-9)
        Z = (1 - gamma) * X + b * g + lift
        tau = np.where(W, beta, beta * ratio)
        return twin.plain(X, Z @ r, Z, orders, tau, c) / right

    start = [rng.uniform(1, 6), rng.normal(), rng.uniform(-2.5, 0.5), rng.normal() - 1, rng.uniform(-0.5, 1)]
    return np.concatenate([spread(rng, n), start]), ratio


def all_looped(rng):
    """Bandits, some of which see more: the hull."""
    n, s = int(rng.integers(2, 31)), float(rng.choice([0.4, 0.5, 0.6, 0.75, 0.9]))
    beta, K = n**s * np.exp(rng.uniform(0.3, 4)), rng.uniform(0.2, 1.3) / (1 - s)
    c = rng.uniform(0.1, 0.6) if rng.random() < 0.5 else twin.bandit_shift(n, beta, s)
    lazy = bool(rng.random() < 0.5)
    costs = costs_of(Arms(0, n, lambda o: 0.0, lambda o: float(n)), s, s, lazy)
    right = float(hull_price(costs, beta, Recipe(np.zeros(1), np.array([K]), np.array([c])))[0])
    if right == np.inf:
        return all_looped(rng)
    r = np.maximum(np.eye(n), rng.random((n, n)) < rng.choice([0.0, 0.0, 0.2]))
    far = rng.random(n) if lazy else np.zeros(n)

    def ratio(at):
        X = simplex(at)
        lift = lifts(X, np.ones(n, dtype=bool), beta, s, K, costs, far)
        Z = (1 - lift.sum()) * X + lift
        return twin.plain(X, Z @ r, Z, s, beta, c) / right

    return spread(rng, n), ratio


def all_universal(rng):
    """No loops, heavy arms as heavy as exploration allows: exact cost, all losses."""
    n = int(rng.choice([2, 3, 4, 5, 6], p=[0.2, 0.25, 0.25, 0.2, 0.1]))
    r, losses = 1 - np.diag((rng.random(n) < rng.choice([0.5, 1.0])).astype(float)), twin.vertices(n)

    def ratio(at):
        X, beta, k = simplex(at[:n]), 3 * np.exp(min(abs(at[n]), 6)), np.exp(at[n + 1])
        b, c = k / beta, unit(at[n + 2])
        right = float(universal_price(n, beta, b, c))
        if not right < np.inf:
            return 0.0
        Z = (1 - b * n / (n - 1)) * X + b / (n - 1)
        return float((twin.expected(r, X, Z, 1.0, beta, c, losses) + losses @ (Z - X)).max()) / right

    start = [rng.uniform(0, 4), np.log(0.1) + 0.3 * rng.normal(), 0.3 * rng.normal()]
    return np.concatenate([spread(rng, n), start]), ratio


@pytest.mark.parametrize(("states", "climbs"), SIZES)
@pytest.mark.parametrize("problem", [two_groups, all_looped, all_universal])
def test_no_round_costs_more_than_its_price(states, climbs, problem):
    assert searched(problem, states, climbs, 5) <= ABOVE


def rows_of_tables(rng):
    """A row of a table, played at its temperature or above, by what the row says."""
    n_W, n_S = TABLES[key := int(rng.integers(len(TABLES)))]
    n, W = n_W + n_S, np.arange(n_W + n_S) < n_W
    h, s, shares = (0.5, 0.5, (1.0,)) if rng.random() < 0.5 else (1.0, 0.45, (0.05, 0.3))
    ratio = float(rng.choice(shares)) if n_W and n_S else 1.0
    h, s = (h, s) if n_W and n_S else (h, h) if n_W else (s, s)
    r = np.diag((~W).astype(float))
    r[(np.arange(n_W) + 1) % n, np.arange(n_W)] = 1.0  # each covered arm is seen through the next
    cover = np.where(r[:, W].any(axis=1), 1.0, 0.0)
    arms = Arms(n_W, n_S, lambda o: cover.sum() ** o, lambda o: float(n_S))
    if (key, h, s, ratio) not in KEPT:
        KEPT[key, h, s, ratio] = Table.on(arms, h, s, ratio, 1.02 ** np.arange(700.0))
    table = KEPT[key, h, s, ratio]
    k = int(rng.integers(table.w.size))
    beta = table.beta[k] * (1 if rng.random() < 0.5 else np.exp(rng.exponential()))
    b, K, c = table.strength[k], table.lift[k], table.shift[k]

    def ratio_of(at):
        X = simplex(at)
        g = twin.directions(r, cover, X, h, W) if n_W else np.zeros(n)
        lift = lifts(X, ~W, beta * ratio, s, K, arms.costs([h], [s]), 0.0)
        gamma = b * g.sum() + lift.sum()
        Z = (1 - gamma) * X + b * g + lift
        return twin.plain(X, Z @ r, Z, np.where(W, h, s), np.where(W, beta, beta * ratio), c) / table.w[k]

    return spread(rng, n), ratio_of


TABLES = [(4, 0), (0, 5), (2, 6), (1, 15)]
KEPT: dict[tuple[int, float, float, float], Table] = {}


@pytest.mark.parametrize(("states", "climbs"), SIZES)
def test_a_row_of_a_table_may_be_played_from_its_temperature_on(states, climbs):
    assert searched(rows_of_tables, states, climbs, 6) <= ABOVE


def test_what_the_drawn_arm_pays_is_at_most_1_where_its_shift_is_allowed():
    """Estimated from one draw, a free round is charged with the drawn arm's term over its probability."""
    rng = np.random.default_rng(7)
    some = 0
    for _ in range(400):
        n, s = int(rng.integers(2, 9)), float(rng.choice([0.5, 0.75, 1.0]))
        X, beta, c = simplex(spread(rng, n)), np.exp(rng.uniform(0, 3)), rng.random()
        extra = rng.random(n) * rng.choice([0.01, 0.05])
        Z = (1 - extra.sum()) * X + extra
        q = X ** (1 - s) / (beta * Z)
        terms = np.maximum(c * X * twin.psi_minus(c * q, s), (1 - c) * X * twin.psi((1 - c) * q, s) + Z - X)
        if c * twin.psi_minus(c * q.max(), s) <= 1 - extra.sum():
            some += 1
            assert (terms <= Z * (1 + 1e-12)).all()
    assert some > 50


# ------------------------------------------------------------------ prices by themselves


def any_recipe(rng, covered, looped):
    K = np.exp(rng.uniform(-0.5, 1.2)) if looped else np.inf
    return Recipe(
        rng.uniform(0.001, 0.2) if covered else 0.0, np.array([K]), np.array([rng.uniform(0.05, 0.5)])
    )


def test_prices_fall_in_both_temperatures():
    rng = np.random.default_rng(8)
    for _ in range(300):
        n_W, n_S = ((3, 0), (0, 8), (2, 30))[rng.integers(3)]
        arms = Arms(n_W, n_S, lambda o: 1.5**o, lambda o: 5.0, universal=n_S == 0)
        costs = arms.costs([rng.choice([0.6, 1.0])], [0.6])
        recipe, beta, ratio = any_recipe(rng, n_W, n_S), np.exp(rng.uniform(1, 6)), np.exp(rng.uniform(-2, 0))
        here = float(price(costs, beta, ratio, recipe)[0])
        assert float(price(costs, 1.3 * beta, ratio, recipe)[0]) <= here * (1 + 1e-6)
        assert float(price(costs, beta, 1.3 * ratio, recipe)[0]) <= here * (1 + 1e-6)


def test_pure_cases_are_those_of_the_twin():
    rng = np.random.default_rng(9)
    for _ in range(60):
        h, s = float(rng.choice([0.5, 0.8, 1.0])), 0.6
        beta, ratio, (b, K, c) = np.exp(rng.uniform(1, 5)), 0.3, any_recipe(rng, True, True)
        costs = Arms(4, 0, lambda o: 2**o, lambda o: 0.0).costs([h], [h])
        weak = float(two_group_price(costs, beta, 1.0, Recipe(b, np.inf, c))[0])
        assert weak == pytest.approx(float(twin.weak_round(1 / (beta * b), b * 2**h, c, h)[0]))
        costs = Arms(4, 9, lambda o: 2**o, lambda o: 9.0).costs([h], [s])
        both = float(two_group_price(costs, beta, ratio, Recipe(b, np.inf, 0.0))[0])
        known = twin.two_group_price(beta, ratio * beta, 4, 9, 2.0, 9, h, s, b * 2**h, 0.0, 1.0)
        assert both == pytest.approx(known, rel=1e-9)
        shifted = float(two_group_price(costs, beta, ratio, Recipe(b, K, c))[0])
        known = twin.two_group_price(
            beta, ratio * beta, 4, 9, 2.0, 9, h, s, b * 2**h, float(c[0]), float(K[0])
        )
        assert shifted == pytest.approx(known, rel=1e-6)
        assert two_group_price(costs, beta, ratio, Recipe(b, np.inf, c))[0] == np.inf  # a shift needs a lift
        assert two_group_price(costs, beta, ratio, Recipe(0.0, K, c))[0] == np.inf  # and exploration
    for n, order, strong in ((20, 1.0, 1 / 8), (20, 0.5, 0.5)):  # full feedback
        arms = Arms(0, n, lambda o: 0.0, lambda o: 1.0, lambda o, z=strong: (z, 0.0))
        found = float(price(arms.costs([order], [order]), 30.0, 1.0, Recipe(0.0, np.inf, 0.0))[0])
        assert found == pytest.approx(strong / 30)


def test_the_hull_is_bounded_from_above_and_closely():
    """Arms of masses x < 1/N < x′ show how large Σh can be; what is computed is above that, by little."""
    cases = [
        (20, 0.5, 60.0, 2.0, 0),
        (20, 0.6, 40.0, 2.0, 1),
        (100, 0.75, 200.0, 3.0, 0),
        (2, 0.85, 9.0, 3.0, 0),
    ]
    x = np.append(np.exp(np.linspace(-30, 0, 3000)), 0.0)
    for n, s, beta, K, lazy in cases:
        costs = costs_of(Arms(0, n, lambda o: 0.0, lambda o: 1.0), s, s, lazy)
        c = twin.bandit_shift(n, beta, s)
        recipe = Recipe(0.0, np.array([K]), np.array([c]))
        total = float(explored(costs, beta, recipe)[0])
        y, pays = c * K / (1 - total), twin.psi_minus(c * K / (1 - total), s)
        elasticity = ((1 - (1 - s) * y) ** (-1 / (1 - s)) - 1) / pays - 1
        k = c * twin.psi_minus(c * K, s) * n**s / (beta * K) * elasticity / (1 - total) ** (elasticity + 1)
        at = np.append(
            x, [(beta * K) ** (-1 / s), (costs.above / (costs.below[0] * beta * K)) ** (1 / s), 1 / n]
        )
        with np.errstate(divide="ignore"):
            q = np.minimum(at**-s / beta, K)
        lift = np.maximum(costs.above * at ** (1 - s) / (beta * K) - costs.below * at, 0.0)
        h = (
            np.maximum(c * at * twin.psi_minus(c * q, s), (1 - c) * at * twin.psi((1 - c) * q, s) + lift)
            + k * lift
        )
        low, high = at < 1 / n, at >= 1 / n
        left, right = at[low][:, None], at[high][None, :]
        share = (right - 1 / n) / (right - left)
        found = n * float((share * h[low][:, None] + (1 - share) * h[high][None, :]).max())
        assert found * (1 - 1e-9) <= float(hull_price(costs, beta, recipe)[0]) <= 1.0005 * found


def test_the_universal_price_is_near_that_of_many_cells():
    for n, beta, k, c in ((20, 30.6, 0.09, 0.5), (100, 300.0, 0.085, 0.51), (10**6, 1e7, 0.081, 0.5185)):
        thresholds = np.exp(np.linspace(np.log(0.5 / beta), -0.7, 60))
        tried = [twin.universal_price(n, beta, k, c, tau, True, 4000) for tau in thresholds]
        found = float(universal_price(n, beta, k / beta, c))
        assert 0.995 * min(tried) <= found <= 1.001 * min(tried)
    assert found * beta < 0.2381


def test_psi_is_that_of_the_twin():
    q = np.exp(np.linspace(-20, 5, 500))
    for s in (0.3, 0.5, 0.75, 0.99, 1.0):
        assert psi(q, s) == pytest.approx(twin.psi(q, s), rel=1e-10)
        assert psi_minus(q, s) == pytest.approx(twin.psi_minus(q, s), rel=1e-10)
        seam = psi_minus(SMALL * np.array([1 - 1e-13, 1 + 1e-13]), s)
        assert seam[0] == pytest.approx(seam[1], rel=1e-12)
        assert (psi(q, s) < 1).all()
        near = q[(1 - s) * q < 0.9]
        step = 1e-6 * near
        slope = ((near + step) * psi_minus(near + step, s) - (near - step) * psi_minus(near - step, s)) / (
            2 * step
        )
        assert with_growth(near, s)[1] == pytest.approx(slope, rel=1e-4, abs=1e-9)
    assert psi_minus(np.array([2.0, 3.0]), 0.5).tolist() == [np.inf, np.inf]
