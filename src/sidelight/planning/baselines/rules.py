"""Bounds of known algorithms that are rules of their own: they are played by `policy.rules`, which asks here."""

from __future__ import annotations

from math import ceil, log, sqrt


def uniform_bound(n: int, T: float) -> float:
    """(1 − 1/N)·T, of play that ignores all feedback; no less in the worst case.

    A round costs at most the mean of N losses, of which one belongs to the best arm: ℓ̄ − ℓ* ≤ 1 − 1/N.
    """
    return (1 - 1 / n) * T


def tsallis_inf_bound(n: int, T: float) -> float:
    """4√(NT) + 1, of Tsallis-INF on graphs with all self-loops (Zimmert & Seldin 2021)."""
    return 4 * sqrt(n * T) + 1


def exp3_ix_bound(n: int, cliques: int, alpha: int, T: float) -> float:
    """4√((N + T·min(q, 2αH + 2)) log N), H = log(1 + (⌈N²√(NT/log N)⌉ + N)/α), of Exp3-IX; 0 for one arm."""
    if n == 1:
        return 0.0
    H = log(1 + (ceil(n * n * sqrt(n * T / log(n))) + n) / alpha)
    return 4 * sqrt((n + T * min(float(cliques), 2 * alpha * H + 2)) * log(n))


def exp3_set_bound(n: int, alpha: int, T: float) -> float:
    """√(2αT log N), of Exp3-SET on undirected graphs with all self-loops."""
    return sqrt(2 * alpha * T * log(n))


def exp3g_clique_bound(n: int, T: float) -> float:
    """5√(T log N), of Exp3.G on the loop-less clique (Alon, Cesa-Bianchi, Dekel & Koren 2015)."""
    return 5 * sqrt(T * log(n))
