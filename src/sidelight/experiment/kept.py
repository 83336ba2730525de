"""What need not be played again: seeds that are finished, and games that were stopped in the middle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sidelight._archive import Arrays
from sidelight._types import Floats, Longs


class PlayedSeed(NamedTuple):
    """What was recorded of one seed, as far as it cannot be computed again quickly."""

    seed: int
    cost: Floats  # (C,) as in `Run`
    ledger: Floats  # (C, 4)
    certificate: Floats  # (C,)
    plays: Longs  # (n,) or (0,) where they are not counted
    over: Longs  # (P, n) plays up to the checkpoints of `plays.kept_at`
    seconds: float


class StoppedSeed(NamedTuple):
    """A game that was stopped between two rounds, bit for bit."""

    played: PlayedSeed  # NaN, and −1 for plays, at checkpoints that were not reached
    round: int  # rounds that were played
    total: float  # what they cost
    state: Arrays  # `Policy.snapshot`


@dataclass(frozen=True, eq=False)
class Kept:
    """What a simulation need not play, and who is told what it has played, in the thread that did."""

    known: Mapping[int, PlayedSeed]
    finished: Callable[[PlayedSeed], object]
    begun: Mapping[int, StoppedSeed] = field(default_factory=dict)
    stopped: Callable[[StoppedSeed], object] = lambda stopped: None
    stop: threading.Event = field(default_factory=threading.Event)  # set by others: end between two rounds
