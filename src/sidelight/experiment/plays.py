"""How often each arm was played by some of the checkpoints: as many as a budget of memory allows.

A seed on n arms keeps n numbers for every checkpoint at which plays are known, and at most `MOST_OF_SEED`; all seeds
of a run together keep at most `MOST_NUMBERS`. Where that is too few for all checkpoints, every second, third, … is
kept, counted back from the last; where it is too few for two of them, plays are known at the end alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight._types import Longs

MOST_OF_SEED = 2**16
"""Of all checkpoints of a seed, and so of a cell, which has them over all seeds: half a MiB."""
MOST_NUMBERS = 2**21
"""Of all seeds and checkpoints of one run: 16 MiB."""


class PlaysOver(NamedTuple):
    """Plays of each arm up to some of the checkpoints, from the first to the last."""

    rounds: Longs  # (P,) at least two; the last is that of the run
    counts: (
        Longs  # (S, P, n) of each seed, −1 where it did not get that far; of a cell (P, n), over all seeds
    )


def kept_at(checkpoints: int, seeds: int, arms: int) -> Longs:
    """Positions of the checkpoints at which plays are kept, the last among them; none if only the end is.

    >>> kept_at(80, 20, 500).size, kept_at(80, 20, 10_000).tolist()
    (80, [9, 23, 37, 51, 65, 79])
    >>> kept_at(80, 20, 100_000).size
    0
    """
    most = min(checkpoints, MOST_OF_SEED // arms, MOST_NUMBERS // (seeds * arms)) if arms else 0
    if most < 2:
        return np.zeros(0, dtype=np.int64)
    stride = -(-checkpoints // most)
    return np.arange((checkpoints - 1) % stride, checkpoints, stride, dtype=np.int64)
