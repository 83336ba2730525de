"""How commands and spec files write an environment: a word, then its arguments, each with a default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight._types import Floats
from sidelight.environment.base import Environment, checked_arms
from sidelight.graph import FeedbackGraph
from sidelight.graph.building import read_number

GAP = 0.2
"""By how much the best arm is better, unless the text says otherwise."""

Make = TypeVar("Make", bound=Callable[..., Any])


class Written(NamedTuple):
    """The arguments of an environment as they were written, and the game that it is for.

    What cannot be read raises ValueError in plain words; `names.parse` adds the text and how to write it.
    """

    words: list[str]
    graph: FeedbackGraph
    horizon: int

    def numbers(self, *defaults: float) -> list[float]:
        """The numbers that were given, then the defaults of those that were not."""
        if len(self.words) > len(defaults):
            raise ValueError(f"at most {len(defaults)} arguments, got {len(self.words)}")
        given = [read_number(word) for word in self.words]
        return given + list(defaults[len(given) :])

    def named(self, most: int) -> tuple[list[str], bool]:
        """One name or up to `most`, and whether the last word is "repeat"."""
        repeat = len(self.words) > 1 and self.words[-1] == "repeat"
        named = self.words[:-1] if repeat else self.words
        if not 1 <= len(named) <= most or not all(named):
            raise ValueError(f"1 to {most} names are needed, got {len(named)}")
        return named, repeat

    @property
    def middle(self) -> int:
        """The arm that is best unless the text says otherwise."""
        return self.graph.n_arms // 2

    def leading(self, gap: float, best: float) -> Floats:
        """Means ½, but for `best`, which is better by `gap`."""
        means = np.full(self.graph.n_arms, 0.5)
        means[checked_arms([whole(best)], self.graph.n_arms, "the best arm")] -= gap
        return means


class Spelling(NamedTuple):
    """How an environment is written, and how that is read."""

    usage: str  # such as "gap[:GAP[,ARM]]"
    read: Callable[[Written], Environment]


def spelled(usage: str, read: Callable[[Written], Environment]) -> Callable[[Make], Make]:
    """Let text name the environment that the decorated function makes, by the function's own name."""

    def mark(make: Make) -> Make:
        make.spelling = Spelling(usage, read)  # type: ignore[attr-defined]
        return make

    return mark


def whole(number: float) -> int:
    """A number that must be a whole one."""
    if not float(number).is_integer():
        raise ValueError(f"{number:g} must be a whole number")
    return int(number)
