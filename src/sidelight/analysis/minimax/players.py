"""The two sides of a solved game: how to play it, and the losses that make it hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._check import is_whole
from sidelight._types import Floats, Indices
from sidelight.analysis.minimax.game import Game
from sidelight.errors import InvalidFeedback, InvalidOption, listing
from sidelight.graph import FeedbackGraph

Revealed = Mapping[int, int] | Sequence[int] | Indices
History = Sequence[tuple[int, Revealed]]


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """The player's behavioural strategy: a distribution over arms after every history.

    Depends on what was revealed, not on which of several arms with the same out-neighbours was played.
    Histories that the strategy itself never reaches are answered uniformly. For losses between 0 and 1, round
    each revealed loss x to 1 with probability x, independently, and ask with the rounded bits.
    """

    graph: FeedbackGraph
    game: Game
    tables: tuple[Floats, ...]  # tables[t]: (histories of t rounds, N)

    def probabilities(self, history: History = ()) -> Floats:
        """(N,) distribution of the next arm after `history`: a pair (arm played, losses it revealed) per round.

        The losses are a mapping {arm: 0 or 1} over exactly the out-neighbours of the arm played, or a sequence
        aligned with `graph.out_neighbors(arm)`.
        """
        if len(history) >= len(self.tables):
            raise InvalidOption(
                f"a history of {len(history)} rounds leaves nothing to play: the game has {len(self.tables)}"
            )
        state = 0
        for arm, revealed in history:
            digit = sum(1 << seen for seen, loss in self._losses(arm, revealed) if loss)
            state = state * self.game.n_symbols + int(self.game.symbol[self.game.kind[arm], digit])
        chances: Floats = self.tables[len(history)][state].copy()
        return chances

    def _losses(self, arm: int, revealed: Revealed) -> list[tuple[int, int]]:
        if not is_whole(arm) or not 0 <= arm < self.game.n_arms:
            raise InvalidOption(f"arm {arm!r} does not exist: the graph has arms 0..{self.game.n_arms - 1}")
        seen: list[int] = np.flatnonzero(self.game.reveals[arm]).tolist()
        if isinstance(revealed, Mapping):
            if set(revealed) != set(seen):
                raise InvalidFeedback(
                    f"arm {arm} reveals arms {listing(seen)}, got losses of {listing(list(revealed))}"
                )
            losses = [revealed[each] for each in seen]
        else:
            losses = list(revealed)
            if len(losses) != len(seen):
                raise InvalidFeedback(f"arm {arm} reveals {len(seen)} losses, got {len(losses)}")
        for each, loss in zip(seen, losses, strict=True):
            if loss not in (0, 1):
                raise InvalidFeedback(
                    f"the loss of arm {each} must be 0 or 1, got {loss!r}; round it to 1 with that probability"
                )
        return list(zip(seen, losses, strict=True))

    def __repr__(self) -> str:
        return f"Strategy({self.game.n_arms} arms, {len(self.tables)} rounds)"


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
