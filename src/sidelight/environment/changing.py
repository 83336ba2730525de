"""Losses of any environment on feedback graphs that change from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_number
from sidelight._types import Bools, Floats, frozen
from sidelight.engine.graphs import Sequence as Order
from sidelight.environment.base import Environment, checked_arms, flat_numbers
from sidelight.errors import InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.graph.changes import Changes

Shown = Literal["before", "after"]

DISTINCT = 64
"""Who is online in a round is one of so many sets, drawn anew every round."""


def changing(
    losses: Environment,
    graphs: Sequence[GivenGraph],
    order: npt.ArrayLike | None = None,
    *,
    period: int = 1,
    probabilities: npt.ArrayLike | None = None,
    shown: Shown = "before",
    repeat: bool = False,
) -> Environment:
    """The losses of an environment on graphs that change.

    Round t has graphs[order[t // period]]. Without an `order` graphs take turns, `period` rounds each; with
    `probabilities` one is drawn anew every round, by the seed of the run. `shown` says whether players know the graph
    "before" they play, or are told it "after", with the losses. `repeat` starts a recorded order over after its end.

    >>> import sidelight as sl
    >>> ring, everything = sl.families.cycle(4), sl.families.full(4)
    >>> world = changing(sl.environments.gap(4), [ring, everything], period=10)
    >>> world.graph_at(seed=0, round_=25) is ring
    True
    """
    if not isinstance(losses, Environment):
        raise InvalidOption(
            f"losses must be made by sidelight.environments, got {type(losses).__name__}; "
            "wrap a function with environments.function(loss, n_arms)"
        )
    given = [graph_of(graph, "changing") for graph in graphs] if isinstance(graphs, Sequence) else []
    if not given:
        raise InvalidGraph(f"graphs must be a list of one FeedbackGraph or more, got {graphs!r:.60}")
    if shown not in ("before", "after"):
        raise InvalidOption(f'graphs are shown "before" or "after" playing, got {shown!r:.30}')
    if order is not None and probabilities is not None:
        raise InvalidOption("graphs have a recorded order or are drawn with probabilities, not both")
    length = checked_count("period", period)
    turns = np.arange(len(given)) if order is None else checked_arms(order, len(given), "order")
    cumulative = np.zeros(0)
    if probabilities is not None:
        cumulative = _cumulative(probabilities, len(given))
    sequence = Order(length, frozen(turns, np.int64), frozen(cumulative, np.float64))
    rounds = None if order is None or repeat else length * turns.size
    return losses.on(Changes(tuple(given), sequence, shown == "after", rounds), "changing")


def _cumulative(probabilities: npt.ArrayLike, count: int) -> Floats:
    shares = flat_numbers(probabilities, "probabilities")
    if shares.size != count or not (shares >= 0).all() or not abs(shares.sum() - 1) < 1e-9:
        raise InvalidOption(
            f"probabilities must be {count} numbers of 0 or more that add up to 1, one for each graph, got"
            f" {probabilities!r:.60}"
        )
    return np.asarray(np.cumsum(shares))


def online(
    graph: GivenGraph,
    losses: Environment,
    share: float = 0.5,
    distinct: int = DISTINCT,
    seed: int = 0,
    answers: float = 1.0,
) -> Environment:
    """Recommending to somebody in a network of whom only a share is online: known before playing.

    Whoever is recommended something answers; so do those whom that arm reveals in `graph`, if they are online, each
    with probability `answers` times that of the edge. Everybody is online with probability `share`, independently; of
    such sets `distinct` are made, one of which is in force in each round.

    >>> import sidelight as sl
    >>> world = online(sl.families.cycle(8), sl.environments.gap(8))
    >>> all(world.graph_at(0, t).has_loop.all() for t in range(20))
    True
    """
    graph = graph_of(graph, "online")
    chance, answered = checked_number("share", share), checked_number("answers", answers)
    if not 0.0 <= chance <= 1.0:
        raise InvalidOption(f"share must be in [0, 1], got {share!r}")
    if not 0.0 < answered <= 1.0:
        raise InvalidOption(f"answers must be above 0 and at most 1, got {answers!r}")
    n, sets = graph.n_arms, checked_count("distinct", distinct)
    rng = np.random.default_rng(seed)
    edges, works = graph.edges(), graph.edge_probabilities() * answered
    others = edges[:, 0] != edges[:, 1]
    edges, works = edges[others], works[others]
    loops = np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1)
    graphs = []
    for _ in range(sets):
        here: Bools = (rng.random(n) < chance)[edges[:, 1]]
        pairs = np.concatenate([edges[here], loops])
        reveals = np.concatenate([works[here], np.ones(n)])
        graphs.append(FeedbackGraph.from_edges(n, pairs, labels=graph.labels, probabilities=reveals))
    drawn = changing(losses, graphs, probabilities=np.full(sets, 1 / sets)).changes
    assert drawn is not None
    return losses.on(drawn, "online")
