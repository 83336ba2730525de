"""Arms as messages, tables and figures show them: by number, and by label where the graph has labels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sidelight.errors import listing
from sidelight.graph.feedback_graph import FeedbackGraph


def named(graph: FeedbackGraph, arm: object) -> str:
    """An arm as messages show it: its number, and its label if it has one; what is no arm as it is.

    >>> named(FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], labels=["red", "blue"]), 1)
    "1 ('blue')"
    """
    if graph.labels is None or not isinstance(arm, int | np.integer) or not 0 <= arm < graph.n_arms:
        return str(arm)
    return f"{arm} ({graph.labels[arm]!r})"


def names(graph: FeedbackGraph, arms: Iterable[object]) -> str:
    """A list of arms as messages show it, cut where it is long."""
    return listing([named(graph, arm) for arm in arms])
