"""Bounds with free parameters, which are chosen best at each horizon: one class, one minimiser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations
from math import exp, inf, isfinite, log
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.plan import Candidate, Offer
from sidelight.planning.tuning import Tuning

P = TypeVar("P")
"""The free parameters of a problem: any that satisfy the conditions give a bound."""

STEP, SHRINK, LEAST_STEP = 0.5, 0.25, 1e-4


class Start(NamedTuple):
    """Where a minimisation begins."""

    free: dict[str, float]  # positive parameters to be minimised over
    fixed: dict[str, Any] = {}  # noqa: RUF012 - never written to


class Problem(ABC, Generic[P]):
    """A right-hand side Σ terms, true for all parameters that satisfy the conditions. Problems are hashable."""

    # Factors that make a start feasible in the end, by slower learning.
    slower: ClassVar[dict[str, float]] = {}

    @abstractmethod
    def terms(self, T: float, x: P) -> dict[str, float]:
        """The bound, term by term, at parameters that satisfy the conditions."""

    @abstractmethod
    def conditions(self, T: float, x: P) -> tuple[Condition, ...]:
        """What the parameters must satisfy; the minimiser keeps to it at every T."""

    @abstractmethod
    def gamma_bar(self, x: P) -> float:
        """Total global exploration, at most."""

    @abstractmethod
    def starts(self, T: float) -> Iterator[Start]:
        """Where to begin; the best of all results counts."""

    @abstractmethod
    def complete(self, T: float, **chosen: Any) -> P:
        """The parameters, those included whose best value is known once the others are chosen."""

    def closed_form(self, T: float) -> float:
        """A value that the minimum cannot exceed, infinite where none is known."""
        return inf

    def value(self, T: float, x: P) -> float:
        """Σ terms, or infinity where a condition fails by however little: there the terms may have no value."""
        if self.gamma_bar(x) > MOST_EXPLORATION or any(c.left > c.right for c in self.conditions(T, x)):
            return inf
        value = sum(self.terms(T, x).values())
        return value if isfinite(value) else inf

    def parameters(self, T: float) -> P:
        """Those with the smallest bound found at T."""
        best: P = _minimised(self, T)
        return best


class MinimisedCandidate(Candidate, ABC):
    """A candidate whose bound is a problem's at its smallest, checked against its closed form."""

    problem: Problem[Any]

    @abstractmethod
    def tune(self, T: float, x: Any) -> tuple[Tuning, dict[str, Any]]:
        """The tuning with these parameters, and those that are told by name."""

    def order(self, x: Any) -> float | None:
        """The order of the potential, where one simplex with one potential is played."""
        return None

    def offer(self, T: float) -> Offer:
        """The smallest right-hand side, which must not exceed what is known in closed form."""
        problem, x = self.problem, self.problem.parameters(T)
        terms, conditions, closed = problem.terms(T, x), problem.conditions(T, x), problem.closed_form(T)
        gamma_bar = problem.gamma_bar(x)
        common = {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar)}
        if isfinite(closed):
            below = Condition("numerical minimum ≤ closed form", sum(terms.values()), closed)
            conditions, common = (*conditions, below), {"closed_form": closed} | common

        def tuned() -> tuple[Tuning, dict[str, Any]]:
            tuning, parameters = self.tune(T, x)
            return tuning, parameters | common

        return Offer(terms, tuned, conditions, order=self.order(x))


@lru_cache(maxsize=8192)
def _minimised(problem: Problem[Any], T: float) -> Any:
    minima = [_from(problem, T, start) for start in problem.starts(T)]
    return min(minima, key=lambda x: problem.value(T, x))


def _from(problem: Problem[P], T: float, start: Start) -> P:
    names, point = list(start.free), tuple(start.free.values())

    def parameters(point: Vector) -> P:
        return problem.complete(T, **dict(zip(names, point, strict=True)), **start.fixed)

    def value(point: Vector) -> float:
        return problem.value(T, parameters(point))

    for _ in range(60 if problem.slower else 0):
        if isfinite(value(point)):
            break
        point = tuple(x * problem.slower.get(name, 1.0) for name, x in zip(names, point, strict=True))
    return parameters(minimise(value, point))


Vector = tuple[float, ...]


def minimise(value: Callable[[Vector], float], start: Vector) -> Vector:
    """Positive parameters with a small value, never a larger one than at `start`.

    Pattern search on the logarithms, along axes, diagonals and the last move; infeasible points have value ∞.
    Whatever it returns, a bound evaluated there is a bound: it decides how tight, never how true.
    One parameter alone is finished off by SciPy's bounded search (Brent).
    """
    if not start:
        return start
    point = np.array([log(x) for x in start])
    memory: dict[bytes, float] = {}

    def at(where: Floats) -> float:
        key = where.tobytes()
        if key not in memory:
            memory[key] = value(tuple(exp(x) for x in where)) if np.abs(where).max() < 690 else inf
        return memory[key]

    unit = np.eye(len(start))
    axes = [sign * row for row in unit for sign in (1.0, -1.0)]
    diagonals = [p + q for p, q in combinations(axes, 2) if (p + q).any()]
    best, step, moved = value(start), STEP, False
    while step > LEAST_STEP:
        base, better = point.copy(), False
        for moves in (axes, diagonals):
            for move in moves:
                trial = point + step * move
                if at(trial) < best:
                    point, best, better, moved = trial, at(trial), True, True
            if better:  # diagonals only where the axes are stuck: they follow the ridges of a maximum
                break
        if better:
            while at(trial := point + (point - base)) < best:
                base, point, best = point, trial, at(trial)
        else:
            step *= SHRINK
    if len(start) == 1:
        from scipy.optimize import minimize_scalar

        bracket = (float(point[0]) - STEP, float(point[0]) + STEP)
        last = minimize_scalar(
            lambda x: min(at(np.array([x])), 1e300),
            bounds=bracket,
            method="bounded",
            options={"xatol": 1e-10},
        )
        if last.fun < best:
            return (exp(last.x),)
    return tuple(exp(x) for x in point) if moved else start
