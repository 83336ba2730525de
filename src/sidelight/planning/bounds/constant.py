"""Bounds of play with constant numbers: that hold with a given probability, or for answers that come late.

One simplex with negative entropy at rate η, constant exploration γ, γ̄ = Σ γ(j) ≤ ½, so that every arm is seen with
probability ≥ b in every round. For every λ > 0, with probability 1 − ε and for all t at once,

    R_t ≤ log N/η + log(N/ε)/λ + t·c,      c = λφ·(1 + 1/b) + max(γ̄, max(η, λ)/(2b) + λ(1 + γ̄)/2),

φ = φ(λ(1 + 1/b)), φ(y) = (e^y − 1 − y)/y². Losses may follow the past; regret is counted in losses or in their means.
With d_t decisions open when round t is decided, the expected regret is at most

    R_T ≤ log N/η + Σ_{t≤T} [η/(2b) + γ̄ + η·d_t].

Proofs: docs/theory/high-probability.md, delays.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sidelight._check import checked_number
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph.names import named
from sidelight.planning.bounds.bound import NEVER, Bound, Condition, below_trivial, first
from sidelight.planning.covers import loads
from sidelight.planning.tuning import Tuning

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph

LIKELY = "log N/η + log(N/ε)/λ + T·c(η, b, λ), docs/theory/high-probability.md"
LATE = "log N/η + T·(η/(2b) + γ̄ + η·d), docs/theory/delays.md"

REFUSALS = {
    "likely": "no bound with high probability is proved for {}: sl.plan(g, horizon, confidence=…) and"
    " sl.baselines.chlz21 have one on every observable graph, sl.baselines.exp3_ix where every arm reveals itself",
    "late": "no bound for answers that come late is proved for {}: sl.baselines.chlz21 has one on every observable"
    " graph; policy.certificate() holds for every plan",
}


class ConstantPlay(NamedTuple):
    """What the theorems need to know of a way to play."""

    arms: int  # N ≥ 2
    eta: float  # rate of negative entropy
    seen: float  # b: every arm is seen with this probability, whatever was learnt; 1 for full feedback, else ≤ ½
    explored: float  # γ̄


def nothing_proved(what: str, kind: str = "likely") -> InfeasibleRequest:
    """The error of all that have no bound of this kind, "likely" or "late"."""
    return InfeasibleRequest(REFUSALS[kind].format(what))


def constant_play(graph: FeedbackGraph, tuning: Tuning, kind: str) -> ConstantPlay | None:
    """A tuning as the theorems see it, or an error that says why they do not; None for one arm."""
    if tuning.n_arms == 1:
        return None
    top = tuning.n_blocks > 1
    power, rate = (tuning.top_power, tuning.top_rate) if top else (tuning.inner_power, tuning.inner_rate)
    always = graph.is_universal & graph.has_loop  # every arm reveals them
    seen = loads(graph, np.zeros(tuning.n_arms, dtype=np.int64), tuning.global_exploration)
    least = 1.0 if always.all() else float(seen[~always].min())
    follows = tuning.spread.any() or tuning.adaptive.any() or tuning.local_exploration.any()
    unproved = {
        "plans that tune themselves": tuning.self_tuning is not None,
        "estimates with a shift": tuning.shift > 0,
        "plans of two levels": tuning.n_blocks not in (1, tuning.n_arms),
        "potentials other than negative entropy (h < 1)": power.any() or np.ptp(rate) > 0,
        "exploration that follows what is learnt": follows,
        f"exploration that does not reach every arm (arm {named(graph, int(seen.argmin()))})": not least > 0,
    }
    for what, applies in unproved.items():
        if applies:
            raise nothing_proved(what, kind)
    return ConstantPlay(tuning.n_arms, float(rate[0]), least, float(tuning.global_exploration.sum()))


def _bound(
    T: int, theorem: str, play: ConstantPlay | None, terms: Callable[[int], dict[str, float]], learns: bool
) -> Bound:
    """The bound after T rounds; `learns` says whether rounds cost less than 1 in the end."""
    if play is None:
        return Bound(T, {"one arm": 0.0}, theorem, (), 1, 1)

    def tells(rounds: int) -> bool:
        return below_trivial(sum(terms(rounds).values()), rounds)

    explored = Condition("γ̄ ≤ 1/2", play.explored, MOST_EXPLORATION)
    return Bound(T, terms(T), theorem, (explored,), 1, first(tells, T) if learns else NEVER)


# -- late answers -------------------------------------------------------------------------------------------


def delayed(graph: FeedbackGraph, tuning: Tuning, T: int, delay: object) -> Bound:
    """The bound after T rounds of a tuning with constant numbers, `delay` decisions open on average.

    `InfeasibleRequest` says why nothing is proved for others.
    """
    d = checked_number("delay", delay, 0.0)
    play = constant_play(graph, tuning, "late")
    _, eta, seen, explored = play or ConstantPlay(2, 1.0, 1.0, 0.0)
    a_round = {"stability": eta / (2 * seen), "exploration": explored, "delays": eta * d}

    def terms(rounds: int) -> dict[str, float]:
        return {"diameter": log(tuning.n_arms) / eta} | {name: rounds * x for name, x in a_round.items()}

    return _bound(T, LATE, play, terms, sum(a_round.values()) < 0.99)


# -- high probability ---------------------------------------------------------------------------------------


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


def likely_round(play: ConstantPlay, risk: float) -> float:
    """c: what a round adds to the bound, at λ = `risk`; with full feedback γ̄ + η/8 + 5λ/8, as estimates are exact."""
    _, eta, b, explored = play
    if b == 1:
        return explored + 0.125 * eta + 0.625 * risk
    most = 1 + 1 / b
    best_arm = risk * curvature(risk * most) * most
    return best_arm + max(explored, max(eta, risk) / (2 * b) + 0.5 * risk * (1 + explored))


def likely_terms(T: float, play: ConstantPlay, doubt: float, risk: float) -> dict[str, float]:
    """The bound after T rounds with probability 1 − `doubt`, at λ = `risk`."""
    return {
        "diameter": log(play.arms) / play.eta,
        "confidence": log(play.arms / doubt) / risk,
        "rounds": T * likely_round(play, risk),
    }


def best_risk(T: float, play: ConstantPlay, doubt: float) -> float:
    """The λ with the smallest bound, up to the accuracy of a search: any gives a bound."""
    from scipy.optimize import minimize_scalar

    near = log(sqrt(log(play.arms / doubt) * play.seen / T))

    def value(x: float) -> float:
        return min(sum(likely_terms(T, play, doubt, exp(x)).values()), 1e300)

    best = minimize_scalar(value, bounds=(near - 4, near + 4), method="bounded", options={"xatol": 1e-6})
    return exp(float(best.x))


def high_probability(graph: FeedbackGraph, tuning: Tuning, T: int, confidence: float) -> Bound:
    """The bound that holds with probability `confidence` after T rounds of a tuning with constant numbers.

    Its thresholds are those of this very tuning. `InfeasibleRequest` says why nothing is proved for others.
    """
    play, doubt = constant_play(graph, tuning, "likely"), 1 - checked_confidence(confidence)

    def terms(rounds: int) -> dict[str, float]:
        assert play is not None
        return likely_terms(rounds, play, doubt, best_risk(rounds, play, doubt))

    # As λ → 0, this is what a round costs in the end.
    learns = play is not None and likely_round(play, 1e-12 * play.seen) < 0.99
    return _bound(T, likely(confidence, LIKELY), play, terms, learns)
