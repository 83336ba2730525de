"""Every inequality of docs/theory/signed.md about one round, on random and structured states and by climbing."""

import numpy as np
import pytest
import self_tuning_twin as unsigned
import signed_twin as signed
from worst_states import searched, simplex, spread, unit

ORDERS = (0.3, 0.5, 0.6, 0.75, 0.9, 1.0)
SIZES = [pytest.param(40, 2, id="quick"), pytest.param(2000, 20, id="many", marks=pytest.mark.full)]
ABOVE, ROUNDING = 1 + 1e-8, 1e-10


# ------------------------------------------------------------------ the functions


def test_psi_agrees_with_the_unsigned_twin_and_with_its_series():
    q = np.exp(np.linspace(-9, 6, 400))
    for s in ORDERS:
        assert signed.psi(q, s) == pytest.approx(unsigned.psi(q, s), rel=2e-6, abs=1e-12)
        small = q[(1 - s) * q < 0.9]
        assert signed.psi_minus(small, s) == pytest.approx(unsigned.psi_minus(small, s), rel=2e-6)
        at_seam = signed.psi_minus(np.array([0.02 - 1e-12, 0.02 + 1e-12]), s)
        assert at_seam[0] == pytest.approx(at_seam[1], rel=1e-9)


def test_stability_is_the_fall_of_the_potential():
    """σ by its own maximiser against ⟨v, X⟩ + F(L) − F(L+v), orders and temperatures differing from arm to arm."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(2, 7))
        s, tau = rng.choice(ORDERS, n), np.exp(rng.uniform(-1, 3, n))
        L, v = rng.normal(size=n) * 3, rng.normal(size=n) * np.exp(rng.uniform(-2, 2))
        X = signed.point(L, s, tau)
        assert signed.entropy(X, s, tau) >= -1e-12

        def low(sums, s=s, tau=tau):
            return sums.min() - signed.money(sums, s, tau)

        fall = v @ X + low(L) - low(L + v)
        assert signed.stability(v, X, s, tau) == pytest.approx(fall, rel=1e-7, abs=1e-9)


# ------------------------------------------------------------------ Lemma 1


def any_round(rng, coins):
    """A graph, orders, temperatures, point, play, shift and subtracted share of the leader: anything goes."""
    n = int(rng.integers(2, 4 if coins else 6))
    r = (rng.random((n, n)) < rng.uniform(0.2, 0.9)).astype(float)
    for i in np.flatnonzero(r.sum(axis=0) == 0):
        r[rng.integers(n), i] = 1.0
    if coins:
        r *= np.where(rng.random((n, n)) < 0.5, rng.uniform(0.1, 1, (n, n)), 1.0)
    s, leader = rng.choice(ORDERS, n), int(rng.integers(n))
    losses, theirs = signed.vertices(n), bool(rng.random() < 0.2)
    theta = float(rng.choice([0.0, 0.4, 1.0]))
    best = rng.random() < 0.3
    own = rng.normal(size=n) * rng.choice([0.1, 1.0])

    def ratio(at):
        X, Z = simplex(at[:n]), simplex(at[:n] * unit(at[n + 1]) + at[n + 2 : 2 * n + 2])
        tau, c = np.exp(np.clip(at[2 * n + 2 :], -2, 6)), unit(at[n])
        lead = int(X.argmax()) if best else leader
        part = signed.best_theta(X, s, tau, lead) if best else theta
        extra = np.zeros(n) if theirs else Z - X
        right = signed.kernel(r, X, Z, s, tau, c, part, lead, extra)
        if not right < 1e6:
            return 0.0
        return float((signed.expected(r, X, Z, s, tau, c, losses) + losses @ extra).max()) / (
            right + ROUNDING
        )

    tau = rng.uniform(-0.5, 4) + rng.normal(size=n) * rng.choice([0.0, 0.5])
    return np.concatenate([spread(rng, n), [rng.normal() - 0.5, rng.normal() + 1], own, tau]), ratio


@pytest.mark.parametrize(("states", "climbs"), SIZES)
@pytest.mark.parametrize("coins", [False, True])
def test_lemma_1_no_round_costs_more_than_its_kernel(states, climbs, coins):
    """Exact expectation over draws and coins, all 2^N losses; any leader, any θ; Δ = Z − X or 0."""
    assert searched(lambda rng: any_round(rng, coins), states, climbs, 2) <= ABOVE


def test_theta_0_is_the_sum_over_arms_and_an_uncertain_edge_counts():
    rng = np.random.default_rng(3)
    r = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.7], [1.0, 0.0, 1.0]])
    for _ in range(20):
        X, Z = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3))
        tau = rng.uniform(3, 9, 3)
        full = signed.kernel(r, X, Z, 0.5, tau, 0.3)
        if np.isfinite(full):
            assert full == pytest.approx(signed.plain(X, Z @ r, Z, 0.5, tau, 0.3), rel=1e-12)
        chances, seen = signed.outcomes(r, Z)
        assert chances.sum() == pytest.approx(1)
        assert chances @ seen == pytest.approx(Z @ r)


# ------------------------------------------------------------------ Lemmas 2 and 3


def covered_round(rng):
    """All arms covered, reveals that may fail, Z = (1−bG)X + bg: plain_c against Lemma 2."""
    n, s = int(rng.integers(2, 9)), float(rng.choice(ORDERS))
    r = (rng.random((n, n)) < rng.uniform(0.15, 0.8)).astype(float)
    for i in np.flatnonzero(r.sum(axis=0) == 0):
        r[rng.integers(n), i] = 1.0
    if rng.random() < 0.3:  # one arm tells all
        r[:] = 0.0
        r[0] = 1.0
    if rng.random() < 0.3:  # reveals may fail
        r *= rng.uniform(0.1, 1, (n, n))
    cover = rng.random(n) + 0.02
    cover /= (cover @ r ** (1 / s)).min()
    weak = cover.sum() ** s

    def ratio(at):
        X, beta, gamma, c = simplex(at[:n]), weak * np.exp(at[n]), 0.5 * unit(at[n + 1]), unit(at[n + 2])
        g = signed.directions(r, cover, X, s)
        assert g.sum() <= weak * (1 + 1e-12)
        b = gamma / weak
        Z = (1 - b * g.sum()) * X + b * g
        right = float(signed.weak_round(1 / (beta * b), gamma, c, s))
        return signed.plain(X, Z @ r, Z, s, beta, c) / right if right < np.inf else 0.0

    return np.concatenate([spread(rng, n), [rng.uniform(0, 6), rng.normal(), rng.normal() - 1]]), ratio


@pytest.mark.parametrize(("states", "climbs"), SIZES)
def test_lemma_2_covered_arms(states, climbs):
    assert searched(covered_round, states, climbs, 4) <= ABOVE


def test_lemma_3_the_closed_form():
    """Both inequalities, the polynomials of the proof, and the price that they give, for all s."""
    t = np.linspace(1e-9, 1 / 3, 601)
    q, c = 6 * t, (1 - t) / 3
    for s in np.linspace(0.02, 1, 25):
        assert (c * signed.psi_minus(c * q, s) <= q / 18 * (1 + 1e-12)).all()
        assert ((1 - c) * signed.psi((1 - c) * q, s) <= 2 * q / 9 * (1 + 1e-12)).all()
    y = 2 * t * (1 - t)
    assert (0.5 + y / 3 + y**2 / (4 * (1 - y)) <= 0.5 + 2 * t / 3 + 17 * t**2 / 15 + 1e-15).all()
    assert (0.5 + 2 * t / 3 + 17 * t**2 / 15 <= 1 / (2 * (1 - t) ** 2)).all()
    y = 4 * t + 2 * t**2
    assert y / 6 - y**2 / 24 == pytest.approx(2 * t / 3 - t**2 / 3 - 2 * t**3 / 3 - t**4 / 6)
    assert (-1 / 6 - t / 24 + 11 * t**2 / 12 + t**3 / 6 < -0.07).all()
    for x in (1.5, 3.0, 40.0, 1e4):
        closed, gamma, shift = signed.weak_closed_form(x)
        assert closed == pytest.approx(4 / (3 * 3**0.5) * (2 * x) ** -0.5)
        for s in (0.3, 0.5, 1.0):
            assert signed.weak_round(1 / (x * gamma), gamma, shift, s) <= closed * (1 + 1e-12)
            assert signed.weak_price(x, s)[0] <= closed * (1 + 1e-9)


# ------------------------------------------------------------------ arms with self-loops


def loops_round(rng):
    """Disjoint cliques with loops, and more edges: what is lifted for Lemma 4, plain_½ and e against it."""
    n, Q = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    group = rng.integers(Q, size=n)
    Q = np.unique(group).size
    r = np.maximum(group[:, None] == group, rng.random((n, n)) < rng.choice([0.0, 0.2])).astype(float)

    def ratio(at):
        X, beta = simplex(at[:n]), n**0.5 * np.exp(abs(at[n]))
        lift = np.maximum(X**0.5 / (2 * beta) - X, 0.0)
        most_e, right = signed.loops_price(n, beta, Q)
        assert lift.sum() <= most_e * (1 + 1e-12)
        Z = (1 - lift.sum()) * X + lift
        return signed.plain(X, Z @ r, Z, 0.5, beta, 0.5) / right

    return np.append(spread(rng, n), rng.uniform(0, 2)), ratio


@pytest.mark.parametrize(("states", "climbs"), SIZES)
def test_lemma_4_arms_that_are_lifted(states, climbs):
    assert searched(loops_round, states, climbs, 5) <= ABOVE


# ------------------------------------------------------------------ every arm is revealed by all others


def universal_round(rng):
    """Loops on some arms, none or all; heavy arms as heavy as exploration allows: exact cost against Theorem C."""
    n = int(rng.choice([2, 3, 4, 5, 6], p=[0.2, 0.25, 0.25, 0.2, 0.1]))
    loops = rng.random(n) < rng.choice([0.0, 0.0, 0.5, 1.0])
    r = np.where(np.eye(n) > 0, loops.astype(float), 1.0)
    losses = signed.vertices(n)

    def ratio(at):
        X, beta, k = simplex(at[:n]), 3 * np.exp(min(abs(at[n]), 6)), np.exp(at[n + 1])
        c, tau = unit(at[n + 2]), 0.5 * unit(at[n + 3])
        right = signed.universal_price(n, beta, k, c, tau, loops.any(), 100)
        if not right < np.inf:
            return 0.0
        gamma = k / (beta * (1 - 1 / n))
        Z = (1 - gamma) * X + gamma / n
        return float((signed.expected(r, X, Z, 1.0, beta, c, losses) + losses @ (Z - X)).max()) / right

    start = [rng.uniform(0, 4), np.log(0.1) + 0.3 * rng.normal(), 0.3 * rng.normal(), rng.uniform(-2, 1)]
    return np.concatenate([spread(rng, n), start]), ratio


@pytest.mark.parametrize(("states", "climbs"), SIZES)
def test_theorem_c_every_arm_is_revealed_by_all_others(states, climbs):
    assert searched(universal_round, states, climbs, 7) <= ABOVE


def test_the_variance_of_estimates_where_every_arm_is_revealed_by_all_others():
    """E Var_Z(ℓ̃) ≤ v(m), which needs more than the mean of (ℓ−c)²."""

    def variance(r, Z, losses, c):
        chances, seen = signed.outcomes(r, Z)
        estimates = seen * (losses - c) / (Z @ r)
        return float(chances @ (estimates**2 @ Z - (estimates @ Z) ** 2))

    rng = np.random.default_rng(12)
    for _ in range(300):
        n = int(rng.integers(2, 9))
        r = 1 - np.diag((rng.random(n) < rng.choice([0.3, 1.0])).astype(float))
        Z, c = rng.dirichlet(np.full(n, rng.choice([0.5, 3.0]))), rng.random()
        losses = rng.integers(0, 2, n).astype(float)
        assert variance(r, Z, losses, c) <= signed.universal_variance(Z @ losses, c) * (1 + 1e-9)
    found = variance(1 - np.eye(3), np.array([0.25, 0.25, 0.5]), np.array([1.0, 1.0, 0.0]), 0.5)
    assert found == pytest.approx(11 / 36)
    assert found > 0.25
