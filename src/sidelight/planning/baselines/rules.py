"""Bounds of known algorithms that are rules of their own: they are played by `policy.rules`, which asks here."""

from __future__ import annotations

from math import ceil, log, sqrt

from sidelight.planning.bounds.constant import curvature


def uniform_bound(n: int, T: float) -> float:
    """(1 − 1/N)·T, of play that ignores all feedback; no less in the worst case.

    A round costs at most the mean of N losses, of which one belongs to the best arm: ℓ̄ − ℓ* ≤ 1 − 1/N.
    """
    return (1 - 1 / n) * T


def tsallis_inf_bound(n: int, T: float) -> float:
    """4√(NT) + 1, of Tsallis-INF on graphs with all self-loops (Zimmert & Seldin 2021)."""
    return 4 * sqrt(n * T) + 1


def exp3_ix_spread(n: int, cliques: int, alpha: int, T: float) -> float:
    """min(q, 2αH + 2), H = log(1 + (⌈N²√(NT/log N)⌉ + N)/α): no Q_t of Exp3-IX on n ≥ 2 arms exceeds it."""
    H = log(1 + (ceil(n * n * sqrt(n * T / log(n))) + n) / alpha)
    return min(float(cliques), 2 * alpha * H + 2)


def exp3_ix_bound(n: int, cliques: int, alpha: int, T: float) -> float:
    """4√((N + T·Q) log N), Q = `exp3_ix_spread`, of Exp3-IX; 0 for one arm."""
    return 4 * sqrt((n + T * exp3_ix_spread(n, cliques, alpha, T)) * log(n)) if n > 1 else 0.0


def exp3_ix_likely(n: int, cliques: int, alpha: int, T: float, doubt: float) -> dict[str, float]:
    """Of Exp3-IX with probability 1 − ε, n ≥ 2: proved in docs/theory/high-probability.md; S = T·Q.

    √((N+S) log N) + 3√(S log N) + ½log(2N/ε)·√((N+S)/log N) + log(2/ε)/λ + λφ(λ)(T+S),  λ = √(2 log(2/ε)/(T+S)).
    """
    S, logs = T * exp3_ix_spread(n, cliques, alpha, T), log(n)
    risk = sqrt(2 * log(2 / doubt) / (T + S))
    return {
        "diameter": sqrt((n + S) * logs),
        "rounds": 3 * sqrt(S * logs),
        "best arm": 0.5 * log(2 * n / doubt) * sqrt((n + S) / logs),
        "draws": log(2 / doubt) / risk + risk * curvature(risk) * (T + S),
    }


def exp3_set_bound(n: int, alpha: int, T: float) -> float:
    """√(2αT log N), of Exp3-SET on undirected graphs with all self-loops."""
    return sqrt(2 * alpha * T * log(n))


def exp3g_clique_bound(n: int, T: float) -> float:
    """5√(T log N), of Exp3.G on the loop-less clique (Alon, Cesa-Bianchi, Dekel & Koren 2015)."""
    return 5 * sqrt(T * log(n))
