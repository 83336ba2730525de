"""Theorem 1 with signed estimates in short games played to the end; potentials change in every round."""

from itertools import product

import numpy as np
import pytest
import signed_twin as signed

GAMES = {
    "bandit": np.eye(2),
    "two strangers": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "one tells": np.array([[1.0, 1.0], [0.0, 0.0]]),
    "lossy": np.array([[0.5, 1.0], [0.0, 1.0]]),
    "directed cycle": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "loops and a stranger": np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
}
ROUNDS = 3
SHIFTS = (0.0, 0.3, 0.5)


def potential(t, L, kind):
    """(orders, temperatures) of round t: one of each or one for each arm, going up and down, and following L."""
    n = L.size
    if kind == "one of each":
        return (0.5, 1.0, 0.3)[t % 3], (1.5, 4.0, 0.8)[t % 3] * (1 + (L.argmin() == 0))
    s = np.array([0.5, 1.0, 0.75])[(np.arange(n) + t) % 3]
    return s, np.array([1.0, 5.0, 2.5])[(np.arange(n) + 2 * t + L.argmax()) % 3]


def played(X, r, s, tau):
    """(Z, c, cost): of a few mixtures with even play and a few shifts the one that costs least against any losses."""
    tried = []
    for share, c in product((0.1, 0.4), SHIFTS):
        Z = (1 - share) * X + share / X.size
        cost = min(signed.kernel(r, X, Z, s, tau, c, theta) for theta in (0, signed.best_theta(X, s, tau)))
        tried.append((cost - 0.1 * c, c, tuple(Z), cost))  # prefers shifts, which are what is tested
    _, c, Z, cost = min(tried)
    return np.array(Z), c, cost


def followed(r, losses, kind, moves, t=0, L=None, certificate=None):
    """(E loss, E certificate) of the rest of a game; `moves` keeps decisions, which depend on t and L alone."""
    if L is None:
        L = np.zeros(len(r))
        certificate = signed.money(L, *potential(0, L, kind))
    key = (t, *np.round(L, 12))
    if key not in moves:
        s, tau = potential(t, L, kind)
        moves[key] = played(signed.point(L, s, tau), r, s, tau)
    Z, c, cost = moves[key]
    P = Z @ r
    loss, total = float(Z @ losses[t]), 0.0
    for chance, seen in zip(*signed.outcomes(r, Z), strict=True):
        after, bought = L + seen * (losses[t] - c) / P, 0.0
        if t + 1 == len(losses):
            total += chance * (certificate + cost)
            continue
        change = (signed.money(after, *potential(u, at, kind)) for u, at in ((t + 1, after), (t, L)))
        bought = next(change) - next(change)
        more = followed(r, losses, kind, moves, t + 1, after, certificate + cost + bought)
        loss += chance * more[0]
        total += chance * more[1]
    return loss, total


def check(game, kind, sequences):
    """The mean certificate is above the regret for these losses; shifts are played."""
    moves = {}
    for losses in sequences:
        loss, certificate = followed(GAMES[game], losses, kind, moves)
        assert loss - losses.sum(axis=0).min() <= certificate + 1e-9
    assert any(c > 0 for _, c, _ in moves.values())


def drawn(game, number):
    """So many of all 0/1 losses of a game."""
    n = len(GAMES[game])
    every = [np.array(bits).reshape(ROUNDS, n) for bits in product((0.0, 1.0), repeat=ROUNDS * n)]
    return [every[k] for k in np.random.default_rng(8).permutation(len(every))[:number]]


@pytest.mark.parametrize("kind", ["one of each", "arm by arm"])
@pytest.mark.parametrize("game", GAMES)
def test_the_mean_certificate_bounds_the_regret(game, kind):
    check(game, kind, drawn(game, 2))


@pytest.mark.full
@pytest.mark.parametrize("kind", ["one of each", "arm by arm"])
@pytest.mark.parametrize("game", GAMES)
def test_the_mean_certificate_bounds_the_regret_whatever_the_losses(game, kind):
    check(game, kind, drawn(game, 64))


def test_sums_that_only_fall_and_constants_change_nothing():
    """L may be negative, and a constant added to all of L moves neither X nor W."""
    L, s, tau = np.array([-3.0, 1.5, 0.2]), np.array([0.5, 1.0, 0.75]), np.array([1.0, 2.0, 3.0])
    assert signed.point(L, s, tau) == pytest.approx(signed.point(L - 40, s, tau), rel=1e-9)
    assert signed.money(L, s, tau) == pytest.approx(signed.money(L - 40, s, tau), rel=1e-9)
