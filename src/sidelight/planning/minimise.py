"""A small deterministic minimiser for right-hand sides with a few positive parameters."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log

import numpy as np

Vector = tuple[float, ...]

STEP, SHRINK, LEAST_STEP = 0.5, 0.35, 1e-7


def minimise(value: Callable[[Vector], float], start: Vector) -> Vector:
    """Positive parameters with a small value, never a larger one than at `start`.

    Pattern search on the logarithms, along the axes and along the last move; infeasible points have value ∞.
    Whatever it returns, a bound evaluated there is a bound: it decides how tight, never how true.
    """
    if not start:
        return start
    point = np.array([log(x) for x in start])
    memory: dict[bytes, float] = {}

    def at(where: np.ndarray) -> float:
        key = where.tobytes()
        if key not in memory:
            memory[key] = value(tuple(exp(x) for x in where)) if np.abs(where).max() < 690 else inf
        return memory[key]

    best, step = value(start), STEP
    exact_start = True
    while step > LEAST_STEP:
        base, found = point.copy(), False
        for i in range(len(point)):
            for sign in (1.0, -1.0):
                trial = point.copy()
                trial[i] += sign * step
                if at(trial) < best:
                    point, best, found, exact_start = trial, at(trial), True, False
                    break
        if found:
            while at(trial := point + (point - base)) < best:
                base, point, best = point, trial, at(trial)
        else:
            step *= SHRINK
    return start if exact_start else tuple(exp(x) for x in point)
