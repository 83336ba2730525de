"""Graph files: one module per format, `reading` finds the one to use."""

from sidelight.graph.files.reading import read_graph, write_graph

__all__ = ["read_graph", "write_graph"]
