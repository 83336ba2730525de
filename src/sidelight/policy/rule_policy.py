"""A rule being played, one decision at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._types import Floats, Ints
from sidelight.engine._numba.bundles import by_name
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.calendar import Calendar, make_calendar
from sidelight.engine.graphs import NO_GRAPHS, NO_SEQUENCE, SAME, Graphs, Sequence
from sidelight.engine.random import seeded_words
from sidelight.engine.rules import ADDED, DIVISOR, N_RECORD, NUMBERS, PER_ARM, SEEN, RuleState
from sidelight.graph import FeedbackGraph
from sidelight.graph.changes import Changes
from sidelight.log.unit import Unit
from sidelight.policy import saved
from sidelight.policy.decision import Draw
from sidelight.policy.graphs import Explored, check_same, checked_graph, not_kept, packed
from sidelight.policy.policy import PLAIN, Policy, seed_or_fresh
from sidelight.policy.rule import Rule
from sidelight.policy.snapshot import overwrite

_CHANGING = ("numbers", "counts", "sums", "probabilities", "words", "targets", "losses", "kept")


def _arrays_of(graph: FeedbackGraph) -> dict[str, Any]:
    """A graph as the kernels of rules read it."""
    names = ("out_indptr", "out_indices", "in_indptr", "in_indices", "universal")
    return {name: getattr(graph, name) for name in names} | {"loops": graph.has_loop}


class RulePolicy(Policy):
    """A rule being played; it has no blocks and keeps no ledger.

    >>> import sidelight as sl
    >>> policy = sl.baselines.uniform(sl.families.cycle(6)).policy(seed=7)
    >>> policy.probabilities.round(3).tolist()
    [0.167, 0.167, 0.167, 0.167, 0.167, 0.167]
    """

    def __init__(
        self,
        rule: Rule,
        seed: int | None = None,
        *,
        losses: tuple[float, float] | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> None:
        stated = losses is not None or rewards is not None
        super().__init__(rule, Unit.of(losses, rewards) if stated else PLAIN)
        g = rule.graph
        n, most = g.n_arms, 1 + (g.n_arms if rule.changes_graphs else int(g.out_degree.max()))
        self.state = RuleState(
            **_arrays_of(g),
            numbers=np.zeros(len(NUMBERS)),
            counts=np.zeros(n),
            sums=np.zeros(n),
            probabilities=np.zeros(n),
            words=seeded_words(seed_or_fresh(seed)),
            targets=np.zeros(most, dtype=np.int32),
            losses=np.zeros(most),
            kept=np.zeros(N_RECORD + PER_ARM * most),
        )
        self._numbers.pending = -1.0
        self._start()

    _drawn_on: FeedbackGraph | None = None  # the graph of the last draw, if that is not the rule's own

    @property
    def _numbers(self) -> Any:
        return by_name(NUMBERS, self.state.numbers)

    def _start(self) -> None:
        with interrupts_kept():
            self.plan.kernels.start(self.state)

    # -- turns ------------------------------------------------------------------------------------------

    def _draw(self, graph: FeedbackGraph | None) -> int:
        self._drawn_on = graph
        return int(self._ask_once(self._on(graph)))

    def _tell(self, values: Floats) -> bool:
        return bool(self._tell_once(self._on(self._drawn_on), values))

    def _note(self, arm: int) -> Floats:
        graph = self.graph if self._drawn_on is None else self._drawn_on
        kept = np.empty(self._kept_size(int(graph.out_degree[arm])))
        state = self._on(self._drawn_on)
        self._keep_once(state, arm, kept)
        kept[N_RECORD + SEEN :: PER_ARM] = self.plan.seen(state, graph.out_neighbors(arm), kept)
        if (
            self.plan.changes_graphs
        ):  # from which it follows what another graph, shown later, makes of this draw
            return np.concatenate([kept, [self._numbers.total], state.probabilities])
        return kept

    def _pass(self, kept: Floats) -> None:
        self._go_on_once(self.state, kept)

    def _observe(self, draw: Draw, values: Floats) -> bool:
        return bool(self._observe_once(self._on(draw.graph), draw.arm, values, draw.kept))

    def _seen(self, kept: Floats, reveals: Ints) -> Floats:
        return kept[N_RECORD + SEEN : N_RECORD + PER_ARM * reveals.size : PER_ARM].copy()

    # -- graphs that change -----------------------------------------------------------------------------

    def _on(self, graph: FeedbackGraph | None) -> RuleState:
        """The state, on the graph of a round."""
        return self.state if graph is None else self.state._replace(**_arrays_of(graph))

    def _before(self, graph: object) -> FeedbackGraph | None:
        given = self._checked(graph)
        self._others |= given is not None
        return given

    def _afterwards(self, draw: Draw, graph: object) -> FeedbackGraph | None:
        given = self._checked(graph)
        if draw.graph is not None:
            check_same(draw.graph, given)
            return None
        if (
            given is not None
            and draw.kept is not None
            and draw.kept.size == self._kept_size(self._degrees[draw.arm])
        ):
            raise not_kept()
        return given

    def _checked(self, graph: object) -> FeedbackGraph | None:
        given = checked_graph(self.graph, graph)
        if given is not None:
            if not self.plan.changes_graphs:
                self._refuse_graph()
            replace(self.plan, graph=given)  # an error if it does not apply there
        return given

    def _show(self, number: int, graph: FeedbackGraph) -> None:
        draw = self._open[number]
        if draw.kept is None:
            self._note_last()
        assert draw.kept is not None
        after = draw.kept[-1 - self.graph.n_arms :]
        numbers = self.state.numbers.copy()
        by_name(NUMBERS, numbers).total = after[0]
        then = self._on(graph)._replace(numbers=numbers, probabilities=after[1:].copy())
        kept = np.empty(self._kept_size(int(graph.out_degree[draw.arm])))
        self._keep_once(then, draw.arm, kept)
        self._numbers.total += kept[ADDED] - draw.kept[ADDED]
        draw.graph, draw.kept = graph, np.concatenate([kept, after])
        self._others = True

    def for_changes(self) -> RulePolicy:
        """A copy, if the rule is proved for graphs that change: it is ready as it is."""
        if not self.plan.changes_graphs:
            self._refuse_graph()
        return self.copy()

    def bound_at(self, t: int) -> float | None:
        """The rule's bound, None where theory has none or the graph has changed."""
        return None if self._others else super().bound_at(t)

    def _kept_size(self, degree: int) -> int:
        return N_RECORD + PER_ARM * degree

    def _play(self, *arguments: Any) -> float:
        return self._play_on(NO_GRAPHS, NO_SEQUENCE, False, *arguments)

    def _play_on(self, graphs: Graphs, sequence: Sequence, after: bool, *arguments: Any) -> float:
        *about, calendar = arguments
        if calendar is None:  # everything is answered at once
            calendar = self.calendar(np.zeros(1, dtype=np.int64), 1)
        before = self._numbers.round
        cost = float(self.plan.kernels.play(self.state, graphs, sequence, after, *about, calendar))
        self._made += int(self._numbers.round - before)
        return cost

    @property
    def changes_compiled(self) -> bool:  # type: ignore[override]
        """Wherever the rule is proved for graphs that change."""
        return bool(self.plan.changes_graphs)

    def calendar(self, delays: npt.NDArray[np.int64], rounds: int) -> Calendar:
        """Where `play` keeps open decisions; on graphs that change, with what `_note` keeps of each."""
        if not self.plan.changes_graphs:
            return super().calendar(delays, rounds)
        n = self.graph.n_arms
        return make_calendar(delays, rounds, self._kept_size(n) + 1 + n)

    def _play_changes(self, *arguments: Any) -> float:
        *about, calendar, changes = arguments
        graphs = _packed(self.plan, changes)
        self._others |= any(kind != SAME for kind in graphs.relation.tolist())
        return self._play_on(graphs, changes.sequence, changes.after, *about, calendar)

    @cached_property
    def _ask_once(self) -> Callable[..., int]:
        return entry(self.plan.kernels.ask, self.state)

    @cached_property
    def _tell_once(self) -> Callable[..., bool]:
        return entry(self.plan.kernels.tell, self.state, self.state.losses)

    @cached_property
    def _keep_once(self) -> Callable[..., None]:
        return entry(self.plan.kernels.keep, self.state, 0, self.state.losses)

    @cached_property
    def _go_on_once(self) -> Callable[..., None]:
        return entry(self.plan.kernels.go_on, self.state, self.state.losses)

    @cached_property
    def _observe_once(self) -> Callable[..., bool]:
        return entry(self.plan.kernels.observe, self.state, 0, self.state.losses, self.state.losses)

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one."""
        found: Floats = self.plan.probabilities(self.state)
        return found

    # -- copies and files -------------------------------------------------------------------------------

    @property
    def _words(self) -> npt.NDArray[np.uint64]:
        return self.state.words

    def _twin(self) -> RulePolicy:
        twin = object.__new__(RulePolicy)
        Policy.__init__(twin, self.plan)
        twin.state = self.state._replace(**{name: getattr(self.state, name).copy() for name in _CHANGING})
        twin._drawn_on = self._drawn_on
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (
            self.plan,
            {name: getattr(self.state, name) for name in _CHANGING},
            self._progress,
            self._drawn_on,
        )

    def _frozen(self) -> Arrays:
        return {name: getattr(self.state, name) for name in _CHANGING}

    def _thaw(self, arrays: Arrays) -> None:
        overwrite(self._frozen(), arrays)

    def _saved(self) -> tuple[dict[str, Any], Arrays]:
        state, numbers = self.state, self._numbers
        last = self._open.get(self._made)
        if last is not None and last.kept is None and last.graph is not None:
            self._note_last()  # in the file only what is kept has a graph
        arrays = {"counts": state.counts, "sums": state.sums, "total": np.array([numbers.total])}
        arrays |= saved.turn_arrays(int(numbers.round), int(numbers.pending), state.words)
        about = {"kind": "rule", "rule": self.plan.name, "horizon": self.plan.horizon}
        if self._others:
            about["others"] = True
        return about, {f"state.{name}": array for name, array in arrays.items()}

    @classmethod
    def _loaded(cls, contents: saved.Contents) -> RulePolicy:
        from sidelight.policy.rules import RULES

        name, horizon = contents.text("rule"), contents.horizon(contents.header)
        made = {rule.name: rule for rule in RULES}.get(name)
        if made is None:
            contents.refuse(f"the rule {name!r} is unknown here")
        policy = cls(made(contents.graph, horizon), 0)
        state, numbers = policy.state, policy._numbers
        numbers.round, numbers.pending, state.words[:] = contents.turn(policy.graph.n_arms)
        n = policy.graph.n_arms
        state.counts[:] = contents.floats("state.counts", (n,), most=numbers.round)
        state.sums[:] = contents.floats("state.sums", (n,))
        (numbers.total,) = contents.floats("state.total", (1,), most=2.0 * n * numbers.round)
        if (state.counts != np.floor(state.counts)).any():
            contents.refuse("state.counts are not whole numbers")
        if (state.sums > (state.counts if made.adds_losses else np.where(state.counts > 0, np.inf, 0))).any():
            contents.refuse("state.sums are more than the observations in state.counts allow")
        policy._others = contents.header.get("others") is True and made.changes_graphs
        policy._resume(policy._read_decisions(contents).progress())
        contents.finish()
        policy._start()
        return policy

    def _read_decisions(self, contents: saved.Contents) -> saved.Decisions:
        """Decisions made and open; rounds are those."""
        rounds, pending = int(self._numbers.round), int(self._numbers.pending)
        changing = self.plan.changes_graphs and contents.header["version"] == saved.VERSION
        after = 1 + self.graph.n_arms if changing else 0

        def check(arm: int, kept: Floats, graph: FeedbackGraph) -> bool:
            head, shares = kept[: kept.size - after], kept[kept.size - after :][1:]
            seen, divisor = head[N_RECORD + SEEN :: PER_ARM], head[N_RECORD + DIVISOR :: PER_ARM]
            least = np.ones(1) if self.plan.adds_losses else seen
            fits = bool(((divisor >= least) & (divisor <= 1.0 + least)).all())
            drawn = not changing or (shares[arm] > 0.0 and abs(shares.sum() - 1.0) < 1e-6)
            return bool(saved.is_share(seen, saved.LEAST_DRAWN) and fits and saved.is_share(shares) and drawn)

        found = contents.decisions(
            rounds, pending, lambda degree: N_RECORD + PER_ARM * degree + after, check, changing
        )
        if found.made != rounds + (pending >= 0) or found.late:
            contents.refuse(f"{found.made} decisions were made in {rounds} rounds")
        return found


@lru_cache(maxsize=16)
def _packed(rule: Rule, changes: Changes) -> Graphs:
    """All graphs of a simulation, for every seed: the rule's own, then the others."""
    for graph in changes.graphs:
        checked_graph(rule.graph, graph)
        replace(rule, graph=graph)  # an error if it does not apply there
    none = np.zeros(rule.graph.n_arms)
    return packed([Explored(graph, none, none) for graph in (rule.graph, *changes.graphs)])


def _unpickled(
    rule: Rule, arrays: dict[str, npt.NDArray[Any]], progress: dict[str, Any], drawn_on: FeedbackGraph | None
) -> RulePolicy:
    made = RulePolicy(rule, 0)
    made._drawn_on = drawn_on
    made.state = made.state._replace(**arrays)
    made._resume(progress)
    return made
