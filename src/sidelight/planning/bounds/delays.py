"""Regret bounds for answers that come late, where every arm is seen with probability ≥ b in every round.

One simplex with negative entropy at rate η, constant exploration γ, d_t decisions open when round t is decided:

    R_T ≤ log N/η + Σ_{t≤T} [η/(2b) + γ̄ + η·d_t].

Proof: docs/theory/delays.md.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from sidelight._check import checked_number
from sidelight.errors import InfeasibleRequest
from sidelight.planning.bounds.bound import NEVER, Bound, Condition, below_trivial, first
from sidelight.planning.bounds.high_probability import covered
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph

THEOREM = "log N/η + T·(η/(2b) + γ̄ + η·d), docs/theory/delays.md"


def delayed(graph: FeedbackGraph, tuning: Tuning, T: int, delay: object) -> Bound:
    """The bound after T rounds of a tuning with constant numbers, `delay` decisions open on average.

    `InfeasibleRequest` says why nothing is proved for others.
    """
    d = checked_number("delay", delay, 0.0)
    play = covered(graph, tuning, nothing_proved)
    if play is None:
        return Bound(T, {"one arm": 0.0}, THEOREM, (), 1, 1)
    a_round = {
        "stability": play.eta / (2 * play.seen),
        "exploration": play.explored,
        "delays": play.eta * d,
    }
    diameter = log(play.arms) / play.eta

    def parts(rounds: float) -> dict[str, float]:
        return {"diameter": diameter} | {name: rounds * value for name, value in a_round.items()}

    def tells(rounds: int) -> bool:
        return below_trivial(sum(parts(rounds).values()), rounds)

    learns = sum(a_round.values()) < 0.99
    explored = Condition("γ̄ ≤ 1/2", play.explored, MOST_EXPLORATION)
    return Bound(T, parts(T), THEOREM, (explored,), 1, first(tells, T) if learns else NEVER)


def nothing_proved(what: str) -> InfeasibleRequest:
    """The error of all that have no bound for late answers."""
    return InfeasibleRequest(
        f"no bound for answers that come late is proved for {what}: sl.baselines.chlz21 has one on every observable"
        " graph; policy.certificate() holds for every plan"
    )
