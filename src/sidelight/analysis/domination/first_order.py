"""Large covering programs to a certified gap: restarted primal-dual steps, certificates by local repair."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._types import Floats, Indices
from sidelight.analysis._kernels import take_slack
from sidelight.analysis.domination.covering import CoveringProgram

STEPS_PER_CHECK = 40
"""A check costs about as much as five steps."""


class Certificates:
    """The best feasible cover and packing seen so far; together they bracket the optimum.

    The program is  min 1·x, Ax ≥ 1, x ≥ 0  with the dual packing  max 1·y, Aᵀy ≤ 1, y ≥ 0.
    """

    def __init__(self, program: CoveringProgram) -> None:
        n_s, n_t = program.n_sources, program.n_targets
        entries = program.row_values, program.row_indices, program.row_indptr
        self.a: Any = sparse.csr_array(entries, shape=(n_t, n_s))
        self.transposed: Any = self.a.T.tocsr()
        # Take slack from sources that reveal little first, give room to targets that use little first.
        self.source_order: Indices = np.argsort(program.listed_out_degree, kind="stable")
        self.target_order: Indices = np.argsort(program.in_degree, kind="stable")
        self.useful = np.flatnonzero(program.listed_out_degree)
        rank = np.empty(n_s, dtype=np.int64)
        rank[self.source_order] = np.arange(n_s)
        most = self._most(rank)
        self.busiest = self.source_order[most]  # source of each target, and its effect there
        self.effect = self.a.data[rank[self.a.indices] == np.repeat(most, np.diff(self.a.indptr))]
        self.enough = np.ones(n_s)  # the weight with which a source covers all its targets alone
        columns = self.transposed.indptr[self.useful]
        self.enough[self.useful] = 1.0 / np.minimum.reduceat(self.transposed.data, columns)
        self.cover, self.packing = self.enough.copy(), np.zeros(n_t)
        self.upper, self.lower = float(self.enough.sum()), 0.0

    @property
    def gap(self) -> float:
        """upper/lower − 1."""
        return self.upper / self.lower - 1.0 if self.lower > 0.0 else np.inf

    def offer(self, x: Floats, y: Floats) -> float:
        """Repair both points, keep what is better than before, return the gap of this pair alone."""
        cover, packing = self.repaired_cover(x), self.repaired_packing(y)
        upper, lower = float(cover.sum()), float(packing.sum())
        if upper < self.upper:
            self.upper, self.cover = upper, cover
        if lower > self.lower:
            self.lower, self.packing = lower, packing
        return upper / lower - 1.0

    def repaired_cover(self, x: Floats) -> Floats:
        """Turn x ≥ 0 into a feasible cover none of whose weights can be lowered.

        Each source is scaled up by its worst covered target, x_v / min(1, min coverage), at most to what covers
        all of them alone; targets that no weight reaches get what they lack from their busiest source; then slack
        is taken back.
        """
        by_source = self.transposed
        worst = np.ones(len(x))
        worst[self.useful] = np.minimum.reduceat(
            (self.a @ x)[by_source.indices], by_source.indptr[self.useful]
        )
        cover = np.zeros(len(x))
        np.divide(x, np.minimum(worst, 1.0), out=cover, where=x > 0.0)  # then the coverage is positive
        np.minimum(cover, self.enough, out=cover)
        lack = np.maximum(1.0 - self.a @ cover, 0.0) / self.effect
        more = np.zeros(len(x))
        np.maximum.at(more, self.busiest, lack)
        cover += more
        spare = np.zeros(len(x))
        _take_slack(by_source, self.source_order, cover, self.a @ cover - 1.0, spare)
        return cover - spare

    def repaired_packing(self, y: Floats) -> Floats:
        """Turn y ≥ 0 into a feasible packing none of whose entries can be raised.

        Each target is scaled down by its most loaded source, y_u / max(1, max load); then room is used up.
        """
        packing: Floats = y / np.maximum(self._most(self.transposed @ y), 1.0)
        room = np.zeros(len(y))
        _take_slack(self.a, self.target_order, np.full(len(y), np.inf), 1.0 - self.transposed @ packing, room)
        return packing + room

    def _most(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The greatest value of a source of each target; every target has a source."""
        return np.maximum.reduceat(values[self.a.indices], self.a.indptr[:-1])


def _take_slack(matrix: Any, order: Indices, most: Floats, slack: Floats, taken: Floats) -> None:
    take_slack(matrix.indptr, matrix.indices, matrix.data, order, most, slack, taken)


def solve_first_order(program: CoveringProgram, tolerance: float, max_steps: int) -> tuple[Floats, Floats]:
    """(cover, packing) of a program with listed sources only, to the relative gap if `max_steps` suffice.

    Primal-dual hybrid gradient with diagonal steps,

        x ← [x − τ(1 − Aᵀy)]₊,  y ← [y + σ(1 − A(2x − x_before))]₊,  τ_v = w/outdeg(v), σ_u = 1/(w·indeg(u)),

    restarted from the better of the last and the average
    iterate whenever the certified gap has halved; the primal weight follows |Δx|/|Δy| between restarts.
    """
    certificates = Certificates(program)
    out_degree = certificates.transposed @ np.ones(program.n_targets)
    in_degree = certificates.a @ np.ones(program.n_sources)
    x, y = _degree_start(out_degree, in_degree, certificates)
    certificates.offer(x, y)
    weight = _norm(x, out_degree) / _norm(y, in_degree)

    tau, sigma = 1.0 / np.where(out_degree > 0, out_degree, 1.0), 1.0 / in_degree
    x_start, y_start, gap_start = x, y, np.inf
    x_sum, y_sum = np.zeros_like(x), np.zeros_like(y)
    steps = since = 0
    while certificates.gap > tolerance and steps < max_steps:
        for _ in range(STEPS_PER_CHECK):
            before = x
            x = np.maximum(x - weight * tau * (1.0 - certificates.transposed @ y), 0.0)
            y = np.maximum(y + sigma / weight * (1.0 - certificates.a @ (2.0 * x - before)), 0.0)
            x_sum += x
            y_sum += y
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
            x_start, y_start, gap_start = x, y, gap
            x_sum[:] = 0.0
            y_sum[:] = 0.0
            since = 0
    return certificates.cover, certificates.packing


def _degree_start(out_degree: Floats, in_degree: Floats, certificates: Certificates) -> tuple[Floats, Floats]:
    """Mean of 1/in-degree over what a source reveals, and of 1/out-degree over what reveals a target."""
    out = np.where(out_degree > 0, out_degree, 1.0)
    x = certificates.transposed @ (1.0 / in_degree) / out
    return x, certificates.a @ (1.0 / out) / in_degree


def _norm(values: Floats, degree: Floats) -> float:
    return float(np.sqrt(np.dot(values * degree, values)))
