"""What all policies share: turns, feedback, copies, files."""

from __future__ import annotations

import secrets
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._check import MOST_ROUNDS, checked_count, checked_path, checked_seed
from sidelight._types import Floats
from sidelight.errors import InvalidOption, PastHorizon, SavedStateError, TurnError
from sidelight.policy import saved
from sidelight.policy.certificate import LEDGER, Certificate
from sidelight.policy.feedback import aligned, out_of_range

if TYPE_CHECKING:
    from sidelight.engine.losses import World
    from sidelight.graph import FeedbackGraph
    from sidelight.policy.player import Playable


class Policy(ABC):
    """Asks for a decision, hears what it revealed, and never loses its place.

    `ask` and `tell` alternate. Feedback is checked before anything changes: a refused `tell` leaves the
    policy exactly as it was, with the same arm pending. One policy serves one thread at a time.

    >>> import sidelight as sl
    >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
    >>> arm = policy.ask()
    >>> policy.tell({j: 0.5 for j in policy.graph.out_neighbors(arm)})
    """

    _warned = False  # that the horizon is over

    def __init__(self, plan: Playable) -> None:
        self._plan = plan
        self._busy = threading.Lock()

    # -- what is played, and how: for each kind of policy -----------------------------------------------

    _pending: int  # the arm that was asked for, −1 for none; a property of each kind

    @property
    @abstractmethod
    def round(self) -> int:
        """Number of completed rounds."""

    @property
    @abstractmethod
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one."""

    @abstractmethod
    def _draw(self) -> int:
        """The next arm, which is pending from now on."""

    @abstractmethod
    def _learn(self, values: Floats) -> bool:
        """Take in losses in the order of `out_neighbors`; False, and no change, if one is outside [0, 1]."""

    @abstractmethod
    def _play(self, *arguments: Any) -> float:
        """`play` without its checks."""

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

    def ledger_parts(self, arm: int) -> Floats:
        """(4,) the ledger as an array; NaN for a policy that keeps none."""
        return np.full(len(LEDGER), np.nan)

    _certified: tuple[str, ...] = LEDGER  # what the terms of the certificate are called

    def certificate_parts(self, arm: int | None) -> Floats:
        """The terms of the certificate as an array; NaN for a policy that keeps no ledger."""
        return np.full(len(LEDGER), np.nan)

    # -- the two turns ----------------------------------------------------------------------------------

    def ask(self) -> int:
        """Draw the next arm to play."""
        self._enter()
        try:
            if self._pending >= 0:
                raise TurnError(f"arm {self._pending} is still to be told: call tell() before asking again")
            if not self._warned and self.promised is not None and self.round >= self.promised:
                self._warn_past_horizon()
            return self._draw()
        finally:
            self._busy.release()

    def tell(self, losses: Mapping[int, float] | Sequence[float] | npt.ArrayLike) -> None:
        """Report the losses that the pending arm revealed.

        Either a mapping {arm: loss} over exactly the out-neighbours of the pending arm, or an array
        aligned with `graph.out_neighbors(arm)`.
        """
        self._enter()
        try:
            arm = self._pending
            if arm < 0:
                raise TurnError("no arm is pending: call ask() before telling what it revealed")
            values = aligned(self.graph, self._degrees[arm], arm, losses)
            if not self._learn(values):
                raise out_of_range(self.graph, arm, values)
        finally:
            self._busy.release()

    def play(
        self,
        world: World,
        function: Any,
        key: np.uint64,
        first: int,
        last: int,
        cost: float,
        plays: npt.NDArray[np.int64],
    ) -> float:
        """Play rounds first..last of a compiled environment, as `ask` and `tell` would; `sl.simulate` calls this.

        Returns `cost` plus what the rounds cost, NaN if a loss was outside [0, 1]. `plays`, unless empty, counts
        plays by arm. No rounds, first = last, compile the loop and change nothing.
        """
        self._enter()
        try:
            return self._play(world, function, key, first, last, cost, plays)
        finally:
            self._busy.release()

    @cached_property
    def _degrees(self) -> list[int]:
        """How many arms each arm reveals; a list is read quicker than an array."""
        degrees: list[int] = self.graph.out_degree.tolist()
        return degrees

    def _enter(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise TurnError(
                "this policy is in use by another thread: use it from one at a time, or give each thread a copy()"
            )

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
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        arm = self._pending
        return None if arm < 0 else arm

    @property
    def promised(self) -> int | None:
        """Rounds that the bound speaks of, and no others; None if it speaks of any number, or there is none."""
        return None

    @property
    def rounds_left(self) -> int | None:
        """Rounds until the horizon, 0 from then on; None without a horizon."""
        horizon = self._plan.horizon
        return None if horizon is None else max(horizon - self.round, 0)

    def ledger(self, arm: int) -> dict[str, float]:
        """The four parts of the regret against `arm`, as estimated so far (Lemma regret); NaN without a ledger."""
        return dict(zip(LEDGER, self.ledger_parts(self._checked_arm(arm)).tolist(), strict=True))

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
        terms = dict(zip(self._certified, self.certificate_parts(chosen).tolist(), strict=True))
        return Certificate(self.round, chosen, terms)

    def _checked_arm(self, arm: object) -> int:
        if not (isinstance(arm, int | np.integer) and 0 <= arm < self.graph.n_arms):
            raise InvalidOption(f"arm {arm!r} does not exist: the graph has arms 0..{self.graph.n_arms - 1}")
        return int(arm)

    def __repr__(self) -> str:
        return f"Policy({self.plan!r}, round={self.round}, pending={self.pending})"

    # -- copies -----------------------------------------------------------------------------------------

    def copy(self, seed: int | None = None) -> Self:
        """An independent policy in the same state; with a seed, on that seed's random stream."""
        from sidelight.engine.random import seeded_words

        twin = self._twin()
        twin._warned = self._warned
        if seed is not None:
            twin._words[:] = seeded_words(checked_seed(seed))
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    # -- keeping ----------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to `path`, atomically; `sidelight.policy.saved` describes the format.

        The policy goes on exactly as one that is loaded from the file. Compared with not saving, probabilities
        move by rounding only, but among many arms the same draw may fall on another of them.
        """
        file = checked_path("a saved policy", path, SavedStateError)
        self._enter()
        try:
            about, arrays = self._saved()
            saved.write(file, self.graph, about, arrays)
        finally:
            self._busy.release()

    @staticmethod
    def load(path: str | PathLike[str], *, limit: int | None = None) -> Policy:
        """Read a saved policy of any kind; it continues bit for bit, random stream included.

        A file that asks for more than `limit` bytes of memory, by default for much more than its size, is refused
        before they are allocated.
        """
        from sidelight.policy.plan_policy import PlanPolicy
        from sidelight.policy.rule_policy import RulePolicy

        file = checked_path("a saved policy", path, SavedStateError)
        contents = saved.read(
            file, limit if limit is None else checked_count("limit", limit, most=MOST_ROUNDS)
        )
        kinds: dict[str, Callable[[saved.Contents], Policy]] = {
            "plan": PlanPolicy._loaded,
            "rule": RulePolicy._loaded,
        }
        return contents.understood(kinds)


def seed_or_fresh(seed: object) -> int:
    """A seed as a non-negative int; None draws one from the operating system."""
    return secrets.randbits(64) if seed is None else checked_seed(seed)
