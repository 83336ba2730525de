"""A log of an `ask`/`tell` loop, for policies that say their probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Ints
from sidelight.log.log import Log
from sidelight.log.table import log_of

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph


class Recordable(Protocol):
    """A player that takes turns and says how likely each arm is."""

    @property
    def graph(self) -> FeedbackGraph:
        """What it plays on."""

    @property
    def probabilities(self) -> Floats:
        """Distribution of the pending play."""

    def ask(self) -> int:
        """The next arm."""

    def tell(self, losses: Any) -> None:
        """What it revealed."""


def seen_probabilities(graph: FeedbackGraph, probabilities: Floats, arms: Ints) -> Floats:
    """P_i = Σ of the probabilities of the arms that reveal i, times how likely they do, for each of `arms`."""
    if not graph.certain:
        return graph.seen(probabilities)[arms]
    return np.array([probabilities[graph.in_neighbors(int(arm))].sum() for arm in arms], dtype=np.float64)


def record(
    policy: Recordable, losses: Callable[[int, Ints], npt.ArrayLike], rounds: int, version: str = ""
) -> Log:
    """Play `rounds` rounds and keep them; `losses(t, arms)` gives the losses of `arms` in round t, in [0, 1].

    Where reveals may fail, NaN among them says which have.

    >>> import sidelight as sl
    >>> coins = sl.environments.bernoulli([0.2, 0.5, 0.5])
    >>> policy = sl.plan(sl.families.full(3), horizon=100).policy(seed=1)
    >>> record(policy, lambda t, arms: coins.losses(7, t, arms), rounds=100)
    Log(100 decisions, 300 rows, 3 arms, losses in [0, 1])
    """
    graph = policy.graph
    parts: dict[str, list[Any]] = {
        name: [] for name in ("round", "arm", "probability", "revealed", "loss", "seen")
    }
    for t in range(rounds):
        arm = policy.ask()
        distribution = policy.probabilities
        reveals = graph.out_neighbors(arm)
        values = np.asarray(losses(t, reveals), dtype=np.float64)
        policy.tell(values)
        if not graph.certain:  # a reveal that failed is not in the log
            heard = ~np.isnan(values)
            reveals, values = reveals[heard], values[heard]
        count = max(reveals.size, 1)
        parts["round"] += [t] * count
        parts["arm"] += [arm] * count
        parts["probability"] += [float(distribution[arm])] * count
        parts["revealed"] += reveals.tolist() or [None]
        parts["loss"] += values.tolist() or [None]
        parts["seen"] += seen_probabilities(graph, distribution, reveals).tolist() or [None]
    columns = {name: np.asarray(values) for name, values in parts.items()}
    if version:
        columns["version"] = np.array([version] * len(columns["round"]))
    return log_of(columns, n_arms=graph.n_arms, labels=graph.labels)
