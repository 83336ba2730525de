"""Bounds whose free parameters are chosen best at each horizon."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any, Protocol

from sidelight.planning.bounds.bound import Bound, Condition, bound_at


class Problem(Protocol):
    """A right-hand side with free parameters, which `levers(T)` chooses best at T."""

    def levers(self, T: float) -> Any:
        """The parameters at which the right-hand side is smallest."""
        ...

    def terms(self, T: float, levers: Any) -> dict[str, float]:
        """Its terms."""
        ...

    def conditions(self, T: float, levers: Any) -> tuple[Condition, ...]:
        """What it needs."""
        ...

    def closed_form(self, T: float) -> float:
        """A value that it cannot exceed, infinite where none is known."""
        ...


def feasible_value(conditions: tuple[Condition, ...], terms: Callable[[], dict[str, float]]) -> float:
    """Σ terms, or infinity where a condition fails by however little: there the terms may have no value."""
    if not all(condition.left <= condition.right for condition in conditions):
        return inf
    value = sum(terms().values())
    return value if isfinite(value) else inf


def score_at(problem: Problem, horizon: int) -> tuple[float, bool]:
    """Value of the smallest right-hand side at `horizon` and whether it is certified."""
    T = float(horizon)
    levers = problem.levers(T)
    certified = all(condition.holds for condition in problem.conditions(T, levers))
    return sum(problem.terms(T, levers).values()), certified


def least_bound(problem: Problem, horizon: int, theorem: str) -> Bound:
    """The right-hand side at its smallest, as a bound that is checked against its closed form."""

    def terms(T: float) -> dict[str, float]:
        return problem.terms(T, problem.levers(T))

    def conditions(T: float) -> tuple[Condition, ...]:
        listed = problem.conditions(T, problem.levers(T))
        closed = problem.closed_form(T)
        if isfinite(closed):
            listed += (Condition("minimised ≤ closed form", sum(terms(T).values()), closed),)
        return listed

    return bound_at(horizon, theorem, terms, conditions)
