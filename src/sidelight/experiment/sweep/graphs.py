"""The graphs of a folder of results, kept beside them: its report can be written again without their files.

graphs/<digest>.npz    each graph, named after what it holds
graphs/names.json      what the results call them
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from sidelight._check import written
from sidelight._files import replacing
from sidelight.experiment.sweep.graph_source import GraphSource, graph_digest
from sidelight.graph import FeedbackGraph, read_graph, write_graph

FOLDER = "graphs"


class Graphs(Mapping[str, FeedbackGraph]):
    """Graphs by the names that results give them, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], FeedbackGraph]]) -> None:
        self._makers, self._made = dict(makers), dict[str, FeedbackGraph]()

    def __getitem__(self, name: str) -> FeedbackGraph:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Graphs({', '.join(map(repr, self._makers))})"


def source_in(folder: Path, name: str, graph: FeedbackGraph) -> GraphSource:
    """The graph as a cell of `folder` names it, where `store_graph` will put it."""
    digest = graph_digest(graph)
    return GraphSource(name, path=_place(folder, digest).absolute(), digest=digest)


def store_graph(folder: Path, graph: FeedbackGraph) -> Path:
    """The file with the graph, written if need be; reports do not show it before `keep_graph` names it."""
    file = _place(folder, graph_digest(graph))
    with written(folder):
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            write_graph(graph, file)
    return file


def keep_graph(folder: Path, name: str, graph: FeedbackGraph) -> None:
    """Store the graph as what results call `name`: only in a folder that a sweep has accepted."""
    file = store_graph(folder, graph)
    index = file.with_name("names.json")
    with written(folder):
        known = _names(index)
        if known.get(name) != file.name:
            with replacing(index, pack=False) as stream:
                stream.write(json.dumps(known | {name: file.name}, indent=1, ensure_ascii=False).encode())


def kept_graphs(folder: Path) -> Graphs:
    """The stored graphs by name."""
    place = folder / FOLDER
    return Graphs(
        {name: partial(read_graph, place / file) for name, file in _names(place / "names.json").items()}
    )


def _place(folder: Path, digest: str) -> Path:
    return folder / FOLDER / f"{digest[:16]}.npz"


def _names(index: Path) -> dict[str, str]:
    try:
        names = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(name): str(file) for name, file in names.items()} if isinstance(names, dict) else {}
