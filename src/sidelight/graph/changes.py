"""Graphs that change from round to round: a few of them, and which one each round has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._types import Longs
from sidelight.engine.graphs import Sequence, which_graphs
from sidelight.graph.feedback_graph import FeedbackGraph


@dataclass(frozen=True, eq=False)
class Changes:
    """The graphs of a game, fixed before it: known before each round is played, or shown `after` it."""

    graphs: tuple[FeedbackGraph, ...]
    sequence: Sequence
    after: bool = False
    rounds: int | None = None  # for which graphs are recorded; None: any number

    def which(self, key: np.uint64, first: int, last: int) -> Longs:
        """Which of `graphs` rounds first..last−1 have, in the game with this key."""
        indices = np.empty(last - first, dtype=np.int64)
        which_graphs(self.sequence, key, first, indices)
        return indices

    def graph_at(self, key: np.uint64, t: int) -> FeedbackGraph:
        """The graph of round t."""
        return self.graphs[int(self.which(key, t, t + 1)[0])]
