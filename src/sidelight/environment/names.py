"""Environments by name, as commands and spec files write them: a word, then its arguments with defaults."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight._check import suggestion
from sidelight._types import Floats
from sidelight.environment.base import Environment, checked_arms
from sidelight.environment.function import own_environment
from sidelight.errors import InvalidOption, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.graph.building import read_number

GAP = 0.2
"""By how much the best arm is better, unless the text says otherwise."""

Make = TypeVar("Make", bound=Callable[..., Any])
Spelling = tuple[str, Callable[["Written"], Environment]]
"""How an environment is written, such as "gap[:GAP[,ARM]]", and how that is read."""


class Written(NamedTuple):
    """The arguments of an environment as they were written, and the game that it is for.

    What cannot be read raises ValueError in plain words; `parse` adds the text and how to write it.
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


def spelled(usage: str, read: Callable[[Written], Environment]) -> Callable[[Make], Make]:
    """Let text name the environment that the decorated function makes, by the function's own name."""

    def mark(make: Make) -> Make:
        make.spelling = (usage, read)  # type: ignore[attr-defined]
        return make

    return mark


def whole(number: float) -> int:
    """A number that must be a whole one."""
    if not float(number).is_integer():
        raise ValueError(f"{number:g} must be a whole number")
    return int(number)


@lru_cache(maxsize=1)
def _spellings() -> dict[str, Spelling]:
    """By name: whatever the package exports and somebody has marked with `spelled`."""
    import sidelight.environment as package

    exported = sorted(vars(package).items())
    found = {name: make.spelling for name, make in exported if hasattr(make, "spelling")}
    return found | {"python": ("python:MODULE.FUNCTION", _from_module)}


def _from_module(written: Written) -> Environment:
    module, _, name = (written.words[0] if len(written.words) == 1 else "").rpartition(".")
    if not module:
        raise ValueError("it names no function of a module")
    return own_environment(module, name, written.graph, written.horizon)


def usages() -> tuple[str, ...]:
    """How to write each environment for `parse`, such as "gap[:GAP[,ARM]]"."""
    return (*(usage for usage, _ in _spellings().values()), "FILE.py:FUNCTION")


def parse(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from a short text: a name and its arguments in order, each with a default.

    >>> import sidelight as sl
    >>> parse("gap:0.3,2", sl.families.cycle(6), 1000).best_arm(1000)
    2
    """
    if not isinstance(spec, str):
        raise InvalidOption(f"an environment is written as text such as 'gap:0.2', got {spec!r}")
    if ".py:" in spec:
        file, _, what = spec.rpartition(":")
        found = own_environment(file.strip(), what.strip(), graph, horizon)
    else:
        found = _read(spec, graph, horizon)
    if found.n_arms != graph.n_arms:
        raise InvalidOption(
            f"{spec!r} has {found.n_arms} arms, the graph {graph.n_arms}; choose the graph that goes with it"
        )
    return found


def _read(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    name, _, rest = spec.partition(":")
    key = name.strip().lower().replace("-", "_")
    if key not in _spellings():
        known = suggestion(key, _spellings(), "environments", usages())
        raise InvalidOption(f"unknown environment {name!r} in {spec!r}; {known}")
    words = [word.strip() for word in rest.split(",")] if rest.strip() else []
    usage, read = _spellings()[key]
    try:
        return read(Written(words, graph, horizon))
    except SidelightError:
        raise
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {usage}") from error
