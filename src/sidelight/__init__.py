"""Sidelight: bandits with graph feedback, from a graph to a certified plan to decisions.

>>> import sidelight as sl
>>> g = sl.families.cycle(20)
>>> plan = sl.plan(g, horizon=100_000)
>>> policy = plan.policy(seed=7)

Names are imported on first use, so that `import sidelight` and the command line start at once. Which they are,
and where each lives, is written once, in `__init__.pyi`, for type checkers and for the lines below.
"""

from importlib import import_module

from sidelight._version import __version__ as __version__

_HOMES = {}
with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as _stub:
    for _line in _stub:
        match _line.split():
            case ["from", _home, "import", _name, "as", _]:
                _HOMES[_name] = _home

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sidelight' has no attribute {name!r}")
    if home == "sidelight.planning":
        import_module("sidelight.policy")  # teaches plans to make policies
    value = import_module(f"sidelight.{name}") if home == "sidelight" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
