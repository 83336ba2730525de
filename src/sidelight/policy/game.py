"""What a policy plays: a game draws arms and learns from what they revealed.

    PlanGame     a plan on its own graph, by the engine: a round costs what it reveals
    DenseGame    a self-tuning plan on graphs that change: a round costs the number of arms
    RuleGame     a rule, on its own graph or on graphs that change where that is proved

A policy owns one game and may exchange it for another. Whoever wants to know what survives a copy, a pickle, a file
or a replay looks at `state`: all of them are these arrays and the records of open decisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Protocol, Self

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Ints
from sidelight.errors import InfeasibleRequest

if TYPE_CHECKING:
    from sidelight.engine.calendar import Calendar
    from sidelight.graph import FeedbackGraph
    from sidelight.graph.changes import Changes
    from sidelight.policy.decision import Record

Arrays = dict[str, npt.NDArray[Any]]


class Limits(NamedTuple):
    """Between what the numbers of an array of the state must be; `whole` where they are used as indices."""

    least: float
    most: float
    whole: bool = False


class Game(Protocol):
    """A plan or a rule in play.

    A draw is recorded when it is made; its `values` are written down by `note` only when the distribution that it was
    drawn from is about to move, or somebody looks: `ask` and `tell` alone never need them. So at most the last record
    has none.
    """

    kind: ClassVar[str]  # under which files know it
    plan: Any  # the plan or rule
    made: int  # draws so far
    version: int  # of the distribution: it grows whenever that may have moved
    last: Record | None  # the last draw, while it is open

    # -- turns ------------------------------------------------------------------------------------------

    def draw(self, graph: FeedbackGraph | None) -> Record:
        """The next arm, of a round on this graph, or on the plan's own."""

    def note(self, record: Record) -> None:
        """Write down what learning from the last draw will need, and go on to the next round."""

    def noted(self, record: Record) -> Record:
        """The record with what `note` would write down; changes nothing."""

    def seen(self, record: Record, reveals: Ints) -> Floats:
        """The probabilities of being seen, of what the arm of a noted record reveals."""

    def learn(self, record: Record, losses: Floats) -> bool:
        """Learn from losses in the order of `out_neighbors`; False, and no change, if one is outside [0, 1]."""

    def drop(self, record: Record) -> None:
        """Nothing will be heard of this draw."""

    # -- graphs that change -----------------------------------------------------------------------------

    def changing(self, records: Iterable[Record]) -> Game:
        """The game that plays graphs that change from here on, for which open records are rewritten; or an error."""

    def check_known(self, graph: FeedbackGraph) -> None:
        """Refuse another graph than the plan's own, for a round that is to be decided."""

    def check_shown(self, record: Record, graph: FeedbackGraph) -> None:
        """Refuse another graph than the plan's own, that is shown after playing; changes nothing."""

    def show(self, record: Record, graph: FeedbackGraph) -> None:
        """A record turns out to be of a round on this graph, which `check_shown` has let pass."""

    # -- many rounds ------------------------------------------------------------------------------------

    @property
    def compiled_changes(self) -> bool:
        """Does `play` know graphs that change?"""

    def play(
        self,
        world: Any,
        function: Any,
        key: np.uint64,
        first: int,
        last: int,
        cost: float,
        plays: npt.NDArray[np.int64],
        calendar: Calendar | None,
        changes: Changes | None,
    ) -> float:
        """Rounds first..last of a compiled environment; see `Policy._play`."""

    def calendar(self, delays: npt.NDArray[np.int64], rounds: int) -> Calendar:
        """Where `play` keeps open decisions; the delay of every round, or one for all."""

    def room(self, degree: int) -> int:
        """How many values are kept of a draw that reveals so many arms."""

    # -- looking ----------------------------------------------------------------------------------------

    limit: float  # draws that the bound speaks of; infinitely many if of any number, or there is none

    @property
    def proved(self) -> bool:
        """Is the bound of the plan or rule one for the rounds that were played?"""

    @property
    def degrees(self) -> list[int]:
        """How many arms each arm reveals in the plan's own graph; a list is read quicker than an array."""

    def probabilities(self) -> Floats:
        """The distribution of the next draw on the plan's own graph, a fresh array.

        While the last draw is open and not noted, that of this draw: nothing has moved since.
        """

    def ledger(self, arm: int) -> Floats:
        """(4,) the parts of the regret against `arm` (`certificate.LEDGER`); NaN where none are kept."""

    def certificate(self, arm: int | None) -> tuple[tuple[str, ...], Floats]:
        """The names and values of the terms of the certificate against `arm`, or every arm; NaN without a ledger."""

    # -- state ------------------------------------------------------------------------------------------

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """The random stream, to be written to."""

    def state(self) -> Arrays:
        """All that playing changes, by name: the arrays themselves."""

    def limits(self) -> dict[str, Limits]:
        """What the arrays of a stranger must keep to, where that is not any finite number."""

    def blank(self) -> Self:
        """Another game of the same plan, into whose `state` that of this one, or of a file, is written."""

    def resume(self) -> None:
        """Go on from a state that has been written."""

    def check(self) -> None:
        """ValueError where a state that a stranger has written cannot be played on."""


def refuse_graphs(plan: Any) -> NoReturn:
    """For plans and rules whose proof is for one graph."""
    raise InfeasibleRequest(
        f"{plan.realization} is proved for one graph, which all rounds have: for graphs that change play"
        " sl.plan(graph), or sl.baselines.exp3_ix where every arm reveals itself"
    )
