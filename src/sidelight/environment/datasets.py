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

from sidelight._check import checked_count
from sidelight._types import Floats
from sidelight.environment.base import Environment
from sidelight.environment.coins import Coins
from sidelight.environment.matrix import Matrix
from sidelight.environment.newsvendor import newsvendor
from sidelight.environment.spelling import Written, spelled
from sidelight.environment.tables import read_table
from sidelight.errors import InvalidOption, MissingData, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.graph.building import from_pairs, pairs
from sidelight.graph.files.named import nodes_paths

__all__ = ["Dataset", "dataset", "dataset_names"]

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


def _read(written: Written) -> Environment:
    named, repeat = written.named(2)
    series = named[1] if len(named) > 1 else None
    return dataset(named[0], series=series, orders=written.graph.n_arms, repeat=repeat).environment


@spelled("dataset:NAME[,SERIES][,repeat]", _read)
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
    root = data_folder(folder)
    card = _card(root, "losses", name)
    form = str(card.get("form", ""))
    if form.startswith("value_matrix"):
        graph = _graph(root, card)
        environment: Environment = _values(root, card, repeat)
    elif form.startswith("series"):
        environment = _demand(root, card, series, orders, over, under, repeat)
        graph = families.newsvendor(environment.n_arms)
    elif form.startswith("logged"):
        graph = _graph(root, card)
        environment = _clicks(root, card, graph.n_arms)
    else:
        raise InvalidOption(
            f"data set {name!r} has the form {form!r}; known are value_matrix, series, logged"
        )
    if graph.n_arms != environment.n_arms:
        raise InvalidOption(
            f"data set {name!r} has losses of {environment.n_arms} arms and a graph of {graph.n_arms}"
        )
    if self_loops:
        arms = np.arange(graph.n_arms)
        graph = from_pairs(
            graph.n_arms, graph.edges().astype(np.int64), pairs(arms, arms), labels=graph.labels
        )
    return Dataset(name, graph, environment, card)


def dataset_names(folder: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Names of the data sets in the folder."""
    return tuple(sorted(card.stem for card in (data_folder(folder) / "losses").glob("*.json")))


def dataset_files(name: str, folder: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """Every file that `dataset` reads: card and losses, then those of the recorded graph if there is one."""
    root = data_folder(folder)
    card = _card(root, "losses", name)
    own = (root / "losses" / f"{name}.json", _file(root, "losses", card["name"]))
    if str(card.get("form", "")).startswith("series"):
        return own
    place, graph = _recorded(card)
    if graph.endswith(".csv.gz"):
        return (*own, root / place / graph)
    _card(root, place, graph)
    edges = _file(root, place, graph)
    labels = [file for file in nodes_paths(edges) if file.exists()]
    return (*own, root / place / f"{graph}.json", edges, *labels[:1])


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of data sets: the one given, or the one SIDELIGHT_DATA names."""
    chosen = folder if folder is not None else os.environ.get(VARIABLE)
    if not chosen:
        raise MissingData(
            f"data sets are not part of the package: got no folder; pass folder= or set {VARIABLE} to the "
            "folder that holds losses/ and graphs/"
        )
    root = Path(chosen)
    if not (root / "losses").is_dir():
        raise MissingData(f"{root} holds no data sets: it must have a folder losses/ with a card for each")
    return root


# -- kinds of data ----------------------------------------------------------------------------------------


def _values(root: Path, card: dict[str, Any], repeat: bool) -> Matrix:
    table = read_table(_file(root, "losses", card["name"])).values
    rule = str(card.get("suggested_loss", ""))
    match = CAPPED.fullmatch(rule.strip())
    if match is None:
        raise InvalidOption(
            f"data set {card['name']!r} asks for the loss {rule!r}; known is [1 -] min(value, CAP)/SCALE. "
            "Read the table yourself and use environments.matrix"
        )
    share: Floats = np.minimum(table, float(match[2])) / float(match[3])
    return Matrix(1.0 - share if match[1] else share, repeat=repeat, name=str(card["name"]))


def _demand(
    root: Path,
    card: dict[str, Any],
    series: str | None,
    orders: Sequence[float] | int | None,
    over: float,
    under: float,
    repeat: bool,
) -> Matrix:
    table = read_table(_file(root, "losses", card["name"]), skip={"date"})
    columns = [name for name in table.names if name != "is_closed"]
    wanted = columns[0] if series is None else series
    if wanted not in columns:
        raise InvalidOption(
            f"data set {card['name']!r} has no series {series!r}; choose one of {', '.join(columns)}"
        )
    values = table.values
    if "is_closed" in table.names:
        values = values[values[:, table.names.index("is_closed")] == 0]
    demand = values[:, table.names.index(wanted)]
    sizes = order_sizes(demand, orders) if orders is None or isinstance(orders, int) else orders
    environment = newsvendor(demand, sizes, over, under)
    return Matrix(environment.table, repeat=repeat, name=f"{card['name']}, {wanted}")


def order_sizes(demand: Floats, count: int | None = None) -> Floats:
    """`count` orders from 0 to the largest demand, by default every whole number unless there are too many."""
    largest = max(float(np.max(demand)), 1.0)
    if count is None:
        count = int(min(np.ceil(largest) + 1, MOST_ORDERS))
    sizes: Floats = np.linspace(0.0, np.ceil(largest), checked_count("orders", count, least=2))
    return sizes


def _clicks(root: Path, card: dict[str, Any], n_arms: int) -> Environment:
    table = read_table(_file(root, "losses", card["name"]), skip={"timestamp", "position", "propensity"})
    item = table.values[:, table.names.index("item")].astype(np.int64)
    shown = np.bincount(item, minlength=n_arms)
    if not shown.all():
        arm = int(np.argmin(shown))
        raise InvalidOption(f"data set {card['name']!r} never shows arm {arm}: its click rate is not known")
    clicks = np.bincount(item, weights=table.values[:, table.names.index("click")], minlength=n_arms)
    return Coins(1.0 - (clicks / shown)[None, :], name=str(card["name"]))


# -- files ------------------------------------------------------------------------------------------------


def _graph(root: Path, card: dict[str, Any]) -> FeedbackGraph:
    place, name = _recorded(card)
    if name.endswith(".csv.gz"):
        return _lasting_graph(root / place / name, int(card["arms"]))
    about = _card(root, place, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsIgnored)  # the card says that every line is an arc
        return read_graph(_file(root, place, name), n_arms=int(about["N"]), undirected=not about["directed"])


def _recorded(card: dict[str, Any]) -> tuple[str, str]:
    """Folder and name of the graph that belongs to the losses."""
    where = str(card.get("feedback_graph", "")).split()
    if not where or "/" not in where[0]:
        raise InvalidOption(
            f"data set {card['name']!r} names no graph: its card says {card.get('feedback_graph')!r}"
        )
    place, _, name = where[0].partition("/")
    return place, name


def _lasting_graph(file: Path, n_arms: int) -> FeedbackGraph:
    """Edges t,src,dst that are there in every round t."""
    table = read_table(file)
    columns = [table.values[:, table.names.index(name)].astype(np.int64) for name in ("t", "src", "dst")]
    rounds, code = columns[0], columns[1] * n_arms + columns[2]
    edges, counts = np.unique(np.unique(np.stack([code, rounds]), axis=1)[0], return_counts=True)
    lasting = edges[counts == np.unique(rounds).size]
    return from_pairs(n_arms, pairs(lasting // n_arms, lasting % n_arms))


def _card(root: Path, place: str, name: str) -> dict[str, Any]:
    file = root / place / f"{name}.json"
    if not re.fullmatch(r"[\w.-]+", name) or not file.is_file():
        known = ", ".join(sorted(card.stem for card in (root / place).glob("*.json"))) or "none"
        raise MissingData(f"there is no data set {name!r} in {root / place}; there are: {known}")
    try:
        card = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MissingData(f"{file} cannot be read: {error}") from error
    if not isinstance(card, dict):
        raise InvalidOption(
            f"{file} must hold an object with the fields of a card, got {type(card).__name__}"
        )
    return {"name": name} | card


def _file(root: Path, place: str, name: str) -> Path:
    for ending in (".csv.gz", ".csv"):
        if (root / place / f"{name}{ending}").is_file():
            return root / place / f"{name}{ending}"
    raise MissingData(f"{root / place} has a card for {name!r} but no {name}.csv.gz; fetch it again")
