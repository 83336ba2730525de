"""What two strategies are worth, by playing every history out: the checker of a solved game.

Knows nothing of the linear program, of its symmetries or of how histories are numbered; it only asks a
strategy for probabilities and walks the tree of what can be revealed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Floats, Longs
from sidelight.errors import SolverError
from sidelight.graph import FeedbackGraph

ROUNDING = 1e-9
"""How far probabilities may be from summing to 1."""

Losses = npt.NDArray[np.int8]
Past = list[tuple[int, list[int]]]
Play = Callable[[Past], Floats]


def adjacency(g: FeedbackGraph) -> Bools:
    """(N, N) does i reveal j? For small graphs."""
    return g.to_sparse().toarray().astype(bool)


def worst_regret(g: FeedbackGraph, horizon: int, probabilities: Play) -> float:
    """Greatest expected regret of the strategy over all binary loss matrices."""
    n = g.n_arms
    losses = np.array(list(itertools.product((0, 1), repeat=n * horizon)), dtype=np.int8).reshape(
        -1, horizon, n
    )
    regret = -losses.sum(axis=1, dtype=np.int64).min(axis=1).astype(np.float64)
    reveals = adjacency(g)

    def walk(past: Past, alive: Longs, weight: float) -> None:
        chances = checked(probabilities(past))
        regret[alive] += weight * (losses[alive, len(past)] @ chances)
        if len(past) + 1 == horizon:
            return
        for arm, alike in teachers(reveals):
            chance = float(chances[alike].sum())
            if chance > 0.0:
                for shown, still in outcomes(losses[alive, len(past)][:, reveals[arm]]):
                    walk([*past, (arm, shown)], alive[still], weight * chance)

    walk([], np.arange(len(losses)), 1.0)
    return float(regret.max())


def best_response(g: FeedbackGraph, losses: Losses, probabilities: Floats) -> float:
    """Least expected regret that any player can have against the mixture of loss matrices."""
    checked(probabilities)
    horizon = losses.shape[1]
    reveals = adjacency(g)

    def least(played: int, alive: Longs) -> float:
        cost = probabilities[alive] @ losses[alive, played]
        if played + 1 < horizon:
            for arm, alike in teachers(reveals):
                shown = outcomes(losses[alive, played][:, reveals[arm]])
                cost[alike] += sum(least(played + 1, alive[still]) for _, still in shown)
        return float(cost.min())

    comparator = losses.sum(axis=1, dtype=np.int64).min(axis=1)
    return least(0, np.arange(len(losses))) - float(probabilities @ comparator)


def teachers(reveals: Bools) -> Iterator[tuple[int, Longs]]:
    """(one arm, all arms that reveal the same as it) for every out-neighbourhood."""
    for arm, row in enumerate(reveals):
        alike = np.flatnonzero((reveals == row).all(axis=1))
        if alike[0] == arm:
            yield arm, alike


def outcomes(shown: Losses) -> Iterator[tuple[list[int], Bools]]:
    """(what is shown, which loss matrices show it) for every different row."""
    for row in np.unique(shown, axis=0):
        yield row.tolist(), (shown == row).all(axis=1)


def checked(chances: Floats) -> Floats:
    """The probabilities, or SolverError if they are none."""
    if not ((chances >= 0.0).all() and abs(chances.sum() - 1.0) <= ROUNDING):
        raise SolverError(f"{chances.tolist()} are not probabilities")
    return chances
