"""Sidelight: bandits with graph feedback, from a graph to a certified plan to decisions.

>>> import sidelight as sl
>>> g = sl.families.cycle(20)
>>> plan = sl.plan(g, horizon=100_000)
>>> policy = plan.policy(seed=7)

Names are imported on first use, so that `import sidelight` and the command line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sidelight._version import __version__

if TYPE_CHECKING:
    from sidelight import baselines, environments, partitions
    from sidelight.analysis import (
        Domination,
        IndependenceNumber,
        Minimax,
        Observability,
        fractional_domination,
        independence_number,
        minimax,
        observability,
        packing_independent_set,
        packing_lower_bound,
    )
    from sidelight.errors import (
        GraphFileError,
        IllegalPartition,
        InfeasibleRequest,
        InvalidFeedback,
        InvalidGraph,
        InvalidOption,
        ResultsError,
        SavedStateError,
        SidelightError,
        SolverError,
        SpecChanged,
        SpecError,
        TurnError,
        UnobservableGraph,
        WorkerError,
    )
    from sidelight.experiment import Results, Run, Spec, compare, simulate
    from sidelight.experiment.sweep.runner import sweep
    from sidelight.graph import FeedbackGraph, families, read_graph, write_graph
    from sidelight.partition import Partition
    from sidelight.planning import (
        AnytimeBound,
        AnytimePlan,
        Bound,
        Comparison,
        DoublingPlan,
        Plan,
        StrongAnytimeBound,
        check_certificate,
        compare_bounds,
        plan,
    )
    from sidelight.policy import Certificate, Policy, Rule

_HOMES = {
    "sidelight.analysis": (
        "Domination",
        "IndependenceNumber",
        "Minimax",
        "Observability",
        "fractional_domination",
        "independence_number",
        "minimax",
        "observability",
        "packing_independent_set",
        "packing_lower_bound",
    ),
    "sidelight.errors": (
        "GraphFileError",
        "IllegalPartition",
        "InfeasibleRequest",
        "InvalidFeedback",
        "InvalidGraph",
        "InvalidOption",
        "ResultsError",
        "SavedStateError",
        "SidelightError",
        "SolverError",
        "SpecChanged",
        "SpecError",
        "TurnError",
        "UnobservableGraph",
        "WorkerError",
    ),
    "sidelight.experiment": ("Results", "Run", "Spec", "compare", "simulate", "sweep"),
    "sidelight.graph": ("FeedbackGraph", "families", "read_graph", "write_graph"),
    "sidelight.partition": ("Partition",),
    "sidelight.planning": (
        "AnytimeBound",
        "AnytimePlan",
        "Bound",
        "Comparison",
        "DoublingPlan",
        "Plan",
        "StrongAnytimeBound",
        "check_certificate",
        "compare_bounds",
        "plan",
    ),
    "sidelight.policy": ("Certificate", "Policy", "Rule"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = ("baselines", "environments", "partitions")

__all__ = [
    "AnytimeBound",
    "AnytimePlan",
    "Bound",
    "Certificate",
    "Comparison",
    "Domination",
    "DoublingPlan",
    "FeedbackGraph",
    "GraphFileError",
    "IllegalPartition",
    "IndependenceNumber",
    "InfeasibleRequest",
    "InvalidFeedback",
    "InvalidGraph",
    "InvalidOption",
    "Minimax",
    "Observability",
    "Partition",
    "Plan",
    "Policy",
    "Results",
    "ResultsError",
    "Rule",
    "Run",
    "SavedStateError",
    "SidelightError",
    "SolverError",
    "Spec",
    "SpecChanged",
    "SpecError",
    "StrongAnytimeBound",
    "TurnError",
    "UnobservableGraph",
    "WorkerError",
    "__version__",
    "baselines",
    "check_certificate",
    "compare",
    "compare_bounds",
    "environments",
    "families",
    "fractional_domination",
    "independence_number",
    "minimax",
    "observability",
    "packing_independent_set",
    "packing_lower_bound",
    "partitions",
    "plan",
    "read_graph",
    "simulate",
    "sweep",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"sidelight.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sidelight' has no attribute {name!r}")
    if _HOME_OF[name] == "sidelight.planning":
        import_module("sidelight.policy")  # teaches plans to make policies
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
