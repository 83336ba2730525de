"""Regret bounds that hold with a given probability, where every arm is seen with probability ≥ b in every round.

One simplex with negative entropy at rate η, constant exploration γ, γ̄ = Σ γ(j) ≤ ½. For every λ > 0, with probability
1 − ε and for all t at once,

    R_t ≤ log N/η + log(N/ε)/λ + t·c,      c = λφ·(1 + 1/b) + max(γ̄, max(η, λ)/(2b) + λ(1 + γ̄)/2),

φ = φ(λ(1 + 1/b)), φ(y) = (e^y − 1 − y)/y². Losses may follow the past; regret is counted in losses or in their means.
Proof: docs/theory/high-probability.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sidelight._check import checked_number
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph.names import named
from sidelight.planning.bounds.bound import NEVER, Bound, Condition, below_trivial, first
from sidelight.planning.covers import loads
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph

THEOREM = "log N/η + log(N/ε)/λ + T·c(η, b, λ), docs/theory/high-probability.md"

HAVE_ONE = (
    "sl.plan(g, horizon, confidence=…) and sl.baselines.chlz21 have one on every observable graph,"
    " sl.baselines.exp3_ix where every arm reveals itself"
)
"""What has a bound of this kind."""


class Covered(NamedTuple):
    """What the theorem needs to know of a way to play."""

    arms: int  # N ≥ 2
    eta: float  # rate of negative entropy
    seen: (
        float  # b: every arm is seen with probability ≥ b, whatever was learnt; 1 for full feedback, else ≤ ½
    )
    explored: float  # γ̄


def checked_confidence(confidence: object) -> float:
    """A probability strictly between 0 and 1."""
    number = checked_number("confidence", confidence, above=0.0)
    if not number < 1.0:
        raise InvalidOption(
            f"confidence is a probability below 1 such as 0.99, got confidence={confidence!r}"
        )
    return number


def likely(confidence: float, theorem: str) -> str:
    """The theorem of a bound that holds with this probability."""
    return f"with probability {confidence:g}: {theorem}"


def curvature(y: float) -> float:
    """φ(y) = (e^y − 1 − y)/y², increasing from ½ at 0: e^x ≤ 1 + x + φ(y)·x² for all x ≤ y.

    >>> curvature(0.0), round(curvature(1.0), 6)
    (0.5, 0.718282)
    """
    if y > 700.0:
        return inf
    if y < 1e-3:  # the difference below loses what it should give
        return 0.5 + y / 6 + y * y / 24
    return (expm1(y) - y) / (y * y)


def price(play: Covered, risk: float) -> float:
    """c: what a round adds to the bound, at λ = `risk`; with full feedback γ̄ + η/8 + 5λ/8, as estimates are exact."""
    _, eta, b, explored = play
    if b == 1:
        return explored + 0.125 * eta + 0.625 * risk
    most = 1 + 1 / b
    best_arm = risk * curvature(risk * most) * most
    return best_arm + max(explored, max(eta, risk) / (2 * b) + 0.5 * risk * (1 + explored))


def terms(T: float, play: Covered, doubt: float, risk: float) -> dict[str, float]:
    """The bound after T rounds with probability 1 − `doubt`, at λ = `risk`."""
    return {
        "diameter": log(play.arms) / play.eta,
        "confidence": log(play.arms / doubt) / risk,
        "rounds": T * price(play, risk),
    }


def best_risk(T: float, play: Covered, doubt: float) -> float:
    """The λ with the smallest bound, up to the accuracy of a search: any gives a bound."""
    from scipy.optimize import minimize_scalar

    near = log(sqrt(log(play.arms / doubt) * play.seen / T))

    def value(x: float) -> float:
        return min(sum(terms(T, play, doubt, exp(x)).values()), 1e300)

    found = minimize_scalar(value, bounds=(near - 4, near + 4), method="bounded", options={"xatol": 1e-6})
    return exp(float(found.x))


def high_probability(graph: FeedbackGraph, tuning: Tuning, T: int, confidence: float) -> Bound:
    """The bound that holds with probability `confidence` after T rounds of a tuning with constant numbers.

    Its thresholds are those of this very tuning. `InfeasibleRequest` says why nothing is proved for others.
    """
    play, doubt = covered(graph, tuning), 1 - checked_confidence(confidence)
    theorem = likely(confidence, THEOREM)
    if play is None:
        return Bound(T, {"one arm": 0.0}, theorem, (), 1, 1)

    def parts(rounds: int) -> dict[str, float]:
        return terms(rounds, play, doubt, best_risk(rounds, play, doubt))

    def tells(rounds: int) -> bool:
        return below_trivial(sum(parts(rounds).values()), rounds)

    learns = price(play, 1e-12 * play.seen) < 0.99  # what a round costs in the end, as λ → 0
    explored = Condition("γ̄ ≤ 1/2", play.explored, MOST_EXPLORATION)
    return Bound(T, parts(T), theorem, (explored,), 1, first(tells, T) if learns else NEVER)


def nothing_proved(what: str) -> InfeasibleRequest:
    """The error of all that have no bound with high probability."""
    return InfeasibleRequest(f"no bound with high probability is proved for {what}: {HAVE_ONE}")


def covered(
    graph: FeedbackGraph, tuning: Tuning, refuse: Callable[[str], InfeasibleRequest] = nothing_proved
) -> Covered | None:
    """A tuning as the theorem sees it, or an error that says why it does not; None for one arm."""
    if tuning.n_arms == 1:
        return None
    if tuning.self_tuning is not None:
        raise refuse("plans that tune themselves")
    if tuning.schedule is not None:
        raise refuse("plans whose rates fall with the rounds")
    if tuning.n_blocks not in (1, tuning.n_arms):
        raise refuse("plans of two levels")
    power, rate = (
        (tuning.inner_power, tuning.inner_rate)
        if tuning.n_blocks == 1
        else (tuning.top_power, tuning.top_rate)
    )
    if power.any() or np.ptp(rate) > 0:
        raise refuse("potentials other than negative entropy (h < 1)")
    if tuning.spread.any() or tuning.adaptive.any() or tuning.local_exploration.any():
        raise refuse("exploration that follows what is learnt")
    always = graph.is_universal & graph.has_loop  # every arm reveals them
    seen = loads(graph, np.zeros(tuning.n_arms, dtype=np.int64), tuning.global_exploration)
    least = 1.0 if always.all() else float(seen[~always].min())
    if not least > 0:
        raise refuse(f"exploration that does not reach every arm (arm {named(graph, int(seen.argmin()))})")
    return Covered(tuning.n_arms, float(rate[0]), least, float(tuning.global_exploration.sum()))
