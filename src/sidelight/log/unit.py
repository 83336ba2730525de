"""Losses or rewards, and the range of the user's own scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import Literal, NamedTuple

from sidelight._types import Floats
from sidelight.errors import InvalidOption

LEAST_WIDTH = 1e-300
"""Of a range: below, divisions by it overflow."""

Kind = Literal["losses", "rewards"]


class Unit(NamedTuple):
    """Values lie in [low, high]; of losses less is better, of rewards more."""

    kind: Kind = "losses"
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, losses: Sequence[float] | None = None, rewards: Sequence[float] | None = None) -> Unit:
        """The unit that a caller states by at most one of `losses=(low, high)` and `rewards=(low, high)`."""
        if losses is not None and rewards is not None:
            raise InvalidOption(f"values are losses or rewards, not both: got {losses=} and {rewards=}")
        if rewards is not None:
            return cls("rewards", *_range("rewards", rewards))
        return cls() if losses is None else cls("losses", *_range("losses", losses))

    @property
    def column(self) -> str:
        """What a table calls one value."""
        return "loss" if self.kind == "losses" else "reward"

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low

    def to_unit_interval(self, values: Floats) -> Floats:
        """Values of the user's scale as numbers in [0, 1]."""
        return (values - self.low) / self.width

    def from_unit_interval(self, value: float) -> float:
        """A number on the scale of [0, 1], in the user's."""
        return self.low + self.width * value


def _range(name: str, given: Sequence[float]) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise InvalidOption(f"{name} must be a pair (low, high), got {given!r}") from None
    if not (isfinite(low) and isfinite(high) and low < high):
        raise InvalidOption(f"{name} must be a pair (low, high) of numbers with low < high, got {given!r}")
    if not LEAST_WIDTH <= high - low < inf:
        raise InvalidOption(
            f"the range of {name} is too wide or too narrow for numbers of 64 bits, got {given!r}"
        )
    return low, high
