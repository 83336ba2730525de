"""Play a policy against an environment, one decision at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sidelight.environment import Bernoulli
    from sidelight.policy import Policy


@dataclass(frozen=True, eq=False)
class Played:
    """What happened: cumulative pseudo-regret after each round and how often each arm was played."""

    regret: npt.NDArray[np.float64]  # (rounds,)
    plays: npt.NDArray[np.int64]  # (n_arms,)


def play(
    policy: Policy,
    environment: Bernoulli,
    rounds: int,
    key: int,
    on_round: Callable[[], object] | None = None,
) -> Played:
    """Alternate `ask` and `tell` for `rounds` rounds; `key` fixes the losses."""
    graph = policy.graph
    regret = np.empty(rounds)
    plays = np.zeros(graph.n_arms, dtype=np.int64)
    total = 0.0
    for t in range(rounds):
        arm = policy.ask()
        policy.tell([environment.loss(key, t, int(j)) for j in graph.out_neighbors(arm)])
        plays[arm] += 1
        total += environment.gap(arm)
        regret[t] = total
        if on_round is not None:
            on_round()
    return Played(regret, plays)
