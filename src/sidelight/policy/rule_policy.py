"""A rule being played, one decision at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._types import Floats
from sidelight.engine._numba.entry import entry
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.random import seeded_words
from sidelight.engine.rules.state import N_NUMBERS, PENDING, ROUND, TOTAL, RuleState
from sidelight.policy import saved
from sidelight.policy.policy import Policy, seed_or_fresh
from sidelight.policy.rule import Rule

_CHANGING = ("numbers", "counts", "sums", "probabilities", "words", "targets", "losses")


class RulePolicy(Policy):
    """A rule being played; it has no blocks and keeps no ledger.

    >>> import sidelight as sl
    >>> policy = sl.baselines.uniform(sl.families.cycle(6)).policy(seed=7)
    >>> policy.probabilities.round(3).tolist()
    [0.167, 0.167, 0.167, 0.167, 0.167, 0.167]
    """

    def __init__(self, rule: Rule, seed: int | None = None) -> None:
        super().__init__(rule)
        g = rule.graph
        n, most = g.n_arms, 1 + int(g.out_degree.max())
        self.state = RuleState(
            out_indptr=g.out_indptr,
            out_indices=g.out_indices,
            in_indptr=g.in_indptr,
            in_indices=g.in_indices,
            universal=g.universal,
            loops=g.has_loop,
            numbers=np.where(np.arange(N_NUMBERS) == PENDING, -1.0, 0.0),
            counts=np.zeros(n),
            sums=np.zeros(n),
            probabilities=np.zeros(n),
            words=seeded_words(seed_or_fresh(seed)),
            targets=np.zeros(most, dtype=np.int32),
            losses=np.zeros(most),
        )
        self._start()

    def _start(self) -> None:
        with interrupts_kept():
            self.plan.kernels.start(self.state)

    # -- turns ------------------------------------------------------------------------------------------

    def _draw(self) -> int:
        return int(self._ask_once(self.state))

    def _learn(self, values: Floats) -> bool:
        return bool(self._tell_once(self.state, values))

    def _play(self, *arguments: Any) -> float:
        return float(self.plan.kernels.play(self.state, *arguments))

    @cached_property
    def _ask_once(self) -> Callable[..., int]:
        return entry(self.plan.kernels.ask, self.state)

    @cached_property
    def _tell_once(self) -> Callable[..., bool]:
        return entry(self.plan.kernels.tell, self.state, self.state.losses)

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def _pending(self) -> int:  # type: ignore[override]
        return int(self.state.numbers[PENDING])

    @property
    def round(self) -> int:
        """Number of completed rounds."""
        return int(self.state.numbers[ROUND])

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
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.plan, {name: getattr(self.state, name) for name in _CHANGING})

    def _saved(self) -> tuple[dict[str, Any], Arrays]:
        state, numbers = self.state, self.state.numbers
        arrays = {"counts": state.counts, "sums": state.sums, "total": numbers[TOTAL:]}
        arrays |= saved.turn_arrays(self.round, self._pending, state.words)
        about = {"kind": "rule", "rule": self.plan.name, "horizon": self.plan.horizon}
        return about, {f"state.{name}": array for name, array in arrays.items()}

    @classmethod
    def _loaded(cls, contents: saved.Contents) -> RulePolicy:
        from sidelight.policy.rules import RULES

        name, horizon = contents.text("rule"), contents.horizon(contents.header)
        made = {rule.name: rule for rule in RULES}.get(name)
        if made is None:
            contents.refuse(f"the rule {name!r} is unknown here")
        policy = cls(made(contents.graph, horizon), 0)
        state, numbers = policy.state, policy.state.numbers
        numbers[ROUND], numbers[PENDING], state.words[:] = contents.turn(policy.graph.n_arms)
        n = policy.graph.n_arms
        state.counts[:] = contents.floats("state.counts", (n,), most=numbers[ROUND])
        state.sums[:] = contents.floats("state.sums", (n,))
        numbers[TOTAL:] = contents.floats("state.total", (1,), most=2.0 * n * numbers[ROUND])
        if (state.counts != np.floor(state.counts)).any():
            contents.refuse("state.counts are not whole numbers")
        if (state.sums > (state.counts if made.adds_losses else np.where(state.counts > 0, np.inf, 0))).any():
            contents.refuse("state.sums are more than the observations in state.counts allow")
        contents.finish()
        policy._start()
        return policy


def _unpickled(rule: Rule, arrays: dict[str, npt.NDArray[Any]]) -> RulePolicy:
    made = RulePolicy(rule, 0)
    made.state = made.state._replace(**arrays)
    return made
