"""What the service answers, as the client hands it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Decision:
    """An arm to be played, what that reveals, and how likely each of these was to be seen."""

    id: int
    round: int
    arm: int
    label: str
    reveals: list[int]
    seen: list[float]


class Observed(NamedTuple):
    """Observations that were new, and those that the service knew."""

    accepted: int
    repeated: int


def decisions(body: Any) -> list[Decision]:
    """Of an answer."""
    return [Decision(**found) for found in body["decisions"]]
