"""Environments by name, as commands and spec files write them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sidelight.environment.base import Environment, checked_arms
from sidelight.environment.bounded import bounded
from sidelight.environment.coins import bernoulli, gap, packing, switching
from sidelight.environment.datasets import dataset
from sidelight.environment.drifting import drifting
from sidelight.environment.hard import hard, hard_packing
from sidelight.environment.loading import own_environment
from sidelight.environment.opposed import opposed
from sidelight.environment.replay import replay
from sidelight.errors import InvalidOption, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.graph.building import read_number

Build = Callable[[list[str], FeedbackGraph, int], Environment]

GAP = 0.2


class _Kind(NamedTuple):
    build: Build
    usage: str


def _bernoulli(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    if not words:
        return bernoulli(np.linspace(0.3, 0.7, graph.n_arms))
    if len(words) != graph.n_arms:
        raise ValueError(f"{len(words)} means for {graph.n_arms} arms")
    return bernoulli([read_number(word) for word in words])


def _gap(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    width, best = _numbers(words, GAP, graph.n_arms // 2)
    return gap(graph.n_arms, best=_whole(best), gap=width)


def _bounded(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    difference, width, best = _numbers(words, GAP, 0.25, graph.n_arms // 2)
    return bounded(_leading(graph, difference, _whole(best)), width)


def _switching(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    period, width = _numbers(words, max(1, horizon // 10), GAP)
    turns = _leaders(graph, horizon, _whole(period))
    return switching(graph.n_arms, period=_whole(period), arms=turns, gap=width)


def _drifting(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    period, width = _numbers(words, max(1, horizon // 10), GAP)
    turns = _leaders(graph, horizon, _whole(period))
    return drifting(graph.n_arms, period=_whole(period), arms=turns, gap=width)


def _packing(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    from sidelight.analysis import packing_independent_set

    found = packing_independent_set(graph)
    if found.arms.size == 0:
        raise InvalidOption("every arm of this graph reveals itself, so no packing set exists; use hard")
    if words or found.arms.size == 1:
        return packing(graph.n_arms, found, gap=_numbers(words, 0.1)[0])
    return hard_packing(graph.n_arms, found, horizon)


def _hard(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    return hard(graph, horizon, seed=_whole(_numbers(words, 0)[0]))


def _opposed(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    width, best = _numbers(words, GAP, graph.n_arms // 2)
    return opposed(_leading(graph, width, _whole(best)), graph)


def _replay(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    named, repeat = _named(words, 1)
    return replay(named[0], repeat=repeat, rounds=horizon)


def _dataset(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    named, repeat = _named(words, 2)
    series = named[1] if len(named) > 1 else None
    return dataset(named[0], series=series, orders=graph.n_arms, repeat=repeat).environment


def _python(words: list[str], graph: FeedbackGraph, horizon: int) -> Environment:
    module, _, name = (words[0] if len(words) == 1 else "").rpartition(".")
    if not module:
        raise ValueError("it names no function of a module")
    return own_environment(module, name, graph, horizon)


_KINDS: dict[str, _Kind] = {
    "bernoulli": _Kind(_bernoulli, "bernoulli[:MEAN,MEAN,...]"),
    "gap": _Kind(_gap, "gap[:GAP[,ARM]]"),
    "bounded": _Kind(_bounded, "bounded[:GAP[,WIDTH[,ARM]]]"),
    "switching": _Kind(_switching, "switching[:PERIOD[,GAP]]"),
    "drifting": _Kind(_drifting, "drifting[:PERIOD[,GAP]]"),
    "packing": _Kind(_packing, "packing[:GAP]"),
    "hard": _Kind(_hard, "hard[:SEED]"),
    "opposed": _Kind(_opposed, "opposed[:GAP[,ARM]]"),
    "replay": _Kind(_replay, "replay:PATH[,repeat]"),
    "dataset": _Kind(_dataset, "dataset:NAME[,SERIES][,repeat]"),
    "python": _Kind(_python, "python:MODULE.FUNCTION"),
}
_FILE_USAGE = "FILE.py:FUNCTION"


def usages() -> tuple[str, ...]:
    """How to write each environment for `parse`, such as "gap[:GAP[,ARM]]"."""
    return (*(kind.usage for kind in _KINDS.values()), _FILE_USAGE)


def parse(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from a short text: a kind and its arguments in order, each with a default.

    >>> import sidelight as sl
    >>> parse("gap:0.3,2", sl.families.cycle(6), 1000).best_arm(1000)
    2
    """
    if not isinstance(spec, str):
        raise InvalidOption(f"an environment is written as text such as 'gap:0.2', got {spec!r}")
    name, _, rest = spec.partition(":")
    if ".py:" in spec:
        file, _, what = spec.rpartition(":")
        return _fitting(spec, own_environment(file.strip(), what.strip(), graph, horizon), graph)
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
        return _fitting(spec, kind.build(words, graph, horizon), graph)
    except SidelightError:
        raise
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {kind.usage}") from error


def _fitting(spec: str, environment: Environment, graph: FeedbackGraph) -> Environment:
    if environment.n_arms != graph.n_arms:
        raise InvalidOption(
            f"{spec!r} has {environment.n_arms} arms, the graph {graph.n_arms}; choose the graph that goes with it"
        )
    return environment


def _numbers(words: list[str], *defaults: float) -> list[float]:
    """The numbers that were given, then the defaults of those that were not."""
    if len(words) > len(defaults):
        raise ValueError(f"at most {len(defaults)} arguments, got {len(words)}")
    given = [read_number(word) for word in words]
    return given + list(defaults[len(given) :])


def _whole(number: float) -> int:
    if not float(number).is_integer():
        raise ValueError(f"{number:g} must be a whole number")
    return int(number)


def _named(words: list[str], most: int) -> tuple[list[str], bool]:
    """Names, and whether the last word is "repeat"."""
    repeat = len(words) > 1 and words[-1] == "repeat"
    named = words[:-1] if repeat else words
    if not 1 <= len(named) <= most or not all(named):
        raise ValueError(f"1 to {most} names are needed, got {len(named)}")
    return named, repeat


def _leading(graph: FeedbackGraph, gap: float, best: int) -> np.ndarray:
    means = np.full(graph.n_arms, 0.5)
    means[checked_arms([best], graph.n_arms, "the best arm")] -= gap
    return means


def _leaders(graph: FeedbackGraph, horizon: int, period: int) -> list[int]:
    """Evenly spaced arms, as many as get their turn before the horizon."""
    turns = min(graph.n_arms, max(2, -(-horizon // max(period, 1)) + 1))
    return [int(arm) for arm in np.arange(turns) * graph.n_arms // turns]
