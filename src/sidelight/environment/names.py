"""Environments by name, as commands and spec files write them."""

from __future__ import annotations

from functools import lru_cache

from sidelight._check import suggestion
from sidelight.environment.base import Environment
from sidelight.environment.loading import own_environment
from sidelight.environment.spelling import Spelling, Written
from sidelight.errors import InvalidOption, SidelightError
from sidelight.graph import FeedbackGraph

__all__ = ["parse", "usages"]

_FILE_USAGE = "FILE.py:FUNCTION"


@lru_cache(maxsize=1)
def _spellings() -> dict[str, Spelling]:
    """By name: whatever the package exports and somebody has marked with `spelled`."""
    import sidelight.environment as package

    exported = sorted(vars(package).items())
    found = {name: make.spelling for name, make in exported if hasattr(make, "spelling")}
    return found | {"python": Spelling("python:MODULE.FUNCTION", _from_module)}


def _from_module(written: Written) -> Environment:
    module, _, name = (written.words[0] if len(written.words) == 1 else "").rpartition(".")
    if not module:
        raise ValueError("it names no function of a module")
    return own_environment(module, name, written.graph, written.horizon)


def usages() -> tuple[str, ...]:
    """How to write each environment for `parse`, such as "gap[:GAP[,ARM]]"."""
    return (*(spelling.usage for spelling in _spellings().values()), _FILE_USAGE)


def parse(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from a short text: a name and its arguments in order, each with a default.

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
    if key not in _spellings():
        raise InvalidOption(
            f"unknown environment {name!r} in {spec!r}; {suggestion(key, _spellings(), 'environments', usages())}"
        )
    words = [word.strip() for word in rest.split(",")] if rest.strip() else []
    spelling = _spellings()[key]
    try:
        return _fitting(spec, spelling.read(Written(words, graph, horizon)), graph)
    except SidelightError:
        raise
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {spelling.usage}") from error


def _fitting(spec: str, environment: Environment, graph: FeedbackGraph) -> Environment:
    if environment.n_arms != graph.n_arms:
        raise InvalidOption(
            f"{spec!r} has {environment.n_arms} arms, the graph {graph.n_arms}; choose the graph that goes with it"
        )
    return environment
