"""Many small minimisations at once: searches prove nothing, so they may stop anywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sidelight._types import Floats


def minimised(
    value: Callable[[Floats], Floats], start: Floats, widths: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Where m functions of d numbers each are small, (d, m), and their values (m,): steps like Nelder and Mead's.

    `value` takes points (d, points, m) and gives (points, m).
    """
    d, m = start.shape
    columns = np.arange(m)
    simplex = np.repeat(start[None], d + 1, axis=0)
    simplex[np.arange(1, d + 1), np.arange(d)] += widths[:, None]

    def at(points: Floats) -> Floats:
        values = value(np.moveaxis(points, 1, 0))
        return np.where(np.isnan(values), np.inf, values)

    values = at(simplex)
    for _ in range(steps):
        order = values.argsort(axis=0, kind="stable")
        values = np.take_along_axis(values, order, 0)
        simplex = np.take_along_axis(simplex, order[:, None], 0)
        # The worst corner is reflected in the middle of the others, farther or less far, or moved towards the best.
        middle, half = simplex[:-1].mean(axis=0), (simplex[:1] + simplex[-1:]) / 2
        moves = np.array([1.0, 2.0, 0.5, -0.5])[:, None, None]
        points = np.concatenate([middle + moves * (middle - simplex[-1]), half])
        tried = at(points)
        reflected, farther = tried[0], (tried[1] < tried[0]).astype(np.int64)
        which = np.where(
            reflected < values[0], farther, np.where(reflected < values[-2], 0, tried.argmin(axis=0))
        )
        simplex[-1], values[-1] = points[which, :, columns].T, tried[which, columns]
    least = values.argmin(axis=0)
    return simplex[least, :, columns].T, values[least, columns]
