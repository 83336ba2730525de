"""A round of one simplex costs the larger of stability and exploration: every lemma of docs/theory/fixed-rates.md."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from observable_graphs import revealing
from self_tuning_twin import money

import sidelight as sl
from sidelight.engine.constants import ROOM
from sidelight.partition import Partition
from sidelight.planning.candidates import natural_candidates
from sidelight.planning.cliques import clique_cover, growth
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.flat import Flat, Rates
from sidelight.planning.minimised.round_cost import even_strength, one_block, peak, round_cost
from sidelight.planning.minimised.strong import OneSimplex, Strong, evenly
from sidelight.planning.self_tuning.plans import SLACK
from sidelight.planning.tuning import LAZY_FACTOR

ORDERS = (0.3, 0.5, 0.8, 1.0)


def covering(rng, A, owed):
    """A cover of the owed arms, not the best one, with some weights zero."""
    x = (rng.random(len(A)) + 0.05) * (rng.random(len(A)) < 0.6)
    for i in np.flatnonzero(owed & (x @ A == 0)):
        x[rng.choice(np.flatnonzero(A[:, i]))] = 1.0
    return x / (x @ A)[owed].min()


def states(rng, n, count=100):
    """(count, n) distributions: corners, near-corners and the inside."""
    X = rng.dirichlet(np.ones(n), size=count) ** np.exp(rng.uniform(-2, 2.5, size=(count, 1))) + 1e-14
    return X / X.sum(axis=1, keepdims=True)


def spread(A, cover, owed, X, h):
    """g_j = x_j·max X_i^{1−h}/c_i over the owed arms that j reveals, for many X at once."""
    load = np.where(owed, cover @ A, 1.0)
    need = np.where(owed, X ** (1 - h) / load, 0.0)
    return cover * (A * need[:, None, :]).max(axis=2)


def worst(A, X, gamma, squares):
    """(largest cost of a round over all losses, P): `squares` are 1/ψ''(X); a loss of 1 costs a_i + Z_i − X_i."""
    Z = (1 - gamma.sum(axis=1, keepdims=True)) * X + gamma
    P = Z @ A
    return np.maximum(0.5 * squares / P + Z - X, 0).sum(axis=1), P


def test_peak_of_a_line_and_a_root():
    z = np.linspace(0, 1, 100_001)
    for base, slope, root in [(3.0, 2.0, 1.0), (1.0, 0.0, 2.0), (1.0, 1.0, 5.0), (2.0, 1.0, 2.0)]:
        expected = (base - slope * z + root * np.sqrt(z)).max()
        assert peak(base, slope, root) == pytest.approx(expected, rel=1e-8)


# -- the lemmas, 5 000 states each --------------------------------------------------------------------------


def test_covered_arms_pay_the_larger_half():
    """Lazily played, too: what is explored lies anywhere between g and κg."""
    rng = np.random.default_rng(1)
    for case in range(50):
        h = ORDERS[case % 4]
        n = int(rng.integers(2, 9))
        A, owed = revealing(rng, n), np.ones(n, dtype=bool)
        cover = covering(rng, A, owed)
        X = states(rng, n)
        g = spread(A, cover, owed, X, h) * rng.uniform(1, LAZY_FACTOR, size=X.shape)
        demand = LAZY_FACTOR * cover.sum() ** h
        beta = rng.uniform(0.01, 1) / demand
        eta = beta * np.exp(rng.uniform(-6, 2))
        found, P = worst(A, X, beta * g, eta * X ** (2 - h))
        assert (beta * X ** (1 - h) * (1 - 1e-12) <= P).all()
        assert (found <= round_cost(eta / (2 * beta), beta * demand) * (1 + 1e-12)).all()


def test_parents_pay_the_larger_half():
    rng = np.random.default_rng(2)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        A = revealing(rng, n)
        parents = np.array([rng.choice(np.flatnonzero(A[:, i])) for i in range(n)])
        X = states(rng, n)
        beta = rng.uniform(0.01, 1) / np.sqrt(n)
        eta = beta * np.exp(rng.uniform(-6, 2))
        gamma = beta * np.sqrt(X) @ np.eye(n)[parents]
        found, _ = worst(A, X, gamma, eta * X**1.5)
        assert (found <= round_cost(eta / (2 * beta), beta * np.sqrt(n)) * (1 + 1e-12)).all()


def test_sets_that_reveal_all_but_a_few():
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        A = revealing(rng, n)
        chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
        alone = A[chosen].sum(axis=0) == 0
        A[alone, alone] = 1.0
        gamma = rng.uniform(0.01, 0.9)
        eta = gamma * np.exp(rng.uniform(-6, 2))
        X = states(rng, n)
        explored = np.zeros(n)
        explored[chosen] = gamma / chosen.size
        found, _ = worst(A, X, np.broadcast_to(explored, X.shape), eta * X)
        most = round_cost(eta * chosen.size / (2 * gamma), gamma) + 0.5 * eta * alone.sum() / (1 - gamma)
        assert (found <= most * (1 + 1e-12)).all()


def test_self_loop_arms_beside_covered_ones():
    """Also with nobody covered, and with exploration far above or far below what is even."""
    rng = np.random.default_rng(4)
    for case in range(50):
        h = ORDERS[case % 4]
        n = int(rng.integers(2, 9))
        A, owed = revealing(rng, n), rng.random(n) < rng.choice([0.2, 0.5, 0.8])
        A[~owed, ~owed] = 1.0
        X = states(rng, n)
        cover = covering(rng, A, owed) if owed.any() else np.ones(n)
        demand = cover.sum() ** h
        beta = rng.uniform(0.005, 0.9) / demand
        eta, eta_loop = beta * np.exp(rng.uniform(-6, 2)), np.exp(rng.uniform(-6, 1))
        g = spread(A, cover, owed, X, h) if owed.any() else cover / n * np.ones_like(X)
        squares = np.where(owed, eta * X ** (2 - h), 4 * eta_loop * X**1.5)
        found, _ = worst(A, X, beta * g, squares)
        root = 2 * eta_loop * np.sqrt((~owed).sum()) / (1 - beta * demand)
        stability = eta / (2 * beta) if owed.any() else 0.0
        assert (found <= round_cost(stability, beta * demand, root) * (1 + 1e-12)).all()


def risen(X, fall, h):
    """Where the unconstrained step goes when `fall` = η·(what is added to −ψ') is not negative: x^{2−h} grows."""
    return X * np.exp(fall) if h == 1 else X * (1 - (1 - h) * fall * X ** (1 - h)) ** (-1 / (1 - h))


def test_loopless_strong_arms_beside_both():
    """The shift c included: E Σ sup (ℓ̂ − c)²/(2ψ'') over the arm drawn, exploration and the terms of the shift."""
    rng = np.random.default_rng(5)
    for case in range(50):
        h = ORDERS[case % 4]
        sizes = rng.integers(1, 4, size=3)
        kind = np.repeat([0, 1, 2], sizes)  # covered, self-loop, loop-less
        n = kind.size
        A = revealing(rng, n)
        A[kind == 1, kind == 1] = 1.0
        A[:, kind == 2] = 1.0
        A[kind == 2, kind == 2] = 0.0
        cover = covering(rng, A, kind == 0)
        extra = rng.uniform(0.02, 0.2)
        demand = cover.sum() ** h
        problem = Flat(*(int(s) for s in sizes), float(cover.sum()), h, 1.0)
        rates = Rates(
            rng.uniform(0.02, 0.25) / demand,
            extra * rng.uniform(0.01, 0.45),
            np.sqrt(extra) * rng.uniform(0.01, 0.15),
            extra * rng.uniform(0.05, 1),
            extra,
        )
        X = states(rng, n)
        gamma = rates.beta * spread(A, cover, kind == 0, X, h) + extra * (kind != 2) / (kind != 2).sum()
        Z = (1 - gamma.sum(axis=1, keepdims=True)) * X + gamma
        losses = (rng.random(X.shape) < rng.uniform(0.2, 1)).astype(float)
        guess = A * (losses / (Z @ A))[:, None, :]  # (states, arm drawn, arm seen)
        shifted = guess - (guess * X[:, None, :])[:, :, kind == 2].sum(axis=2, keepdims=True)
        order = np.where(kind == 0, h, np.where(kind == 1, 0.5, 1.0))
        eta = np.where(kind == 0, rates.eta, np.where(kind == 1, 4 * rates.eta_loop, rates.eta_loopless))
        cost = losses * (Z - X)
        for v in range(n):
            fall = np.maximum(-eta[v] * shifted[:, :, v], 0.0)
            w = risen(X[:, v, None], fall, order[v])
            cost[:, v] += (Z * 0.5 * eta[v] * w ** (2 - order[v]) * shifted[:, :, v] ** 2).sum(axis=1)
        most = problem.terms(1.0, rates)
        assert problem.overshoot(rates) <= 0.5 * (1 + 1e-12)
        assert (cost.sum(axis=1) <= (most["rounds"] + most["loop-less shift"]) * (1 + 1e-12)).all()


def test_loopless_arms_of_strong_graphs():
    """Exponential weights, exactly: σ and exploration together, for graphs of loops, universal and generous arms."""
    rng, met = np.random.default_rng(7), set()
    for _ in range(50):
        n = int(rng.integers(2, 9))
        A = rng.random((n, n)) < rng.uniform(0.1, 0.8)
        blind = rng.random(n) < rng.choice([0.3, 1.0])
        blind[0] = True
        A[np.arange(n), np.arange(n)] = ~blind
        A |= (blind | (rng.random(n) < 0.2)) & ~np.eye(n, dtype=bool)  # universal columns
        A |= ((rng.random(n) < 0.2) & blind)[:, None] & ~np.eye(n, dtype=bool)  # generous rows
        g = sl.FeedbackGraph.from_adjacency(A)
        problem = Strong.of(clique_cover(g))
        met.add((problem.n_plain > 0, problem.n_loop > 0))
        gamma = rng.uniform(0.01, 0.5)
        x = OneSimplex(1.0, gamma * np.exp(rng.uniform(-2, 1)), gamma)
        X = states(rng, n)
        Z = (1 - gamma) * X + evenly(g, x)
        losses = (rng.random(X.shape) < rng.uniform(0.1, 1, size=(len(X), 1))).astype(float)
        guess = A * (losses / (Z @ A))[:, None, :]
        # σ = ⟨ℓ̂, X⟩ + log Σ X·e^{−ηℓ̂}/η, whatever the shift
        sigma = (guess * X[:, None, :]).sum(axis=2)
        sigma += np.log((X[:, None, :] * np.exp(-x.eta * guess)).sum(axis=2)) / x.eta
        cost = (Z * sigma).sum(axis=1) + (losses * (Z - X)).sum(axis=1)
        most = x.eta * problem.stability(x) + problem.exploration(x)
        assert (cost <= most * (1 + 1e-9)).all()
        # and the quadratic form, which is what the proof bounds: within the same
        shift = (guess * X[:, None, :])[:, :, blind].sum(axis=2, keepdims=True)
        p = problem.hidden(gamma)
        squares = 0.5 * x.eta * growth(x.eta / p) * (X[:, None, :] * (guess - shift) ** 2).sum(axis=2)
        assert ((Z * squares).sum(axis=1) + (losses * (Z - X)).sum(axis=1) <= most * (1 + 1e-9)).all()
    assert met >= {(True, True), (False, False)}


# -- an adversary -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0.5, 1.0])
def test_an_adversary_reaches_the_price_and_never_exceeds_it(h):
    """It climbs over X; the worst losses are known for each. The hub of a revealing action makes both ends meet."""
    rng, n = np.random.default_rng(6), 12
    A, owed, cover = np.zeros((n, n)), np.ones(n, dtype=bool), np.eye(n)[0]
    A[0] = 1.0
    for beta, eta in ((0.05, 0.001), (0.05, 0.005), (0.05, 0.02)):
        most = round_cost(eta / (2 * beta), beta)
        X = states(rng, n, 500)
        for step in (1.0, 0.5, 0.2, 0.1) * 15:
            tried = X * np.exp(step * rng.normal(size=X.shape))
            tried /= tried.sum(axis=1, keepdims=True)
            gained = [
                worst(A, x, beta * spread(A, cover, owed, x, h), eta * x ** (2 - h))[0] for x in (X, tried)
            ]
            X = np.where((gained[1] > gained[0])[:, None], tried, X)
        assert gained[0].max() <= most * (1 + 1e-12)
        assert gained[0].max() >= 0.98 * most


def test_two_levels_pay_both_in_full():
    """Docs, "Two levels": stability of the best arm's block and exploration, exactly, near their sum."""
    n, small = 300, 3
    edges = [(i, (i + 1) % n) for i in range(n)] + [(n + i, n + (i + 1) % small) for i in range(small)]
    instance = naive.Instance.from_edges(n + small, edges, [range(n), range(n, n + small)])
    weights = {0: np.ones(n), 1: np.ones(small)}
    b = 0.002 / sum(naive.diameter(0.5, k) * np.sqrt(k) for k in (n, small))
    T = 1 / (2 * b * 0.002**2)  # both are near 0.002, so small that squares are exact
    top = [naive.Tsallis(1e-4), naive.Tsallis(1e-4)]
    parameters = naive.interpolated_parameters(instance, T, weights, {0: 0.5, 1: 0.5}, b, 1e-6, top)
    twin = naive.TwoLevelOSMD(instance, parameters)
    beta = b * naive.diameter(0.5, n)
    twin.Y, corner = np.array([1e-7, 1 - 1e-7]), np.array([1e-12, 1 - 2e-12, 1e-12])
    twin.X = [np.full(n, 1 / n), corner]
    losses = np.ones(n + small)
    losses[n + 1] = 0.0  # the arm that the second block plays; n explores for it
    Z, eta = twin.distribution(), parameters.arm_potential[0].rate
    guess, _ = twin.estimates(0, losses)  # all arms of the first block are alike
    assert np.flatnonzero(guess).tolist() == [1]
    # min_x ⟨S, x⟩ + Φ(x)/η on the simplex is min S − W; here S = 0 or one estimate.
    moved = money(np.zeros(n), 1 / eta, 0.5) - money(guess[:n], 1 / eta, 0.5)
    stability = n * Z[0] * (guess[1] / n - moved)
    gamma = twin.gamma()
    rest = np.concatenate([twin.Y[k] * twin.tilde(k) for k in (0, 1)])
    exploration = losses @ gamma - gamma.sum() * (losses @ rest)
    both = eta / (2 * beta) + gamma.sum()
    assert stability <= eta / (2 * beta) * (1 + 1e-9)
    assert stability + exploration >= 0.99 * both
    assert both > 1.9 * max(eta / (2 * beta), gamma.sum())


# -- parameters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.3, 1.0, 3.9, 4.1, 7.9, 8.1, 50.0, 1e6])
def test_one_block_is_the_least_of_all(ratio):
    """Against a grid of rates and strengths with γ̄ ≤ ½, in all three regimes."""
    M = 37.0
    T = ratio * M
    best = one_block(T, M)
    assert best.b * M <= 0.5
    assert best.value == pytest.approx(
        1 / best.step + T * max(best.step / (2 * best.b), best.b * M), rel=1e-12
    )
    step = best.step * np.exp(np.linspace(-3, 3, 601))[:, None]
    b = np.minimum(best.b * np.exp(np.linspace(-3, 3, 601)), 0.5 / M)
    grid = 1 / step + T * np.maximum(step / (2 * b), b * M)
    assert grid.min() >= best.value * (1 - 1e-12)
    assert one_block(T, np.array([M, 2 * M])).value[0] == best.value
    closed = 1.5 * np.cbrt(M * T * T) if ratio >= 8 else 2 * M + T / 2 if ratio >= 4 else 2 * np.sqrt(M * T)
    assert best.value == pytest.approx(closed, rel=1e-9)


def test_even_strength():
    for eta, demand, extra in ((0.01, 3.0, 0.0), (0.01, 3.0, 0.2), (1e-6, 50.0, 0.4999)):
        beta = even_strength(eta, demand, extra)
        assert eta / (2 * beta) == pytest.approx(beta * demand + extra)
    for extra in (0.0, 0.3):
        assert even_strength(100.0, 3.0, extra) * 3.0 + extra == pytest.approx(0.5)
    assert 3.0 * even_strength(100.0, 3.0, 0.7) + 0.7 > 0.5  # refused as too much exploration, not negative


# -- the same play, a smaller bound ---------------------------------------------------------------------------

GRAPHS = {
    "cycle": sl.families.cycle(20),
    "long directed cycle": sl.families.cycle(70, directed=True),
    "revealing action": sl.families.revealing_action(9),
    "loops beside": sl.families.corrupted_mab(12, 3),
    "teams": sl.families.cliques([4, 4, 4]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("T", [50, 3_000, 10**6])
def test_sharper_proofs_are_checked(name, T):
    """The independent checker derives every sharper bound from the tuning, and accepts what is printed."""
    g = GRAPHS[name]
    compared = sl.compare_bounds(g, T)
    rows = {row.name: row for row in compared.upper}
    ours = [way for way in natural_candidates(Solved(g), "auto") if way.offer(T).sharper]
    assert {way.title for way in ours} >= {"adaptive, single", "clustered, single"}
    plans = [way.plan(T) for way in ours] + [sl.baselines.chlz21(g, T), sl.baselines.exp3g(g, T)]
    titles = [way.title for way in ours] + ["CHLZ21", None]
    for made, title in zip(plans, titles, strict=True):
        assert not made.bound.certified or all(c.holds for c in sl.check_certificate(made))
        if title is None:
            title = "Exp3.G, loop-less arms covered" if g.has_loop.any() else "Exp3.G, all arms covered"
        row, printed = rows[f"{title}, sharper"], rows[title]
        assert row.certified
        assert not printed.certified or row.value <= printed.value * (1 + 1e-12)
        claimed = replace(made, curve=replace(made.bound, terms={"claim": row.value}))
        assert all(c.holds for c in sl.check_certificate(claimed))
        less = replace(made, curve=replace(made.bound, terms={"claim": 0.99 * row.value}))
        # No round costs more than 1, so of bounds above T the checker may prove more.
        assert row.value > T or not all(c.holds for c in sl.check_certificate(less))
        assert compared.auto.value <= ((1 + SLACK) * row.value + ROOM) * (1 + 1e-12)


def test_constants_of_the_same_play():
    T, g = 10**9, sl.families.cycle(20)
    rows = {row.name: row.value for row in sl.compare_bounds(g, T).upper}
    unit = (10 * np.log(20)) ** (1 / 3) * T ** (2 / 3)
    assert rows["CHLZ21"] == pytest.approx(3 * 2 ** (-1 / 3) * unit)
    assert rows["CHLZ21, sharper"] == pytest.approx(2 * 2 ** (-1 / 3) * unit)
    exp3g, sharper = rows["Exp3.G, all arms covered"], rows["Exp3.G, all arms covered, sharper"]
    assert sharper == pytest.approx(exp3g * 2 / 2.5)
    adaptive = rows["adaptive, single, sharper"]
    assert adaptive == pytest.approx((2 - 1 / np.sqrt(20)) * 2 ** (1 / 3) * 20 ** (1 / 3) * T ** (2 / 3))


def test_old_tunings_and_old_claims_are_accepted():
    """Plans of earlier versions: η = √(2Dβ/T), b = (2T)^{−1/3}M^{−2/3} and 3·2^{−1/3}M^{1/3}T^{2/3}."""
    g, T = sl.families.cycle(12, directed=True), 10**5
    made = sl.plan(g, T, Partition(g, [range(12)]), "interpolated")
    h = made.parameters["h_blocks"][0]
    D = naive.diameter(h, 12)
    M = D * 12**h
    b = (2 * T) ** (-1 / 3) * M ** (-2 / 3)
    old = replace(
        made.tuning,
        spread=made.tuning.spread * (b / made.parameters["b"]),
        inner_rate=made.tuning.inner_rate * (D * np.sqrt(2 * b / T) / made.parameters["eta_blocks"][0]),
    )
    claim = {"restriction": np.sqrt(2 * T / b), "global exploration": b * M * T}
    assert_allclose(sum(claim.values()), 3 * 2 ** (-1 / 3) * M ** (1 / 3) * T ** (2 / 3))
    kept = replace(made, tuning=old, curve=replace(made.bound, terms=claim))
    assert all(c.holds for c in sl.check_certificate(kept))
