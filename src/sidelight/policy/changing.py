"""A self-tuning plan on graphs that change: what it has learnt goes on, played densely from then on.

Sums, temperature and accounts of a self-tuning plan do not depend on the graph, and Theorem 1 holds for any sequence
of graphs (docs/theory/changing-graphs.md). So a plan's policy becomes a `ChangingPolicy` when it first meets another
graph than its own, and stays one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._types import Floats, Ints, frozen
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.changing import loop
from sidelight.engine.changing.state import (
    AT,
    BETA,
    CHARGED,
    COST,
    DRAWN_AT,
    EXPLORED,
    EXTRA,
    LATE,
    LEAST,
    N_KEPT,
    ORDER,
    OTHERS,
    PAID,
    PURCHASED,
    REPAIR,
    ROUND,
    RULE,
    UNSPENT,
    State,
    new_state,
)
from sidelight.engine.graphs import OTHER, SAME, Graphs, Sequence
from sidelight.engine.random import TURN
from sidelight.engine.round import late
from sidelight.engine.self_tuning import numbers as of_engine
from sidelight.engine.state import EXPLORED as ENGINE_EXPLORED
from sidelight.engine.state import learnt
from sidelight.errors import InfeasibleRequest
from sidelight.graph.changes import Changes
from sidelight.policy.certificate import BOUGHT, LEDGER
from sidelight.policy.decision import Draw
from sidelight.policy.graphs import (
    Explored,
    check_same,
    checked_graph,
    checked_shown,
    not_kept,
    other_graph,
    own_graph,
    packed,
    relation,
    unknown_graph,
)
from sidelight.policy.policy import Policy
from sidelight.policy.saved_changing import changing_contents, read_changing
from sidelight.policy.snapshot import overwrite

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan
    from sidelight.policy.plan_policy import PlanPolicy
    from sidelight.policy.saved import Contents

MOST_ARMS = 20_000
"""Every round looks at every arm, and an open decision keeps three numbers of each."""

UNKNOWN_SHARE = -1.0
"""In place of Z where only what the plan's own graph reveals was kept of a decision."""


class ChangingPolicy(Policy):
    """A self-tuning plan, every round on a graph of its own."""

    state: State
    changes_compiled = True

    # -- turns ------------------------------------------------------------------------------------------

    def _draw(self, graph: FeedbackGraph | None) -> int:
        planned = self._next(graph)
        kind = SAME if graph is None else OTHER
        arm = int(self._decide_once(self.state, planned.alone, 0, kind, self._kept))
        if (
            graph is None and planned is not self._own
        ):  # until another is shown, it is on the plan's own graph
            loop.reconsider(self.state, self._own.alone, 0, SAME, self._kept)
        return arm

    def _tell(self, values: Floats) -> bool:
        return self._learn(self._open[self._made], values, self._kept)

    def _note(self, arm: int) -> Floats:
        return self._kept.copy()

    def _pass(self, kept: Floats) -> None:
        """Nothing is pending in the engine: all that was drawn is in what is kept."""

    def _observe(self, draw: Draw, values: Floats) -> bool:
        assert draw.kept is not None
        return self._learn(draw, values, draw.kept)

    def _learn(self, draw: Draw, values: Floats, kept: Floats) -> bool:
        graphs = self._of(draw.graph).alone
        return bool(self._observe_once(self.state, graphs, 0, draw.arm, values, kept))

    def _seen(self, kept: Floats, reveals: Ints) -> Floats:
        found: Floats = kept[N_KEPT + 2 * self.graph.n_arms + reveals]
        return found

    def _kept_size(self, degree: int) -> int:
        return N_KEPT + 3 * self.graph.n_arms

    # -- graphs -----------------------------------------------------------------------------------------

    def _before(self, graph: object) -> FeedbackGraph | None:
        return checked_graph(self.graph, graph)

    def _afterwards(self, draw: Draw, graph: object) -> FeedbackGraph | None:
        given = checked_graph(self.graph, graph)
        if draw.graph is not None:
            check_same(draw.graph, given)
            return None
        if given is not None:
            checked_shown(self.graph, given)
            if draw.kept is not None and UNKNOWN_SHARE in draw.kept[N_KEPT:]:
                raise not_kept()
        return given

    def _show(self, number: int, graph: FeedbackGraph) -> None:
        draw = self._open[number]
        if draw.kept is None:
            self._note_last()
        assert draw.kept is not None
        draw.graph, draw.kept = graph, draw.kept.copy()  # copies of this policy may have the same
        loop.reconsider(self.state, self._of(graph).alone, 0, relation(self.graph, graph), draw.kept)

    def _of(self, graph: FeedbackGraph | None) -> Explored:
        return self._own if graph is None else other_graph(graph, self._order)

    def _next(self, graph: FeedbackGraph | None) -> Explored:
        """What a round is planned for: its graph, or where that will be shown afterwards, what must be there."""
        if graph is None and self.state.numbers[REPAIR]:
            return unknown_graph(self.graph.n_arms, self._order)
        return self._of(graph)

    @property
    def _order(self) -> float:
        return float(self.state.rule[ORDER])

    @cached_property
    def _own(self) -> Explored:
        return own_graph(self.plan)

    def for_changes(self) -> ChangingPolicy:
        """A copy: it is ready as it is."""
        return self.copy()

    # -- many rounds ------------------------------------------------------------------------------------

    def _play(self, *arguments: Any) -> float:
        return self._play_changes(*arguments, _same(self.graph))

    def _play_changes(self, *arguments: Any) -> float:
        *about, calendar, changes = arguments
        graphs = _packed(self._own, self._order, changes)
        if calendar is None:  # everything is answered at once
            calendar = self.calendar(np.zeros(1, dtype=np.int64), 1)
        before = int(self.state.words[TURN])
        cost = float(loop.play(self.state, graphs, changes.sequence, changes.after, *about, calendar))
        self._made += int(self.state.words[TURN]) - before
        return cost

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def promised(self) -> int | None:
        """No number of rounds: the plan's bound speaks of its own graph."""
        return None

    def bound_at(self, t: int) -> float | None:
        """The plan's bound while it is proved, else None: with no horizon, and all other graphs shown afterwards.

        These must have had every edge of the plan's own.
        """
        if self.plan.horizon is not None or self.state.numbers[OTHERS]:
            return None
        return super().bound_at(t)

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one on the plan's own graph; a fresh array."""
        n = self.graph.n_arms
        last = self._open.get(self._asked)
        kept = self._kept if last is not None and last.kept is None else None if last is None else last.kept
        if kept is None:
            return self._likely(None)
        found: Floats = kept[N_KEPT + n : N_KEPT + 2 * n].copy()
        return found

    def _likely(self, graph: FeedbackGraph | None) -> Floats:
        n, kept = self.graph.n_arms, np.empty(self._kept_size(0))
        loop.weigh(self.state, self._next(graph).alone, 0, kept)
        found: Floats = kept[N_KEPT + n : N_KEPT + 2 * n]
        return found

    @property
    def _late(self) -> int:  # type: ignore[override]
        return int(self.state.numbers[LATE])

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the ledger as an array: one simplex, so restriction and exploration."""
        numbers = self.state.numbers
        paid = numbers[PAID] - numbers[LEAST] - self.state.sums[arm]
        return np.array([0.0, paid, numbers[EXPLORED], 0.0])

    @property
    def _certified(self) -> tuple[str, ...]:  # type: ignore[override]
        return LEDGER if self._late else BOUGHT

    def certificate_parts(self, arm: int | None) -> Floats:
        """The terms of the certificate: what was bought and charged, or after late answers what sums say."""
        numbers = self.state.numbers
        if self._late:
            return self.ledger_parts(int(np.argmin(self.state.sums)) if arm is None else arm)
        found: Floats = numbers[[PURCHASED, CHARGED]] * min(int(numbers[ROUND]), 1)  # no rounds, no regret
        return found

    # -- copies and files -------------------------------------------------------------------------------

    @cached_property
    def _kept(self) -> Floats:
        """What is kept of the last draw."""
        return np.zeros(self._kept_size(0))

    @cached_property
    def _decide_once(self) -> Callable[..., int]:
        return entry(loop.decide, self.state, self._own.alone, 0, 0, self._kept)

    @cached_property
    def _observe_once(self) -> Callable[..., bool]:
        return entry(loop.observe, self.state, self._own.alone, 0, 0, self._kept, self._kept)

    @property
    def _words(self) -> npt.NDArray[np.uint64]:
        return self.state.words

    def _twin(self) -> ChangingPolicy:
        return _resumed(self.plan, self.state, self._kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.plan, self.state, self._kept, self._progress)

    def _frozen(self) -> Arrays:
        return self.state._asdict()

    def _thaw(self, arrays: Arrays) -> None:
        overwrite(self._frozen(), arrays)

    def _saved(self) -> tuple[dict[str, Any], Arrays]:
        last = self._open.get(self._made)
        if last is not None and last.kept is None:
            self._note_last()
        return changing_contents(self.plan, self.state)

    @classmethod
    def _loaded(cls, contents: Contents) -> ChangingPolicy:
        plan, state, decisions = read_changing(contents)
        made = _resumed(plan, state)
        made._resume(decisions.progress())
        return made


# -- becoming one -----------------------------------------------------------------------------------------


def check_changes(policy: PlanPolicy) -> None:
    """Refuse plans whose proof is for one graph, or whose rounds would take too long."""
    if policy.plan.tuning.self_tuning is None:
        policy._refuse_graph()
    if policy.graph.n_arms > MOST_ARMS:
        raise InfeasibleRequest(
            f"on graphs that change every round looks at every arm: {policy.graph.n_arms:,} are more than the"
            f" {MOST_ARMS:,} that this is meant for"
        )


def take_over(policy: PlanPolicy) -> None:
    """Make a plan's policy play densely from now on, with everything that it has learnt."""
    check_changes(policy)
    plan, n = policy.plan, policy.graph.n_arms
    rule = plan.tuning.self_tuning
    found = learnt(policy.memory, plan.tuning)
    state = new_state(np.array([getattr(rule, name) for name in RULE], dtype=np.float64), n, found.words)
    state.sums[:] = found.arm_sums
    numbers, tuned = state.numbers, found.tuned
    numbers[[ROUND, LATE]] = found.round, found.late
    numbers[[BETA, UNSPENT, PURCHASED, CHARGED]] = tuned[
        [of_engine.BETA, of_engine.UNSPENT, of_engine.PURCHASED, of_engine.CHARGED]
    ]
    numbers[[PAID, LEAST]] = found.arm_paid[0], found.arm_least[0]
    numbers[EXPLORED] = found.totals[ENGINE_EXPLORED]
    own, X, Z = own_graph(plan), policy.inside_probabilities, policy.probabilities
    for draw in policy._open.values():
        if draw.kept is None or draw.version == policy._version:
            kept = np.concatenate([np.zeros(N_KEPT), X, Z, np.zeros(n)])
            kept[[DRAWN_AT, AT]] = found.round, numbers[BETA]
            loop.reconsider(state, own.alone, 0, SAME, kept)
        else:
            kept = _of_engine(policy.graph.out_neighbors(draw.arm), n, draw.kept)
        draw.kept = kept
    # The same policy to its owner, who may hold it anywhere, and nothing of the old way of playing left in it.
    blank = object.__new__(ChangingPolicy)
    Policy.__init__(blank, plan)
    for name in vars(policy).keys() - vars(blank).keys():
        del vars(policy)[name]
    policy.__class__ = ChangingPolicy  # type: ignore[assignment]
    _begin(policy, state)  # type: ignore[arg-type]


def _of_engine(reveals: Ints, n: int, kept: Floats) -> Floats:
    """What the engine kept of a decision that others came in between, as if exploration were all elsewhere."""
    found = np.zeros(N_KEPT + 3 * n)
    found[[DRAWN_AT, COST, EXTRA]] = -1.0, kept[late.COST], kept[late.EXPLORED]
    inside, seen = (kept[late.N_KEPT + part :: late.PER_ARM] for part in (late.INSIDE, late.SEEN))
    found[N_KEPT + n : N_KEPT + 2 * n] = UNKNOWN_SHARE
    found[N_KEPT + reveals] = inside
    found[N_KEPT + n + reveals] = (1.0 - kept[late.EXPLORED]) * inside
    found[N_KEPT + 2 * n + reveals] = seen
    return found


def _begin(policy: ChangingPolicy, state: State) -> None:
    policy.state = state
    with interrupts_kept():
        loop.start(state)


def _resumed(plan: Plan, state: State, kept: Floats | None = None) -> ChangingPolicy:
    """A policy that has come as far as `state`, and shares nothing with it."""
    made = object.__new__(ChangingPolicy)
    Policy.__init__(made, plan)
    _begin(made, State(*(array.copy() for array in state)))
    if kept is not None:
        made._kept[:] = kept
    return made


def _unpickled(plan: Plan, state: State, kept: Floats, progress: dict[str, Any]) -> ChangingPolicy:
    made = _resumed(plan, state, kept)
    made._resume(progress)
    return made


# -- graphs of a simulation -------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _packed(own: Explored, order: float, changes: Changes) -> Graphs:
    """All that a simulation needs, for every seed: the plan's graph, what is planned for unseen, and the others."""
    for graph in changes.graphs:
        checked_graph(own.graph, graph)
        if changes.after:
            checked_shown(own.graph, graph)
    others = [
        own if relation(own.graph, graph) == SAME else other_graph(graph, order) for graph in changes.graphs
    ]
    return packed([own, unknown_graph(own.graph.n_arms, order), *others])


@lru_cache(maxsize=16)
def _same(graph: FeedbackGraph) -> Changes:
    return Changes((graph,), Sequence(1, frozen([0], np.int64), frozen([], np.float64)))
