"""A user's own environment, named by module or file."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from pathlib import Path
from typing import Any

from sidelight.environment.base import Environment
from sidelight.environment.function import function
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph


def own_environment(where: str, name: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from the thing called `name` in the module or file `where` (a path ending in .py).

    It may be an Environment, a function loss(round, arm), compiled or not, or one of (graph, horizon) that
    makes an Environment; parameters with these two names tell the last from the others.
    """
    module = _module(where)
    if not name.isidentifier() or not hasattr(module, name):
        known = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))) or "nothing"
        raise InvalidOption(f"{where} has nothing called {name!r}; it has: {known}")
    found: Any = getattr(module, name)
    if callable(found) and _parameters(found) == ["graph", "horizon"]:
        try:
            found = found(graph, horizon)
        except Exception as error:
            raise InvalidOption(f"{name} of {where} failed: {type(error).__name__}: {error}") from error
    if isinstance(found, Environment):
        return found
    if callable(found) and not isinstance(found, type):
        return function(found, graph.n_arms)
    raise InvalidOption(
        f"{name} of {where} must be an environment or a function of (round, arm), got {type(found).__name__}"
    )


def _module(where: str) -> Any:
    try:
        if not where.endswith(".py"):
            return importlib.import_module(where)
        file = Path(where)
        if not file.is_file():
            raise InvalidOption(f"{file} does not exist; write the path of a Python file")
        spec = importlib.util.spec_from_file_location(f"sidelight_own_{file.stem}", file)
        assert spec is not None  # there is one for every path ending in .py
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except InvalidOption:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidOption(f"cannot import {where}: {type(error).__name__}: {error}") from error


def _parameters(found: Any) -> list[str]:
    try:
        return list(inspect.signature(getattr(found, "py_func", found)).parameters)
    except (TypeError, ValueError):
        return []
