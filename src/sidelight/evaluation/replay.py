"""Plans and rules on a log: replayed, where that is possible without assuming anything.

A plan that learns plays by what it saw itself, so no single distribution says what it would have done. Where every
decision of the log reveals all that the plan's draw would have revealed, and its cost, the plan can be played on the
log as in a game. Otherwise one would have to skip rounds, which is right only for losses that never change, or to
weigh whole histories, which needs exponentially many of them: this is refused.
"""

from __future__ import annotations

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.errors import InfeasibleRequest, InvalidOption, listing
from sidelight.evaluation.result import Estimate, Evaluation
from sidelight.log import Log
from sidelight.policy.player import Playable


def replay(log: Log, name: str, plan: Playable, seeds: list[int], level: float) -> Evaluation:
    """The mean cost of `plan` on the decisions of the log, over its own draws: one game for each seed."""
    from scipy.special import stdtrit

    if plan.graph.n_arms != log.n_arms:
        raise InvalidOption(f"{name} plays {plan.graph.n_arms} arms, the log has {log.n_arms}")
    if plan.horizon is not None and plan.horizon < log.n_rounds:
        raise InvalidOption(
            f"{name} is a plan for {plan.horizon:,} rounds, the log has {log.n_rounds:,}; plan for as many, or "
            "without a horizon"
        )
    values = log.unit.to_unit_interval(log.value)
    costs = np.array([_game(log, name, plan, values, seed) for seed in seeds])
    unit, n, count = log.unit, log.n_rounds, len(seeds)
    mean, error = float(costs.mean()), float("nan")
    low, high = 0.0, 1.0
    if count > 1:
        error = float(costs.std(ddof=1)) / count**0.5
        half = float(stdtrit(count - 1, (1 + level) / 2)) * error
        low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    estimate = unit.from_unit_interval(mean)
    return Evaluation(
        target=name,
        estimate=estimate,
        low=unit.from_unit_interval(low),
        high=unit.from_unit_interval(high),
        level=level,
        method="replay",
        interval=f"Student's t over {count} replays; it covers the plan's own draws, the values are those of the log",
        n_rounds=n,
        n_rows=log.n_rows,
        ess=float(n),
        mean_weight=1.0,
        largest_weight=1.0,
        unseen=0.0,
        methods={"replay": Estimate(estimate, unit.width * error)},
        unit=unit,
    )


def _game(log: Log, name: str, plan: Playable, values: Floats, seed: int) -> float:
    """Mean value of the arms that one player plays."""
    player, graph, total = plan.policy(seed=seed), plan.graph, 0.0
    rewards = log.unit.kind == "rewards"
    starts = log.start.tolist()
    for t in range(log.n_rounds):
        arm = player.ask()
        rows = slice(starts[t], starts[t + 1])
        shown, found = log.revealed[rows], values[rows]  # sorted by arm
        reveals: Longs = graph.out_neighbors(arm).astype(np.int64)
        needed = np.append(reveals, arm)
        at = np.minimum(np.searchsorted(shown, needed), max(shown.size - 1, 0))
        missing = needed if shown.size == 0 else needed[shown[at] != needed]
        if missing.size:
            arms = [log.name_of(int(each)) for each in np.unique(missing)]
            raise InfeasibleRequest(
                f"{name} cannot be replayed: in round {log.round[t]} it plays arm {log.name_of(arm)} and needs "
                f"to know {listing(arms)}, which the log does not show there. What a policy that learns would have "
                "done cannot be told from such a log without assuming that values never change; evaluate a "
                "distribution instead (for instance policy.probabilities), or simulate with sl.environments.replay"
            )
        revealed, own = found[at[:-1]], float(found[at[-1]])
        player.tell(1 - revealed if rewards else revealed)
        total += own
    return total / log.n_rounds
