"""The plan with the smallest bound that holds with a given probability: entropy, and a constant cover of all arms."""

from __future__ import annotations

from functools import lru_cache
from math import cbrt, log, sqrt
from typing import NamedTuple

import numpy as np

from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.partition import natural
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.constant import ConstantPlay, high_probability, likely_terms
from sidelight.planning.exploration import Cover, Solved
from sidelight.planning.minimised.problem import minimise
from sidelight.planning.minimised.round_cost import LARGEST, SMALLEST, round_cost
from sidelight.planning.plan import Candidate, Considered, Offer, Plan
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import Tuning

CONFIDENT = "confident"
"""The realization of these plans."""


class Numbers(NamedTuple):
    """The free parameters."""

    eta: float  # rate of negative entropy
    b: float  # γ = b·x*: every arm is seen with probability ≥ b
    risk: float  # λ of the theorem


class Confident(Candidate):
    """Negative entropy with γ = b·x*; η and b minimise the bound that holds with probability 1 − ε.

        R ≤ 3/2·(δ*·m)^{1/3}·T^{2/3} + lower order,    m = min_{r≥1} (log N/r + log(N/ε))·(r+1)²/r

    The plan's own bound is that of its mean; `bound_at(T, confidence)` is the other. docs/theory/high-probability.md.
    """

    def __init__(self, solved: Solved, confidence: float) -> None:
        graph = solved.graph
        solved.observability  # noqa: B018 - an error if some arm cannot be observed
        self.confidence, self.n = confidence, graph.n_arms
        self.delta, self.weights = 0.0, np.zeros(self.n)  # where every arm reveals all, nothing needs a cover
        if not (graph.is_universal & graph.has_loop).all():
            cover = Cover.of(solved.cover(np.arange(self.n)), self.n)
            self.delta, self.weights = cover.mass, cover.weights
        partition = natural.single(graph) if self.n > 1 else natural.singletons(graph)
        theorem = "one block, η and b for high probability: log N/η + T·max(η/(2b), bδ*)"
        super().__init__("single", CONFIDENT, partition, theorem, (CONFIDENT,) * min(self.n - 1, 1))

    def numbers(self, T: float) -> Numbers:
        """η, b and λ with the smallest bound found."""
        return _smallest(T, self.n, self.delta, 1 - self.confidence)

    def offer(self, T: float) -> Offer:
        """In the mean log N/η + T·max(η/(2b), bδ*), or ηT/8 with full feedback; the minimiser keeps to γ̄ ≤ ½."""
        if self.n == 1:
            return Offer({"one arm": 0.0}, lambda: (Tuning.singletons(1, Potential(1.0, 1.0)), {}))
        eta, b, risk = self.numbers(T)
        rounds = T * (round_cost(eta / (2 * b), b * self.delta) if self.delta else 0.125 * eta)
        parameters = {"eta": eta, "b": b, "delta": self.delta, "gamma_bar": b * self.delta}
        parameters |= {"lambda": risk, "confidence": self.confidence}
        return Offer(
            {"diameter": log(self.n) / eta, "rounds": rounds},
            lambda: (Tuning.flat(self.n, Potential(1.0, eta), constant=b * self.weights), parameters),
            (Condition("γ̄ = bδ* ≤ 1/2", b * self.delta, MOST_EXPLORATION),),
        )

    def plan(self, horizon: int, considered: tuple[Considered, ...] = ()) -> Plan:
        """The plan, with a note that says what it is tuned for."""
        plan = super().plan(horizon, considered)
        likely = high_probability(plan.graph, plan.tuning, horizon, self.confidence)
        says = f"with probability {self.confidence:g}: regret ≤ {likely.value:,.2f}"
        note = f"{says}{', VACUOUS' if likely.vacuous else ''} (bound_at({horizon}, confidence={self.confidence:g}))"
        return plan.noted(note)


@lru_cache(maxsize=8192)
def _smallest(T: float, n: int, delta: float, doubt: float) -> Numbers:
    """The best numbers for a cover of mass `delta`; 0 if every arm is always seen."""
    A, B = log(n), log(n / doubt)

    def numbers(point: tuple[float, ...]) -> Numbers:
        eta, risk = point
        return Numbers(eta, even_strength(eta, risk, delta) if delta else 1.0, risk)

    def value(point: tuple[float, ...]) -> float:
        eta, b, risk = numbers(point)
        return sum(likely_terms(T, ConstantPlay(n, eta, b, b * delta), doubt, risk).values())

    ratio = 1.0 + sqrt(A / B)  # of η to λ; the leading term is flat around its minimum
    if delta:
        slope = T * sqrt(delta / 2) * (ratio + 1) / sqrt(ratio)
        risk = cbrt(2 * (A / ratio + B) / slope) ** 2
    else:
        risk = sqrt(B / T)
    return numbers(minimise(value, (ratio * risk, risk)))


def even_strength(eta: float, risk: float, delta: float) -> float:
    """The b with bδ = max(η, λ)/(2b) + λ(1 + bδ)/2, the two sides of the maximum, or the one that explores ½.

    Below it the maximum falls with b; above it bδ rises faster than λφ(1 + 1/b) falls while λ ≤ η, up to φ > ½.
    """
    slope = delta * (2 - risk)  # slope·b² − λ·b − max(η, λ) = 0
    if slope <= 0:
        return LARGEST / delta
    root = (risk + sqrt(risk * risk + 4 * slope * max(eta, risk))) / (2 * slope)
    return max(min(root, LARGEST / delta), SMALLEST)
