"""The GRAPH of a command: a file or a family, mended as asked, with a record of what was changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.errors import GraphFileError, InvalidOption, UnobservableGraph

if TYPE_CHECKING:
    from sidelight.experiment.sources import GraphSource
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan
    from sidelight.policy.plan_file import Saved


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
    def mending(self) -> str:
        """The options that change the graph, as far as they were given."""
        given = {"--undirected": self.undirected, "--add-loops": self.add_loops}
        given["--drop-unobservable"] = self.drop_unobservable
        return ", ".join(name for name, there in given.items() if there)

    @property
    def is_file(self) -> bool:
        """A file that exists, or a text that can only be meant as one."""
        from sidelight.graph.names import names_file

        return names_file(self.text)

    def named_family(self) -> GraphSource | None:
        """The graph as `sl.compare` and `sl.sweep` name it, where it is a family that they can make too."""
        from sidelight.experiment.sources import GraphSource

        if self.is_file or self.drop_unobservable:
            return None
        loops = "all" if self.add_loops else ""
        return GraphSource(self.text, family=self.text, undirected=self.undirected, loops=loops)

    def load(self) -> LoadedGraph:
        """The graph, every arm of it observable; refuses others, naming the arms and the ways out.

        Of a saved plan it is the plan's own.
        """
        from sidelight.graph.names import names
        from sidelight.graph.repair import observable_part, with_loops

        saved = self._saved()
        graph = self._read() if saved is None else saved.plan.graph
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
            which = f" ({names(before, dropped)}); the others are numbered anew" if dropped else ""
            many = f"{len(dropped):,} {'arm' if len(dropped) == 1 else 'arms'}"
            changes.append(f"--drop-unobservable left out {many}{which}")
        _refuse_unobservable(graph)
        if saved is None:
            return LoadedGraph(graph, self.text, self.text, tuple(changes), tuple(dropped))
        name = saved.graph or f"graph with {graph.n_arms} arms"
        return LoadedGraph(graph, self.text, name, tuple(changes), tuple(dropped), saved.plan)

    def _saved(self) -> Saved | None:
        if not self.text.lower().endswith(".json"):
            return None
        from sidelight.policy import plan_file

        return plan_file.read(self.text) if plan_file.is_plan(Path(self.text)) else None

    def _read(self) -> FeedbackGraph:
        from sidelight.graph import families, read_graph

        if self.is_file:
            try:
                return read_graph(self.text, n_arms=self.arms, named=self.named)
            except GraphFileError as error:
                raise GraphFileError(_in_options(str(error))) from error
        if self.arms is not None or self.named is not None:
            raise InvalidOption(
                f"--arms, --named and --numbered are for csv files, {self.text!r} is a family"
            )
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
    name: str  # what results call it: the source, of a saved plan what its own graph is called
    changes: tuple[str, ...]  # in words
    dropped: tuple[int, ...]  # arms of the source that are not in the graph
    plan: Plan | None = None  # where the source is a saved plan

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
    from sidelight.graph.names import names

    blind = (graph.in_degree == 0).nonzero()[0].tolist()
    if not blind:
        return
    arms, them = ("arm", "it") if len(blind) == 1 else ("arms", "them")
    raise UnobservableGraph(
        f"no arm reveals {arms} {names(graph, blind)}, so regret grows like T there;"
        f" add edges into {them}, or use --drop-unobservable to leave {them} out"
        " (also: --add-loops, --undirected)",
        blind,
    )


def _in_options(message: str) -> str:
    """What the library calls arguments, as options of the command line."""
    message = re.sub(r"pass n_arms(=\d+)?", "use --arms", message)
    return message.replace("pass named=True", "use --named").replace("or named=True", "or --named")
