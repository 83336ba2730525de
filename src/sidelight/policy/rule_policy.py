"""Small policies: baselines with a compiled rule of their own instead of a tuning for the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._check import checked_horizon
from sidelight._types import Floats, Longs
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.random import seeded_words
from sidelight.engine.rules.kernels import ask_rule, favourite, play_rule, start_rule, tell_rule
from sidelight.engine.rules.state import (
    IMPLICIT,
    LEADER,
    N_NUMBERS,
    PENDING,
    ROUND,
    THOMPSON,
    TSALLIS,
    UCB,
    UNIFORM,
    Desk,
)
from sidelight.errors import InvalidOption, SavedStateError
from sidelight.graph import FeedbackGraph
from sidelight.policy import saved
from sidelight.policy.plan_policy import Policy, seed_or_fresh
from sidelight.policy.posterior import least_probabilities

if TYPE_CHECKING:
    from os import PathLike

    from sidelight.engine.losses import World
    from sidelight.planning import Bound


_KERNELS = {
    "uniform": UNIFORM,
    "ftl": LEADER,
    "ucb_n": UCB,
    "ts_n": THOMPSON,
    "exp3_ix": IMPLICIT,
    "tsallis_inf": TSALLIS,
}
_STATE = ("numbers", "counts", "sums", "shares", "words")


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """How to play `graph` by a rule that needs no tuning; `horizon` is only what simulations play by default."""

    graph: FeedbackGraph
    name: str
    horizon: int | None = None
    formula: Callable[[int], Bound] | None = field(default=None)  # the bound as a function of the round

    def __post_init__(self) -> None:
        if self.name not in _KERNELS:
            raise InvalidOption(f"unknown rule {self.name!r}; known rules: {', '.join(_KERNELS)}")
        if self.horizon is not None:
            object.__setattr__(self, "horizon", checked_horizon(self.horizon))

    @property
    def realization(self) -> str:
        """The name, under which figures and tables list it."""
        return self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """None: nothing is tuned."""
        return {}

    @property
    def bound(self) -> Bound | None:
        """The bound at the horizon; None if there is no horizon, or no bound."""
        return None if self.horizon is None else self.bound_at(self.horizon)

    def bound_at(self, t: int) -> Bound | None:
        """The bound on the regret of the first t rounds; None where theory has none with explicit constants."""
        T = checked_horizon(t)
        return None if self.formula is None else self.formula(T)

    def policy(self, seed: int | None = None) -> RulePolicy:
        """A policy that plays by this rule, with its own random stream."""
        return RulePolicy(self, seed)

    def summary(self) -> str:
        """The rule for human readers."""
        rounds = "any number of rounds" if self.horizon is None else f"{self.horizon:,} rounds"
        bound = self.bound
        told = bound.summary() if bound is not None else "no bound is claimed"
        return f"{self.name} for {self.graph.n_arms:,} arms and {rounds}\n{told}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Rule({self.name!r}, n_arms={self.graph.n_arms}, horizon={self.horizon})"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph, ready for JSON."""
        bound = self.bound
        return {
            "horizon": self.horizon,
            "realization": self.name,
            "parameters": self.parameters,
            "bound": None if bound is None else bound.to_dict(),
        }


class RulePolicy(Policy):
    """A rule being played: the contract of `Policy`, without blocks and without a ledger.

    >>> import sidelight as sl
    >>> policy = sl.baselines.uniform(sl.families.cycle(6)).policy(seed=7)
    >>> policy.probabilities.round(3).tolist()
    [0.167, 0.167, 0.167, 0.167, 0.167, 0.167]
    """

    plan: Rule  # type: ignore[assignment]

    def __init__(self, rule: Rule, seed: int | None = None) -> None:
        self.plan = rule
        self.graph = g = rule.graph
        n, most = g.n_arms, 1 + int(g.out_degree.max())
        self.desk = Desk(
            rule=_KERNELS[rule.name],
            out_indptr=g.out_indptr,
            out_indices=g.out_indices,
            in_indptr=g.in_indptr,
            in_indices=g.in_indices,
            universal=g.universal,
            loops=g.has_loop,
            numbers=np.where(np.arange(N_NUMBERS) == PENDING, -1.0, 0.0),
            counts=np.zeros(n),
            sums=np.zeros(n),
            shares=np.zeros(n),
            words=seeded_words(seed_or_fresh(seed)),
            targets=np.zeros(most, dtype=np.int32),
            told=np.zeros(most),
        )
        self._look()
        with interrupts_kept():
            start_rule(self.desk)

    def _look(self) -> None:
        self._numbers = self.desk.numbers

    def _draw(self) -> int:
        return int(self._ask_once(self.desk))

    def _learn(self, values: Floats) -> bool:
        return bool(self._tell_once(self.desk, values))

    @cached_property
    def _ask_once(self) -> Callable[..., int]:
        return entry(ask_rule, self.desk)

    @cached_property
    def _tell_once(self) -> Callable[..., bool]:
        return entry(tell_rule, self.desk, self.desk.told)

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
        """Play rounds first..last of a compiled environment; see `Policy.play`."""
        return float(play_rule(self.desk, world, function, key, first, last, cost, plays))

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play, or of the next one; a fresh array that sums to one.

        Follow-the-leader and UCB-N put 1 on their choice. TS-N's are integrals over its posteriors, found by
        quadrature to about 1e−10.
        """
        desk = self.desk
        if desk.rule == THOMPSON:
            return least_probabilities(1.0 + desk.sums, 1.0 + (desk.counts - desk.sums))
        if desk.rule in (LEADER, UCB):
            certain = np.zeros(self.graph.n_arms)
            certain[favourite(desk)] = 1.0
            return certain
        return desk.shares.copy()

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        arm = int(self._numbers[PENDING])
        return None if arm < 0 else arm

    @property
    def round(self) -> int:
        """Number of completed rounds."""
        return int(self._numbers[ROUND])

    @property
    def block_probabilities(self) -> Floats:
        """Refused: a rule has no blocks."""
        raise InvalidOption(f"{self.plan.name} has no blocks; ask for `probabilities`")

    @property
    def inside_probabilities(self) -> Floats:
        """Refused: a rule has no blocks."""
        raise InvalidOption(f"{self.plan.name} has no blocks; ask for `probabilities`")

    def ledger_parts(self, arm: int) -> Floats:
        """NaN: a rule keeps no ledger."""
        return np.full(4, np.nan)

    def certificate_parts(self, arm: int | None) -> Floats:
        """NaN: without a ledger nothing can be certified."""
        return np.full(4, np.nan)

    def turn(self) -> None:
        """Nothing: rules change their rates by themselves."""

    @property
    def rounds_left(self) -> int | None:
        """None: `turn` need not be called."""
        return None

    def __repr__(self) -> str:
        return f"RulePolicy({self.plan!r}, round={self.round}, pending={self.pending})"

    def copy(self, seed: int | None = None) -> RulePolicy:
        """An independent policy in the same state; with a seed, on that seed's random stream."""
        twin = object.__new__(RulePolicy)
        twin.plan, twin.graph = self.plan, self.graph
        changing = {name: getattr(self.desk, name).copy() for name in (*_STATE, "targets", "told")}
        twin.desk = self.desk._replace(**changing)
        if seed is not None:
            twin.desk.words[:] = seeded_words(seed_or_fresh(seed))
        twin._look()
        return twin

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to `path`, atomically; see `sidelight.policy.saved` for the format."""
        state = {name: getattr(self.desk, name) for name in _STATE}
        saved.write_rule(path, self.graph, self.plan.name, self.plan.horizon, state)

    def restore(self, path: str | PathLike[str], arrays: saved.Arrays) -> None:
        """Take over a saved state, refusing one that does not fit."""
        for name in _STATE:
            source, target = arrays.get(f"state.{name}"), getattr(self.desk, name)
            if source is None or source.shape != target.shape or source.dtype != target.dtype:
                raise SavedStateError(f"{path}: the saved array state.{name} does not fit {self.plan.name}")
            if source.dtype.kind == "f" and not np.isfinite(source).all():
                raise SavedStateError(f"{path}: the saved array state.{name} is not finite")
        pending = float(arrays["state.numbers"][PENDING])
        if pending not in range(-1, self.graph.n_arms):
            raise SavedStateError(f"{path}: the pending arm {pending} does not exist")
        for name in _STATE:
            getattr(self.desk, name)[...] = arrays[f"state.{name}"]
