"""Feedback graphs: the type, the families of the literature, files."""

from sidelight.graph.feedback_graph import FeedbackGraph

__all__ = ["FeedbackGraph"]
