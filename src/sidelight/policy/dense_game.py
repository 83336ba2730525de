"""A self-tuning plan on graphs that change: every round looks at every arm.

Sums, temperature and accounts of a self-tuning plan do not depend on the graph, and Theorem 1 holds for any sequence
of graphs (docs/theory/changing-graphs.md). So a policy exchanges its `PlanGame` for this one when it first meets
another graph than its own, and stays with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Ints, frozen
from sidelight.engine._numba.bundles import by_name
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.fields import TUNED
from sidelight.engine.graphs import OTHER, SAME, Graphs, Sequence
from sidelight.engine.random import TURN
from sidelight.engine.round import late
from sidelight.engine.self_tuning import changing as loop
from sidelight.engine.self_tuning.changing import DRAW, N_DRAW, NUMBERS, RULE, new_state
from sidelight.engine.self_tuning.point import log_partition
from sidelight.engine.state import EXPLORED
from sidelight.graph.changes import Changes
from sidelight.policy.certificate import BOUGHT, LEDGER
from sidelight.policy.decision import Record
from sidelight.policy.dependence import ALARM, bet, first_wealth
from sidelight.policy.game import MOST_SUM, Arrays, Game, Limits, Rounds
from sidelight.policy.graphs import (
    Explored,
    checked_graph,
    checked_shown,
    not_kept,
    other_graph,
    own_graph,
    packed,
    relation,
    unknown_graph,
)

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan
    from sidelight.policy.plan_game import PlanGame

ANOTHER = -2.0
"""In place of `drawn_at` where the potential was another."""
NOT_ALL = -1.0
"""In place of `drawn_at` where only what the plan's own graph reveals was kept of a draw."""


class DenseGame(Game):
    """A self-tuning plan, every round on a graph of its own: the plan's bound speaks of one."""

    kind = "changing"
    plan: Plan

    def __init__(self, plan: Plan, words: npt.NDArray[np.uint64]) -> None:
        super().__init__(plan)
        rule = plan.tuning.self_tuning
        assert rule is not None
        given = {"prices_from": rule.table.first, "prices_step": rule.table.step}
        numbers = np.array([given.get(name, getattr(rule, name, 0.0)) for name in RULE], dtype=np.float64)
        self.arrays = new_state(numbers, rule.table.rows.ravel(), plan.graph.n_arms, words)
        self.wealth = first_wealth(plan.graph.n_arms)  # of those who bet that graphs depend on the choice

    # -- turns ------------------------------------------------------------------------------------------

    def draw(self, graph: FeedbackGraph | None) -> Record:
        """The next arm; X, Z and P of all arms are kept."""
        planned = self._planned(graph)
        values = np.empty(self._size)
        kind = SAME if graph is None else OTHER
        arm = int(self._decide_once(self.arrays, planned.alone, 0, kind, values))
        n = self.plan.graph.n_arms
        self.last = record = Record(arm, 0, graph, values, float(values[N_DRAW + n + arm]))
        if graph is None and planned is not self._own:
            # Until another is shown, it is on the plan's own graph.
            loop.reconsider(self.arrays, self._own.alone, 0, SAME, values)
        self.made += 1
        return record

    def write_down(self, record: Record) -> None:
        """Everything is when it is drawn."""

    def seen(self, record: Record, reveals: Ints) -> Floats:
        """P of the draw."""
        assert record.values is not None
        probabilities: Floats = record.values[N_DRAW + 2 * self.plan.graph.n_arms + reveals]
        return probabilities

    def learn(self, record: Record, losses: Floats) -> bool:
        """From what was kept."""
        graphs = self._explored(record.graph).alone
        learnt = bool(self._observe_once(self.arrays, graphs, 0, record.arm, losses, record.values))
        if learnt:
            self.drop(record)
        return learnt

    @property
    def _size(self) -> int:
        return N_DRAW + 3 * self.plan.graph.n_arms

    # -- graphs -----------------------------------------------------------------------------------------

    def check_shown(self, record: Record, graph: FeedbackGraph) -> None:
        """All of its distribution must be known, and it must have been explored enough."""
        checked_shown(self.plan.graph, graph)
        assert record.values is not None
        if by_name(DRAW, record.values).drawn_at == NOT_ALL:
            raise not_kept()

    def show(self, record: Record, graph: FeedbackGraph) -> None:
        """Reconsider what the round costs, and P."""
        assert record.values is not None
        record.graph, record.values = graph, record.values.copy()  # copies of the policy may have the same
        kind = relation(self.plan.graph, graph)
        loop.reconsider(self.arrays, self._explored(graph).alone, 0, kind, record.values)

    def suspect(self, record: Record, revealed: Ints) -> bool:
        """By `dependence`, from Z of the draw and P on the graph that was shown."""
        assert record.values is not None
        if self.doubtful or by_name(DRAW, record.values).drawn_at == NOT_ALL:
            return False
        graph = self.plan.graph if record.graph is None else record.graph
        _, Z, P = np.split(record.values[N_DRAW:], 3)
        bet(self.wealth, graph, record.arm, revealed, Z, P)
        return self.doubtful

    @property
    def doubtful(self) -> bool:
        """For good, once it was found."""
        return bool(self.wealth[-1] >= ALARM)

    def _explored(self, graph: FeedbackGraph | None) -> Explored:
        return self._own if graph is None else other_graph(graph, self._order)

    def _planned(self, graph: FeedbackGraph | None) -> Explored:
        """What a round is planned for: its graph, or where that will be shown afterwards, what must be there."""
        if graph is None and self._now.repair:
            return unknown_graph(self.plan.graph.n_arms, self._order)
        return self._explored(graph)

    @property
    def _now(self) -> Any:
        return by_name(NUMBERS, self.arrays.numbers)

    @property
    def _order(self) -> float:
        return float(by_name(RULE, self.arrays.rule).order)

    # -- many rounds ------------------------------------------------------------------------------------

    def play(self, rounds: Rounds) -> float:
        """On the plan's own graph it is a sequence of one."""
        changes = rounds.changes or _same(self.plan.graph)
        game = (self.arrays, _packed(self._own, self._order, changes), changes.sequence, changes.after)
        before = int(self.arrays.words[TURN])
        cost = float(loop.play(*game, *rounds[:7], rounds.calendar or self.calendar()))
        self.made += int(self.arrays.words[TURN]) - before
        return cost

    def room(self, degree: int) -> int:
        """The same, whatever is revealed."""
        return self._size

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def proved(self) -> bool:
        """With no horizon, while other graphs were shown afterwards, not by choice, with every edge of its own."""
        return self.plan.horizon is None and not self._now.others and not self.doubtful

    def probabilities(self) -> Floats:
        """Z of the next draw, on the plan's own graph."""
        n, values = self.plan.graph.n_arms, np.empty(self._size)
        loop.weigh(self.arrays, self._planned(None).alone, 0, values)
        return values[N_DRAW + n : N_DRAW + 2 * n].copy()

    def ledger(self, arm: int) -> Floats:
        """One simplex: restriction and exploration."""
        now = self._now
        paid = now.paid - now.least - self.arrays.sums[arm]
        return np.array([0.0, paid, now.explored, 0.0])

    def certificate(self, arm: int | None) -> tuple[tuple[str, ...], Floats]:
        """What was bought and charged, or after late answers what sums say."""
        now = self._now
        if now.late:
            return LEDGER, self.ledger(int(np.argmin(self.arrays.sums)) if arm is None else arm)
        return BOUGHT, np.array([now.penalty, now.charged]) * min(int(now.round), 1)  # no rounds, no regret

    # -- state ------------------------------------------------------------------------------------------

    def state(self) -> Arrays:
        """Sums, accounts, the random stream and what was bet; the rest is room to work in."""
        kept = {name: getattr(self.arrays, name) for name in ("numbers", "sums", "words")}
        return kept | {"wealth": self.wealth}

    def limits(self) -> dict[str, Limits]:
        """Sums are above the least."""
        return dict.fromkeys(("numbers", "wealth"), Limits(-MOST_SUM, MOST_SUM)) | {
            "sums": Limits(0.0, MOST_SUM)
        }

    def blank(self) -> DenseGame:
        """At round one."""
        return DenseGame(self.plan, np.zeros_like(self.arrays.words))

    def resume(self) -> None:
        """The point follows from the sums."""
        with interrupts_kept():
            loop.start(self.arrays)

    def check(self) -> None:
        """A temperature must be positive."""
        if not self._now.beta > 0.0:
            raise ValueError(f"β is {self._now.beta}")

    @cached_property
    def _own(self) -> Explored:
        return own_graph(self.plan)

    _decide_once = cached_property(
        lambda self: entry(loop.decide, self.arrays, self._own.alone, 0, 0, self.arrays.sums)
    )
    _observe_once = cached_property(
        lambda self: entry(
            loop.observe, self.arrays, self._own.alone, 0, 0, self.arrays.sums, self.arrays.sums
        )
    )


# -- going on from the engine -----------------------------------------------------------------------------


def taken_over(game: PlanGame, records: Iterable[Record]) -> DenseGame:
    """The same game played densely from now on, with all that was learnt; open records are rewritten."""
    sums, n = game.sums(), game.plan.graph.n_arms
    dense = DenseGame(game.plan, sums.words)
    dense.made, dense.last = game.made, game.last
    now, tuned = dense._now, by_name(TUNED, sums.tuned)
    dense.arrays.sums[:] = sums.arm_sums
    now.round, now.late = sums.round, sums.late
    now.beta, now.unspent, now.penalty, now.charged = tuned.beta, tuned.unspent, tuned.penalty, tuned.charged
    now.paid, now.least, now.explored = sums.arm_paid[0], sums.arm_least[0], sums.totals[EXPLORED]
    if game.fallen:  # back to the potential of free play, at its price
        rule, tuning = game.plan.tuning.self_tuning, game.plan.tuning.with_base(int(tuned.fallen) - 1)
        assert rule is not None
        now.charged += (sums.round - tuned.fallen_at) * tuned.worst_cost
        now.penalty += log_partition(sums.arm_sums, rule.order, tuned.beta)
        now.penalty -= log_partition(sums.arm_sums, *tuning.temperatures)
    X, Z = game.inside_probabilities, game.probabilities()
    for record in records:
        if record.version == game.version:
            record.values = np.concatenate([np.zeros(N_DRAW), X, Z, np.zeros(n)])
            draw = by_name(DRAW, record.values)
            draw.drawn_at, draw.beta, draw.shift = sums.round, now.beta, tuned.shift
            loop.reconsider(dense.arrays, dense._own.alone, 0, SAME, record.values)
            record.probability = float(Z[record.arm])
            if game.fallen:  # a draw of another potential: what it will teach comes late
                draw.drawn_at = ANOTHER
        else:
            assert record.values is not None
            record.values = _of_engine(game.plan.graph.out_neighbors(record.arm), n, record.values)
    dense.resume()
    return dense


def _of_engine(reveals: Ints, n: int, values: Floats) -> Floats:
    """What the engine kept of a draw that others came in between, as if exploration were all elsewhere."""
    record = np.zeros(N_DRAW + 3 * n)
    draw = by_name(DRAW, record)
    draw.drawn_at, draw.cost, draw.extra = NOT_ALL, values[late.COST], values[late.EXPLORED]
    draw.shift = values[late.SHIFT]
    inside, seen = (values[late.N_KEPT + part :: late.PER_ARM] for part in (late.INSIDE, late.SEEN))
    record[N_DRAW + reveals] = inside
    record[N_DRAW + n + reveals] = (1.0 - values[late.EXPLORED]) * inside
    record[N_DRAW + 2 * n + reveals] = seen
    return record


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
