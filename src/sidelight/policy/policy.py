"""What plays: decisions, feedback, copies, files, around a game of its own."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt

from sidelight import _html
from sidelight._check import MOST_ROUNDS, checked_count, checked_path, checked_seed
from sidelight._types import Floats, Ints
from sidelight.engine.random import seeded_words
from sidelight.errors import DependentGraphs, InvalidOption, LogError, PastHorizon, TurnError
from sidelight.graph.names import named
from sidelight.log.unit import Unit
from sidelight.planning.bounds.bound import Happened
from sidelight.policy import files, policy_file
from sidelight.policy.certificate import LEDGER, UNANSWERED, Certificate
from sidelight.policy.decision import NOT_YET, Decision, Record, Unlooked
from sidelight.policy.dependence import DOUBT
from sidelight.policy.feedback import aligned, as_losses, in_range, marked, out_of_range
from sidelight.policy.game import Game, Rounds, State
from sidelight.policy.games import begun, blank_game
from sidelight.policy.graphs import check_known, check_same, checked_graph
from sidelight.policy.player import bound_given
from sidelight.policy.policy_log import PolicyLog

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Bound

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


@final
class Policy:
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

    def __init__(
        self,
        plan: Any,
        seed: int | None = None,
        *,
        losses: tuple[float, float] | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> None:
        """Play a plan or a rule; `plan.policy(seed)` is the usual way here."""
        stated = losses is not None or rewards is not None
        unit = Unit.of(losses, rewards) if stated else PLAIN
        chosen = secrets.randbits(64) if seed is None else checked_seed(seed)
        self._begin(begun(plan, chosen), unit)

    def _begin(self, game: Game, unit: Unit) -> None:
        self._game = game
        self._plan = game.plan
        self.unit = unit  # of what is told, and of regret in certificates and ledgers
        self._busy = threading.Lock()
        self._inherited = False  # from before a fork
        _LIVE.add(self)
        self._open: dict[int, Record] = {}
        self._asked = 0  # the open decision that `ask` made, 0 for none
        self._lost = 0  # decisions that were cancelled, or could not be answered in time
        self._overlap = 0  # decisions open when one was made, added up over all of them
        self._warned = False  # that the horizon is over
        self._log: PolicyLog | None = None  # belongs to this object alone: no copy and no file has it
        self._rows: dict[int, Ints] = {}  # what arms reveal that were played: quicker than the graph
        self._remembered = 0  # numbers in there

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
        as the policy's own, which stands for it otherwise, each revealed by some arm. Arms that are not available
        cannot be left out so: they would be played more.
        """
        wanted = 1 if count is None else checked_count("count", count)
        if not self._busy.acquire(False):  # as `_alone`, which takes longer
            self._refuse_in_use()
        try:
            round_graph = None if graph is None else self._round_graph(graph)
            if self._game.made + wanted > self._game.limit and not self._warned:
                self._warn_past_horizon()
            if count is None:
                return self._decided(round_graph)
            return [self._decided(round_graph) for _ in range(wanted)]
        finally:
            self._busy.release()

    def observe(
        self, decision: Decision | int, losses: Losses, *, graph: FeedbackGraph | None = None
    ) -> None:
        """Report the losses that a decision revealed: once, whenever they come, in any order of decisions.

        Either a mapping {arm: loss} over exactly `decision.reveals`, arms by number or by label, or an array aligned
        with it. A reveal that failed, where the graph says that it may, is left out of the mapping or None in it, and
        NaN in an array. Where the feedback graph of the round shows only now, `graph` is that, and the losses are of
        what the arm reveals there. It says who *would have* revealed these arms, whatever had been played: a graph
        that depends on the arm that was played makes every estimate wrong, and a `DependentGraphs` warning where a
        test finds it.
        """
        if not self._busy.acquire(False):  # as `_alone`
            self._refuse_in_use()
        try:
            self._answer(self._number_of(decision), losses, graph)
        finally:
            self._busy.release()

    def cancel(self, decision: Decision | int) -> None:
        """Give up a decision whose losses will never come; it counts as a loss of 1 in the certificate."""
        with self._alone():
            number = self._number_of(decision)
            self._game.drop(self._open[number])
            self._close(number)
            self._lost += 1

    def decision(self, number: int) -> Decision:
        """An open decision, by its id."""
        checked = self._number_of(number)
        return self._shown(checked, self._open[checked])

    @property
    def open(self) -> list[Decision]:
        """The decisions that are neither answered nor cancelled, as they were made."""
        return [self._shown(number, record) for number, record in self._open.items()]

    def ask(self, *, graph: FeedbackGraph | None = None) -> int:
        """Draw the next arm to play; `graph` as in `decide`."""
        if not self._busy.acquire(False):  # as `_alone`
            self._refuse_in_use()
        try:
            if self._asked:
                asked = named(self.graph, self._open[self._asked].arm)
                raise TurnError(f"arm {asked} is still to be told: call tell() before asking again")
            round_graph = None if graph is None else self._round_graph(graph)
            game = self._game
            if game.made >= game.limit and not self._warned:
                self._warn_past_horizon()
            self._overlap += len(self._open)
            record = game.draw(round_graph)
            self._asked = game.made
            self._open[game.made] = record
            return record.arm
        finally:
            self._busy.release()

    def tell(self, losses: Losses, *, graph: FeedbackGraph | None = None) -> None:
        """Report the losses that the pending arm revealed.

        Either a mapping {arm: loss} over exactly the out-neighbours of the pending arm, or an array
        aligned with `graph.out_neighbors(arm)`; `graph`, and what failed to be revealed, as in `observe`.
        """
        if not self._busy.acquire(False):  # as `_alone`
            self._refuse_in_use()
        try:
            if not self._asked:
                raise TurnError("no arm is pending: call ask() before telling what it revealed")
            self._answer(self._asked, losses, graph)
        finally:
            self._busy.release()

    def _decided(self, graph: FeedbackGraph | None) -> Decision:
        game = self._game
        self._overlap += len(self._open)
        record = game.draw(graph)
        self._open[game.made] = record
        if record.values is None:
            game.note(record)
        return self._shown(game.made, record)

    def _shown(self, number: int, record: Record) -> Decision:
        arm = record.arm
        noted = self._game.noted(record) if record.values is None else record
        labels = self._plan.graph.labels
        label = str(arm) if labels is None else labels[arm]
        if noted.graph is not None:
            reveals = noted.graph.out_neighbors(arm)
        elif (row := self._rows.get(arm)) is not None:
            reveals = row
        else:
            reveals = self._row(arm)
        if noted.look is not None:
            later = Unlooked(number, number, arm, label, reveals, NOT_YET)
            later.look = noted.look
            return later
        seen = self._game.seen(noted, reveals)
        return Decision(number, number, arm, label, reveals, seen, noted.probability)

    def _row(self, arm: int) -> Ints:
        reveals: Ints = self._plan.graph.out_neighbors(arm)
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
            record = self._open.get(number)
            if record is not None and record.arm == decision.arm:
                return number
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InvalidOption(f"a decision is what decide() gave, or its id, got {decision!r:.50}")
        record = self._open.get(int(number))
        if record is None:
            why = f"was answered or cancelled before; {len(self._open)} are open"
            if not 1 <= number <= self._game.made:
                why = f"does not exist: this policy has made {self._game.made:,}"
            raise TurnError(f"decision {number} {why}")
        if isinstance(decision, Decision) and decision.arm != record.arm:
            raise TurnError(
                f"decision {number} of this policy is arm {named(self.graph, record.arm)}, not "
                f"{named(self.graph, decision.arm)}: it is another policy's"
            )
        return int(number)

    def _round_graph(self, graph: object) -> FeedbackGraph | None:
        """The graph of rounds that are to be decided, None for the policy's own; the game is one that can play it."""
        given = checked_graph(self.graph, graph)
        if given is not None:
            check_known(self.graph, given)
            self._game.check_known(given)
            self._game = self._game.changing(self._open.values())
        return given

    def _answer(self, number: int, losses: Losses, shown: FeedbackGraph | None) -> None:
        """Learn from the losses of an open decision, and close it."""
        record = self._open[number]
        own = self._plan.graph
        graph = own if record.graph is None else record.graph
        other = None if shown is None else self._checked_shown(record, shown)
        if other is not None:
            graph = other
        game, told_now = self._game, shown is not None and record.graph is None
        degree = self._game.degrees[record.arm] if graph is own else int(graph.out_degree[record.arm])
        values = given = aligned(graph, degree, record.arm, losses)
        if self.unit is not PLAIN and self.unit != PLAIN:
            values = as_losses(self.unit, given)
        values = marked(graph, values)
        if (other is not None or self._log is not None) and in_range(graph, values):
            if other is not None:
                self._game = self._game.changing(self._open.values())
                self._game.show(record, other)
            if self._log is not None:
                self._log.write(self._shown(number, record), given)
        if not self._game.learn(record, values):
            raise out_of_range(graph, record.arm, self.unit, given)
        self._close(number)
        # Not in the round that changes the game: whether that is done must not depend on what is shown.
        if told_now and game is self._game:
            revealed = graph.out_neighbors(record.arm)
            if game.suspect(record, revealed if graph.certain else revealed[~np.isnan(given)]):
                why = "from now on no certificate and no bound is; docs/theory/changing-graphs.md says what to tell"
                warnings.warn(f"{DOUBT}: {why}", DependentGraphs, stacklevel=3)

    def _checked_shown(self, record: Record, shown: object) -> FeedbackGraph | None:
        """The graph of an open decision that is told with its losses, None for its own; changes nothing."""
        given = checked_graph(self.graph, shown)
        if record.graph is not None:
            check_same(record.graph, given)
            return None
        if given is not None:
            self._game.check_shown(record, given)
        return given

    def _close(self, number: int) -> None:
        del self._open[number]
        if number == self._asked:
            self._asked = 0

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(False):
            self._refuse_in_use()
        try:
            yield
        finally:
            self._busy.release()

    def _refuse_in_use(self) -> NoReturn:
        if self._inherited:
            raise TurnError(
                "this policy was made before this process was forked, and its parent goes on with it: both would make"
                " the same decisions. Make one here, or take a copy(seed=...) with another seed"
            )
        raise TurnError(
            "this policy is in use by another thread: use it from one at a time, or give each thread a copy()"
        )

    def _warn_past_horizon(self) -> None:
        self._warned = True
        warnings.warn(
            f"this plan is for {self._plan.horizon:,} rounds, which are over: its bound says nothing about more; "
            "plan for more rounds, or without a horizon",
            PastHorizon,
            stacklevel=3,
        )

    # -- many rounds: for `sl.simulate` -----------------------------------------------------------------

    def _play(self, *arguments: Any) -> float:
        """`Rounds(*arguments)` at once, as `ask` and `tell` would play them; see `Game.play`."""
        rounds = Rounds(*arguments)
        with self._alone():
            if self._open:
                raise TurnError(
                    f"{len(self._open)} decisions are open: observe or cancel them before playing on"
                )
            if self._log is not None and rounds.first < rounds.last:
                raise TurnError(
                    f"this policy writes the log {self._log.path}, which compiled rounds do not: close it, or play "
                    "on with a copy()"
                )
            before = 0 if rounds.calendar is None else rounds.calendar.unanswered
            cost = self._game.play(rounds)
            if rounds.calendar is not None:
                self._lost += rounds.calendar.unanswered - before
                delays, count = rounds.calendar.delays, rounds.last - rounds.first
                late = delays[rounds.first : rounds.last].sum() if delays.size > 1 else delays[0] * count
                self._overlap += int(late)  # at most: the last ones wait no longer than until the end
            return cost

    def _for_changes(self) -> Policy:
        """A copy that is ready to play many rounds on graphs that change; an error where nothing is proved."""
        ready = self.copy()
        ready._game = ready._game.changing(ready._open.values())
        return ready

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def plan(self) -> Any:
        """What is played: a plan or a rule."""
        return self._plan

    @property
    def graph(self) -> FeedbackGraph:
        """What it is played on."""
        graph: FeedbackGraph = self._plan.graph
        return graph

    @property
    def round(self) -> int:
        """Number of completed rounds: decisions that are no longer open."""
        return self._game.made - len(self._open)

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        return self._open[self._asked].arm if self._asked else None

    @property
    def rounds_left(self) -> int | None:
        """Rounds until the horizon, 0 from then on; None without a horizon."""
        horizon = self._plan.horizon
        return None if horizon is None else max(horizon - self.round, 0)

    @property
    def probabilities(self) -> Floats:
        """Distribution of the next decision, whatever is open; a fresh array that sums to one.

        `ask` leaves it as it is until something else happens: while its arm waits to be told of, it is that arm's.
        Where graphs change, the next decision is one on the policy's own graph.
        """
        return self._game.probabilities()

    def ledger(self, arm: int | str) -> dict[str, float]:
        """The four parts of the regret against `arm`, as estimated so far (Lemma regret); NaN without a ledger.

        In the unit of the policy, as certificates are.
        """
        parts = self._game.ledger(self._checked_arm(arm)) * self.unit.width
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
        names, parts = self._game.certificate(chosen)
        terms = dict(zip(names, (parts * self.unit.width).tolist(), strict=True))
        if self.unanswered:
            terms[UNANSWERED] = self.unanswered * self.unit.width
        labels = self.graph.labels
        label = None if chosen is None or labels is None else labels[chosen]
        return Certificate(self._game.made, chosen, terms, label, DOUBT if self._game.doubtful else "")

    @property
    def unanswered(self) -> int:
        """Decisions from which nothing was learnt, so far or for good; each costs at most 1."""
        return self._lost + len(self._open)

    def bound_at(self, t: int) -> float | None:
        """The plan's bound on the regret of t rounds, in the unit of the policy; None where theory has none.

        It speaks of answers that come before the next decision, on the plan's own graph. Once a decision was made
        while others were open there is one only for plans that have a bound for late answers; once one was cancelled,
        or graphs have changed, there is none, except where docs/theory/changing-graphs.md proves it. `certificate()`
        holds all the same.
        """
        if self._lost or not self._game.proved:
            return None
        bound = self._bound_at(t)
        if bound is None or set(self._happened.conditions(t)) & set(bound.conditions):
            return None
        return bound.value * self.unit.width

    @property
    def _happened(self) -> Happened:
        """What the bound of the plan may not allow for."""
        return Happened(self._overlap, self._lost, not self._game.proved)

    def _bound_at(self, t: int) -> Bound | None:
        """The bound of the plan, with what did not go as it assumes among its conditions."""
        return bound_given(self._plan, t, self._happened)

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
        certificate, shares = self.certificate(), self._likeliest(checked_count("most", most), repr)
        head = (
            f"{self.plan.realization} on {self.graph.n_arms:,} arms, {self._told}: "
            f"{_counted(self.round, 'round')}, {_counted(len(self._open), 'decision')} open"
        )
        width = max(len(name) for name, _ in shares)
        lines = [f"  {name:<{width}}  {100 * share:5.2f} %" for name, share in shares]
        return "\n".join([head, *[certificate.summary()] * isfinite(certificate.value), *lines])

    def _likeliest(self, most: int, label: Callable[[str], str]) -> list[tuple[str, float]]:
        """The likeliest arms by name, with their probabilities, and all others together."""
        labels, likely = self.graph.labels, self.probabilities
        first = np.argsort(-likely, kind="stable")[:most].tolist()
        rows = [
            (str(arm) if labels is None else f"{arm} {label(labels[arm])}", float(likely[arm]))
            for arm in first
        ]
        others = likely.size - len(first)
        return rows + [(f"{others:,} others", max(0.0, float(1 - likely[first].sum())))] * (others > 0)

    @property
    def _told(self) -> str:
        return f"{self.unit.kind} in [{self.unit.low:g}, {self.unit.high:g}]"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        pending = None if self.pending is None else named(self.graph, self.pending)
        unit = "" if self.unit == PLAIN else f", {self.unit.kind}=({self.unit.low:g}, {self.unit.high:g})"
        return f"Policy({self.plan!r}{unit}, round={self.round}, pending={pending})"

    def _repr_html_(self, most: int = 10) -> str:
        """What a notebook shows."""
        certificate, shares = self.certificate(), self._likeliest(most, str)
        rows = [
            ("rounds", f"{self.round:,}"),
            ("open decisions", f"{len(self._open):,}" if self._open else None),
            ("is told", self._told),
            (
                "certificate",
                f"{certificate.value:,.2f}: {certificate.meaning}" if isfinite(certificate.value) else None,
            ),
        ]
        title = f"Policy: {self.plan.realization} on {self.graph.n_arms:,} arms"
        return _html.panel(title, _html.facts(rows), _html.note("what it plays next"), _html.bars(shares))

    # -- keeping ----------------------------------------------------------------------------------------

    def _state(self) -> State:
        """Where it stands; the arrays and records are its own."""
        game = self._game
        counts = (game.made, self._lost, self._overlap, self._asked, game.version, self._warned)
        return State(game.kind, game.state(), self._open, *counts)

    def _resume(self, state: State) -> Policy:
        """Go on from a state of the same game, which shares nothing with this policy afterwards."""
        game = self._game
        for name, array in game.state().items():
            array[...] = state.arrays[name]
        self._open = {number: replace(record) for number, record in state.records.items()}
        self._lost, self._overlap = state.lost, state.overlap
        self._asked, self._warned = state.asked, state.warned
        game.made, game.version, game.last = state.made, state.version, self._open.get(state.made)
        game.resume()
        return self

    @classmethod
    def _of(cls, game: Game, unit: Unit) -> Policy:
        """A policy at the first round of a game."""
        policy = object.__new__(cls)
        policy._begin(game, unit)
        return policy

    def copy(self, seed: int | None = None) -> Policy:
        """An independent policy in the same state; with a seed, on that seed's random stream."""
        if self._inherited and seed is None:
            self._refuse_in_use()
        twin = Policy._of(self._game.blank(), self.unit)._resume(self._state())
        if seed is not None:
            twin._game.state()["words"][:] = seeded_words(checked_seed(seed))
        return twin

    def __copy__(self) -> Policy:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Policy:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._plan, self.unit, self._state())

    def log(self, path: str | os.PathLike[str]) -> PolicyLog:
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
        with self._alone():
            if self._log is not None:
                raise TurnError(f"this policy writes the log {self._log.path} already: close it first")
            self._log = PolicyLog(file, self.graph, self.unit, self._log_closed)
            return self._log

    def _log_closed(self) -> None:
        self._log = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to `path`, atomically; `sidelight.policy.files` describes the format.

        The policy is not changed, and one that is loaded goes on exactly as it does.
        """
        files.written(path, self.to_bytes(), "policy")

    def to_bytes(self) -> bytes:
        """What `save` writes, for those who keep policies elsewhere."""
        with self._alone():
            if self._log is not None:
                self._log.flush()  # the log knows all that the file does
            contents = policy_file.contents_of(self._game, self.unit, self._state())
        return policy_file.pack(*contents)

    @staticmethod
    def load(path: str | os.PathLike[str], *, limit: int | None = None) -> Policy:
        """Read a saved policy of any kind; it continues bit for bit, random stream included.

        A file that another version of the library has written goes on from what it had learnt. A file that asks for
        more than `limit` bytes of memory, by default for much more than its size, is refused before they are
        allocated.
        """
        most = limit if limit is None else checked_count("limit", limit, most=MOST_ROUNDS)
        return _loaded(policy_file.unpack(*files.bytes_of(path, most, "policy")))

    @staticmethod
    def from_bytes(data: bytes, where: str = "this saved policy") -> Policy:
        """The policy that `to_bytes` has written; `where` names the bytes in messages.

        >>> import sidelight as sl
        >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
        >>> twin = sl.Policy.from_bytes(policy.to_bytes())
        >>> twin.ask() == policy.ask()
        True
        """
        return _loaded(policy_file.unpack(data, Path(where)))


def _unpickled(plan: Any, unit: Unit, state: State) -> Policy:
    return Policy._of(blank_game(state.kind, plan), unit)._resume(state)


def _loaded(contents: files.Contents) -> Policy:
    """The policy of a file, if it can be played on: every error on the way is the file's."""
    with contents.blamed():
        game, unit, state = policy_file.read_policy(contents)
        policy = Policy._of(game, unit)._resume(state)
        game.check()
        likely, certificate = policy.probabilities, policy.certificate()
        if not (likely >= 0.0).all() or not abs(likely.sum() - 1.0) < 1e-6:
            contents.refuse("what it plays next is no distribution")
        if certificate.value < -(1.0 + 1e-9) * game.made * unit.width:
            contents.refuse(f"it certifies a regret of {certificate.value:g} after {game.made} rounds")
    return policy


_LIVE: weakref.WeakSet[Policy] = weakref.WeakSet()


def _stop_in_child() -> None:
    """In a forked process, take the policies of its parent out of use: both would make the same decisions."""
    for policy in list(_LIVE):
        policy._inherited = True
        policy._busy = threading.Lock()
        policy._busy.acquire()  # never released: whoever decides anyway is refused, at no cost to others


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_in_child)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
