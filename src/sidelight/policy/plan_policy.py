"""A plan being played, one decision at a time."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_seed
from sidelight._types import Floats, Ints, Longs
from sidelight.engine import certificate
from sidelight.engine._numba.entry import entry
from sidelight.engine.build import block_order, build_memory
from sidelight.engine.fields import PENDING, ROUND, duplicate, refreeze, views
from sidelight.engine.play import play
from sidelight.engine.random import seeded_words
from sidelight.engine.round import round as engine
from sidelight.errors import InvalidFeedback, InvalidOption, TurnError, listing
from sidelight.planning.minimised.uniform import UNIFORM
from sidelight.policy import saved
from sidelight.policy import stages as epochs
from sidelight.policy.certificate import LEDGER, Certificate

if TYPE_CHECKING:
    from sidelight.engine.fields import Memory
    from sidelight.engine.losses import World
    from sidelight.planning import Plan


class Policy:
    """Asks for a decision, hears what it revealed, and never loses its place.

    `ask` and `tell` alternate. Feedback is checked before anything changes: a refused `tell` leaves the
    policy exactly as it was, with the same arm pending.

    >>> import sidelight as sl
    >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
    >>> arm = policy.ask()
    >>> policy.tell({j: 0.5 for j in policy.graph.out_neighbors(arm)})
    """

    def __init__(self, plan: Plan, seed: int | None = None) -> None:
        self.plan = plan
        self.graph = plan.graph
        self.stage = epochs.stage(plan, 0)
        self.past = epochs.Past.none()
        self._begin(build_memory(plan.graph, self.stage.tuning, seed_or_fresh(seed)))

    def _begin(self, memory: Memory) -> None:
        self.memory = memory
        self._look()

    def _look(self) -> None:
        """Find the numbers in memory that tell whose turn it is; edges are read-only wherever memory comes from."""
        refreeze(self.memory)
        self._numbers = views(self.memory)["numbers"]

    # -- the two turns --------------------------------------------------------------------------------

    def ask(self) -> int:
        """Draw the next arm to play."""
        if self.pending is not None:
            raise TurnError(f"arm {self.pending} is still to be told: call tell() before asking again")
        return self._draw()

    def tell(self, losses: Mapping[int, float] | Sequence[float] | npt.ArrayLike) -> None:
        """Report the losses that the pending arm revealed.

        Either a mapping {arm: loss} over exactly the out-neighbours of the pending arm, or an array
        aligned with `graph.out_neighbors(arm)`.
        """
        arm = self.pending
        if arm is None:
            raise TurnError("no arm is pending: call ask() before telling what it revealed")
        values = self._aligned(arm, losses)
        if not self._learn(values):
            at = int(np.argmin((values >= 0.0) & (values <= 1.0)))
            raise InvalidFeedback(
                f"the loss of arm {self.graph.out_neighbors(arm)[at]} must be in [0, 1], got {values[at]}; "
                "rescale losses before telling them"
            )
        self.turn()

    def _draw(self) -> int:
        return int(self._ask_once(self.memory))

    def _learn(self, values: Floats) -> bool:
        """Take in losses in the order of `out_neighbors`; False, and no change, if one is outside [0, 1]."""
        return bool(self._tell_once(self.memory, values, self.scratch))

    def turn(self) -> None:
        """Move on to the rates of the next round; does nothing unless the plan has no horizon."""
        if self.stage is self.plan:
            epochs.turn(self.memory, self.plan.tuning, self.round)
        elif self.rounds_left == 0:  # this stage is over: begin the next, on the same random stream
            self.past = self.past.with_stage(self.stage, self.memory)
            self.stage = epochs.stage(self.plan, self.past.rounds)
            memory = build_memory(self.graph, self.stage.tuning, 0)
            memory.words[:] = self.memory.words
            self._begin(memory)

    @property
    def rounds_left(self) -> int | None:
        """Rounds that may be played before `turn` must be called; None if it need not be."""
        if self.stage is self.plan:
            return epochs.rounds_left(self.plan.tuning, self.round)
        return self.past.rounds + (self.stage.horizon or 0) - self.round

    # -- looking --------------------------------------------------------------------------------------

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one."""
        out = np.empty(self.graph.n_arms)
        engine.fill_probabilities(self.memory, out)
        return out

    @property
    def block_probabilities(self) -> Floats:
        """Y: the distribution over the blocks of the partition, before exploration."""
        ordered = np.empty(len(self.stage.partition.blocks))
        engine.fill_blocks(self.memory, ordered)
        out = np.empty_like(ordered)
        out[block_order(self.stage.tuning)] = ordered
        return out

    @property
    def inside_probabilities(self) -> Floats:
        """X: for every arm its share of its own block, before exploration."""
        out = np.empty(self.graph.n_arms)
        engine.fill_inside(self.memory, out)
        return out

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        arm = int(self._numbers[PENDING])
        return None if arm < 0 else arm

    @property
    def round(self) -> int:
        """Number of completed rounds."""
        return self.past.rounds + int(self._numbers[ROUND])

    def ledger(self, arm: int) -> dict[str, float]:
        """The four parts of the regret against `arm`, as estimated so far (Lemma regret)."""
        return dict(zip(LEDGER, self.ledger_parts(self._checked_arm(arm)).tolist(), strict=True))

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the ledger as an array; NaN for a policy that keeps none."""
        parts = np.empty(4)
        engine.ledger(self.memory, arm, parts)
        return parts + self.past.ledgers[arm] if self.past.rounds else parts

    def certificate(self, arm: int | None = None) -> Certificate:
        """What the rounds so far certify about the regret against `arm`, or against every arm.

        In expectation it is at least the regret, and at most the plan's bound where that is certified and all
        rounds are played; docs/theory/certificate.md says when. Takes no notes while playing.

        >>> import sidelight as sl
        >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
        >>> policy.certificate().value <= policy.plan.bound.value
        True
        """
        chosen = None if arm is None else self._checked_arm(arm)
        terms = dict(zip(LEDGER, self.certificate_parts(chosen).tolist(), strict=True))
        return Certificate(self.round, chosen, terms)

    def certificate_parts(self, arm: int | None) -> Floats:
        """(4,) the terms of the certificate as an array."""
        uniform = self.stage.realization == UNIFORM
        parts = epochs.uniform_terms(self.memory) if uniform else np.empty(4)
        if arm is not None:
            if not uniform:
                certificate.certify_arm(self.memory, arm, parts)
            return parts + self.past.certificates[arm] if self.past.rounds else parts
        if self.past.rounds == 0:
            if not uniform:
                certificate.certify_worst(self.memory, parts, np.empty(4))
            return parts
        every = self.past.with_stage(self.stage, self.memory).certificates
        worst: Floats = every[np.argmax(every.sum(axis=1))]
        return worst

    def _checked_arm(self, arm: object) -> int:
        if not (isinstance(arm, int | np.integer) and 0 <= arm < self.graph.n_arms):
            raise InvalidOption(f"arm {arm!r} does not exist: the graph has arms 0..{self.graph.n_arms - 1}")
        return int(arm)

    def __repr__(self) -> str:
        return f"Policy({self.plan!r}, round={self.round}, pending={self.pending})"

    # -- copying and simulating -----------------------------------------------------------------------

    def play(
        self,
        world: World,
        function: Any,
        key: np.uint64,
        first: int,
        last: int,
        cost: float,
        plays: Longs,
    ) -> float:
        """Play rounds first..last of a compiled environment, as `ask` and `tell` would; `sl.simulate` calls this.

        Returns `cost` plus what the rounds cost, NaN if a loss was outside [0, 1]. `plays`, unless empty, counts
        plays by arm. No rounds, first = last, compile the loop and change nothing.
        """
        while True:
            left = self.rounds_left
            end = last if left is None else min(last, first + left)
            cost = float(play(self.memory, world, function, key, first, end, cost, self.scratch, plays))
            if first < end:
                self.turn()
            first = end
            if first >= last or math.isnan(cost):
                return cost

    def copy(self, seed: int | None = None) -> Policy:
        """An independent policy in the same state; with a seed, on that seed's random stream."""
        twin = object.__new__(Policy)
        twin.plan = self.plan
        twin.graph = self.graph
        twin.stage, twin.past = self.stage, self.past
        words = self.memory.words.copy() if seed is None else seeded_words(seed_or_fresh(seed))
        twin._begin(duplicate(self.memory, words))
        return twin

    @cached_property
    def _ask_once(self) -> Callable[..., int]:
        return entry(engine.ask_once, self.memory)

    @cached_property
    def _tell_once(self) -> Callable[..., bool]:
        return entry(engine.tell_once, self.memory, self.scratch, self.scratch)

    def __getstate__(self) -> dict[str, Any]:
        found_again = {
            "_ask_once",
            "_tell_once",
            "_numbers",
        }  # machine code, and a view that would come loose
        return {name: value for name, value in self.__dict__.items() if name not in found_again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look()

    @cached_property
    def _degrees(self) -> list[int]:
        """How many arms each arm reveals."""
        degrees: list[int] = self.graph.out_degree.tolist()
        return degrees

    @cached_property
    def scratch(self) -> Floats:
        """Room for the losses that one arm reveals, and one more."""
        return np.zeros(1 + int(self.graph.out_degree.max()))

    # -- keeping --------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to `path`, atomically; see `sidelight.policy.saved` for the format."""
        saved.write(path, self.plan, self.stage, self.past, self.memory)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Read a saved policy of any kind; it continues bit for bit, random stream included."""
        plan, stage, past, arrays = saved.read(path)
        if stage is None:  # a rule
            policy: Policy = plan.policy(seed=0)
        else:
            policy = object.__new__(Policy)
            policy.plan, policy.graph, policy.stage, policy.past = cast("Plan", plan), plan.graph, stage, past
            policy._begin(build_memory(plan.graph, stage.tuning, 0))
        policy.restore(path, arrays)
        return policy

    def restore(self, path: str | PathLike[str], arrays: saved.Arrays) -> None:
        """Take over a saved state, refusing one that does not fit."""
        saved.restore(path, self.memory, arrays)

    # -- checking feedback ----------------------------------------------------------------------------

    def _aligned(self, arm: int, losses: object) -> Floats:
        """One float per revealed arm, or an error naming what is wrong; their range is checked by the engine."""
        if isinstance(losses, Mapping):
            return self._from_mapping(arm, self.graph.out_neighbors(arm), losses)
        if type(losses) is np.ndarray and losses.dtype == np.float64 and losses.flags.carray:
            values = losses
        else:
            values = _as_floats(losses, self.graph.out_neighbors(arm))
        if values.shape != (self._degrees[arm],):
            revealed = self.graph.out_neighbors(arm)
            raise InvalidFeedback(
                f"arm {arm} reveals {revealed.size} arms ({listing(revealed.tolist())}), "
                f"got losses of shape {values.shape}; align them with graph.out_neighbors({arm})"
            )
        return values

    @staticmethod
    def _from_mapping(arm: int, revealed: Ints, losses: Mapping[int, float]) -> Floats:
        expected = revealed.tolist()
        missing = [v for v in expected if v not in losses]  # indexing a defaultdict would invent a loss
        if missing:
            raise InvalidFeedback(
                f"arm {arm} also reveals {listing(missing)}, for which no loss was told; "
                "tell every out-neighbour of the pending arm"
            )
        if len(losses) != len(expected):
            extra = [v for v in losses if v not in set(expected)]
            raise InvalidFeedback(
                f"playing arm {arm} does not reveal {listing(extra)}; "
                f"it reveals {listing(expected) or 'nothing'}"
            )
        return _as_floats([losses[v] for v in expected], revealed)


def seed_or_fresh(seed: object) -> int:
    """A seed as a non-negative int; None draws one from the operating system."""
    if seed is None:
        return secrets.randbits(64)
    return checked_seed(seed)


def _as_floats(losses: object, revealed: Ints) -> Floats:
    if np.ma.is_masked(losses):
        raise InvalidFeedback("some losses are masked; tell a loss for every arm that was revealed")
    try:
        values = np.asarray(losses)
        if values.dtype == np.float64:
            return (
                values if type(values) is np.ndarray and values.flags.carray else np.array(values, order="C")
            )
        if values.size and values.dtype.kind not in "biuf":
            raise TypeError(f"{values.dtype} values")
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        if isinstance(losses, list | tuple) and len(losses) == revealed.size:
            for arm, loss in zip(revealed.tolist(), losses, strict=True):
                if not isinstance(loss, float | int | np.floating | np.integer | np.bool_):
                    raise InvalidFeedback(
                        f"the loss of arm {arm} must be a number in [0, 1], got {loss!r}"
                    ) from None
        raise InvalidFeedback(f"losses must be numbers in [0, 1], got {losses!r} ({error})") from None
