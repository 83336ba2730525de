"""Bounds of known algorithms that are rules of their own: they are played by `policy.rules`, which asks here.

Those that `compare_bounds` lists stand in `KNOWN_BOUNDS`, with the graphs that they hold for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, comb, log, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

from sidelight.planning.bounds.constant import curvature

if TYPE_CHECKING:
    from sidelight.planning.exploration import Solved


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


def two_experts_bound(T: float) -> float:
    """½·E|S_T|, S a simple random walk: what Cover's strategy attains on two arms with full feedback, and no less is.

    For T = 2m and 2m − 1 that is m·C(2m, m)/4^m ≤ m/√(π(m + ¼)).
    """
    m = ceil(T / 2)
    return m * comb(2 * m, m) / 4**m if m <= 500 else m / sqrt(pi * (m + 0.25))


class KnownBound(NamedTuple):
    """A row of `compare_bounds`: a published bound on the graphs that it applies to."""

    name: str
    applies: Callable[[Solved], bool]
    value: Callable[[Solved, float], float]  # of the graph and T
    source: str
    theorem: str  # {cliques} is the number of cliques that cover the graph
    quoted: bool = False  # was only a citation of it read?


def _sees_itself(solved: Solved) -> bool:
    return bool(solved.graph.has_loop.all()) and solved.graph.certain


def _loopless_clique(solved: Solved) -> bool:
    return solved.graph.universal.size == solved.graph.n_arms and not solved.graph.has_loop.any()


KNOWN_BOUNDS = (
    KnownBound(
        "Exp3.G, loop-less clique",
        _loopless_clique,
        lambda solved, T: 5 * sqrt(T * log(solved.graph.n_arms)),
        "Alon, Cesa-Bianchi, Dekel & Koren 2015; proved again in docs/theory/strong.md",
        "5√(T log N), η = √(log N/(2T)), γ = 2η",
    ),
    KnownBound(
        "Tsallis-INF",
        _sees_itself,
        lambda solved, T: tsallis_inf_bound(solved.graph.n_arms, T),
        "Zimmert & Seldin 2021",
        "4√(NT) + 1",
    ),
    KnownBound(
        "Tsallis-INF, reduced variance",
        lambda solved: _sees_itself(solved) and bool((solved.graph.out_degree == 1).all()),
        lambda solved, T: 2 * sqrt(solved.graph.n_arms * T) + 10 * solved.graph.n_arms * log(T) + 16,
        "Zimmert & Seldin 2021, as commonly quoted",
        "2√(NT) + 10N·ln T + 16",
        quoted=True,
    ),
    KnownBound(
        "mirror descent, information ratio",
        _sees_itself,
        lambda solved, T: sqrt(2 * solved.graph.n_arms * T),
        "Lattimore & György 2021, efficient; the value is that of Lattimore & Szepesvári 2019. Abstracts were read",
        "√(2NT)",
        quoted=True,
    ),
    KnownBound(
        "mirror descent, √(2NT) + 48N",
        _sees_itself,
        lambda solved, T: sqrt(2 * solved.graph.n_arms * T) + 48 * solved.graph.n_arms,
        "Zimmert & Lattimore 2019, as commonly quoted",
        "√(2NT) + 48N",
        quoted=True,
    ),
    KnownBound(
        "Cover, two experts",
        lambda solved: solved.graph.n_arms == 2 == solved.graph.universal.size and _sees_itself(solved),
        lambda solved, T: two_experts_bound(T),
        "Cover 1967; the exact minimax value, see the row of full information below",
        "½E|S_T|, S a simple random walk",
    ),
    KnownBound(
        "Exp3-IX",
        _sees_itself,
        lambda solved, T: exp3_ix_bound(solved.graph.n_arms, solved.cliques.value, solved.cliques.alpha, T),
        "Kocák, Neu, Valko & Munos 2014, Lemma 1",
        "4√((N + T·min(q, 2αH + 2)) log N), q cliques cover the graph",
    ),
    KnownBound(
        "Exp3-SET",
        lambda solved: _sees_itself(solved) and solved.cliques.symmetric,
        lambda solved, T: sqrt(2 * solved.cliques.value * T * log(solved.graph.n_arms)),
        "Alon, Cesa-Bianchi, Gentile & Mansour 2013",
        "√(2αT log N), α ≤ {cliques}",
    ),
)
