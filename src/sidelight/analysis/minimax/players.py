"""The two sides of a solved game: how to play it, and the losses that make it hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._check import is_whole
from sidelight._types import Floats, Indices
from sidelight.analysis.minimax.program import History
from sidelight.errors import InvalidFeedback, InvalidOption, listing
from sidelight.graph import FeedbackGraph

Revealed = Mapping[int, int] | Sequence[int] | Indices


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """The player's behavioural strategy: a distribution over arms after every history.

    Depends on what was revealed, not on which of several arms with the same out-neighbours was played.
    Histories that the strategy itself never reaches are answered uniformly. For losses between 0 and 1, round
    each revealed loss x to 1 with probability x, independently, and ask with the rounded bits.
    """

    graph: FeedbackGraph
    horizon: int
    table: Mapping[History, Floats]  # (N,) after each history, as `program` writes them

    def probabilities(self, history: Sequence[tuple[int, Revealed]] = ()) -> Floats:
        """(N,) distribution of the next arm after `history`: a pair (arm played, losses it revealed) per round.

        The losses are a mapping {arm: 0 or 1} over exactly the out-neighbours of the arm played, or a sequence
        aligned with `graph.out_neighbors(arm)`.
        """
        if len(history) >= self.horizon:
            raise InvalidOption(
                f"a history of {len(history)} rounds leaves nothing to play: the game has {self.horizon}"
            )
        return self.table[tuple(self._seen(arm, revealed) for arm, revealed in history)].copy()

    def _seen(self, arm: int, revealed: Revealed) -> tuple[int, int]:
        """(the set that `arm` reveals, those of it that have loss 1), both as numbers."""
        if not is_whole(arm) or not 0 <= arm < self.graph.n_arms:
            raise InvalidOption(f"arm {arm!r} does not exist: the graph has arms 0..{self.graph.n_arms - 1}")
        seen: list[int] = self.graph.out_neighbors(arm).tolist()
        if isinstance(revealed, Mapping):
            if set(revealed) != set(seen):
                raise InvalidFeedback(
                    f"arm {arm} reveals arms {listing(seen)}, got losses of {listing(list(revealed))}"
                )
            revealed = [revealed[each] for each in seen]
        if len(revealed) != len(seen):
            raise InvalidFeedback(f"arm {arm} reveals {len(seen)} losses, got {len(revealed)}")
        for each, loss in zip(seen, revealed, strict=True):
            if loss not in (0, 1):
                raise InvalidFeedback(
                    f"the loss of arm {each} must be 0 or 1, got {loss!r}; round it to 1 with that probability"
                )
        return sum(1 << each for each in seen), sum(
            1 << each for each, loss in zip(seen, revealed, strict=True) if loss
        )

    def __repr__(self) -> str:
        return f"Strategy({self.graph.n_arms} arms, {self.horizon} rounds)"


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """The adversary's mixture: loss matrix k is chosen with probability probabilities[k], before round 1."""

    losses: npt.NDArray[np.int8]  # (M, T, N)
    probabilities: Floats  # (M,), positive, sum 1

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        _, rounds, arms = self.losses.shape
        return f"Mixture({len(self)} loss matrices of {rounds} rounds × {arms} arms)"
