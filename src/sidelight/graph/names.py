"""Names: graphs as functions are given them, and arms as messages, tables and figures show them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sidelight._formats import ENDINGS
from sidelight.errors import InvalidGraph, listing
from sidelight.graph import families
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files import read_graph

GivenGraph = FeedbackGraph | str | os.PathLike[str]
"""What functions that need a graph take."""


def graph_of(given: object, what: str) -> FeedbackGraph:
    """The graph that was given to `what`, the function that asks.

    >>> graph_of("cycle:10", "plan").n_arms
    10
    """
    if isinstance(given, FeedbackGraph):
        return given
    if isinstance(given, os.PathLike):
        return read_graph(given)
    if isinstance(given, str):
        return read_graph(given) if names_file(given) else families.parse(given)
    raise InvalidGraph(
        f'{what} needs a FeedbackGraph, a family such as "cycle:10" or a graph file, got {type(given).__name__}'
    )


def names_file(text: str) -> bool:
    """Does `text` name a graph file rather than a family?

    A file that exists, or a text that can only be meant as one.
    """
    if text.lower().endswith(ENDINGS) or "/" in text:
        return True
    try:
        return text != "" and Path(text).is_file()
    except ValueError:  # a character that no file name has
        return False


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
