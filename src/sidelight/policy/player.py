"""The two roles of this layer, what can be played and what plays: plans and rules are both `Playable`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from sidelight.errors import InfeasibleRequest
from sidelight.planning.plan import Plan

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning.bounds.bound import Bound, Happened


@runtime_checkable
class Playable(Protocol):
    """A plan or a rule: fixed before the first round, and a maker of players."""

    @property
    def graph(self) -> FeedbackGraph:
        """What it is for."""

    @property
    def horizon(self) -> int | None:
        """Rounds that it is for; None for any number."""

    @property
    def realization(self) -> str:
        """The name under which figures and tables list it."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Its numbers by the names of the paper; empty where nothing is tuned."""

    def bound_at(self, t: int, confidence: float | None = None) -> Bound | None:
        """The bound on the regret of t rounds, expected or with this probability; None where theory has none."""

    def policy(self, seed: int | None = None) -> Player:
        """A player with a random stream of its own."""


@runtime_checkable
class Player(Protocol):
    """What `sl.simulate` needs: turns, and copies on other random streams. A `Policy` does much more."""

    @property
    def graph(self) -> FeedbackGraph:
        """What it plays on."""

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""

    def ask(self) -> int:
        """The next arm to play."""

    def tell(self, losses: Any) -> None:
        """The losses that it revealed."""

    def copy(self, seed: int | None = None) -> Self:
        """An independent player in the same state; with a seed, on that seed's random stream."""


def bound_given(plan: Playable, t: int, happened: Happened) -> Bound | None:
    """The bound of t rounds in which this happened; what it does not allow for is among the conditions that fail.

    Answers that came late have a bound of their own where the plan has one.
    """
    bound = plan.bound_at(t)
    if bound is None or not happened.conditions(t):
        return bound
    if isinstance(plan, Plan) and not (happened.lost or happened.elsewhere):
        with contextlib.suppress(InfeasibleRequest):
            return plan.bound_at(t, delay=happened.overlap / t)
    return bound.given(happened)
