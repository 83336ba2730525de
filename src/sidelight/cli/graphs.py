"""The GRAPH of a command: a file or a family, mended as asked, with a record of what was changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.errors import GraphFileError, InvalidOption, UnobservableGraph

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Plan
    from sidelight.policy.plan_file import Saved


@dataclass(frozen=True, eq=False)
class LoadedGraph:
    """A graph and where it came from."""

    graph: FeedbackGraph
    source: str
    name: str  # what results call it: the source, of a saved plan what its own graph is called
    changes: tuple[str, ...]  # in words, each after the option that was given for it
    dropped: tuple[int, ...]  # arms of the source that are not in the graph
    family: dict[str, Any] | None = None  # as sweeps name it in a spec, if they can make it too
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


def loaded(
    text: str,
    undirected: bool,
    add_loops: bool,
    drop_unobservable: bool,
    arms: int | None,
    named: bool | None,
) -> LoadedGraph:
    """The graph, every arm of it observable; refuses others, naming the arms and the ways out.

    Of a saved plan it is the plan's own.
    """
    from sidelight.graph.altered import observable_part, with_loops
    from sidelight.graph.names import names, names_file

    saved = _saved(text)
    graph = _read(text, arms, named) if saved is None else saved.plan.graph
    changes: list[str] = []
    if undirected:
        before, graph = graph, graph.symmetrized()
        changes.append(f"--undirected added {graph.n_edges - before.n_edges:,} edges")
    if add_loops:
        before, graph = graph, with_loops(graph)
        changes.append(f"--add-loops added {graph.n_edges - before.n_edges:,} loops")
    dropped: list[int] = []
    if drop_unobservable:
        before, (graph, gone) = graph, observable_part(graph)
        dropped = gone.tolist()
        which = f" ({names(before, dropped)}); the others are numbered anew" if dropped else ""
        many = f"{len(dropped):,} {'arm' if len(dropped) == 1 else 'arms'}"
        changes.append(f"--drop-unobservable left out {many}{which}")
    _refuse_unobservable(graph)
    about = (tuple(changes), tuple(dropped))
    if saved is not None:
        name = saved.graph or f"graph with {graph.n_arms} arms"
        return LoadedGraph(graph, text, name, *about, plan=saved.plan)
    family = None
    if not names_file(text) and not drop_unobservable:
        family = {"family": text, "undirected": undirected, **({"loops": "all"} if add_loops else {})}
    return LoadedGraph(graph, text, text, *about, family)


def _saved(text: str) -> Saved | None:
    if not text.lower().endswith(".json"):
        return None
    from sidelight.policy import plan_file

    return plan_file.read(text) if plan_file.is_plan(Path(text)) else None


def _read(text: str, arms: int | None, named: bool | None) -> FeedbackGraph:
    from sidelight.graph import families, read_graph
    from sidelight.graph.names import names_file

    if names_file(text):
        try:
            return read_graph(text, n_arms=arms, named=named)
        except GraphFileError as error:
            raise GraphFileError(_in_options(str(error))) from error
    if arms is not None or named is not None:
        raise InvalidOption(f"--arms, --named and --numbered are for csv files, {text!r} is a family")
    try:
        return families.parse(text)
    except InvalidOption:
        if text and Path(text).is_dir():
            raise GraphFileError(f"{text} is a folder; name a graph file or a family") from None
        raise


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
