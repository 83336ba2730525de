"""Feedback graphs: the type, the families of the literature, files."""

from sidelight.graph import families
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.reading import read_graph, write_graph

__all__ = ["FeedbackGraph", "families", "read_graph", "write_graph"]
