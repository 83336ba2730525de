"""The GRAPH of a command: a file or a family, mended as asked, with a record of what was changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph


@dataclass(frozen=True)
class GraphRequest:
    """What the command line says about its graph."""

    text: str
    undirected: bool = False
    add_loops: bool = False
    drop_unobservable: bool = False
    arms: int | None = None
    named: bool | None = None

    @property
    def is_file(self) -> bool:
        """A file that exists, or a text that can only be meant as one."""
        from sidelight.graph.files.reading import ENDINGS

        text = self.text
        return text.lower().endswith(ENDINGS) or "/" in text or (text != "" and Path(text).is_file())

    def load(self) -> LoadedGraph:
        """The graph, every arm of it observable; refuses others, naming the arms and the ways out."""
        from sidelight.errors import GraphFileError, InvalidOption
        from sidelight.graph import read_graph
        from sidelight.graph.names import names
        from sidelight.graph.repair import observable_part, with_loops

        if self.is_file:
            try:
                graph = read_graph(self.text, n_arms=self.arms, named=self.named)
            except GraphFileError as error:
                raise GraphFileError(_in_options(str(error))) from error
        elif self.arms is not None or self.named is not None:
            raise InvalidOption(
                f"--arms, --named and --numbered are for csv files, {self.text!r} is a family"
            )
        else:
            graph = self._family()
        changes: list[str] = []
        if self.undirected:
            before, graph = graph, graph.symmetrized()
            changes.append(f"--undirected added {graph.n_edges - before.n_edges:,} edges")
        if self.add_loops:
            before, graph = graph, with_loops(graph)
            changes.append(f"--add-loops added {graph.n_edges - before.n_edges:,} loops")
        dropped: list[int] = []
        if self.drop_unobservable:
            before, (graph, gone) = graph, observable_part(graph)
            dropped = gone.tolist()
            changes.append(
                f"--drop-unobservable left out {len(dropped):,} {'arm' if len(dropped) == 1 else 'arms'}"
                + (f" ({names(before, dropped)}); the others are numbered anew" if dropped else "")
            )
        _refuse_unobservable(graph)
        return LoadedGraph(graph, self.text, tuple(changes), tuple(dropped))

    def _family(self) -> FeedbackGraph:
        from sidelight.errors import GraphFileError, InvalidOption
        from sidelight.graph import families

        try:
            return families.parse(self.text)
        except InvalidOption:
            if self.text and Path(self.text).is_dir():
                raise GraphFileError(f"{self.text} is a folder; name a graph file or a family") from None
            raise


@dataclass(frozen=True, eq=False)
class LoadedGraph:
    """A graph and where it came from."""

    graph: FeedbackGraph
    source: str
    changes: tuple[str, ...]  # in words
    dropped: tuple[int, ...]  # arms of the source that are not in the graph

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "source": self.source,
            "arms": self.graph.n_arms,
            "edges": self.graph.n_edges,
            "changes": list(self.changes),
            "dropped": list(self.dropped),
        }


def _refuse_unobservable(graph: FeedbackGraph) -> None:
    import numpy as np

    from sidelight.errors import UnobservableGraph
    from sidelight.graph.names import names

    blind = np.flatnonzero(graph.in_degree == 0).tolist()
    if not blind:
        return
    raise UnobservableGraph(
        f"no arm reveals {'arm' if len(blind) == 1 else 'arms'} {names(graph, blind)}, so regret grows like T there;"
        " add edges into them, or use --drop-unobservable to leave them out"
        " (also: --add-loops, --undirected)",
        blind,
    )


def _in_options(message: str) -> str:
    """What the library calls arguments, as options of the command line."""
    message = re.sub(r"pass n_arms(=\d+)?", "use --arms", message)
    return message.replace("pass named=True", "use --named").replace("or named=True", "or --named")
