"""One decision, as the user sees it and as a game keeps it until its losses come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._types import Floats, Ints

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph


class Decision(NamedTuple):
    """An arm to be played, what that reveals, and how likely each of these was to be seen.

    Answered once, by `Policy.observe`, whenever its losses come, or given up by `Policy.cancel`.

    >>> import sidelight as sl
    >>> policy = sl.plan(sl.families.cycle(6), horizon=1000).policy(seed=7)
    >>> first, second = policy.decide(count=2)
    >>> policy.observe(second, {j: 0.5 for j in second.reveals})
    >>> [decision.id for decision in policy.open]
    [1]
    """

    id: int  # decisions of a policy are numbered from 1, so this is also
    round: int  # the round
    arm: int
    label: str  # the arm's, its number where the graph has no labels
    reveals: Ints  # the arms whose losses playing it reveals, in increasing order
    seen: Floats  # the probability, when it was decided, that each of these would be seen
    probability: float = nan  # of the arm itself, when it was decided; NaN if an old file did not say

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return (
            f"Decision(id={self.id}, arm={self.arm}, label={self.label!r}, reveals={self.reveals.size} arms)"
        )


Look = Callable[[], tuple[float, Floats]]
"""Computes the probability of an arm that was drawn, and that each of what it reveals was to be seen."""


NOT_YET = np.zeros(0)
"""Stands for numbers that are not computed yet."""


class Unlooked(Decision):
    """A decision whose probabilities take long to compute, which is done when they are first asked for.

    They are those of its draw, whatever has happened since.
    """

    look: Look

    @cached_property
    def looked(self) -> Decision:
        """The decision with its numbers."""
        probability, seen = self.look()
        return Decision(self.id, self.round, self.arm, self.label, self.reveals, seen, probability)

    seen = property(lambda self: self.looked.seen)
    probability = property(lambda self: self.looked.probability)

    # Unpacking, indexing, `_asdict`, `_replace`, copies and pickles must find the numbers too.
    def __iter__(self) -> Iterator[Any]:
        return iter(self.looked)

    def __getitem__(self, index: Any) -> Any:
        return self.looked[index]

    def _replace(self, **changes: Any) -> Any:
        return self.looked._replace(**changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision, tuple(self)


@dataclass(eq=False, slots=True)
class Record:
    """What a game keeps of a draw until its losses come."""

    arm: int
    version: int = 0  # of the distribution that it was drawn from
    graph: FeedbackGraph | None = None  # of its round, if that is not the policy's own
    values: Floats | None = None  # what learning from it will need; None until the game moves on (`Game`)
    probability: float = nan  # of the arm
    look: Look | None = None  # what gives that and the P in `values`, where they are not computed yet
