"""Where the graph of a cell comes from: a family, or a file together with a hash of what it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sidelight._files import digest
from sidelight._formats import ENDINGS
from sidelight.errors import ResultsError
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.graph.repair import with_loops

LOOPS = ("unobservable", "all")
"""Which arms may be given a self-loop: those that no arm reveals, or all."""


@dataclass(frozen=True)
class GraphSource:
    """A graph as a spec names it; `build` makes it anywhere, the same graph every time."""

    name: str  # as tables and figures show it
    family: str = ""  # either this
    path: Path | None = None  # or this
    undirected: bool = False  # reveal both ways along every edge
    loops: str = ""  # one of LOOPS, or "" for the graph as it is
    n_arms: int | None = None  # as for `read_graph`, files only
    named: bool | None = None
    digest: str = ""  # of the graph in the file, once it has been read

    def build(self) -> FeedbackGraph:
        """The graph; a file that no longer holds the graph it did is an error."""
        if self.path is None:
            graph = families.parse(self.family)
            graph = graph.symmetrized() if self.undirected else graph
        else:
            graph = read_graph(self.path, n_arms=self.n_arms, undirected=self.undirected, named=self.named)
        if self.loops:
            graph = with_loops(graph, unobservable_only=self.loops == "unobservable")
        if self.digest and graph_digest(graph) != self.digest:
            raise ResultsError(f"{self.path} has changed since the sweep began; start the sweep again")
        return graph

    def checked(self) -> tuple[GraphSource, FeedbackGraph]:
        """The same source knowing what its file holds, and the graph."""
        graph = self.build()
        return (self if self.path is None else replace(self, digest=graph_digest(graph))), graph

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes two sources the same graph: the family as written, or what the file holds."""
        if self.digest:
            return {"digest": self.digest}
        name, _, rest = self.family.partition(":")
        text = ":".join([name.strip().lower().replace("-", "_"), *([rest] if rest else [])])
        return {"family": "".join(text.split()), "undirected": self.undirected, "loops": self.loops}


@lru_cache(maxsize=4)
def built(source: GraphSource) -> FeedbackGraph:
    """`source.build()`, remembered: neighbouring cells share their graph."""
    return source.build()


def is_file(text: str) -> bool:
    """Does `text` name a graph file rather than a family?"""
    return text.lower().endswith(ENDINGS)


def graph_digest(graph: FeedbackGraph) -> str:
    """SHA-256 of the graph itself, whatever file format it came in."""
    arrays = (
        graph.out_indptr.astype("<i8"),
        graph.out_indices.astype("<i4"),
        graph.universal.astype("<i4"),
        graph.has_loop.astype("u1"),
        *(() if graph.out_probability is None else (graph.out_probability.astype("<f8"),)),
    )
    return digest(json.dumps([graph.n_arms, graph.labels]), *arrays)
