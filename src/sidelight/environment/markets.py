"""Auctions and posted prices: what a bid or a price reveals depends on what others do in that round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Floats, Longs
from sidelight.environment.base import Environment, flat_numbers
from sidelight.environment.changing import changing
from sidelight.environment.tables import Matrix
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph


def auction(
    values: npt.ArrayLike, rivals: npt.ArrayLike, bids: npt.ArrayLike, repeat: bool = False
) -> Environment:
    """First-price auctions: arm i bids bids[i], round t is worth values[t] and its highest other bid is rivals[t].

    A bid that reaches the highest other one wins, and pays itself: the loss is (1 − value + bid)/2, else ½. Winning
    tells the loss of every higher bid; losing shows the winning bid, and so tells all. Plan on
    `families.auction(len(bids))`, the edges that are there in any case; the others are shown afterwards. Values,
    rivals and bids are in [0, 1].

    >>> import numpy as np
    >>> world = auction(values=[0.8], rivals=[0.4], bids=[0.0, 0.5, 1.0])
    >>> world.losses(0, 0, [0, 1, 2]).round(3).tolist()
    [0.5, 0.35, 0.6]
    >>> [world.graph_at(0, 0).out_neighbors(i).tolist() for i in range(3)]
    [[0, 1, 2], [1, 2], [2]]
    """
    worth, highest = flat_numbers(values, "values", 0, 1), flat_numbers(rivals, "rivals", 0, 1)
    offered = _rising("bids", bids)
    if worth.size != highest.size:
        raise InvalidOption(f"values and rivals must be as many, got {worth.size} and {highest.size}")
    wins = offered >= highest[:, None]
    losses = np.where(wins, (1 - worth[:, None] + offered) / 2, 0.5)
    higher = np.triu(np.ones((offered.size, offered.size), dtype=bool))

    def graph(losing: int) -> Bools:
        reveals = higher.copy()
        reveals[:losing] = True
        return reveals

    return _outcomes("auction", losses, (~wins).sum(axis=1), graph, repeat)


def posted_prices(limits: npt.ArrayLike, prices: npt.ArrayLike, repeat: bool = False) -> Environment:
    """Arm i asks prices[i], the buyer of round t pays up to limits[t]: the loss is 1 − price if that sells, else 1.

    A sale tells that every lower price would have sold, a refusal that no higher one would. Plan on
    `families.mab(len(prices))`, since only the loop is there in any case; the graph of the round is shown afterwards.
    Prices and limits are in [0, 1].

    >>> world = posted_prices(limits=[0.6], prices=[0.25, 0.5, 0.75, 1.0])
    >>> [world.graph_at(0, 0).out_neighbors(i).tolist() for i in range(4)]
    [[0], [0, 1], [2, 3], [3]]
    """
    paid, asked = flat_numbers(limits, "limits", 0, 1), _rising("prices", prices)
    sells = asked <= paid[:, None]
    losses = np.where(sells, 1 - asked, 1.0)
    arms = np.arange(asked.size)

    def graph(selling: int) -> Bools:
        below: Bools = arms[:, None] >= arms
        return np.where(arms[:, None] < selling, below, below.T)

    return _outcomes("posted_prices", losses, sells.sum(axis=1), graph, repeat)


def _outcomes(
    name: str, losses: Floats, levels: Longs, graph: Callable[[int], Bools], repeat: bool
) -> Environment:
    """Losses of recorded rounds, and the graphs that follow from the same outcomes."""
    distinct, order = np.unique(levels, return_inverse=True)
    graphs = [FeedbackGraph.from_adjacency(graph(int(level))) for level in distinct]
    table = Matrix(np.clip(losses, 0.0, 1.0), repeat=repeat, name=name)
    changes = changing(table, graphs, order, shown="after", repeat=repeat).changes
    assert changes is not None
    return table.on(changes, name)


def _rising(name: str, values: npt.ArrayLike) -> Floats:
    numbers = flat_numbers(values, name, 0, 1)
    if not (np.diff(numbers) > 0).all():
        raise InvalidOption(f"{name} must increase from arm to arm, got {values!r:.60}")
    return numbers
