"""Claims: printed formulas that do not say what their proofs prove, and small facts the theorems lean on."""

from __future__ import annotations

from math import cbrt, exp, log, sqrt

import numpy as np

from sidelight.analysis import fractional_domination, observability
from sidelight.errors import UnobservableGraph
from sidelight.experiment.claims.claim import Prediction
from sidelight.experiment.claims.measures import Claims, Row, doubled
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan
from sidelight.planning.bounds.bound import first

claims = Claims("readings")
READINGS = "docs/theory/readings.md"
ONE_BLOCK, PRINTED = 3 * cbrt(2.0), 3 * cbrt(2.0) + 3 * cbrt(4.0)
"""Constants of the adaptive theorem, without projection terms and as printed."""


@claims.cases(
    "monotone-step",
    "random Y, η and L', both potentials",
    ("lem: monotone", READINGS),
    Prediction.most("largest W / Y", 4.0, "Lemma monotone"),
    Prediction.most("largest error of the formula as read", 1e-6, "W = Y/(1+2ηL'√Y)² and W = Y·exp(−ηL')"),
    Prediction.least("largest error of the formula as printed", 0.1, "√ and factor 2 are misprinted"),
    unit="growth in one step, and errors",
    draws=(400, 5_000),
)
def monotone(draw: int) -> Row:
    """If η·L' ≥ −1/4, one unconstrained step multiplies a coordinate by 4 at most; the printed formulas for the
    step are not its minimiser.
    """
    rng = np.random.default_rng([11, draw])
    Y, eta = float(10 ** rng.uniform(-4, 0)), float(10 ** rng.uniform(-3, 0))
    loss = float(rng.uniform(-0.25, 2.0)) / eta  # η·L' ≥ −1/4
    entropy = bool(rng.integers(2))
    W = _step(Y, eta, loss, entropy)
    if entropy:
        ours, theirs = Y * exp(-eta * loss), Y * exp(-2 * eta * loss)
    else:
        ours, theirs = Y / (1 + 2 * eta * loss * sqrt(Y)) ** 2, Y / (2 * eta * loss * Y + 1) ** 2
    row = {"draw": draw, "Y": Y, "η·L'": eta * loss, "entropy": entropy, "W / Y": W / Y}
    errors = {"read": abs(ours / W - 1), "printed": abs(theirs / W - 1)}
    return row | {f"error of the formula as {how}": error for how, error in errors.items()}


def _step(Y: float, eta: float, loss: float, entropy: bool) -> float:
    """The root of Ψ'(W) = Ψ'(Y) − L' by bisection: Ψ' increases. Independent of both formulas for it."""

    def slope(y: float) -> float:
        return (log(y) + 1) / eta if entropy else -1 / (2 * eta * sqrt(y))

    low, high, target = 1e-300, 1e6, slope(Y) - loss
    while high / low >= 1 + 1e-13:
        middle = sqrt(low * high)
        low, high = (middle, high) if slope(middle) < target else (low, middle)
    return sqrt(low * high)


@claims.cases(
    "clique-domination",
    "cliques:5xN",
    ("sec:union", READINGS),
    Prediction.most("largest error of Σ n/(n−1)", 1e-6, "equal weights are a cover and a packing"),
    Prediction("δ* / 2m at the largest n", 0.5, 0.55, "n/(n−1) → 1"),
    unit="δ* over what is printed, and relative error",
    sizes=((2, 3, 5, 9, 17, 33), (2, 3, 5, 9, 17, 33, 65, 129)),
)
def clique_domination(n: int) -> Row:
    """The fractional domination number of disjoint cliques is Σ n_k/(n_k−1), not 2m unless they are pairs."""
    delta = fractional_domination(families.cliques([n] * 5)).value
    row = {"n, arms in each of 5 cliques": n, "δ*": delta, "δ* / 2m": delta / 10}
    return row | {"error of Σ n/(n−1)": abs(delta / (5 * n / (n - 1)) - 1)}


@claims.cases(
    "one-block",
    "cycle:N:directed",
    ("thm:adapt-realized-upper-bound", READINGS),
    Prediction.near("constant", 3.78, 0.01, "3·2^{1/3}"),
    Prediction.near("constant as printed", 8.54, 0.01, "3·2^{1/3} + 3·2^{2/3}"),
    unit="bound / N^{1/3}T^{2/3}",
    arms=(doubled(8, 128), doubled(8, 1024)),
)
def one_block(n: int) -> Row:
    """With a single block there is nothing to project: the adaptive constant falls from 8.54 to 3.78."""
    T, graph = 10**15, families.cycle(n, directed=True)
    bound = plan(graph, T, partitions.single(graph), "adaptive").bound.value
    return {"N, arms": n, "constant": bound / (cbrt(n) * cbrt(T) ** 2), "constant as printed": PRINTED}


def _chlz21(log_n: float) -> float:
    """CHLZ21's bound on a directed cycle, where δ* = N, over N^{1/3}T^{2/3}."""
    return 3 * 2 ** (-1 / 3) * cbrt(log_n)


@claims.cases(
    "cycle-against-chlz21",
    "cycle:N:directed",
    ("thm:adapt-realized-upper-bound", READINGS),
    Prediction("log N at the crossing", 46.0, 47.0, "(8.54/2.381)³ = 46.2"),
    unit="log N",
    rivals={"CHLZ21's bound at N = 10⁶": PRINTED / _chlz21(log(1e6))},
    notes=("N^{1/3} against (N log N)^{1/3} is an asymptotic gain: log N ≈ 46 means N ≈ 10²⁰ arms.",),
    logs=(tuple(range(2, 61, 2)), tuple(range(2, 61))),
)
def crossover(x: int) -> Row:
    """On a directed cycle the printed bound N^{1/3}T^{2/3} beats CHLZ21's (N log N)^{1/3}T^{2/3}, constants
    included, from log N ≈ 46 on.
    """
    shares = {"printed / CHLZ21": PRINTED / _chlz21(x), "one block / CHLZ21": ONE_BLOCK / _chlz21(x)}
    return {"log N": x, "log N at the crossing": first(lambda x: _chlz21(x) > PRINTED), **shares}


@claims.cases(
    "trichotomy",
    "loopy_star:12, revealing_action:12, and a graph with an arm that nothing reveals",
    ("sec:decomp",),
    Prediction.near("exponent of strong", 1 / 2, 0.02, "√T, up to log T"),
    Prediction.near("exponent of weak", 2 / 3, 0.01, "T^{2/3}"),
    Prediction.near("unobservable graphs refused", 1.0, 0.0, "regret there is linear"),
    Prediction.near("classes as named", 1.0, 0.0, "observability of the three graphs"),
    unit="best bound",
    notes=("Two losses that differ only in an arm that nothing reveals look the same to every player.",),
    horizons=((10**12, 10**14, 10**16),) * 2,
)
def trichotomy(T: int) -> Row:
    """Strongly observable graphs allow √T, weakly observable ones T^{2/3}, and unobservable ones are refused."""
    graphs = {
        "strong": families.loopy_star(12),
        "weak": families.revealing_action(12),
        "unobservable": FeedbackGraph.from_edges(3, [(0, 0), (1, 1)]),
    }
    refused = 0.0
    try:
        plan(graphs["unobservable"], T)
    except UnobservableGraph:
        refused = 1.0
    bounds = {name: plan(graphs[name], T).bound.value for name in ("strong", "weak")}
    right = all(observability(graph).graph == name for name, graph in graphs.items())
    return {
        "T, rounds": T,
        **bounds,
        "unobservable graphs refused": refused,
        "classes as named": float(right),
    }
