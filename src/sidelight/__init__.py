"""Sidelight: bandits with graph feedback, from a graph to a certified plan to decisions.

>>> import sidelight as sl
>>> g = sl.families.cycle(20)
>>> plan = sl.plan(g, horizon=100_000)
>>> policy = plan.policy(seed=7)

Names are imported on first use, so that `import sidelight` and the command line start at once. `__init__.pyi` says
the same to type checkers.
"""

from importlib import import_module

from sidelight._version import __version__ as __version__

_NAMES = {
    "sidelight.analysis": (
        "fractional_domination", "independence_number", "observability", "packing_independent_set",
    ),
    "sidelight.errors": (
        "IllegalPartition", "InfeasibleRequest", "InvalidFeedback", "InvalidOption", "SavedStateError",
        "SidelightError", "TurnError",
    ),
    "sidelight.evaluation": ("Evaluation", "evaluate"),
    "sidelight.experiment": ("Results", "Run", "Spec", "compare", "simulate"),
    "sidelight.experiment.sweep": ("sweep",),
    "sidelight.graph": ("FeedbackGraph", "read_graph", "write_graph"),
    "sidelight.log": ("Log", "LogWriter"),
    "sidelight.partition": ("Partition",),
    "sidelight.planning": ("Bound", "Plan", "check_certificate", "compare_bounds", "plan"),
    "sidelight.policy": ("Certificate", "Decision", "Policy"),
}  # fmt: skip
"""Where each public name is, by module."""

_MODULES = {
    "baselines": "sidelight.baselines",
    "environments": "sidelight.environments",
    "errors": "sidelight.errors",
    "families": "sidelight.graph.families",
    "partitions": "sidelight.partitions",
}

_MOVED = {
    "sidelight.analysis": (
        "Domination", "IndependenceNumber", "Minimax", "Observability", "minimax", "packing_lower_bound",
    ),
    "sidelight.errors": (
        "ColumnsIgnored", "GraphFileError", "IncompleteDecision", "InvalidGraph", "LogError", "PastHorizon",
        "PolicyError", "PoorOverlap", "ResultsError", "ServiceError", "SolverError", "SpecChanged", "SpecError",
        "StoreError", "UnobservableGraph", "WeightsIgnored", "WorkerError",
    ),
    "sidelight.evaluation": ("Evaluations",),
    "sidelight.planning": ("Comparison", "SelfTuningBound"),
    "sidelight.policy": ("Rule",),
}  # fmt: skip
"""Names that were here, and are found for one more version, with a warning that says where they are."""

__all__ = sorted(["__version__", *_MODULES, *(name for names in _NAMES.values() for name in names)])


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value: object = import_module(_MODULES[name])
    elif (home := _home(_NAMES, name)) is not None:
        value = getattr(import_module(home), name)
    elif (home := _home(_MOVED, name)) is not None:
        return _moved(home, name)
    else:
        raise AttributeError(f"module 'sidelight' has no attribute {name!r}")
    globals()[name] = value
    return value


def _home(homes: dict[str, tuple[str, ...]], name: str) -> str | None:
    return next((home for home, names in homes.items() if name in names), None)


def _moved(home: str, name: str) -> object:
    import warnings

    place = "sl.errors" if home == "sidelight.errors" else home
    message = f"sidelight.{name} is {place}.{name} now; the old name goes with the next version"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
