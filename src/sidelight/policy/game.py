"""What a policy plays: a game draws arms and learns from what they revealed.

    PlanGame     a plan on its own graph, by the engine: a round costs what it reveals
    DenseGame    a self-tuning plan on graphs that change: a round costs the number of arms
    RuleGame     a rule, on its own graph or on graphs that change where that is proved

A policy owns one game and may exchange it for another. Whoever wants to know what survives a copy, a pickle, a file
or a replay looks at `State`: all of them are a game's arrays and the records of open decisions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Ints, Longs
from sidelight.engine.calendar import Calendar, make_calendar
from sidelight.errors import InfeasibleRequest

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.graph.changes import Changes
    from sidelight.policy.decision import Record

Arrays = dict[str, npt.NDArray[Any]]

AT_ONCE = np.zeros(1, dtype=np.int64)
"""The delay of losses that come before the next decision."""

MOST_SUM = 1e100
"""More than sums of estimates can reach: what two numbers of 53 bits draw has a probability of 2⁻¹⁰⁶ or more."""


class Limits(NamedTuple):
    """Between what the numbers of an array of the state must be."""

    least: float
    most: float


class State(NamedTuple):
    """Where a policy stands: what copies, pickles, files and snapshots keep besides the plan."""

    kind: str  # of the game
    arrays: Arrays  # of the game, as `Game.state` lists them
    records: dict[int, Record]  # open decisions by number, as they were made
    made: int  # decisions
    lost: int  # of these were cancelled
    overlap: int  # decisions open when one was made, added up over all of them
    asked: int  # the open decision that `ask` made, 0 for none
    version: int  # of the distribution, to which those of the records are compared
    warned: bool  # that the horizon is over


class Rounds(NamedTuple):
    """Rounds first..last of a compiled environment, to be played at once; none, first = last, only compile."""

    world: Any
    function: Any
    key: np.uint64
    first: int
    last: int
    cost: float  # of the rounds before
    plays: Longs  # (n,) to be counted in by arm, or empty
    calendar: Calendar | None = (
        None  # when losses come, and the decisions that wait for them; at once without
    )
    changes: Changes | None = None  # where rounds have graphs of their own, which needs `Game.changing`


class Game:
    """A plan or a rule in play.

    A draw is recorded when it is made; its `values` are written down by `note` only when the distribution that it was
    drawn from is about to move, or somebody looks: `ask` and `tell` alone never need them. So at most the last record
    has none.
    """

    kind: ClassVar[str]  # under which files know it
    limit: float = inf  # draws that the bound speaks of; infinitely many if of any number, or there is none

    def __init__(self, plan: Any) -> None:
        self.plan = plan  # or rule
        self.made = 0  # draws so far
        self.version = 0  # of the distribution: it grows whenever that may have moved
        self.last: Record | None = None  # the last draw, while it is open

    # -- turns ------------------------------------------------------------------------------------------

    @abstractmethod
    def draw(self, graph: FeedbackGraph | None) -> Record:
        """The next arm, of a round on this graph, or on the plan's own."""

    @abstractmethod
    def write_down(self, record: Record) -> None:
        """Give the last draw the values that learning from it will need."""

    def note(self, record: Record) -> None:
        """Write down the last draw, and go on to the next round."""
        if record.values is None:
            self.write_down(record)

    def noted(self, record: Record) -> Record:
        """The record with what is written down of it; changes nothing."""
        if record.values is None:
            record = replace(record)
            self.write_down(record)
        return record

    @abstractmethod
    def seen(self, record: Record, reveals: Ints) -> Floats:
        """The probabilities of being seen, of what the arm of a noted record reveals."""

    @abstractmethod
    def learn(self, record: Record, losses: Floats) -> bool:
        """Learn from losses in the order of `out_neighbors`; False, and no change, if one is outside [0, 1]."""

    def drop(self, record: Record) -> None:
        """Nothing will be heard of this draw."""
        if record is self.last:
            self.last = None

    # -- graphs that change -----------------------------------------------------------------------------

    def changing(self, records: Iterable[Record]) -> Game:
        """The game that plays graphs that change from here on, for which open records are rewritten; or an error."""
        return self

    def check_known(self, graph: FeedbackGraph) -> None:
        """Refuse another graph than the plan's own, for a round that is to be decided."""

    @abstractmethod
    def check_shown(self, record: Record, graph: FeedbackGraph) -> None:
        """Refuse another graph than the plan's own, that is shown after playing; changes nothing."""

    def show(self, record: Record, graph: FeedbackGraph) -> None:
        """A record turns out to be of a round on this graph, which `check_shown` has let pass."""
        raise NotImplementedError

    def suspect(self, record: Record, revealed: Ints) -> bool:
        """Is it found now that graphs depend on the choice, from a draw whose graph was shown when it was learnt?"""
        return False

    @property
    def doubtful(self) -> bool:
        """Was that found? Then nothing is proved."""
        return False

    # -- many rounds ------------------------------------------------------------------------------------

    @abstractmethod
    def play(self, rounds: Rounds) -> float:
        """Play as `ask` and `tell` would; the cost with that of these rounds, NaN if a loss was outside [0, 1]."""

    def calendar(self, delays: Longs = AT_ONCE, rounds: int = 1) -> Calendar:
        """Where `play` keeps open decisions; the delay of every round, or one for all."""
        return make_calendar(delays, rounds, self.room(self.most_revealed))

    @abstractmethod
    def room(self, degree: int) -> int:
        """How many values are kept of a draw that reveals so many arms."""

    @cached_property
    def degrees(self) -> list[int]:
        """How many arms each arm reveals in the plan's own graph; a list is read quicker than an array."""
        degrees: list[int] = self.plan.graph.out_degree.tolist()
        return degrees

    @cached_property
    def most_revealed(self) -> int:
        """By one arm."""
        return int(self.plan.graph.out_degree.max())

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def proved(self) -> bool:
        """Is the bound of the plan or rule one for the rounds that were played?"""
        return True

    @abstractmethod
    def probabilities(self) -> Floats:
        """The distribution of the next draw on the plan's own graph, a fresh array.

        While the last draw is open and not noted, that of this draw: nothing has moved since.
        """

    @abstractmethod
    def ledger(self, arm: int) -> Floats:
        """(4,) the parts of the regret against `arm` (`certificate.LEDGER`); NaN where none are kept."""

    @abstractmethod
    def certificate(self, arm: int | None) -> tuple[tuple[str, ...], Floats]:
        """The names and values of the terms of the certificate against `arm`, or every arm; NaN without a ledger."""

    # -- state ------------------------------------------------------------------------------------------

    @abstractmethod
    def state(self) -> Arrays:
        """All that playing changes, by name, the random stream as `words`: the arrays themselves."""

    def limits(self) -> dict[str, Limits]:
        """What the arrays of a stranger must keep to, where that is not any finite number."""
        return {}

    @abstractmethod
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
