"""Feedback graphs: the type, the families of the literature, files."""

from sidelight.graph import families
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files import read_graph, write_graph
from sidelight.graph.names import GivenGraph, graph_of

__all__ = ["FeedbackGraph", "GivenGraph", "families", "graph_of", "read_graph", "write_graph"]
