"""Linear programs by HiGHS, as exactly as it can."""

from __future__ import annotations

from typing import Any, Literal

from sidelight.errors import SolverError

Method = Literal["highs-ds", "highs-ipm"]
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def methods(large: bool) -> tuple[Method, Method]:
    """Simplex and interior points, the quicker first: the other ends at another vertex if rounding leaves a gap."""
    return ("highs-ipm", "highs-ds") if large else ("highs-ds", "highs-ipm")


def solved(what: str, cost: Any, method: Method = "highs-ds", advice: str = "", **constraints: Any) -> Any:
    """What `scipy.optimize.linprog` finds; SolverError about `what` where it finds nothing."""
    from scipy.optimize import linprog  # a third of a second to import, and most plans need no program

    minimum: Any = linprog  # its overloads do not fit arguments that are passed on
    solution = minimum(cost, method=method, options=TOLERANCES, **constraints)
    if solution.x is None:
        raise SolverError(f"HiGHS did not solve {what}: {solution.message}{advice}")
    return solution
