"""A rule in play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._check import MOST_ROUNDS
from sidelight._types import Floats, Ints
from sidelight.engine._numba.bundles import by_name
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.constants import FAILED
from sidelight.engine.graphs import NO_GRAPHS, NO_SEQUENCE, SAME, Graphs
from sidelight.engine.rules import ADDED, N_RECORD, NUMBERS, PER_ARM, SEEN, RuleState
from sidelight.graph import FeedbackGraph
from sidelight.policy.certificate import LEDGER
from sidelight.policy.decision import Record
from sidelight.policy.feedback import in_range
from sidelight.policy.game import MOST_SUM, Arrays, Game, Limits, Rounds, refuse_graphs
from sidelight.policy.graphs import Explored, checked_graph, not_kept, packed

if TYPE_CHECKING:
    from sidelight.graph.changes import Changes
    from sidelight.policy.rule import Rule

CHANGING = ("numbers", "counts", "sums", "probabilities", "words")
"""The arrays of `RuleState` that tell where a rule stands, beside `own`."""


def _arrays_of(graph: FeedbackGraph) -> dict[str, Any]:
    """A graph as the kernels of rules read it."""
    names = ("out_indptr", "out_indices", "in_indptr", "in_indices", "universal")
    return {name: getattr(graph, name) for name in names} | {"loops": graph.has_loop}


class RuleGame(Game):
    """A rule in play; it has no blocks and keeps no ledger.

    A draw that is noted has gone by: its round counts, and the distribution is that of the next one.
    """

    kind = "rule"
    plan: Rule

    def __init__(self, rule: Rule, words: npt.NDArray[np.uint64]) -> None:
        super().__init__(rule)
        self.others = np.zeros(1, dtype=np.bool_)  # was another graph played on than the rule's own?
        g = rule.graph
        n, most = g.n_arms, 1 + self.most_revealed
        self.arrays = RuleState(
            **_arrays_of(g),
            numbers=np.zeros(len(NUMBERS)),
            counts=np.zeros(n),
            sums=np.zeros(n),
            probabilities=np.zeros(n),
            own=rule.own.copy(),
            words=words,
            targets=np.zeros(most, dtype=np.int32),
            losses=np.zeros(most),
            kept=np.zeros(N_RECORD + PER_ARM * most),
        )
        self._numbers = by_name(NUMBERS, self.arrays.numbers)
        with interrupts_kept():
            rule.kernels.start(self.arrays)

    # -- turns ------------------------------------------------------------------------------------------

    def draw(self, graph: FeedbackGraph | None) -> Record:
        """The next arm."""
        if self.last is not None:
            self.note(self.last)
        if graph is not None:
            self.others[0] = True
        self._renew()
        self.last = record = Record(int(self._ask_once(self._on(graph))), self.version, graph)
        self.made += 1
        return record

    def note(self, record: Record) -> None:
        """The round of the draw counts."""
        if record.values is None:
            self.write_down(record)
            self._go_on_once(self.arrays, record.values)
            self.version += 1

    def write_down(self, record: Record) -> None:
        """P of what it reveals, and what their losses are divided by."""
        graph = self.plan.graph if record.graph is None else record.graph
        state, reveals = self._on(record.graph), graph.out_neighbors(record.arm)
        values = np.empty(N_RECORD + PER_ARM * reveals.size)
        self._keep_once(state, record.arm, values)
        record.values = values
        if self.plan.slow:
            then = {name: getattr(state, name).copy() for name in ("counts", "sums")}
            record.look = partial(self.plan.drawn, state._replace(**then), record.arm, reveals, values)
            return
        record.probability, values[N_RECORD + SEEN :: PER_ARM] = self.plan.drawn(
            state, record.arm, reveals, values
        )
        if self.plan.changes_graphs:  # what another graph, shown later, makes of this draw follows from these
            record.values = np.concatenate([values, [self._numbers.total], state.probabilities])

    def noted(self, record: Record) -> Record:
        """With the probabilities."""
        record = super().noted(record)
        if record.look is None:
            return record
        assert record.values is not None
        values = record.values.copy()
        probability, values[N_RECORD + SEEN :: PER_ARM] = record.look()
        return replace(record, values=values, probability=probability, look=None)

    def seen(self, record: Record, reveals: Ints) -> Floats:
        """P of the draw."""
        assert record.values is not None
        return record.values[N_RECORD + SEEN : N_RECORD + PER_ARM * reveals.size : PER_ARM].copy()

    def learn(self, record: Record, losses: Floats) -> bool:
        """As by what was kept, from the present distribution if the draw has not gone by."""
        last, graph = self.last, self.plan.graph if record.graph is None else record.graph
        if last is not None and last.values is None and last is not record:
            if not in_range(graph, losses):
                return False
            self.note(last)
        if not graph.certain:  # rules estimate from 0, so nothing lost is nothing learnt
            losses = np.where(losses == FAILED, 0.0, losses)
        if record.values is None:
            learnt = bool(self._tell_once(self._on(record.graph), record.arm, losses))
        else:
            learnt = bool(self._observe_once(self._on(record.graph), record.arm, losses, record.values))
        if learnt:
            self.version += 1
            self.last = None if record is last else last
        return learnt

    def drop(self, record: Record) -> None:
        """Its round counts all the same."""
        if record is self.last:
            self.note(record)
            self.last = None

    # -- graphs that change -----------------------------------------------------------------------------

    def _on(self, graph: FeedbackGraph | None) -> RuleState:
        """The state, on the graph of a round."""
        return self.arrays if graph is None else self.arrays._replace(**_arrays_of(graph))

    def changing(self, records: Iterable[Record]) -> RuleGame:
        """It is the one, if the rule is proved for graphs that change."""
        return self if self.plan.changes_graphs else refuse_graphs(self.plan)

    def check_known(self, graph: FeedbackGraph) -> None:
        """The rule must apply there."""
        self.changing(())
        replace(self.plan, graph=graph)  # an error if it does not

    def check_shown(self, record: Record, graph: FeedbackGraph) -> None:
        """The same, and the distribution of the draw must be known."""
        self.check_known(graph)
        if record.values is not None and record.values.size == N_RECORD + PER_ARM * self.degrees[record.arm]:
            raise not_kept()  # from an old file

    def show(self, record: Record, graph: FeedbackGraph) -> None:
        """Write it down anew, from the distribution that it was drawn from."""
        self.note(record)
        assert record.values is not None
        after = record.values[-1 - graph.n_arms :]
        numbers = self.arrays.numbers.copy()
        by_name(NUMBERS, numbers).total = after[0]
        then = self._on(graph)._replace(numbers=numbers, probabilities=after[1:].copy())
        values = np.empty(N_RECORD + PER_ARM * int(graph.out_degree[record.arm]))
        self._keep_once(then, record.arm, values)
        self._numbers.total += values[ADDED] - record.values[ADDED]
        record.graph, record.values = graph, np.concatenate([values, after])
        self.others[0] = True

    # -- many rounds ------------------------------------------------------------------------------------

    def play(self, rounds: Rounds) -> float:
        """Answered at once is a calendar of no delay."""
        graphs, sequence, after = NO_GRAPHS, NO_SEQUENCE, False
        if (changes := rounds.changes) is not None:
            graphs, sequence, after = _packed(self.plan, changes), changes.sequence, changes.after
            self.others |= (graphs.relation != SAME).any()
        before, cost, first = self._numbers.round, rounds.cost, rounds.first
        game = (self.arrays, graphs, sequence, after, rounds.world, rounds.function, rounds.key)
        calendar = rounds.calendar or self.calendar()
        while True:
            last = min(rounds.last, first + self._renew())
            cost = float(self.plan.kernels.play(*game, first, last, cost, rounds.plays, calendar))
            first = last
            if last == rounds.last or cost != cost:
                break
        self.made += int(self._numbers.round - before)
        self.version += 1
        return cost

    def _renew(self) -> int:
        """Renew the rule if that is due before the next draw; how many draws there are until it is due again."""
        if not self.plan.renews:
            return MOST_ROUNDS
        now = int(self._numbers.round)
        if self.plan.renewal(now) == now:
            self.plan.renew(self.arrays)
        return self.plan.renewal(now + 1) - now

    @cached_property
    def most_revealed(self) -> int:
        """On any graph that may come."""
        return self.plan.graph.n_arms if self.plan.changes_graphs else super().most_revealed

    def room(self, degree: int) -> int:
        """On graphs that change also the sum and the distribution before the draw."""
        return N_RECORD + PER_ARM * degree + (1 + self.plan.graph.n_arms if self.plan.changes_graphs else 0)

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def proved(self) -> bool:
        """On the rule's own graph."""
        return not self.others[0]

    def probabilities(self) -> Floats:
        """As the rule says."""
        self._renew()
        result: Floats = self.plan.probabilities(self.arrays)
        return result

    def ledger(self, arm: int) -> Floats:
        """None is kept."""
        return np.full(len(LEDGER), np.nan)

    def certificate(self, arm: int | None) -> tuple[tuple[str, ...], Floats]:
        """Nothing is certified."""
        return LEDGER, np.full(len(LEDGER), np.nan)

    # -- state ------------------------------------------------------------------------------------------

    def state(self) -> Arrays:
        """Counts, sums, the distribution and the random stream; the rest is room to work in."""
        names = (*CHANGING, "own") if self.plan.remembers else CHANGING
        return {name: getattr(self.arrays, name) for name in names} | {"others": self.others}

    def limits(self) -> dict[str, Limits]:
        """Counts are not negative."""
        positive = dict.fromkeys(("counts", "sums", "numbers", "own"), Limits(0.0, MOST_SUM))
        signed = {"sums": Limits(-MOST_SUM, MOST_SUM)} if self.plan.signed else {}
        return positive | signed | {"probabilities": Limits(0.0, 1.0)}

    def blank(self) -> RuleGame:
        """At round one."""
        return RuleGame(self.plan, np.zeros_like(self.arrays.words))

    def resume(self) -> None:
        """What is kept of the next round follows from the sums."""
        if self.arrays.own.size:
            with interrupts_kept():
                self.plan.kernels.start(self.arrays)

    def _entry(self, kernel: str, *arguments: object) -> Callable[..., Any]:
        return entry(getattr(self.plan.kernels, kernel), self.arrays, *arguments)

    _ask_once = cached_property(lambda self: self._entry("ask"))
    _tell_once = cached_property(lambda self: self._entry("tell", 0, self.arrays.losses))
    _keep_once = cached_property(lambda self: self._entry("keep", 0, self.arrays.losses))
    _go_on_once = cached_property(lambda self: self._entry("go_on", self.arrays.losses))
    _observe_once = cached_property(
        lambda self: self._entry("observe", 0, self.arrays.losses, self.arrays.losses)
    )


@lru_cache(maxsize=16)
def _packed(rule: Rule, changes: Changes) -> Graphs:
    """All graphs of a simulation, for every seed: the rule's own, then the others."""
    for graph in changes.graphs:
        checked_graph(rule.graph, graph)
        replace(rule, graph=graph)  # an error if it does not apply there
    none = np.zeros(rule.graph.n_arms)
    return packed([Explored(graph, none, none) for graph in (rule.graph, *changes.graphs)])
