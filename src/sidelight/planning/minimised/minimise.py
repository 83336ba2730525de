"""A small deterministic minimiser for right-hand sides with a few positive parameters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import exp, inf, log

import numpy as np

Vector = tuple[float, ...]

STEP, SHRINK, LEAST_STEP = 0.5, 0.25, 1e-4


def minimise(value: Callable[[Vector], float], start: Vector) -> Vector:
    """Positive parameters with a small value, never a larger one than at `start`.

    Pattern search on the logarithms, along axes, diagonals and the last move; infeasible points have value ∞.
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

    unit = np.eye(len(start))
    axes = [sign * row for row in unit for sign in (1.0, -1.0)]
    diagonals = [p + q for p, q in combinations(axes, 2) if (p + q).any()]
    best, step = value(start), STEP
    exact_start = True
    while step > LEAST_STEP:
        base, found = point.copy(), False
        for moves in (axes, diagonals):
            for move in moves:
                trial = point + step * move
                if at(trial) < best:
                    point, best, found, exact_start = trial, at(trial), True, False
            if found:  # diagonals only where the axes are stuck: they follow the ridges of a maximum
                break
        if found:
            while at(trial := point + (point - base)) < best:
                base, point, best = point, trial, at(trial)
        else:
            step *= SHRINK
    return start if exact_start else tuple(exp(x) for x in point)
