"""A plan being played, one decision at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._files import digest
from sidelight._realizations import UNIFORM
from sidelight._types import Floats, Ints
from sidelight.engine import certificate
from sidelight.engine._numba.entry import entry
from sidelight.engine.build import TooManyEdges, block_order, build_memory
from sidelight.engine.calendar import Calendar
from sidelight.engine.fields import duplicate, looked_into, refreeze, views
from sidelight.engine.play import play, play_late
from sidelight.engine.round import late
from sidelight.engine.round import round as engine
from sidelight.engine.self_tuning.numbers import CHARGED, PURCHASED
from sidelight.engine.state import Learnt, learnt, rebuilt
from sidelight.errors import InfeasibleRequest
from sidelight.log.unit import Unit
from sidelight.policy import changing, saved
from sidelight.policy.certificate import BOUGHT, LEDGER
from sidelight.policy.decision import Draw
from sidelight.policy.epochs import advance_epoch, rates_after, rounds_to_turn, uniform_terms
from sidelight.policy.graphs import checked_graph, checked_shown, not_kept
from sidelight.policy.policy import PLAIN, Policy, seed_or_fresh
from sidelight.policy.saved import LEAST_DRAWN
from sidelight.policy.saved_plan import plan_contents, read_plan
from sidelight.policy.snapshot import overwrite

if TYPE_CHECKING:
    from sidelight.engine.fields import Memory
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan, Tuning


def _built(graph: FeedbackGraph, tuning: Tuning, seed: int | np.random.SeedSequence) -> Memory:
    try:
        return build_memory(graph, tuning, seed)
    except TooManyEdges as error:
        raise InfeasibleRequest(str(error)) from error


class PlanPolicy(Policy):
    """A plan being played by the engine."""

    def __init__(
        self,
        plan: Plan,
        seed: int | None = None,
        *,
        losses: tuple[float, float] | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> None:
        stated = losses is not None or rewards is not None
        super().__init__(plan, Unit.of(losses, rewards) if stated else PLAIN)
        self._begin(_built(plan.graph, plan.tuning, seed_or_fresh(seed)))

    def _begin(self, memory: Memory, state: Learnt | None = None) -> None:
        self.memory = memory
        self._rebuilt_from = state  # what the memory was rebuilt from, if it was …
        self._rebuilt_at = self._version  # … and nothing has moved since
        refreeze(memory)  # edges are read-only wherever memory comes from
        self._numbers = looked_into(memory)[1]
        self._turns = self.plan.tuning.schedule is not None
        for kept in (
            "_ask_once",
            "_tell_once",
            "_note_once",
            "_observe_once",
        ):  # made for another kind of memory
            vars(self).pop(kept, None)

    # -- turns ------------------------------------------------------------------------------------------

    def _draw(self, graph: FeedbackGraph | None) -> int:
        return int(self._ask_once(self.memory))

    def _tell(self, values: Floats) -> bool:
        return bool(self._tell_once(self.memory, values, self.scratch))

    def _note(self, arm: int) -> Floats:
        kept = np.empty(late.N_KEPT + late.PER_ARM * self._degrees[arm])
        self._note_once(self.memory, arm, kept)
        return kept

    def _pass(self, kept: Floats) -> None:
        self._numbers.pending = -1.0

    def _observe(self, draw: Draw, values: Floats) -> bool:
        if draw.version == self._version:  # nothing has moved since: as by what was kept, and quicker
            self._numbers.pending = draw.arm
            heard = bool(self._tell_once(self.memory, values, self.scratch))
            self._numbers.pending = -1.0  # also where it was refused
            return heard
        return self._observe_once(self.memory, draw.arm, values, draw.kept)

    def _seen(self, kept: Floats, reveals: Ints) -> Floats:
        return kept[late.N_KEPT :: late.PER_ARM].copy()

    def _turn(self) -> bool:
        """Move on to the rates of the next round; did anything change? In most rounds not."""
        return advance_epoch(self.memory, self.plan.tuning, self._made)

    @property
    def _late(self) -> int:  # type: ignore[override]
        return int(self._numbers.late)

    def _kept_size(self, degree: int) -> int:
        return late.N_KEPT + late.PER_ARM * degree

    def _play(
        self,
        world: Any,
        function: Any,
        key: Any,
        first: int,
        last: int,
        cost: float,
        plays: Any,
        calendar: Calendar | None,
    ) -> float:
        while True:
            end = min(last, first + rounds_to_turn(self.plan.tuning, self._made))
            before = self._numbers.round
            about = (self.memory, world, function, key, first, end, cost, self.scratch, plays)
            cost = float(play(*about) if calendar is None else play_late(*about, calendar))
            if math.isnan(cost):  # a round that could not be played to its end
                self._made += int(self._numbers.round - before)
                return cost
            self._made += end - first
            if first < end:
                self._turn()
            first = end
            if first >= last:
                return cost

    # -- graphs that change -----------------------------------------------------------------------------

    def _before(self, graph: object) -> FeedbackGraph | None:
        given = checked_graph(self.graph, graph)
        if given is not None:
            changing.take_over(self)
        return given

    def _afterwards(self, draw: Draw, graph: object) -> FeedbackGraph | None:
        given = checked_graph(self.graph, graph)
        if given is not None:
            changing.check_changes(self)
            checked_shown(self.graph, given)
            if draw.kept is not None and draw.version != self._version:
                raise not_kept()
        return given

    def _show(self, number: int, graph: FeedbackGraph) -> None:
        changing.take_over(self)
        self._show(number, graph)  # as the other kind of policy that this now is

    def for_changes(self) -> PlanPolicy:
        """A copy that is ready to play many rounds on graphs that change; an error where nothing is proved."""
        ready = self.copy()
        changing.take_over(ready)
        return ready

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def promised(self) -> int | None:
        """The horizon."""
        horizon: int | None = self.plan.horizon
        return horizon

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one."""
        out = np.empty(self.graph.n_arms)
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
        out = np.empty(self.graph.n_arms)
        engine.fill_inside(self.memory, out)
        return out

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the ledger as an array."""
        parts = np.empty(4)
        engine.ledger(self.memory, arm, parts)
        return parts

    @property
    def _certified(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a round costs by its charge is proved for rounds that are learnt from at once; sums tell of any."""
        bought = self.plan.tuning.self_tuning is not None and not self._late
        return BOUGHT if bought else LEDGER

    def certificate_parts(self, arm: int | None) -> Floats:
        """The terms of the certificate as an array."""
        if self._certified is BOUGHT:
            tuned = views(self.memory)["tuned"]
            return tuned[[PURCHASED, CHARGED]] * min(int(self._numbers.round), 1)  # no rounds, no regret
        uniform = self.plan.realization == UNIFORM
        parts = uniform_terms(self.memory) if uniform else np.empty(4)
        if arm is not None:
            if not uniform:
                certificate.certify_arm(self.memory, arm, parts)
        elif not uniform:
            certificate.certify_worst(self.memory, parts, np.empty(4))
        return parts

    # -- copies and files -------------------------------------------------------------------------------

    @cached_property
    def _ask_once(self) -> Callable[..., int]:
        return entry(engine.ask_once, self.memory)

    @cached_property
    def _tell_once(self) -> Callable[..., bool]:
        return entry(engine.tell_once, self.memory, self.scratch, self.scratch)

    @cached_property
    def _note_once(self) -> Callable[..., None]:
        return entry(late.note_once, self.memory, 0, self.scratch)

    @cached_property
    def _observe_once(self) -> Callable[..., bool]:
        return entry(late.observe_once, self.memory, 0, self.scratch, self.scratch)

    @cached_property
    def scratch(self) -> Floats:
        """Room for the losses that one arm reveals, and one more."""
        return np.zeros(1 + int(self.graph.out_degree.max()))

    @property
    def _words(self) -> npt.NDArray[np.uint64]:
        return self.memory.words

    def _twin(self) -> PlanPolicy:
        memory = duplicate(self.memory, self.memory.words.copy())
        twin = self._resumed(self.plan, memory, self._rebuilt_from)
        twin._rebuilt_at = self._rebuilt_at
        return twin

    @classmethod
    def _resumed(cls, plan: Plan, memory: Memory, state: Learnt | None) -> PlanPolicy:
        """A policy that has come as far as `memory`."""
        made = object.__new__(cls)
        Policy.__init__(made, plan)
        made._begin(memory, state)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.plan, self.memory, self._rebuilt_from)
        return _unpickled, (state, self._progress, self._rebuilt_at)

    def _frozen(self) -> Arrays:
        return {
            "floats": self.memory.floats,
            "ints": self.memory.ints,
            "words": self.memory.words,
            "fixed": _fixed(self.memory),
        }

    def _thaw(self, arrays: Arrays) -> None:
        memory = _built(self.graph, self.plan.tuning, 0)
        if not np.array_equal(arrays.pop("fixed"), _fixed(memory)):
            raise ValueError("it is of another plan")
        overwrite({"floats": memory.floats, "ints": memory.ints, "words": memory.words}, arrays)
        self._begin(memory)

    def _saved(self) -> tuple[dict[str, Any], Arrays]:
        state = self._rebuilt_from
        last = self._open.get(self._made)
        pending = last.arm if last is not None and last.kept is None else -1
        if state is not None and self._rebuilt_at == self._version:
            state = state._replace(pending=pending, words=self._words.copy())
        else:
            state = learnt(self.memory, self.plan.tuning)._replace(pending=pending)
            rates = rates_after(self.plan.tuning, self._made - (last is not None))
            self._begin(rebuilt(self.graph, self.plan.tuning, rates, state), state)
        return plan_contents(self.plan, state)

    @classmethod
    def _loaded(cls, contents: saved.Contents) -> PlanPolicy:
        plan, state, decisions = read_plan(contents)
        rates = rates_after(plan.tuning, decisions.made - (decisions.made in decisions.draws))
        made = cls._resumed(plan, rebuilt(plan.graph, plan.tuning, rates, state), state)
        if not made._numbers.gamma <= 1.0:
            contents.refuse(f"{made._numbers.gamma:g} of all plays explore")
        if state.pending >= 0 and made.probabilities[state.pending] < LEAST_DRAWN:
            contents.refuse(f"arm {state.pending} is pending, which is never drawn from these sums")
        made._resume(decisions.progress())
        return made


def _fixed(memory: Memory) -> npt.NDArray[np.uint8]:
    """A digest of what a plan fixes in memory: where everything is, and the numbers that stay."""
    kept = (memory.switches, memory.layout, memory.fixed_ints, memory.fixed_floats)
    return np.frombuffer(bytes.fromhex(digest(*kept)), dtype=np.uint8)


def _unpickled(state: tuple[Any, ...], progress: dict[str, Any], rebuilt_at: int) -> PlanPolicy:
    made = PlanPolicy._resumed(*state)
    made._resume(progress)
    made._rebuilt_at = rebuilt_at
    return made
