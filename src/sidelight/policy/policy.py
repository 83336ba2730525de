"""What all policies share: decisions, feedback, copies, files."""

from __future__ import annotations

import io
import secrets
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from sidelight import _html
from sidelight._archive import Arrays
from sidelight._check import MOST_ROUNDS, checked_count, checked_path, checked_seed
from sidelight._types import Floats, Ints
from sidelight.engine.calendar import Calendar, make_calendar
from sidelight.errors import (
    InfeasibleRequest,
    InvalidOption,
    LogError,
    PastHorizon,
    SavedStateError,
    TurnError,
)
from sidelight.graph.names import named
from sidelight.log.unit import Unit
from sidelight.policy import saved
from sidelight.policy.certificate import LEDGER, MEANING, UNANSWERED, Certificate
from sidelight.policy.decision import Decision, Draw, made_decision
from sidelight.policy.feedback import aligned, as_losses, heard, in_range, out_of_range
from sidelight.policy.graphs import checked_graph
from sidelight.policy.policy_log import PolicyLog

if TYPE_CHECKING:
    from sidelight.engine.losses import World
    from sidelight.graph import FeedbackGraph
    from sidelight.graph.changes import Changes
    from sidelight.planning import Bound
    from sidelight.policy.player import Playable

PLAIN = Unit()
"""Losses in [0, 1]."""

MOST_REMEMBERED, EACH_ROW = 1 << 17, 32
"""A policy remembers so many numbers of what arms reveal; each arm counts for as many more."""

Losses: TypeAlias = (
    Mapping[int, float]
    | Mapping[str, float]
    | Mapping[int, float | None]
    | Mapping[str, float | None]
    | Sequence[float | None]
    | npt.ArrayLike
)


class Policy(ABC):
    """Makes decisions, hears what they revealed, and never loses its place.

    Any number of decisions may be open; each is answered once, in any order, whenever its losses come. An estimate
    uses the probabilities of its decision, not those of the day it is heard. `ask` and `tell` are the same with one
    decision at a time. Feedback is checked before anything changes: what is refused leaves the policy exactly as it
    was. One policy serves one thread at a time.

    >>> import sidelight as sl
    >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
    >>> decision = policy.decide()
    >>> policy.observe(decision, {j: 0.5 for j in decision.reveals})
    >>> arm = policy.ask()
    >>> policy.tell({j: 0.5 for j in policy.graph.out_neighbors(arm)})
    """

    _warned = False  # that the horizon is over

    def __init__(self, plan: Playable, unit: Unit = PLAIN) -> None:
        self._plan = plan
        self.unit = unit  # of what is told, and of regret in certificates and ledgers
        self._busy = threading.Lock()
        self._made = 0  # decisions, by which rounds are counted
        self._lost = (
            0  # … of which so many were cancelled, or answered when nothing could learn from them any more
        )
        self._open: dict[int, Draw] = {}
        self._asked = 0  # the open decision that `ask` made, 0 for none
        self._others = False  # was a graph played on that the bound does not speak of?
        self._version = 0  # of the distribution: it grows whenever that may have moved
        self._log: PolicyLog | None = None  # belongs to this object alone: no copy and no file has it

    # -- what is played, and how: for each kind of policy -----------------------------------------------

    changes_compiled = False  # does `play` know graphs that change?
    _late = 0  # answers that came after others
    _turns = False  # is there anything to do for `_turn`?
    _remembered = 0  # of the graph, in `_rows`

    @property
    @abstractmethod
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one."""

    @abstractmethod
    def _draw(self, graph: FeedbackGraph | None) -> int:
        """The next arm, of a round on this graph, or on the policy's own."""

    @abstractmethod
    def _tell(self, values: Floats) -> bool:
        """Learn from the arm that was drawn last; nothing has moved in between.

        Losses are in the order of `out_neighbors`; False, and no change, if one is outside [0, 1].
        """

    @abstractmethod
    def _note(self, arm: int) -> Floats:
        """What learning from an arm that was drawn from the present distribution will need; changes nothing."""

    @abstractmethod
    def _pass(self, kept: Floats) -> None:
        """The arm that was drawn last has been noted: it is not waited for."""

    @abstractmethod
    def _observe(self, draw: Draw, values: Floats) -> bool:
        """Learn from an arm that was noted; False, and no change, if a loss is outside [0, 1]."""

    def _turn(self) -> bool:
        """A round is over, answered or followed by the next: go on to the rates of the next; do they differ?"""
        return False

    @abstractmethod
    def _seen(self, kept: Floats, reveals: Ints) -> Floats:
        """The probabilities of being seen, of what an arm reveals."""

    @abstractmethod
    def _kept_size(self, degree: int) -> int:
        """How many numbers are kept of a decision that reveals so many arms."""

    @abstractmethod
    def _play(self, *arguments: Any) -> float:
        """`play` without its checks."""

    def _play_changes(self, *arguments: Any) -> float:
        """The same on graphs that change, where that is compiled."""
        self._refuse_graph()

    @abstractmethod
    def _twin(self) -> Self:
        """A policy in the same state that shares nothing that changes."""

    @property
    @abstractmethod
    def _words(self) -> npt.NDArray[np.uint64]:
        """The random stream, to be written to."""

    @abstractmethod
    def _saved(self) -> tuple[dict[str, Any], Arrays]:
        """What a file holds besides the graph; the policy goes on as one that is loaded from it."""

    @abstractmethod
    def _frozen(self) -> Arrays:
        """All that playing changes, bit for bit, while no decision is open."""

    @abstractmethod
    def _thaw(self, arrays: Arrays) -> None:
        """Be as `_frozen` has said; ValueError if that was another plan's."""

    def _likely(self, graph: FeedbackGraph | None) -> Floats:
        """The distribution of a play on this graph, or on the policy's own."""
        return self.probabilities

    def _before(self, graph: object) -> FeedbackGraph | None:
        """The graph of the next round as `_draw` takes it, None for its own; an error if no other can be played."""
        given = checked_graph(self.graph, graph)
        return None if given is None else self._refuse_graph()

    def _afterwards(self, draw: Draw, graph: object) -> FeedbackGraph | None:
        """The graph of an open decision that is told with its losses, None for its own; changes nothing."""
        given = checked_graph(self.graph, graph)
        return None if given is None else self._refuse_graph()

    def _show(self, number: int, graph: FeedbackGraph) -> None:
        """Take note of a graph that `_afterwards` has checked; losses that it fits are learnt next."""
        raise NotImplementedError

    def _refuse_graph(self) -> NoReturn:
        raise InfeasibleRequest(
            f"{self._plan.realization} is proved for one graph, which all rounds have: for graphs that change play"
            " sl.plan(graph), or sl.baselines.exp3_ix where every arm reveals itself"
        )

    def for_changes(self) -> Self:
        """A copy that is ready to play many rounds on graphs that change; an error where nothing is proved."""
        self._refuse_graph()

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the ledger as an array; NaN for a policy that keeps none."""
        return np.full(len(LEDGER), np.nan)

    _certified: tuple[str, ...] = LEDGER  # what the terms of the certificate are called

    def certificate_parts(self, arm: int | None) -> Floats:
        """The terms of the certificate as an array; NaN for a policy that keeps no ledger."""
        return np.full(len(LEDGER), np.nan)

    # -- decisions --------------------------------------------------------------------------------------

    @overload
    def decide(self, *, graph: FeedbackGraph | None = None) -> Decision: ...
    @overload
    def decide(self, *, count: int, graph: FeedbackGraph | None = None) -> list[Decision]: ...
    def decide(
        self, *, count: int | None = None, graph: FeedbackGraph | None = None
    ) -> Decision | list[Decision]:
        """Draw the next arm to play, or the next `count` of them, whatever is still open.

        `graph` is the feedback graph of this round, or of these, where it is known before playing: on the same arms
        as the policy's own, which stands for it otherwise.
        """
        wanted = 1 if count is None else checked_count("count", count)
        if not self._busy.acquire(False):  # as `_enter`
            _refuse_in_use()
        try:
            known = None if graph is None else self._before(graph)
            if self._made + wanted > self._limit and not self._warned:
                self._warn_past_horizon()
            if count is None:
                return self._decided(known)
            return [self._decided(known) for _ in range(wanted)]
        finally:
            self._busy.release()

    def observe(
        self, decision: Decision | int, losses: Losses, *, graph: FeedbackGraph | None = None
    ) -> None:
        """Report the losses that a decision revealed: once, whenever they come, in any order of decisions.

        Either a mapping {arm: loss} over exactly `decision.reveals`, arms by number or by label, or an array aligned
        with it. A reveal that failed, where the graph says that it may, is left out of the mapping or None in it, and
        NaN in an array. Where the feedback graph of the round shows only now, `graph` is that, and the losses are of
        what the arm reveals there.
        """
        if not self._busy.acquire(False):  # as `_enter`
            _refuse_in_use()
        try:
            self._answer(self._number_of(decision), losses, graph)
        finally:
            self._busy.release()

    def cancel(self, decision: Decision | int) -> None:
        """Give up a decision whose losses will never come; it counts as a loss of 1 in the certificate."""
        self._enter()
        try:
            number = self._number_of(decision)
            if self._open[number].kept is None:
                self._note_last()
            self._close(number)
            self._lost += 1
        finally:
            self._busy.release()

    def decision(self, number: int) -> Decision:
        """An open decision, by its id."""
        found = self._number_of(number)
        return self._shown(found, self._open[found])

    @property
    def open(self) -> list[Decision]:
        """The decisions that are neither answered nor cancelled, as they were made."""
        return [self._shown(number, draw) for number, draw in self._open.items()]

    def ask(self, *, graph: FeedbackGraph | None = None) -> int:
        """Draw the next arm to play; `graph` as in `decide`."""
        self._enter()
        try:
            if self._asked:
                asked = named(self.graph, self._open[self._asked].arm)
                raise TurnError(f"arm {asked} is still to be told: call tell() before asking again")
            known = None if graph is None else self._before(graph)
            if self._made >= self._limit and not self._warned:
                self._warn_past_horizon()
            arm = self._next_draw(known).arm
            self._asked = self._made
            return arm
        finally:
            self._busy.release()

    def tell(self, losses: Losses, *, graph: FeedbackGraph | None = None) -> None:
        """Report the losses that the pending arm revealed.

        Either a mapping {arm: loss} over exactly the out-neighbours of the pending arm, or an array
        aligned with `graph.out_neighbors(arm)`; `graph`, and what failed to be revealed, as in `observe`.
        """
        self._enter()
        try:
            if not self._asked:
                raise TurnError("no arm is pending: call ask() before telling what it revealed")
            self._answer(self._asked, losses, graph)
        finally:
            self._busy.release()

    def _next_draw(self, graph: FeedbackGraph | None = None) -> Draw:
        """Make a decision. What it will need is noted when its distribution is about to move, not before."""
        last = self._open.get(self._made)
        if last is not None:
            if last.kept is None:
                self._note_last()
            if self._turns:
                self._version += self._turn()
        likely = None if self._log is None else self._likely(graph)
        draw = Draw(self._draw(graph), self._version, None, graph)
        self._made += 1
        self._open[self._made] = draw
        if self._log is not None and likely is not None:
            self._log.drew(self._made, float(likely[draw.arm]))
        return draw

    def _note_last(self) -> None:
        """Keep what learning from the last decision will need."""
        draw = self._open[self._made]
        draw.kept = self._note(draw.arm)
        self._pass(draw.kept)

    def _decided(self, graph: FeedbackGraph | None) -> Decision:
        draw = self._next_draw(graph)
        draw.kept = kept = self._note(draw.arm)
        self._pass(kept)
        return self._shown(self._made, draw)

    def _shown(self, number: int, draw: Draw) -> Decision:
        arm = draw.arm
        kept = self._note(arm) if draw.kept is None else draw.kept
        labels = self._plan.graph.labels
        label = str(arm) if labels is None else labels[arm]
        if draw.graph is not None:
            reveals = draw.graph.out_neighbors(arm)
        elif (known := self._rows.get(arm)) is not None:
            reveals = known
        else:
            reveals = self._row(arm)
        return made_decision(number, arm, label, reveals, self._seen(kept, reveals))

    @cached_property
    def _rows(self) -> dict[int, Ints]:
        """What arms reveal, of those that were played: a dict is read quicker than a graph."""
        return {}

    def _row(self, arm: int) -> Ints:
        reveals = self._plan.graph.out_neighbors(arm)
        self._remembered += reveals.size + EACH_ROW
        if self._remembered <= MOST_REMEMBERED:
            reveals.flags.writeable = False  # many decisions will have it
            self._rows[arm] = reveals
        return reveals

    def _number_of(self, decision: object) -> int:
        """The number of an open decision, or an error that says why it is none."""
        number = decision
        if isinstance(decision, Decision):
            number = decision.id
            draw = self._open.get(number)
            if draw is not None and draw.arm == decision.arm:
                return number
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InvalidOption(f"a decision is what decide() gave, or its id, got {decision!r:.50}")
        draw = self._open.get(int(number))
        if draw is None:
            why = f"was answered or cancelled before; {len(self._open)} are open"
            if not 1 <= number <= self._made:
                why = f"does not exist: this policy has made {self._made:,}"
            raise TurnError(f"decision {number} {why}")
        if isinstance(decision, Decision) and decision.arm != draw.arm:
            raise TurnError(
                f"decision {number} of this policy is arm {named(self.graph, draw.arm)}, not "
                f"{named(self.graph, decision.arm)}: it is another policy's"
            )
        return int(number)

    def _answer(self, number: int, losses: Losses, shown: FeedbackGraph | None = None) -> None:
        """Learn from the losses of an open decision, and close it."""
        draw = self._open[number]
        own = self._plan.graph
        other = None if shown is None else self._afterwards(draw, shown)
        graph = own if draw.graph is None else draw.graph
        if other is not None:
            graph = other
        degree = self._degrees[draw.arm] if graph is own else int(graph.out_degree[draw.arm])
        values = told = aligned(graph, degree, draw.arm, losses)
        if self.unit is not PLAIN and self.unit != PLAIN:
            values = as_losses(self.unit, told)
        if not graph.certain:
            values = heard(values)
        if other is not None and in_range(values):
            self._show(number, other)
        if self._log is not None and in_range(values):
            self._log.write(self._shown(number, draw), told)
        if not self._heard(number, draw, values):
            raise out_of_range(graph, draw.arm, self.unit, told)
        self._close(number)

    def _heard(self, number: int, draw: Draw, values: Floats) -> bool:
        """Learn from losses; False, and no change, if one is outside [0, 1]."""
        if draw.kept is None:
            learnt = self._tell(values)
        else:
            if self._asked and self._open[self._asked].kept is None:
                if not in_range(values):
                    return False
                self._note_last()
            learnt = self._observe(draw, values)
        self._version += learnt
        return learnt

    def _close(self, number: int) -> None:
        del self._open[number]
        if self._log is not None:
            self._log.forget(number)
        if number == self._asked:
            self._asked = 0
        if number == self._made and self._turns:
            self._version += self._turn()

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
        """Play rounds first..last of a compiled environment, as `ask` and `tell` would; `sl.simulate` calls this.

        Returns `cost` plus what the rounds cost, NaN if a loss was outside [0, 1]. `plays`, unless empty, counts
        plays by arm. With a `calendar` losses come as late as it says, and it keeps the decisions that are open;
        with `changes` rounds have graphs of their own, which needs a policy `for_changes`.
        No rounds, first = last, compile the loop and change nothing.
        """
        self._enter()
        try:
            if self._open:
                raise TurnError(
                    f"{len(self._open)} decisions are open: observe or cancel them before playing on"
                )
            if self._log is not None and first < last:
                raise TurnError(
                    f"this policy writes the log {self._log.path}, which compiled rounds do not: close it, or play "
                    "on with a copy()"
                )
            self._version += 1
            before = 0 if calendar is None else calendar.unanswered
            about = (world, function, key, first, last, cost, plays, calendar)
            cost = self._play(*about) if changes is None else self._play_changes(*about, changes)
            if calendar is not None:
                self._lost += calendar.unanswered - before
            return cost
        finally:
            self._busy.release()

    def calendar(self, delays: npt.NDArray[np.int64], rounds: int) -> Calendar:
        """Where `play` keeps open decisions; the delay of every round, or one for all."""
        return make_calendar(delays, rounds, max(self._kept_size(degree) for degree in set(self._degrees)))

    @cached_property
    def _degrees(self) -> list[int]:
        """How many arms each arm reveals; a list is read quicker than an array."""
        degrees: list[int] = self.graph.out_degree.tolist()
        return degrees

    def _enter(self) -> None:
        if not self._busy.acquire(False):
            _refuse_in_use()

    @cached_property
    def _limit(self) -> float:
        """So many decisions are within the horizon."""
        return inf if self.promised is None else self.promised

    def _warn_past_horizon(self) -> None:
        self._warned = True
        warnings.warn(
            f"this plan is for {self.promised:,} rounds, which are over: its bound says nothing about more; "
            "plan for more rounds, or without a horizon",
            PastHorizon,
            stacklevel=3,
        )

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def plan(self) -> Any:
        """What is played: a plan or a rule."""
        return self._plan

    @property
    def graph(self) -> FeedbackGraph:
        """What it is played on."""
        return self._plan.graph

    @property
    def round(self) -> int:
        """Number of completed rounds: decisions that are no longer open."""
        return self._made - len(self._open)

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        return self._open[self._asked].arm if self._asked else None

    @property
    def promised(self) -> int | None:
        """Rounds that the bound speaks of, and no others; None if it speaks of any number, or there is none."""
        return None

    @property
    def rounds_left(self) -> int | None:
        """Rounds until the horizon, 0 from then on; None without a horizon."""
        horizon = self._plan.horizon
        return None if horizon is None else max(horizon - self.round, 0)

    def ledger(self, arm: int | str) -> dict[str, float]:
        """The four parts of the regret against `arm`, as estimated so far (Lemma regret); NaN without a ledger.

        In the unit of the policy, as certificates are.
        """
        parts = self.ledger_parts(self._checked_arm(arm)) * self.unit.width
        return dict(zip(LEDGER, parts.tolist(), strict=True))

    def certificate(self, arm: int | str | None = None) -> Certificate:
        """What the rounds so far certify about the regret against `arm`, or against every arm.

        In expectation it is at least the regret, and at most the plan's bound where that is certified and all
        rounds are played; docs/theory/certificate.md says when. Takes no notes while playing.

        >>> import sidelight as sl
        >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
        >>> policy.certificate().value <= policy.plan.bound.value
        True
        """
        chosen = None if arm is None else self._checked_arm(arm)
        parts = self.certificate_parts(chosen) * self.unit.width
        terms = dict(zip(self._certified, parts.tolist(), strict=True))
        if self.unanswered:
            terms[UNANSWERED] = self.unanswered * self.unit.width
        labels = self.graph.labels
        label = None if chosen is None or labels is None else labels[chosen]
        return Certificate(self._made, chosen, terms, label)

    @property
    def unanswered(self) -> int:
        """Decisions from which nothing was learnt, so far or for good; each costs at most 1."""
        return self._lost + len(self._open)

    def bound_at(self, t: int) -> float | None:
        """The plan's bound on the regret of t rounds, in the unit of the policy; None where theory has none."""
        bound: Bound | None = self._plan.bound_at(t)
        return None if bound is None else bound.value * self.unit.width

    def _checked_arm(self, arm: object) -> int:
        labels = self.graph.labels
        if isinstance(arm, str) and labels is not None and arm in labels:
            return labels.index(arm)
        if not (isinstance(arm, int | np.integer) and 0 <= arm < self.graph.n_arms):
            raise InvalidOption(f"arm {arm!r} does not exist: the graph has arms 0..{self.graph.n_arms - 1}")
        return int(arm)

    def summary(self, most: int = 10) -> str:
        """Where the policy stands: rounds, what is open, what is certified, and the `most` likely arms by name.

        >>> import sidelight as sl
        >>> graph = sl.FeedbackGraph.from_edges(2, [(0, 0), (0, 1), (1, 1)], labels=["tea", "milk"])
        >>> print(sl.baselines.uniform(graph).policy(seed=7, rewards=(0, 25)).summary())
        uniform on 2 arms, rewards in [0, 25]: 0 rounds, 0 decisions open
          0 'tea'   50.00 %
          1 'milk'  50.00 %
        """
        likely, labels = self.probabilities, self.graph.labels
        unit, certificate = self.unit, self.certificate()
        head = (
            f"{self.plan.realization} on {self.graph.n_arms:,} arms, {unit.kind} in [{unit.low:g}, {unit.high:g}]: "
            f"{_counted(self.round, 'round')}, {_counted(len(self._open), 'decision')} open"
        )
        first = np.argsort(-likely, kind="stable")[: checked_count("most", most)].tolist()
        shown = {arm: str(arm) if labels is None else f"{arm} {labels[arm]!r}" for arm in first}
        width = max(map(len, shown.values()))
        lines = [f"  {name:<{width}}  {100 * likely[arm]:5.2f} %" for arm, name in shown.items()]
        rest = self.graph.n_arms - len(first)
        lines += [f"  {f'{rest:,} others':<{width}}  {100 * (1 - likely[first].sum()):5.2f} %"] * (rest > 0)
        return "\n".join([head, *[certificate.summary()] * certificate.certified, *lines])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        pending = None if self.pending is None else named(self.graph, self.pending)
        unit = "" if self.unit == PLAIN else f", {self.unit.kind}=({self.unit.low:g}, {self.unit.high:g})"
        return f"Policy({self.plan!r}{unit}, round={self.round}, pending={pending})"

    def _repr_html_(self, most: int = 10) -> str:
        """What a notebook shows."""
        likely, labels, unit = self.probabilities, self.graph.labels, self.unit
        certificate = self.certificate()
        first = np.argsort(-likely, kind="stable")[:most].tolist()
        shares = [
            (str(arm) if labels is None else f"{arm} {labels[arm]}", float(likely[arm])) for arm in first
        ]
        rest = self.graph.n_arms - len(first)
        shares += [(f"{rest:,} others", max(0.0, float(1 - likely[first].sum())))] * (rest > 0)
        rows = [
            ("rounds", f"{self.round:,}"),
            ("open decisions", f"{len(self._open):,}" if self._open else None),
            ("is told", f"{unit.kind} in [{unit.low:g}, {unit.high:g}]"),
            ("certificate", f"{certificate.value:,.2f}: {MEANING}" if certificate.certified else None),
        ]
        title = f"Policy: {self.plan.realization} on {self.graph.n_arms:,} arms"
        return _html.panel(title, _html.facts(rows), _html.note("what it plays next"), _html.bars(shares))

    # -- copies -----------------------------------------------------------------------------------------

    def copy(self, seed: int | None = None) -> Self:
        """An independent policy in the same state; with a seed, on that seed's random stream."""
        from sidelight.engine.random import seeded_words

        twin = self._twin()
        twin._resume(self._progress)
        if seed is not None:
            twin._words[:] = seeded_words(checked_seed(seed))
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    @property
    def _progress(self) -> dict[str, Any]:
        """Where it stands besides what it has learnt, shared with nobody."""
        state = {
            name: vars(self)[name] for name in ("_made", "_lost", "_asked", "_others", "_version", "unit")
        }
        return state | {
            "_warned": self._warned,
            "_open": {number: replace(draw) for number, draw in self._open.items()},
        }

    def _resume(self, progress: dict[str, Any]) -> None:
        vars(self).update(progress)

    # -- keeping ----------------------------------------------------------------------------------------

    def log(self, path: str | PathLike[str]) -> PolicyLog:
        """From now on append every decision to the log at `path` when it is answered; `sl.evaluate` looks back on it.

        A path that ends in .csv is one file, any other a folder of parquet parts. Each row has the probabilities of
        its draw and the value in the unit of the policy; docs/looking-back.md lists the columns. What is there
        already is continued. A decision is written before it is learnt from: where that fails, it stays open.

        >>> import tempfile
        >>> import sidelight as sl
        >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7, rewards=(0, 25))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with policy.log(f"{folder}/log.csv"):
        ...         for decision in policy.decide(count=10):
        ...             policy.observe(decision, {j: 20.0 for j in decision.reveals})
        ...     print(sl.Log.read(f"{folder}/log.csv"))
        Log(10 decisions, 20 rows, 6 arms, rewards in [0, 25])
        """
        file = checked_path("a log", path, LogError)
        self._enter()
        try:
            if self._log is not None:
                raise TurnError(f"this policy writes the log {self._log.path} already: close it first")
            self._log = PolicyLog(file, self.graph, self.unit, self._log_closed)
            return self._log
        finally:
            self._busy.release()

    def _log_closed(self) -> None:
        self._log = None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to `path`, atomically; `sidelight.policy.saved` describes the format.

        The policy goes on exactly as one that is loaded from the file. Compared with not saving, probabilities
        move by rounding only, but among many arms the same draw may fall on another of them.
        """
        file = checked_path("a saved policy", path, SavedStateError)
        self._enter()
        before, versions = dict(vars(self)), [draw.version for draw in self._open.values()]
        try:
            saved.write(file, self.graph, *self._contents())
        except BaseException:  # nothing was saved: go on as if nobody had tried
            vars(self).clear()
            vars(self).update(before)
            for draw, version in zip(self._open.values(), versions, strict=True):
                draw.version = version
            raise
        finally:
            self._busy.release()

    def to_bytes(self) -> bytes:
        """What `save` writes, for those who keep policies elsewhere; the policy goes on as after `save`."""
        stream = io.BytesIO()
        self._enter()
        try:
            saved.pack(stream, self.graph, *self._contents())
        finally:
            self._busy.release()
        return stream.getvalue()

    def _contents(self) -> tuple[dict[str, Any], Arrays]:
        if self._log is not None:
            self._log.flush()  # the log knows all that the file does
        for draw in self._open.values():
            draw.version = -1  # as from the file, it is learnt from by what was kept
        about, arrays = self._saved()
        if self.unit != PLAIN:
            about["unit"] = self.unit._asdict()
        return about, arrays | saved.decision_arrays(
            self._made, self._lost, self._asked, self._late, self._open
        )

    @staticmethod
    def load(path: str | PathLike[str], *, limit: int | None = None) -> Policy:
        """Read a saved policy of any kind; it continues bit for bit, random stream included.

        A file that asks for more than `limit` bytes of memory, by default for much more than its size, is refused
        before they are allocated.
        """
        file = checked_path("a saved policy", path, SavedStateError)
        return Policy._from(
            saved.read(file, limit if limit is None else checked_count("limit", limit, most=MOST_ROUNDS))
        )

    @staticmethod
    def from_bytes(data: bytes, where: str = "this saved policy") -> Policy:
        """The policy that `to_bytes` has written; `where` names the bytes in messages.

        >>> import sidelight as sl
        >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
        >>> twin = sl.Policy.from_bytes(policy.to_bytes())
        >>> twin.ask() == policy.ask()
        True
        """
        return Policy._from(saved.unpack(data, where))

    @staticmethod
    def _from(contents: saved.Contents) -> Policy:
        from sidelight.policy.changing import ChangingPolicy
        from sidelight.policy.plan_policy import PlanPolicy
        from sidelight.policy.rule_policy import RulePolicy

        kinds: dict[str, Callable[[saved.Contents], Policy]] = {
            "plan": PlanPolicy._loaded,
            "changing": ChangingPolicy._loaded,
            "rule": RulePolicy._loaded,
        }
        made = contents.understood(kinds)
        made.unit = contents.unit()
        return made


def _refuse_in_use() -> NoReturn:
    raise TurnError(
        "this policy is in use by another thread: use it from one at a time, or give each thread a copy()"
    )


def seed_or_fresh(seed: object) -> int:
    """A seed as a non-negative int; None draws one from the operating system."""
    return secrets.randbits(64) if seed is None else checked_seed(seed)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
