"""The policy that is asked about, as a distribution over the arms for every logged decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.log import Log

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
        """(first, last, distributions of these decisions); one row for all where it is fixed."""
        if self.varying is None:
            assert self.fixed is not None
            yield 0, self.n_rounds, self.fixed[None, :]
            return
        size = max(1, BLOCK // n_arms)
        for first in range(0, self.n_rounds, size):
            last = min(first + size, self.n_rounds)
            yield first, last, self.varying(first, last)

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
                weights[log.arm_of(name)] += _number(name, probability)
            return cls(log.n_rounds, _checked(weights[None, :], "the target")[0])
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

    def known(name: object) -> bool:
        try:
            log.arm_of(name)
        except InvalidOption:
            return False
        return True

    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in target.values())
    return bool(target) and numbers and all(map(known, target))


def _from_array(log: Log, target: Any) -> Target:
    try:
        table = np.array(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidOption(
            f"a target is an arm, a label, a distribution over {log.n_arms} arms, one for each of {log.n_rounds} "
            f"decisions, a function of the round, or a plan; got {type(target).__name__}"
        ) from None
    if table.shape == (log.n_arms,):
        return Target(log.n_rounds, _checked(table[None, :], "the target")[0])
    if table.shape != (log.n_rounds, log.n_arms):
        raise InvalidOption(
            f"an array as target has shape ({log.n_arms},) or ({log.n_rounds}, {log.n_arms}), a probability for each "
            f"arm (of each decision), got shape {table.shape}; if the log has more arms than it shows, say n_arms= "
            "when making it"
        )
    table = _checked(table, "the target", log)
    return Target(log.n_rounds, None, lambda first, last: table[first:last])


def _from_function(log: Log, function: Callable[[int], Any]) -> Callable[[int, int], Floats]:
    def block(first: int, last: int) -> Floats:
        rows = [np.asarray(function(round_), dtype=np.float64) for round_ in log.round[first:last].tolist()]
        for row, round_ in zip(rows, log.round[first:last].tolist(), strict=True):
            if row.shape != (log.n_arms,):
                raise InvalidOption(
                    f"the target must give {log.n_arms} probabilities, got shape {row.shape} in round {round_}"
                )
        return _checked(np.array(rows), "the target", log, first)

    return block


def _checked(table: Floats, what: str, log: Log | None = None, first: int = 0) -> Floats:
    """Rows that are distributions, scaled to sum to one exactly; else an error naming the round and the value."""
    total = table.sum(axis=1)
    wrong = ~((table >= 0).all(axis=1) & (np.abs(total - 1) <= TOLERANCE))  # also NaN
    if wrong.any():
        row = int(np.argmax(wrong))
        when = "" if log is None else f" in round {log.round[first + row]}"
        bad = np.flatnonzero(~(table[row] >= 0))
        value = f"{table[row, bad[0]]} for arm {bad[0]}" if bad.size else f"a sum of {total[row]:.6g}"
        raise InvalidOption(f"{what} must be probabilities ≥ 0 that sum to 1{when}, got {value}")
    scaled: Floats = table / total[:, None]
    return scaled


def _number(name: object, value: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidOption(f"the probability of arm {name!r} must be a number, got {value!r}")
    return float(value)
