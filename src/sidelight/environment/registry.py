"""Environments by name, as commands and spec files write them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import NamedTuple

from sidelight.environment.coins import gap, switching
from sidelight.environment.environment import Environment
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph

Build = Callable[[list[str], FeedbackGraph, int], Environment]


class _Kind(NamedTuple):
    build: Build
    usage: str


def _gap(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    width, best = _numbers(words, 0.2, graph.n_arms // 2)
    return gap(graph.n_arms, best=int(best), gap=width)


def _switching(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    period, width = _numbers(words, max(1, horizon // 10), 0.2)
    return switching(graph.n_arms, period=int(period), gap=width)


_KINDS: dict[str, _Kind] = {
    "gap": _Kind(_gap, "gap[:GAP[,ARM]]"),
    "switching": _Kind(_switching, "switching[:PERIOD[,GAP]]"),
}


def usages() -> tuple[str, ...]:
    """How to write each environment for `parse`, such as "gap[:GAP[,ARM]]"."""
    return tuple(kind.usage for kind in _KINDS.values())


def parse(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from a short text: a kind and its arguments in order, each with a default.

    >>> import sidelight as sl
    >>> parse("gap:0.3,2", sl.families.cycle(6), 1000).best_arm(1000)
    2
    """
    name, _, rest = spec.partition(":")
    key = name.strip().lower().replace("-", "_")
    if key not in _KINDS:
        close = difflib.get_close_matches(key, _KINDS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InvalidOption(
            f"unknown environment {name!r} in {spec!r}; {hint}Known environments: {', '.join(usages())}"
        )
    kind = _KINDS[key]
    words = [word.strip() for word in rest.split(",")] if rest.strip() else []
    try:
        return kind.build(words, graph, horizon)
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {kind.usage}") from error


def _numbers(words: list[str], *defaults: float) -> list[float]:
    """The numbers that were given, then the defaults of those that were not."""
    if len(words) > len(defaults):
        raise ValueError(f"at most {len(defaults)} arguments, got {len(words)}")
    given = [float(word) for word in words]
    return given + list(defaults[len(given) :])
