"""Bounds with high probability: every inequality of docs/theory/high-probability.md, exactly, then played."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from observable_graphs import revealing

import sidelight as sl
from sidelight.planning.baselines.rules import exp3_ix_likely
from sidelight.planning.bounds.bound import NEVER
from sidelight.planning.bounds.constant import (
    ConstantPlay,
    best_risk,
    constant_play,
    curvature,
    high_probability,
    likely_round,
    likely_terms,
)


def random_play(rng, A):
    """(play, γ): a rate and constant exploration that reaches every arm, sizes of all orders."""
    n = len(A)
    gamma = rng.random(n) * (rng.random(n) < 0.7)
    for i in np.flatnonzero(gamma @ A == 0):
        gamma[rng.choice(np.flatnonzero(A[:, i]))] = rng.random() + 0.01
    gamma *= 0.5 * rng.uniform(0.02, 1) / gamma.sum()
    b = float((gamma @ A).min())
    return ConstantPlay(n, b * exp(rng.uniform(-4, 1)), b, float(gamma.sum())), gamma


def random_point(rng, n):
    X = rng.dirichlet(np.ones(n)) ** exp(rng.uniform(-2, 2.5)) + 1e-14
    return X / X.sum()


def mixed(X, eta, estimates):
    """−log Σ X_i exp(−η·estimate_i)/η, the mix loss, for every row."""
    return -np.log1p(np.expm1(-eta * estimates) @ X) / eta


def rounds_of(A, X, gamma, eta, losses, costs):
    """(Z, W): the draws' probabilities and W(draw, u) = cost − cost_u + ℓ̂_u − mix."""
    Z = (1 - gamma.sum()) * X + gamma
    estimates = A * losses / (Z @ A)  # one row for every draw
    mix = mixed(X, eta, estimates)
    return Z, costs[:, None] - costs + estimates - mix[:, None]


# -- the lemmas ---------------------------------------------------------------------------------------------


def test_curvature_bounds_the_exponential():
    x = np.linspace(-30, 5, 20_001)
    for y in (0.0, 1e-4, 0.00099999, 0.00100001, 0.3, 1.0, 5.0):
        below = x[x <= y]
        assert (np.exp(below) <= 1 + below + curvature(y) * below**2 + 1e-12).all()
    grid = np.linspace(0, 3, 10_001)
    assert (np.diff([curvature(y) for y in grid]) > 0).all()
    assert curvature(1e6) == np.inf


def test_a_round_costs_no_more_than_its_price():
    """log E exp(λW) ≤ λc for losses that are fixed, exactly, against every arm."""
    rng = np.random.default_rng(14)
    closest = 0.0
    for _ in range(3_000):
        A = revealing(rng, int(rng.integers(2, 7)))
        play, gamma = random_play(rng, A)
        X = random_point(rng, play.arms)
        losses = rng.random(play.arms) if rng.random() < 0.2 else (rng.random(play.arms) < rng.random()) * 1.0
        risk = play.seen * exp(rng.uniform(-5, 1.5))
        Z, W = rounds_of(A, X, gamma, play.eta, losses, losses)
        spent = np.log(Z @ np.exp(risk * W)).max() / risk
        closest = max(closest, spent / likely_round(play, risk))
    assert 0.5 < closest <= 1


def test_a_round_counted_in_means_costs_no_more():
    """The same where losses are coins and regret is counted in their means: all 2^n outcomes."""
    rng = np.random.default_rng(15)
    for _ in range(300):
        A = revealing(rng, int(rng.integers(2, 5)))
        play, gamma = random_play(rng, A)
        X, means = random_point(rng, play.arms), rng.random(play.arms) ** exp(rng.uniform(-2, 2))
        risk = play.seen * exp(rng.uniform(-5, 1.5))
        total = 0.0
        for coins in product((0.0, 1.0), repeat=play.arms):
            losses = np.array(coins)
            Z, W = rounds_of(A, X, gamma, play.eta, losses, means)
            total += np.prod(np.where(losses > 0, means, 1 - means)) * (Z @ np.exp(risk * W))
        assert np.log(total).max() <= risk * likely_round(play, risk)


def test_full_feedback_is_cheaper():
    """Exact estimates: γ̄ + η/8 + 5λ/8, for losses and, over all outcomes of coins, for means."""
    rng = np.random.default_rng(18)
    for _ in range(300):
        n = int(rng.integers(2, 5))
        gamma = rng.random(n) * rng.choice([0.0, 0.2])
        eta, risk = exp(rng.uniform(-4, 2)), exp(rng.uniform(-4, 2))
        X, means = random_point(rng, n), rng.random(n)
        total, most = 0.0, exp(risk * likely_round(ConstantPlay(n, eta, 1.0, float(gamma.sum())), risk))
        for coins in product((0.0, 1.0), repeat=n):
            losses = np.array(coins)
            Z, W = rounds_of(np.ones((n, n)), X, gamma, eta, losses, losses)
            assert (Z @ np.exp(risk * W)).max() <= most * (1 + 1e-12)
            Z, W = rounds_of(np.ones((n, n)), X, gamma, eta, losses, means)
            total += np.prod(np.where(losses > 0, means, 1 - means)) * (Z @ np.exp(risk * W))
        assert total.max() <= most * (1 + 1e-12)


def test_the_price_is_nearly_attained():
    """Both ends of the maximum: all arms lose; or only the best arm and those that explore do."""
    k, b = (
        40,
        0.0001,
    )  # arms 0..k−1 are believed in, arm k is the best; each of them has an arm that reveals it
    n = 2 * k + 3
    A = np.zeros((n, n))
    A[np.arange(k + 1, 2 * k + 2), np.arange(k + 1)] = 1.0
    A[n - 1, k + 1 :] = 1.0  # and the last reveals all others
    gamma = np.where(np.arange(n) > k, b, 0.0)
    X = np.where(np.arange(n) < k, 1.0, 1e-12)
    X /= X.sum()
    explorers = np.where(np.arange(n) >= k, 1.0, 0.0)
    for eta, risk, losses in ((0.02 * b, 0.01 * b, np.ones(n)), (1e-4 * b, 0.001 * b, explorers)):
        Z, W = rounds_of(A, X, gamma, eta, losses, losses)
        reached = np.log(Z @ np.exp(risk * W))[k] / risk
        assert 0.97 < reached / likely_round(ConstantPlay(n, eta, b, float(gamma.sum())), risk) <= 1


# -- exact small games --------------------------------------------------------------------------------------


@pytest.mark.parametrize("adversary", ["leader loses", "unseen lose", "all lose"])
def test_every_path_of_a_small_game(adversary):
    """Losses that follow the past: R(u) ≤ log(1/X_1(u))/η + ΣW on every path, P(ΣW ≥ cT + x) ≤ exp(−λx) for all x."""
    A, T = np.roll(np.eye(3), 1, axis=1), 6  # 0 reveals 1, 1 reveals 2, 2 reveals 0
    gamma, eta, risk, first = np.full(3, 0.1), 0.02, 0.05, np.array([0.98, 0.01, 0.01])
    play = ConstantPlay(3, eta, 0.1, 0.3)
    paths = [(1.0, np.zeros(3), 0, np.zeros(3), np.zeros(3))]  # probability, sums, last arm, R(u), ΣW(u)
    for _ in range(T):
        longer = []
        for weight, sums, last, regret, total in paths:
            X = first * np.exp(-eta * sums)
            X /= X.sum()
            losing = {"leader loses": X.max() == X, "unseen lose": A[last] == 0, "all lose": X > 0}
            losses = losing[adversary].astype(float)
            Z, W = rounds_of(A, X, gamma, eta, losses, losses)
            estimates = A * losses / (Z @ A)
            longer += [
                (weight * Z[arm], sums + estimates[arm], arm, regret + losses[arm] - losses, total + W[arm])
                for arm in range(3)
            ]
        paths = longer
    weights, _, _, regret, total = (np.array(column) for column in zip(*paths, strict=True))
    assert weights.sum() == pytest.approx(1)
    assert (regret <= -np.log(first) / eta + total + 1e-9).all()
    over = total - T * likely_round(play, risk)
    assert (over > 0).any()
    assert (weights @ np.exp(risk * over) <= 1).all()
    for u in range(3):
        order = np.argsort(-over[:, u])
        assert (np.cumsum(weights[order]) <= np.exp(-risk * over[order, u]) + 1e-12).all()


# -- the bound of a plan ------------------------------------------------------------------------------------


def test_terms_add_up_to_the_theorem():
    play, T, doubt, risk = ConstantPlay(10, 0.008, 0.04, 0.2), 10_000, 0.01, 0.006
    phi = (exp(0.156) - 1.156) / 0.156**2
    expected = log(10) / 0.008 + log(1000) / 0.006
    expected += T * (0.006 * phi * 26 + max(0.2, 0.1 + 0.006 * 0.6))
    assert sum(likely_terms(T, play, doubt, risk).values()) == pytest.approx(expected, rel=1e-12)


def test_the_best_risk_is_the_best_of_a_grid():
    plays = (
        ConstantPlay(10, 0.008, 0.04, 0.2),
        ConstantPlay(3, 1e-6, 0.5, 0.01),
        ConstantPlay(2, 1.0, 0.1, 0.5),
    )
    for T, play in zip((10**4, 10**9, 1), plays, strict=True):
        best = best_risk(T, play, 0.05)
        values = [
            sum(likely_terms(T, play, 0.05, best * f).values()) for f in (1.0, *np.geomspace(0.1, 10, 401))
        ]
        assert values[0] <= min(values) * (1 + 1e-9)


def test_tunings_are_read_off_the_graph():
    g = sl.families.cycle(10)
    plan = sl.baselines.chlz21(g, 10_000)
    play = constant_play(g, plan.tuning, "likely")
    assert play == pytest.approx(
        (10, plan.parameters["eta"], plan.parameters["b"], plan.parameters["gamma_bar"])
    )
    everything = constant_play(
        sl.families.full(4), sl.baselines.hedge(sl.families.full(4), 100).tuning, "likely"
    )
    assert everything.seen == 1.0
    assert everything.explored == 0.0
    assert constant_play(sl.families.mab(1), sl.plan(sl.families.mab(1), 10).tuning, "likely") is None


def test_what_it_says():
    plan = sl.baselines.chlz21(sl.families.cycle(10), 10_000)
    likely = plan.bound_at(10_000, confidence=0.99)
    assert "with probability 0.99" in likely.summary()
    assert likely.certified
    assert likely.informative
    assert likely.value > plan.bound.value
    assert likely.value < plan.bound_at(10_000, confidence=0.999).value
    T = likely.informative_from
    assert plan.bound_at(T, 0.99).value < T
    assert plan.bound_at(T - 1, 0.99).value >= T - 1
    hopeless = sl.baselines.exp3g_strong(sl.families.mab(10), 10_000).bound_at(10_000, 0.99)
    assert hopeless.vacuous
    assert hopeless.informative_from == NEVER
    assert sl.plan(sl.families.mab(1), 10).bound_at(10, 0.9).value == 0


MIXED = sl.families.corrupted_mab(6, 1)
REFUSED = {
    "tune themselves": lambda: sl.plan(sl.families.cycle(30), realization="self-tuning"),
    "two levels": lambda: sl.plan(MIXED, 1000, sl.partitions.corrupted(MIXED), "clustered"),
    "h < 1": lambda: sl.plan(sl.families.cycle(6), 1000, realization="adaptive"),
    "does not reach every arm": lambda: sl.baselines.exp3(sl.families.mab(4), 1000),
    "ucb_n": lambda: sl.baselines.ucb_n(sl.families.mab(4)),
    "track_n": lambda: sl.baselines.track_n(sl.families.cycle(4)),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_others_refuse_and_name_what_has_a_bound(reason):
    with pytest.raises(sl.InfeasibleRequest, match=f"{reason}.*confidence=….*chlz21.*exp3_ix"):
        REFUSED[reason]().bound_at(1000, confidence=0.99)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "0.9", True])
def test_confidence_is_a_probability(confidence):
    for plan in (sl.baselines.chlz21(sl.families.cycle(4), 100), sl.baselines.exp3_ix(sl.families.mab(4))):
        with pytest.raises(sl.InvalidOption, match="confidence"):
            plan.bound_at(100, confidence=confidence)


# -- Exp3-IX ------------------------------------------------------------------------------------------------


def test_implicit_exploration_never_overestimates_for_long():
    """E exp(λ(ℓ̂ − ℓ)) ≤ 1 for λ ≤ 2γ, and E exp(λ(V − 3γQ/2 − λφ(1 + Q))) ≤ 1 for V = cost − mix, η = γ."""
    rng = np.random.default_rng(16)
    for _ in range(2_000):
        n = int(rng.integers(2, 7))
        A = np.maximum(revealing(rng, n), np.eye(n))
        p, losses = random_point(rng, n), (rng.random(n) < rng.random()) * rng.random(n) ** rng.integers(0, 2)
        gamma, risk = exp(rng.uniform(-7, 1)), exp(rng.uniform(-7, 1))
        P = p @ A
        estimates = A * losses / (P + gamma)
        for over in (2 * gamma, 0.3 * gamma):
            assert (p @ np.exp(over * (estimates - losses)) <= 1 + 1e-12).all()
        Q = (p / (P + gamma)).sum()
        V = losses - mixed(p, gamma, estimates)
        assert p @ np.exp(risk * (V - 1.5 * gamma * Q - risk * curvature(risk) * (1 + Q))) <= 1 + 1e-12


def test_falling_rates_lose_only_the_last_diameter():
    """Σ mix_t ≤ min_u L̂_u + log N/η_T, and Σ γ_tQ_t ≤ 2√(S log N), on random histories."""
    rng = np.random.default_rng(17)
    for _ in range(200):
        n, T = int(rng.integers(2, 6)), 60
        sums, total, mixes, paid = np.zeros(n), 0.0, 0.0, 0.0
        for _ in range(T):
            rate = np.sqrt(log(n) / (n + total))
            p = np.exp(-rate * (sums - sums.min()))
            p /= p.sum()
            Q = (p / (p + rate)).sum()
            estimates = np.where(rng.random(n) < 0.4, rng.random(n) / (p + rate), 0.0)
            mixes += mixed(p, rate, estimates[None])[0]
            paid, total, sums = paid + rate * Q, total + Q, sums + estimates
        assert mixes <= sums.min() + log(n) / rate + 1e-9
        assert paid <= 2 * np.sqrt(log(n) * total)


def test_terms_of_exp3_ix():
    found = exp3_ix_likely(10, 10, 10, 10_000, 0.01)
    assert found["diameter"] == pytest.approx(np.sqrt(100_010 * log(10)))
    assert sum(found.values()) == pytest.approx(3792.89, abs=0.01)
    neu = 4 * np.sqrt(1e5 * log(10)) + (2 * np.sqrt(1e5 / log(10)) + 1) * log(
        200
    )  # Neu 2015, without a horizon
    assert sum(found.values()) < neu
    bound = sl.baselines.exp3_ix(sl.families.mab(10)).bound_at(10_000, 0.99)
    assert bound.value == pytest.approx(sum(found.values()))
    assert "Neu 2015" in bound.theorem
    assert sl.baselines.exp3_ix(sl.families.mab(1)).bound_at(10, 0.99).value == 0


# -- played -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "environment"),
    [
        (sl.families.cycle(10), sl.environments.gap(10, best=4, gap=0.1)),
        (sl.families.revealing_action(10), sl.environments.gap(10, best=4, gap=0.1)),
        (sl.families.cycle(10), sl.environments.switching(10, period=500)),
    ],
    ids=["cycle", "revealing action", "switching"],
)
def test_quantiles_of_200_games_stay_below(graph, environment):
    T = 10_000
    plan = sl.plan(graph, T, confidence=0.99)
    regret = sl.simulate(plan, environment, seeds=range(200), checkpoints=[T], progress=False).regret[:, -1]
    bound = high_probability(graph, plan.tuning, T, 0.99).value
    assert np.quantile(regret, 0.99) < bound < 10 * np.quantile(regret, 0.99)


def test_quantiles_of_exp3_ix_stay_below():
    T, rule = 10_000, sl.baselines.exp3_ix(sl.families.mab(5))
    environment = sl.environments.gap(5, best=2, gap=0.1)
    regret = sl.simulate(
        rule, environment, horizon=T, seeds=range(200), checkpoints=[T], progress=False
    ).regret
    assert np.quantile(regret[:, -1], 0.99) < rule.bound_at(T, 0.99).value
