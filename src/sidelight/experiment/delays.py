"""How late losses are heard of, in simulations."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from sidelight._check import is_whole
from sidelight._types import Longs
from sidelight.errors import InvalidOption

GEOMETRIC = "geometric"

SEEDED = 0x6465_6C61_7973
"""Sets the stream of delays apart from those of players and losses of the same seed."""


@dataclass(frozen=True, eq=False)
class Delays:
    """How many more decisions are made before the losses of a round are heard of."""

    recorded: Longs  # (1,) of all rounds, or (T,) of each
    mean: float = 0.0  # of geometric ones, in place of those

    @classmethod
    def checked(cls, delay: object, rounds: int) -> Delays:
        """From what a user says."""
        if is_whole(delay) and not isinstance(delay, bool):
            recorded = np.array([delay])
        elif isinstance(delay, tuple) and delay and isinstance(delay[0], str):
            name, *rest = delay
            mean = rest[0] if len(rest) == 1 else None
            if name != GEOMETRIC or not isinstance(mean, int | float) or not (isfinite(mean) and mean >= 0):
                raise InvalidOption(
                    f'a random delay is ("geometric", mean), the mean 0 or more, got {delay!r}'
                )
            return cls(np.zeros(1, dtype=np.int64), float(mean))
        else:
            recorded = np.asarray(delay)
            if recorded.ndim != 1 or recorded.dtype.kind not in "iu":
                raise InvalidOption(
                    'delay must be a whole number, one for each round, or ("geometric", mean), '
                    f"got {delay!r:.60}"
                )
            if recorded.size < rounds:
                raise InvalidOption(f"delays are recorded for {recorded.size} rounds, {rounds} are played")
            recorded = recorded[:rounds]
        if (recorded < 0).any():
            raise InvalidOption(f"a delay cannot be negative, got {recorded[recorded < 0][0]}")
        return cls(recorded.astype(np.int64))

    @property
    def any(self) -> bool:
        """Does anything come late?"""
        return self.mean > 0.0 or bool(self.recorded.any())

    def of(self, seed: int, rounds: int) -> npt.NDArray[np.int64]:
        """(rounds,) of each round, or (1,) of all."""
        if self.mean == 0.0:
            return self.recorded
        rng = np.random.default_rng([SEEDED, seed])
        return rng.geometric(1.0 / (1.0 + self.mean), size=rounds).astype(np.int64) - 1
