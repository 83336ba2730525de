"""The two roles of this layer, what can be played and what plays: plans and rules are both `Playable`."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats

if TYPE_CHECKING:
    from sidelight.engine.calendar import Calendar
    from sidelight.engine.losses import World
    from sidelight.graph import FeedbackGraph
    from sidelight.graph.changes import Changes
    from sidelight.planning import Bound
    from sidelight.policy.certificate import Certificate


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
class MinimalPlayer(Protocol):
    """What `sl.simulate` needs of a player of one's own: turns, and copies on other random streams."""

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


class Player(MinimalPlayer, Protocol):
    """A player that goes through many rounds at once and accounts for them: every `Policy` of the library."""

    @property
    def plan(self) -> Playable:
        """What it plays."""

    @property
    def changes_compiled(self) -> bool:
        """Does `play` know graphs that change?"""

    @property
    def round(self) -> int:
        """Number of completed rounds."""

    @property
    def unanswered(self) -> int:
        """Decisions from which nothing was learnt."""

    @property
    def promised(self) -> int | None:
        """Rounds that the bound speaks of; None if it speaks of any number."""

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one."""

    def play(
        self,
        world: World,
        function: Any,
        key: np.uint64,
        first: int,
        last: int,
        cost: float,
        plays: npt.NDArray[np.int64],
        calendar: Calendar | None = None,
        changes: Changes | None = None,
    ) -> float:
        """Rounds first..last of a compiled environment; with a calendar, losses come as late as it says.

        With `changes`, where `changes_compiled`, rounds have graphs of their own.
        """

    def calendar(self, delays: npt.NDArray[np.int64], rounds: int) -> Calendar:
        """Where it keeps open decisions meanwhile."""

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the parts of the regret against `arm`; NaN where none are kept."""

    def certificate_parts(self, arm: int | None) -> Floats:
        """The terms of the certificate; NaN where nothing is certified."""

    def certificate(self, arm: int | None = None) -> Certificate:
        """What the rounds so far certify."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""


def is_player(player: object) -> TypeGuard[Player]:
    """Can it do more than take turns?"""
    return callable(getattr(player, "play", None))
