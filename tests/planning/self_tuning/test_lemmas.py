"""Every inequality of docs/theory/self-tuning.md, on random graphs and states, and in short games played to the end.

These are laws of the mathematics: they are written with the dense twin, which the engine is compared with elsewhere.
"""

from itertools import product

import numpy as np
import pytest
from observable_graphs import revealing
from self_tuning_twin import SelfTuning, best_play, cost, directions, entropy, money, point, psi, psi_minus

ORDERS = (0.3, 0.5, 0.8, 1.0)


def random_graph(rng, n):
    """A matrix in which every arm is revealed by somebody, and a cover of all arms, not the best one."""
    A = revealing(rng, n, 0.15)
    x = rng.random(n) + 0.05
    return A, x / (x @ A).min()


def random_state(rng, s, vertex=False):
    """A graph, its cover, sums, β and the point that belongs to them; near a vertex if asked."""
    n = int(rng.integers(2, 9))
    A, cover = random_graph(rng, n)
    beta = float(np.exp(rng.uniform(-1.5, 6)))
    L = rng.exponential(size=n) * beta * np.exp(rng.uniform(-3, 4))
    if vertex:
        L += beta * np.exp(rng.uniform(0, 5))
        L[rng.integers(n)] = 0.0
    return A, cover, L, beta, point(L, beta, s)


def stability(L, estimate, beta, s):
    """σ = ⟨ℓ̂, X⟩ + F(L, β) − F(L + ℓ̂, β), with F = min L − W."""

    def free(sums):
        return sums.min() - money(sums, beta, s)

    return estimate @ point(L, beta, s) + free(L) - free(L + estimate)


@pytest.mark.parametrize("s", ORDERS)
def test_the_point_minimises_and_its_money_is_the_envelope(s):
    rng = np.random.default_rng(1)
    for _ in range(60):
        _, _, L, beta, X = random_state(rng, s)
        assert abs(X.sum() - 1) < 1e-12
        value = L @ X - beta * entropy(X, s)
        for _ in range(5):
            other = rng.dirichlet(np.ones(L.size))
            assert value <= L @ other - beta * entropy(other, s) + 1e-9 * (1 + abs(value))
        up = money(L, beta * 1.01, s) - money(L, beta, s)
        low, high = entropy(X, s), entropy(point(L, beta * 1.01, s), s)
        assert low * beta * 0.01 <= up * (1 + 1e-9) + 1e-12
        assert up <= high * beta * 0.01 * (1 + 1e-9) + 1e-12
    n = 7
    assert money(np.zeros(n), 3.0, s) == pytest.approx(3.0 * entropy(np.full(n, 1 / n), s), rel=1e-12)


@pytest.mark.parametrize("s", ORDERS)
def test_psi_is_the_conjugate(s):
    """P·f(±1/P) by a fine search over x, against the closed forms; ψ(q) ≤ q/2 and, for r ≤ 1/u, ψ₋(r) ≤ r."""

    def divergence(x, X):
        h = (lambda y: -y * np.log(y)) if s == 1 else (lambda y: (y**s - y) / (s * (1 - s)))
        slope = -np.log(X) - 1 if s == 1 else (s * X ** (s - 1) - 1) / (s * (1 - s))
        return -h(x) + h(X) + slope * (x - X)

    rng = np.random.default_rng(2)
    for _ in range(40):
        X, P, beta = rng.uniform(0.01, 0.99), rng.uniform(0.05, 1), np.exp(rng.uniform(0, 4))
        q = X ** (1 - s) / (beta * P)
        for sign, closed in ((1, psi(q, s)), (-1, psi_minus(q, s))):
            if not np.isfinite(closed) or closed > 50:
                continue
            x = X * np.exp(np.linspace(-12, 12, 60_001))
            found = P * np.max(sign / P * (X - x) - beta * divergence(x, X))
            assert found == pytest.approx(X * float(closed), rel=1e-4, abs=1e-9)
    q = np.exp(np.linspace(-12, 8, 400))
    assert (psi(q, s) <= q / 2 + 1e-12).all()
    assert (psi(q, s) < 1).all()
    r = np.linspace(1e-6, 1 / max(1, 2 - 2 * s), 400)
    assert (psi_minus(r, s) <= r + 1e-9).all()


@pytest.mark.parametrize("s", ORDERS)
@pytest.mark.parametrize("vertex", [False, True])
def test_a_round_costs_what_lemma_1_says(s, vertex):
    """E σ + ⟨ℓ, Z − X⟩ + Σ_{P=0} ℓX ≤ cost ≤ 1 for every 0/1 loss, any Z, arms that cannot be seen included."""
    rng = np.random.default_rng(3)
    for case in range(25):
        A, _, L, beta, X = random_state(rng, s, vertex)
        n = X.size
        Z = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0])))
        if case % 3 == 0:
            Z = 0.9 * X + 0.1 * Z
        if case % 4 == 0:
            Z[rng.integers(n)] = 0.0
            Z /= Z.sum()
        P = A.T @ Z
        price = cost(A, X, Z, beta, s)
        assert price <= 1 + 1e-12
        for losses in rng.integers(0, 2, size=(8, n)).astype(float):
            mean = sum(
                Z[j]
                * stability(L, np.where((A[j] > 0) & (P > 0), losses / np.where(P > 0, P, 1), 0.0), beta, s)
                for j in range(n)
                if Z[j] > 0
            )
            left = mean + losses @ (Z - X) + (losses * X)[P == 0].sum()
            assert left <= price + 1e-9 * (1 + beta)


@pytest.mark.parametrize("s", ORDERS)
def test_stability_and_exploration_are_not_paid_together(s):
    """Lemma 2: plain ≤ max(1/(2βb), bG); Lemma 3 near a vertex; the rule's cost ≤ w(β)."""
    rng = np.random.default_rng(4)
    u = max(1.0, 2 - 2 * s)
    for case in range(120):
        A, cover, _, beta, X = random_state(rng, s, vertex=case % 2 == 0)
        delta = cover.sum()
        for g, near, a in directions(A, cover, X, s):
            G = g.sum()
            owed = np.where(np.arange(X.size) == X.argmax(), min(X.max(), a), X) if near else X
            assert (g @ A >= owed ** (1 - s) * (1 - 1e-12)).all()
            assert delta**s * ((2 * a) ** (1 - s) if near else 1) * (1 + 1e-12) >= G
            b = rng.uniform(0.05, 1) / G
            Z = (1 - b * G) * X + b * g
            if not near:
                assert cost(A, X, Z, beta, s) <= max(1 / (2 * beta * b), b * G) + 1e-12
            elif b >= u / beta:
                assert cost(A, X, Z, beta, s) <= b * G + 1.5 * a / (beta * b) + 1e-12
        w = np.sqrt(delta**s / (2 * beta)) if beta >= 2 * delta**s else min(1.0, delta**s / beta)
        assert best_play(A, cover, X, beta, s)[0] <= w + 1e-12


def played(A, cover, losses, rule):
    """(E regret, E certificate) of a game with these losses, by all sequences of arms."""

    def follow(state, t, probability):
        if t == len(losses):
            return probability * (state.certificate - state.paid)
        Z = state.play()
        costs.append(probability * (Z @ losses[t]))
        total = 0.0
        for arm in np.flatnonzero(Z):
            branch = rule()
            branch.__dict__.update(
                {k: (v.copy() if isinstance(v, np.ndarray) else v) for k, v in vars(state).items()}
            )
            branch.learn(int(arm), losses[t])
            total += follow(branch, t + 1, probability * Z[arm])
        return total

    costs = []
    certificate = follow(rule(), 0, 1.0)
    return sum(costs) - losses.sum(axis=0).min(), certificate


GAMES = {
    "two strangers": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "one tells": np.array([[1.0, 1.0], [0.0, 0.0]]),
    "bandit": np.eye(2),
}


@pytest.mark.parametrize("s", [0.5, 1.0])
@pytest.mark.parametrize("game", GAMES)
def test_the_mean_certificate_bounds_the_regret_of_every_short_game(game, s):
    """Theorem 1 for the rule itself: exact expectations over all 0/1 losses of three rounds."""
    A = GAMES[game]
    cover = np.array([1.0, 0.0]) if game == "one tells" else np.ones(2)
    for bits in product((0.0, 1.0), repeat=6):
        losses = np.array(bits).reshape(3, 2)
        regret, certificate = played(A, cover, losses, lambda: SelfTuning(A, cover, s))
        assert regret <= certificate + 1e-9


class Changing(SelfTuning):
    """Another order and another β in every round, whatever was learnt."""

    STEPS = ((0.5, 1.0), (1.0, 3.0), (0.3, 0.4))

    def learn(self, arm, losses):
        """Move on to the next order at its price."""
        super().learn(arm, losses)
        before, after = (money(self.L, beta, s) for s, beta in ((self.s, self.beta), self.STEPS[self.t - 1]))
        self.certificate += after - before
        self.paid += after - before
        self.s, self.beta = self.STEPS[self.t - 1]


@pytest.mark.parametrize("game", GAMES)
def test_the_order_may_change_between_rounds(game):
    """Theorem 1 where W is that of the order in use: exact expectations over all 0/1 losses of two rounds."""
    A = GAMES[game]
    cover = np.array([1.0, 0.0]) if game == "one tells" else np.ones(2)
    for bits in product((0.0, 1.0), repeat=4):
        losses = np.array(bits).reshape(2, 2)
        regret, certificate = played(A, cover, losses, lambda: Changing(A, cover, first=1.0))
        assert regret <= certificate + 1e-9
