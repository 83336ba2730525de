"""A plan in play on its own graph, by the engine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sidelight._realizations import UNIFORM
from sidelight._types import Floats, Ints
from sidelight.engine import certificate
from sidelight.engine._numba.entry import entry
from sidelight.engine.build import TooManyEdges, block_order, build_memory
from sidelight.engine.fields import TUNED, changing, emptied, looked_into, refreeze, switch
from sidelight.engine.play import play, play_late
from sidelight.engine.random import TURN
from sidelight.engine.round import late
from sidelight.engine.round import round as engine
from sidelight.engine.state import Learnt, check_sound, gone_over, learnt, memory_key, named_tuned, rebuilt
from sidelight.errors import InfeasibleRequest
from sidelight.planning.baselines.rules import uniform_bound
from sidelight.policy.certificate import BOUGHT, LEDGER
from sidelight.policy.decision import Record
from sidelight.policy.feedback import in_range
from sidelight.policy.game import Arrays, Game, Rounds, refuse_graphs
from sidelight.policy.graphs import checked_shown, not_kept

if TYPE_CHECKING:
    from sidelight.engine.fields import Memory
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan
    from sidelight.policy.dense_game import DenseGame

FALLEN = "fallen"
"""Kind of a game that goes on with the potential behind its budget: its memory is laid out for that."""

MOST_ARMS = 20_000
"""On graphs that change every round looks at every arm, and an open decision keeps three numbers of each."""


def built(plan: Plan, seed: int, *, fallen: bool = False) -> Memory:
    """The engine at round one of a plan, or of the potential behind its budget."""
    try:
        return build_memory(plan.graph, plan.tuning.with_base() if fallen else plan.tuning, seed)
    except TooManyEdges as error:
        raise InfeasibleRequest(str(error)) from error


class PlanGame(Game):
    """A plan on its own graph."""

    kind: str = "plan"  # type: ignore[misc]
    plan: Plan

    def __init__(self, plan: Plan, memory: Memory) -> None:
        super().__init__(plan)
        self.limit = math.inf if plan.horizon is None else float(plan.horizon)
        self._begin(memory)

    def _begin(self, memory: Memory) -> None:
        for name in ("_ask_once", "_tell_once", "_note_once", "_observe_once"):
            self.__dict__.pop(name, None)  # compiled for the memory of before
        self.memory = memory
        self.kind = FALLEN if self.fallen else PlanGame.kind
        refreeze(memory)  # edges are read-only wherever memory comes from
        self._now = looked_into(memory)[1]

    # -- another potential ------------------------------------------------------------------------------

    @property
    def fallen(self) -> bool:
        """Is the potential behind the budget what is played?"""
        return self.plan.tuning.self_tuning is not None and not switch(self.memory, "self_tunes")

    def _fall(self) -> None:
        """Go on with the potential behind the budget, once that is due."""
        if self._now.fallen and switch(self.memory, "self_tunes"):
            self._begin(gone_over(self.plan.graph, self.plan.tuning, self.sums()))
            self.version += 1

    # -- turns ------------------------------------------------------------------------------------------

    def draw(self, graph: FeedbackGraph | None) -> Record:
        """The next arm."""
        last = self.last
        if last is not None and last.values is None:
            self.write_down(last)
        self.last = record = Record(int(self._ask_once(self.memory)), self.version)
        self.made += 1
        return record

    def write_down(self, record: Record) -> None:
        """γ̄, cost and the probability of the draw; P, X and Y of what it reveals (`engine.round.late`)."""
        arm = record.arm
        record.values = values = np.empty(late.N_KEPT + late.PER_ARM * self.degrees[arm])
        self._note_once(self.memory, arm, values)
        record.probability = float(values[late.PLAYED])

    def seen(self, record: Record, reveals: Ints) -> Floats:
        """P of the draw."""
        assert record.values is not None
        return record.values[late.N_KEPT :: late.PER_ARM].copy()

    def learn(self, record: Record, losses: Floats) -> bool:
        """From the present distribution if nothing has moved since the draw, else from what was noted."""
        last = self.last
        if last is not None and last.values is None and last is not record:
            if not in_range(self.plan.graph, losses):
                return False
            self.write_down(last)
        if record.version == self.version:  # as by what was noted, and quicker
            learnt = bool(self._tell_once(self.memory, record.arm, losses, self.scratch))
        else:
            learnt = bool(self._observe_once(self.memory, record.arm, losses, record.values))
        if learnt:
            self.version += 1
            self.drop(record)
            self._fall()
        return learnt

    def drop(self, record: Record) -> None:
        """If it was the last, the next round begins."""
        if record is self.last:
            self.last = None

    # -- graphs that change -----------------------------------------------------------------------------

    def changing(self, records: Iterable[Record]) -> DenseGame:
        """What has been learnt goes on, played densely."""
        from sidelight.policy.dense_game import taken_over

        self._check_changes()
        return taken_over(self, records)

    def check_known(self, graph: FeedbackGraph) -> None:
        """Whether there is another game to play it."""
        self._check_changes()

    def check_shown(self, record: Record, graph: FeedbackGraph) -> None:
        """The distribution of the draw must still be known."""
        self._check_changes()
        checked_shown(self.plan.graph, graph)
        if record.version != self.version:
            raise not_kept()

    def _check_changes(self) -> None:
        """Refuse plans whose proof is for one graph, or whose rounds would take too long."""
        if self.plan.tuning.self_tuning is None:
            refuse_graphs(self.plan)
        if self.plan.graph.n_arms > MOST_ARMS:
            raise InfeasibleRequest(
                f"on graphs that change every round looks at every arm: {self.plan.graph.n_arms:,} are more than the"
                f" {MOST_ARMS:,} that this is meant for"
            )

    # -- many rounds ------------------------------------------------------------------------------------

    def play(self, rounds: Rounds) -> float:
        """In one compiled loop."""
        assert rounds.changes is None
        first, cost = rounds.first, rounds.cost
        while True:
            drawn, learnt = int(self.memory.words[TURN]), self._now.round
            game = (self.memory, *rounds[:3], first, rounds.last, cost, self.scratch, rounds.plays)
            cost = float(play(*game) if rounds.calendar is None else play_late(*game, rounds.calendar))
            if math.isnan(cost):  # a round that could not be played to its end
                self.made += int(self._now.round - learnt)
                return cost
            drawn = int(self.memory.words[TURN]) - drawn
            self.made, first = self.made + drawn, first + drawn
            self._fall()  # the loop ends where that is due
            if first >= rounds.last:
                self.version += 1
                return cost

    def room(self, degree: int) -> int:
        """For the numbers of the draw, and of each revealed arm."""
        return late.N_KEPT + late.PER_ARM * degree

    # -- looking ----------------------------------------------------------------------------------------

    def probabilities(self) -> Floats:
        """Z."""
        out = np.empty(self.plan.graph.n_arms)
        engine.fill_probabilities(self.memory, out)
        return out

    @property
    def block_probabilities(self) -> Floats:
        """Y: the distribution over the blocks of the partition, before exploration."""
        ordered = np.empty(len(self.plan.partition.blocks))
        engine.fill_blocks(self.memory, ordered)
        out = np.empty_like(ordered)
        out[block_order(self.plan.tuning)] = ordered
        return out

    @property
    def inside_probabilities(self) -> Floats:
        """X: for every arm its share of its own block, before exploration."""
        out = np.empty(self.plan.graph.n_arms)
        engine.fill_inside(self.memory, out)
        return out

    def ledger(self, arm: int) -> Floats:
        """(4,) the parts of the regret against `arm`, as estimated so far."""
        parts = np.empty(len(LEDGER))
        engine.ledger(self.memory, arm, parts)
        return parts

    def certificate(self, arm: int | None) -> tuple[tuple[str, ...], Floats]:
        """What was bought and charged, while all rounds are learnt from at once; else what the sums say."""
        now = self._now
        if self.plan.tuning.self_tuning is not None and not now.late:
            rounds = min(int(now.round), 1)  # no rounds, no regret
            since = now.round - now.fallen_at if self.fallen else 0.0
            return BOUGHT, np.array([now.penalty, now.charged + since * now.worst_cost]) * rounds
        if self.plan.realization == UNIFORM:
            # Its rate is all but zero, so the sums would certify next to nothing; t rounds cost at most
            # (1 − 1/N)·t more than any arm.
            cost = uniform_bound(self.plan.graph.n_arms, float(self._now.round))
            return LEDGER, np.array([0.0, cost, 0.0, 0.0])
        parts = np.empty(len(LEDGER))
        if arm is None:
            certificate.certify_worst(self.memory, parts, np.empty(len(LEDGER)))
        else:
            certificate.certify_arm(self.memory, arm, parts)
        return LEDGER, parts

    # -- state ------------------------------------------------------------------------------------------

    def state(self) -> Arrays:
        """The fields of the engine that change, by name."""
        return changing(self.memory)

    def blank(self) -> PlanGame:
        """Shares what the plan fixes in memory."""
        return PlanGame(self.plan, emptied(self.memory))

    def check(self) -> None:
        """Whatever kernels use as an index must be one; any other finite number only decides what is played."""
        check_sound(self.memory)
        if not 0 <= self._now.late <= self._now.round <= self.made:
            raise ValueError(
                f"{self._now.late} of {self._now.round} rounds were late, and {self.made} decided"
            )
        if self.plan.tuning.self_tuning is not None:
            tuned = dict(zip(TUNED, self.sums().tuned.tolist(), strict=True))
            named_tuned(self.plan.tuning, tuned)
            if self.fallen and not tuned["fallen"]:
                raise ValueError("the game goes on with a potential that is none")

    @property
    def memory_key(self) -> str:
        """Memory with the same key, of the same plan, may be exchanged bit for bit."""
        return memory_key(self.memory)

    def sums(self) -> Learnt:
        """What has been learnt, in loss units and by arm: what every version of the library can go on from."""
        return learnt(self.memory, self.plan.tuning)

    def go_on_from(self, sums: Learnt) -> None:
        """Rebuild the engine from what has been learnt."""
        self._begin(rebuilt(self.plan.graph, self.plan.tuning, sums))

    @cached_property
    def scratch(self) -> Floats:
        """Room for the losses that one arm reveals, and one more."""
        return np.zeros(1 + self.most_revealed)

    _ask_once = cached_property(lambda self: entry(engine.ask_once, self.memory))
    _tell_once = cached_property(
        lambda self: entry(engine.tell_once, self.memory, 0, self.scratch, self.scratch)
    )
    _note_once = cached_property(lambda self: entry(late.note_once, self.memory, 0, self.scratch))
    _observe_once = cached_property(
        lambda self: entry(late.observe_once, self.memory, 0, self.scratch, self.scratch)
    )
