"""Claims: bounds of estimates with a shift, for a known T, and the constants that they tend to."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sidelight.analysis import fractional_domination
from sidelight.experiment.claims.claim import Prediction
from sidelight.experiment.claims.measures import Claims, Row, slope
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.planning.tuning import lazy_factor

claims = Claims("signed estimates")
PAGE = "docs/theory/signed.md"
COVERED = (
    "cycle:20", "cycle:20:directed", "teams:5x4", "hypercube:5", "bicliques:4x8", "cliques:3,4,5,12",
)  # fmt: skip
LARGE = ("cycle:400", "hypercube:9", "cliques:100x4", "grid:20,20")
WEAK = 2 ** (1 / 3)
ORDERS = np.linspace(0.05, 1.0, 20)


def weak_scale(graph: FeedbackGraph, order: float) -> float:
    """(D·κδ^s)^{1/3}, where κ is what lazy play costs on large blocks: 1 for s = 1."""
    n, delta = graph.n_arms, fractional_domination(graph).value
    kappa = float(lazy_factor(n)) if order < 1 else 1.0
    return float((largest_entropy(n, order) * kappa * delta**order) ** (1 / 3))


def largest_entropy(n: int, order: float) -> float:
    """D, the largest value of the entropy of this order on n arms."""
    return log(n) if order == 1 else float((n ** (1 - order) - 1) / (order * (1 - order)))


def _smallest(graph: FeedbackGraph, T: int) -> float:
    return plan(graph, T, realization="fixed").bound.value


@claims.cases(
    "signed-weak",
    "six families all of whose arms are weakly observable, four large ones more in the full run",
    (PAGE,),
    Prediction.most("largest constant at any T", WEAK * (1 + 1e-9), "Theorem A: 2^{1/3} = 1.26"),
    Prediction.near("constant at T = 10¹²", WEAK, 0.0005, "Lemma 3 is exact to first order in √(weak/β)"),
    Prediction.near("growth of 2^{1/3} − constant", -1 / 3, 0.02, "the next order, √(weak/β) ~ T^{−1/3}"),
    Prediction.most("largest bound / CHLZ21 as printed", 0.53, "2^{1/3}/2.381 = 0.529"),
    unit="bound / (Dκδ^s)^{1/3}T^{2/3}, best s",
    notes=("Intervals are ranges over the families. The growth is that from T = 10⁸ to 10¹².",),
    specs=(COVERED, COVERED + LARGE),
)
def weak(spec: str) -> Row:
    """Where all arms are covered the bound is at most 2^{1/3}(Dδ^s)^{1/3}T^{2/3} for a known T, and tends to it."""
    graph = families.parse(spec)
    best = min(weak_scale(graph, s) for s in ORDERS)
    horizons = (10**6, 10**8, 10**10, 10**12)
    found = [_smallest(graph, T) / T ** (2 / 3) for T in horizons]
    constants = [each / best for each in found]
    chlz21 = 3 * 2 ** (-1 / 3) * weak_scale(graph, 1.0)
    return {
        "family": spec,
        "constant at T = 10⁶": constants[0],
        "constant at T = 10¹²": constants[-1],
        "constant at any T": max(constants),
        "growth of 2^{1/3} − constant": slope(
            horizons[1:], [max(WEAK - each, 1e-12) for each in constants[1:]]
        ),
        "bound / CHLZ21 as printed": found[-1] / chlz21,
    }


@claims.cases(
    "signed-bandits",
    "mab:N, T = 32N to 10⁷N",
    (PAGE,),
    Prediction.most("largest bound / Theorem B", 1.0, "√(2NT(1−N^{−1/2})) + 3N from T = 32N on"),
    Prediction.near("limit / √(½·min_s D_sN^s·T)", 1.0, 1e-4, "Lemma 5′, X uniform, second order in 1/β"),
    Prediction.most("largest growth of the excess", -0.48, "the N-term is of relative order T^{−1/2}"),
    Prediction.most("largest limit / √(2NT(1−N^{−1/2}))", 1 + 1e-4, "the best order is no worse than ½"),
    Prediction.near(
        "limit / √(2NT(1−N^{−1/2})) at the largest N", 1.0, 1e-3, "and ½ is nearly best for many arms"
    ),
    unit="bound / what it tends to",
    notes=("Limits are taken at T = 10¹⁰. The excess is that over the limit, from T = 10⁵N to 10⁷N.",),
    arms=((20, 100, 400, 2000), (20, 50, 100, 200, 400, 1000, 2000)),
)
def bandits(n: int) -> Row:
    """Bandits have at most √(2NT(1−N^{−1/2})) + 3N for a known T, half of what they have without a shift, and
    √(½·min_s D_sN^s·T) in the limit.
    """
    graph = families.mab(n)

    def constant(T: int) -> float:
        return _smallest(graph, T) / sqrt(T)

    printed = sqrt(2 * n * (1 - n**-0.5))
    limit = sqrt(0.5 * min(largest_entropy(n, s) * n**s for s in ORDERS[:-1]))
    early = (32 * n, 1000 * n, 100_000 * n)
    theorem = max(constant(T) / (printed + 3 * n / sqrt(T)) for T in early)
    late = (10**5 * n, 10**6 * n, 10**7 * n)
    excess = [max(constant(T) / limit - 1, 1e-15) for T in late]
    at_last = constant(10**10)
    return {
        "N": n,
        "bound / Theorem B": theorem,
        "limit / √(½·min_s D_sN^s·T)": at_last / limit,
        "growth of the excess": slope(late, excess),
        "limit / √(2NT(1−N^{−1/2}))": at_last / printed,
    }


@claims.cases(
    "signed-universal",
    "loopless_clique:N, T = 10⁶ to 10¹⁵",
    (PAGE,),
    Prediction.near(
        "constant at T = 10¹⁵ at the largest N", 0.976, 0.001, "Theorem C: 2√0.2381 in the limit"
    ),
    Prediction.most("largest constant at T = 10¹⁵", 1.01, "more for few arms: 0.981 for 20"),
    Prediction.most("largest last step in T", 0.5, "steps of 1 000 in T bring it ever nearer to its limit"),
    unit="bound / √(T ln N)",
    notes=("The step is that from T = 10⁹ to 10¹², over that from 10⁶ to 10⁹.",),
    arms=((5, 20, 100, 2000), (5, 10, 20, 50, 100, 500, 2000, 10_000)),
)
def universal(n: int) -> Row:
    """Where every arm is revealed by all others and none by itself, √(T ln N) costs 0.976 times, in the limit of
    many arms and rounds, where a proof without a shift has 1.785.
    """
    graph = families.loopless_clique(n)
    constants = [_smallest(graph, T) / sqrt(T * log(n)) for T in (10**6, 10**9, 10**12, 10**15)]
    first, second, _ = -np.diff(constants)
    return {
        "N": n,
        "constant at T = 10⁶": constants[0],
        "constant at T = 10¹⁵": constants[-1],
        "last step in T": second / first,
    }
