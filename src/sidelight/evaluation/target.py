"""What is asked about: a distribution over the arms for every logged decision, or a plan that is replayed.

A plan that learns plays by what it saw itself, so no single distribution says what it would have done. Where every
decision of the log reveals all that the plan's draw would have revealed, and its cost, the plan can be played on the
log as in a game. Otherwise one would have to skip rounds, which is right only for losses that never change, or to
weigh whole histories, which needs exponentially many of them: this is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.errors import InfeasibleRequest, InvalidOption, listing
from sidelight.evaluation.result import Estimate, Evaluation
from sidelight.log import Log
from sidelight.policy.player import Playable

# -- distributions ------------------------------------------------------------------------------------------


BLOCK = 1 << 20
"""Numbers of one block of distributions: a million rounds of a thousand arms need not fit in memory."""
TOLERANCE = 1e-6
"""By how much probabilities may miss a sum of one; they are scaled to it."""


@dataclass(frozen=True, eq=False)
class Target:
    """π_t(i): the same for all decisions, or a function of the decision's position in the log."""

    n_rounds: int
    fixed: Floats | None  # (n_arms,)
    varying: Callable[[int, int], Floats] | None = None  # (first, last) -> (last − first, n_arms)

    def blocks(self, n_arms: int) -> Iterator[tuple[int, int, Floats]]:
        """(first, last, distributions of these decisions, one row each)."""
        size = max(1, BLOCK // n_arms)
        for first in range(0, self.n_rounds, size):
            last = min(first + size, self.n_rounds)
            if self.varying is not None:
                yield first, last, self.varying(first, last)
            elif self.fixed is not None:
                yield first, last, np.broadcast_to(self.fixed, (last - first, n_arms))

    @classmethod
    def of(cls, log: Log, target: Any) -> Target:
        """From an arm, a label, "uniform", a distribution, one for each decision, or a function of the round."""
        if isinstance(target, str) and target == "uniform" and target not in (log.labels or ()):
            return cls(log.n_rounds, np.full(log.n_arms, 1 / log.n_arms))
        if isinstance(target, str | int | np.integer) and not isinstance(target, bool):
            return cls(log.n_rounds, np.eye(1, log.n_arms, log.arm_of(target))[0])
        if isinstance(target, Mapping):
            weights = np.zeros(log.n_arms)
            for name, probability in target.items():
                if not _is_number(probability):
                    raise InvalidOption(
                        f"the probability of arm {name!r} must be a number, got {probability!r}"
                    )
                weights[log.arm_of(name)] += probability
            return cls(log.n_rounds, _checked(weights[None, :])[0])
        if hasattr(target, "ask") and hasattr(target, "probabilities"):
            raise InvalidOption(
                "a policy in the middle of a game changes with every answer, so what it would have done is not one "
                "distribution: pass policy.probabilities for the policy as it is now, or its plan to replay it from "
                "the start where the log shows enough"
            )
        if callable(target):
            return cls(log.n_rounds, None, _from_function(log, target))
        return _from_array(log, target)


def is_distribution(log: Log, target: Mapping[Any, Any]) -> bool:
    """Is this mapping {arm or label: probability}, rather than {name: target}?"""
    try:
        for name in target:
            log.arm_of(name)
    except InvalidOption:
        return False
    return bool(target) and all(map(_is_number, target.values()))


def _from_array(log: Log, target: Any) -> Target:
    try:
        table = np.array(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidOption(
            f"a target is an arm, a label, a distribution over {log.n_arms} arms, one for each of {log.n_rounds} "
            f"decisions, a function of the round, or a plan; got {type(target).__name__}"
        ) from None
    if table.shape == (log.n_arms,):
        return Target(log.n_rounds, _checked(table[None, :])[0])
    if table.shape != (log.n_rounds, log.n_arms):
        raise InvalidOption(
            f"an array as target has shape ({log.n_arms},) or ({log.n_rounds}, {log.n_arms}), a probability for each "
            f"arm (of each decision), got shape {table.shape}; if the log has more arms than it shows, say n_arms= "
            "when making it"
        )
    table = _checked(table, log)
    return Target(log.n_rounds, None, lambda first, last: table[first:last])


def _from_function(log: Log, function: Callable[[int], Any]) -> Callable[[int, int], Floats]:
    def block(first: int, last: int) -> Floats:
        table = np.empty((last - first, log.n_arms))
        for at, round_ in enumerate(log.round[first:last].tolist()):
            row = np.asarray(function(round_), dtype=np.float64)
            if row.shape != (log.n_arms,):
                why = f"{log.n_arms} probabilities, got shape {row.shape} in round {round_}"
                raise InvalidOption(f"the target must give {why}")
            table[at] = row
        return _checked(table, log, first)

    return block


def _checked(table: Floats, log: Log | None = None, first: int = 0) -> Floats:
    """Rows that are distributions, scaled to sum to one exactly; else an error naming the round and the value."""
    total = table.sum(axis=1)
    wrong = ~((table >= 0).all(axis=1) & (np.abs(total - 1) <= TOLERANCE))  # also NaN
    if wrong.any():
        row = int(np.argmax(wrong))
        when = "" if log is None else f" in round {log.round[first + row]}"
        bad = np.flatnonzero(~(table[row] >= 0))
        value = f"{table[row, bad[0]]} for arm {bad[0]}" if bad.size else f"a sum of {total[row]:.6g}"
        raise InvalidOption(f"the target must be probabilities ≥ 0 that sum to 1{when}, got {value}")
    scaled: Floats = table / total[:, None]
    return scaled


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


# -- replay -------------------------------------------------------------------------------------------------


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
    values, unit = log.unit.to_unit_interval(log.value), log.unit
    costs = np.array([_game(log, name, plan, values, seed) for seed in seeds])
    mean, error, half = float(costs.mean()), float("nan"), 1.0
    if len(seeds) > 1:
        error = float(costs.std(ddof=1)) / len(seeds) ** 0.5
        half = float(stdtrit(len(seeds) - 1, (1 + level) / 2)) * error
    estimate = unit.from_unit_interval(mean)
    covers = "it covers the plan's own draws, the values are those of the log"
    return Evaluation(
        target=name,
        estimate=estimate,
        low=unit.from_unit_interval(max(mean - half, 0.0)),
        high=unit.from_unit_interval(min(mean + half, 1.0)),
        level=level,
        method="replay",
        interval=f"Student's t over {len(seeds)} replays; {covers}",
        n_rounds=log.n_rounds,
        n_rows=log.n_rows,
        ess=float(log.n_rounds),
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
        shown, losses = log.revealed[rows], values[rows]  # sorted by arm
        needed: Longs = np.append(graph.out_neighbors(arm).astype(np.int64), arm)
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
        player.tell(1 - losses[at[:-1]] if rewards else losses[at[:-1]])
        total += float(losses[at[-1]])
    return total / log.n_rounds
