"""A graph as it is given to a function: itself, a family such as "cycle:10", or a graph file."""

from __future__ import annotations

import os
from pathlib import Path

from sidelight.errors import InvalidGraph
from sidelight.graph import families
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.reading import ENDINGS, read_graph

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
