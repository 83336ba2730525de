"""How the numbers of a tuning change with the round, for plans that do not know their horizon."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption

STRETCH = 1 / 16
"""Epochs grow by this fraction: [t, ⌈t·(1 + 1/16)⌉)."""


def _starts() -> tuple[int, ...]:
    """First rounds of all epochs up to more rounds than can be counted."""
    starts = [1]
    while starts[-1] < 2**64:
        starts.append(-(-starts[-1] * 17 // 16))
    return tuple(starts)


EPOCHS = _starts()
"""First rounds of all epochs, rising; the last one is more rounds than can be counted."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """In round t a number is (max(t, start)/start)^exponent times its value in round 1.

    It keeps the value of the first round of an epoch until the epoch ends; epochs start at
    t₁ = 1, t_{e+1} = ⌈t_e·(1 + 1/16)⌉, so the first round of the epoch of t is above t·16/17. Exponents are
    not positive: numbers never rise.
    """

    inner_rate: Floats  # (n,) exponent of the inner rate of each arm
    exploration: float  # exponent of spread and global exploration
    start: int = 1  # numbers stay as in round 1 until here

    def __post_init__(self) -> None:
        exponents = np.array(self.inner_rate, dtype=np.float64)
        if exponents.ndim != 1 or not ((exponents <= 0) & (exponents >= -1)).all():
            raise InvalidOption("the exponents of a schedule must be between −1 and 0")
        if not -1 <= self.exploration <= 0:
            raise InvalidOption(
                f"the exponent of exploration must be between −1 and 0, got {self.exploration}"
            )
        if self.start < 1:
            raise InvalidOption(f"a schedule starts in round 1 or later, got {self.start}")
        exponents.flags.writeable = False
        object.__setattr__(self, "inner_rate", exponents)

    def factors(self, t: int) -> tuple[Floats, float]:
        """Of the inner rates (n,) and of the exploration, in round t."""
        growth = max(epoch_start(t), self.start) / self.start
        return growth**self.inner_rate, growth**self.exploration


def epoch_start(t: int) -> int:
    """First round of the epoch of round t.

    >>> [epoch_start(t) for t in (1, 2, 17, 18, 19, 1000)]
    [1, 2, 17, 17, 19, 952]
    """
    if t < 1:
        raise InvalidOption(f"rounds are counted from 1, got {t}")
    return EPOCHS[bisect_right(EPOCHS, t) - 1]


def next_epoch(t: int) -> int:
    """First round of the epoch after that of round t.

    >>> [next_epoch(t) for t in (1, 17, 18)]
    [2, 19, 19]
    """
    return EPOCHS[bisect_right(EPOCHS, t)]
