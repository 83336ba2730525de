"""Recorded data with the graph on which they were recorded.

A folder of data sets holds `losses/<name>.csv.gz` with a card `losses/<name>.json`, and graphs as
`graphs/<name>.csv.gz` with a card `graphs/<name>.json`. The card says what the columns are ("form"), how they
become losses ("suggested_loss") and which graph belongs to them ("feedback_graph").
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight._check import checked_count, checked_path
from sidelight._types import Floats
from sidelight.environment.base import Environment
from sidelight.environment.means import Coins
from sidelight.environment.tables import Matrix, Table, newsvendor, read_table
from sidelight.errors import InvalidOption, MissingData, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.graph.altered import with_loops
from sidelight.graph.files.csv import nodes_paths

VARIABLE = "SIDELIGHT_DATA"
"""Environment variable that names the folder of data sets."""

MOST_ORDERS = 100
"""Order sizes of a newsvendor unless told otherwise: 0, 1, 2, … or this many, evenly spaced."""

CAPPED = re.compile(r"(1\s*-\s*)?min\(\s*\w+\s*,\s*([0-9.]+)\s*\)\s*/\s*([0-9.]+)")
"""The losses that a card may ask for: min(value, cap)/scale, or 1 minus that."""


class Dataset(NamedTuple):
    """Losses and the graph that goes with them."""

    name: str
    graph: FeedbackGraph
    environment: Environment
    card: dict[str, Any]  # what the data are, their licence, how to cite them


def dataset(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    series: str | None = None,
    orders: Sequence[float] | int | None = None,
    over: float = 1.0,
    under: float = 1.0,
    self_loops: bool = False,
    repeat: bool = False,
) -> Dataset:
    """The data set of that name in `folder`, by default the one that the variable SIDELIGHT_DATA names.

    Matrices of values become losses as their card says. Demand series become a newsvendor problem for one
    column, `series` (the first by default), with `orders`, `over` and `under` as in `newsvendor`; a number of
    orders means that many, evenly spaced up to the largest demand. Closed days are left out. Logged clicks
    become coins with the click rates of the log. `self_loops` lets every arm of a recorded graph reveal itself
    too; `repeat` starts over after the last round.

    A graph recorded anew every round is reduced to the edges that are there in all of them.
    """
    losses = Entry.read(data_folder(folder) / "losses", name)
    form = str(losses.card.get("form", ""))
    environment: Environment
    if form.startswith("value_matrix"):
        graph, environment = _graph(losses), _values(losses, repeat)
    elif form.startswith("series"):
        demand, called = _demand(losses, series)
        sizes = order_sizes(demand, orders) if orders is None or isinstance(orders, int) else orders
        environment = Matrix(newsvendor(demand, sizes, over, under).table, repeat=repeat, name=called)
        graph = families.newsvendor(environment.n_arms)
    elif form.startswith("logged"):
        graph = _graph(losses)
        environment = _clicks(losses, graph.n_arms)
    else:
        raise InvalidOption(
            f"data set {name!r} has the form {form!r}; known are value_matrix, series, logged"
        )
    if graph.n_arms != environment.n_arms:
        raise InvalidOption(
            f"data set {name!r} has losses of {environment.n_arms} arms and a graph of {graph.n_arms}"
        )
    if self_loops:
        graph = with_loops(graph)
    return Dataset(name, graph, environment, losses.card)


def dataset_names(folder: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Names of the data sets in the folder."""
    return tuple(sorted(card.stem for card in (data_folder(folder) / "losses").glob("*.json")))


def dataset_files(name: str, folder: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """Every file that `dataset` reads: card and losses, then those of the recorded graph if there is one."""
    losses = Entry.read(data_folder(folder) / "losses", name)
    own = (losses.path, losses.data)
    if str(losses.card.get("form", "")).startswith("series"):
        return own
    recorded = _recorded(losses)
    if isinstance(recorded, Path):
        return (*own, recorded)
    labels = [file for file in nodes_paths(recorded.data) if file.exists()]
    return (*own, recorded.path, recorded.data, *labels[:1])


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of data sets: the one given, or the one SIDELIGHT_DATA names."""
    chosen = folder if folder is not None else os.environ.get(VARIABLE)
    if not chosen:
        raise MissingData(
            f"data sets are not part of the package: got no folder; pass folder= or set {VARIABLE} to the "
            "folder that holds losses/ and graphs/"
        )
    root = checked_path("a folder of data sets", chosen, MissingData)
    if not (root / "losses").is_dir():
        raise MissingData(f"{root} holds no data sets: it must have a folder losses/ with a card for each")
    return root


class Entry(NamedTuple):
    """A card, and the table that lies beside it."""

    path: Path  # of the card
    card: dict[str, Any]

    @classmethod
    def read(cls, folder: Path, name: str) -> Entry:
        """The entry of that name, its card read."""
        file = folder / f"{name}.json"
        if not re.fullmatch(r"[\w.-]+", name) or not file.is_file():
            names = ", ".join(sorted(card.stem for card in folder.glob("*.json"))) or "none"
            raise MissingData(f"there is no data set {name!r} in {folder}; there are: {names}")
        try:
            card = dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise MissingData(f"{file} cannot be read as a card: {error}") from error
        return cls(file, {"name": name} | card)

    @property
    def name(self) -> str:
        """What the data set is called."""
        return self.path.stem

    @property
    def data(self) -> Path:
        """The file with the table."""
        for ending in (".csv.gz", ".csv"):
            if (file := self.path.with_name(self.name + ending)).is_file():
                return file
        raise MissingData(f"{self.path} has no {self.name}.csv.gz beside it; fetch it again")


# -- kinds of data ----------------------------------------------------------------------------------------


def _values(losses: Entry, repeat: bool) -> Matrix:
    rule = str(losses.card.get("suggested_loss", ""))
    match = CAPPED.fullmatch(rule.strip())
    if match is None:
        raise InvalidOption(
            f"data set {losses.name!r} asks for the loss {rule!r}; known is [1 -] min(value, CAP)/SCALE. "
            "Read the table yourself and use environments.matrix"
        )
    share: Floats = np.minimum(read_table(losses.data).values, float(match[2])) / float(match[3])
    return Matrix(1.0 - share if match[1] else share, repeat=repeat, name=losses.name)


def _demand(losses: Entry, series: str | None) -> tuple[Floats, str]:
    """The demand of every day that is not closed, and what it is called."""
    table = read_table(losses.data, skip={"date"})
    columns = [name for name in table.names if name != "is_closed"]
    wanted = columns[0] if series is None else series
    if wanted not in columns:
        raise InvalidOption(
            f"data set {losses.name!r} has no series {series!r}; choose one of {', '.join(columns)}"
        )
    demand = table.column(wanted)
    if "is_closed" in table.names:
        demand = demand[table.column("is_closed") == 0]
    return demand, f"{losses.name}, {wanted}"


def order_sizes(demand: Floats, count: int | None = None) -> Floats:
    """`count` orders from 0 to the largest demand, by default every whole number unless there are too many."""
    largest = max(float(np.max(demand)), 1.0)
    if count is None:
        count = int(min(np.ceil(largest) + 1, MOST_ORDERS))
    sizes: Floats = np.linspace(0.0, np.ceil(largest), checked_count("orders", count, least=2))
    return sizes


def _clicks(losses: Entry, n_arms: int) -> Coins:
    table = read_table(losses.data, skip={"timestamp", "position", "propensity"})
    item = table.column("item").astype(np.int64)
    shown = np.bincount(item, minlength=n_arms)
    if not shown.all():
        arm = int(np.argmin(shown))
        raise InvalidOption(f"data set {losses.name!r} never shows arm {arm}: its click rate is not known")
    clicks = np.bincount(item, weights=table.column("click"), minlength=n_arms)
    return Coins(1.0 - (clicks / shown)[None, :], name=losses.name)


def _graph(losses: Entry) -> FeedbackGraph:
    recorded = _recorded(losses)
    if isinstance(recorded, Path):
        return _lasting_graph(read_table(recorded), int(losses.card["arms"]))
    card = recorded.card
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsIgnored)  # the card says that every line is an arc
        return read_graph(recorded.data, n_arms=int(card["N"]), undirected=not card["directed"])


def _recorded(losses: Entry) -> Entry | Path:
    """The graph that belongs to the losses; a bare file if it was recorded anew every round."""
    where = str(losses.card.get("feedback_graph", "")).split()
    if not where or "/" not in where[0]:
        raise InvalidOption(
            f"data set {losses.name!r} names no graph: its card says {losses.card.get('feedback_graph')!r}"
        )
    place, _, name = where[0].partition("/")
    folder = losses.path.parents[1] / place
    if name.endswith(".csv.gz"):
        return folder / name
    return Entry.read(folder, name)


def _lasting_graph(table: Table, n_arms: int) -> FeedbackGraph:
    """Edges t,src,dst that are there in every round t."""
    rounds, source, target = (table.column(name).astype(np.int64) for name in ("t", "src", "dst"))
    seen = np.unique(np.stack([source * n_arms + target, rounds]), axis=1)[0]
    edges, counts = np.unique(seen, return_counts=True)
    lasting = edges[counts == np.unique(rounds).size]
    return FeedbackGraph.from_edges(n_arms, np.column_stack(np.divmod(lasting, n_arms)))
