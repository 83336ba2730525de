"""Large covering programs to a certified gap: restarted primal-dual steps, certificates by local repair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._types import Floats, Indices
from sidelight.analysis.domination._kernels import (
    gather_sums,
    primal_dual_steps,
    repair_cover,
    repair_packing,
)
from sidelight.analysis.domination.covering import CoveringProgram

STEPS_PER_CHECK = 40
"""A check costs about as much as five steps."""


@dataclass(eq=False)
class Certificates:
    """The best feasible cover and packing seen so far; together they bracket the optimum."""

    program: CoveringProgram

    def __post_init__(self) -> None:
        p = self.program
        self.matrix = (p.row_indptr, p.row_indices, *p.columns)
        # Take slack from sources that reveal little first, give room to targets that use little first.
        self.source_order: Indices = np.argsort(p.listed_out_degree, kind="stable")
        self.target_order: Indices = np.argsort(p.in_degree, kind="stable")
        self.cover = np.ones(p.n_sources)
        self.packing = np.zeros(p.n_targets)
        self.upper = float(p.n_sources)
        self.lower = 0.0

    @property
    def gap(self) -> float:
        """upper/lower − 1."""
        return self.upper / self.lower - 1.0 if self.lower > 0.0 else np.inf

    def offer(self, x: Floats, y: Floats) -> float:
        """Repair both points, keep what is better than before, return the gap of this pair alone."""
        cover, packing = np.empty_like(x), np.empty_like(y)
        upper = repair_cover(*self.matrix, self.source_order, x, cover, np.empty_like(y))
        lower = repair_packing(*self.matrix, self.target_order, y, packing, np.empty_like(x))
        if upper < self.upper:
            self.upper, self.cover = upper, cover
        if lower > self.lower:
            self.lower, self.packing = lower, packing
        return float(upper / lower) - 1.0


def repaired(program: CoveringProgram, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The feasible cover and packing next to any x, y ≥ 0."""
    certificates = Certificates(program)
    certificates.offer(x, y)
    return certificates.cover, certificates.packing


def solve_first_order(program: CoveringProgram, tolerance: float, max_steps: int) -> tuple[Floats, Floats]:
    """(cover, packing) of a program with listed sources only, to the relative gap if `max_steps` suffice.

    Primal-dual hybrid gradient with diagonal steps, restarted from the better of the last and the average
    iterate whenever the certified gap has halved; the primal weight follows |Δx|/|Δy| between restarts.
    """
    certificates = Certificates(program)
    out_degree, in_degree = program.listed_out_degree.astype(float), program.in_degree.astype(float)
    x, y = _degree_start(program, certificates)
    certificates.offer(x, y)
    weight = _norm(x, out_degree) / _norm(y, in_degree)

    x_start, y_start, gap_start = x.copy(), y.copy(), np.inf
    x_sum, y_sum, ahead = np.zeros_like(x), np.zeros_like(y), np.empty_like(x)
    steps = since = 0
    while certificates.gap > tolerance and steps < max_steps:
        primal_dual_steps(*certificates.matrix, x, y, x_sum, y_sum, ahead, weight, STEPS_PER_CHECK)
        steps += STEPS_PER_CHECK
        since += STEPS_PER_CHECK
        x_mean, y_mean = x_sum / since, y_sum / since
        gap_mean, gap_last = certificates.offer(x_mean, y_mean), certificates.offer(x, y)
        gap = min(gap_mean, gap_last)
        if gap <= gap_start / 2 or since >= 0.4 * steps:
            if gap_mean < gap_last:
                x, y = x_mean, y_mean
            dx, dy = _norm(x - x_start, out_degree), _norm(y - y_start, in_degree)
            if dx > 0.0 and dy > 0.0:
                weight = float(np.sqrt(weight * dx / dy))
            x_start, y_start, gap_start = x.copy(), y.copy(), gap
            x_sum[:] = 0.0
            y_sum[:] = 0.0
            since = 0
    return certificates.cover, certificates.packing


def _degree_start(program: CoveringProgram, certificates: Certificates) -> tuple[Floats, Floats]:
    """Mean of 1/in-degree over what a source reveals, and of 1/out-degree over what reveals a target."""
    row_indptr, row_indices, col_indptr, col_indices = certificates.matrix
    x, y = np.empty(program.n_sources), np.empty(program.n_targets)
    gather_sums(col_indptr, col_indices, 1.0 / program.in_degree, x)
    gather_sums(row_indptr, row_indices, 1.0 / np.maximum(program.listed_out_degree, 1), y)
    return x / np.maximum(program.listed_out_degree, 1), y / program.in_degree


def _norm(values: Floats, degree: Floats) -> float:
    return float(np.sqrt(np.dot(values * degree, values)))
