"""Covering programs solved to optimality by HiGHS, with both certificates made exactly feasible."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from sidelight._types import Floats
from sidelight.analysis.domination.covering import CoveringProgram
from sidelight.analysis.domination.first_order import repaired
from sidelight.errors import SolverError

EXACT_GAP = 1e-9
"""A relative gap that counts as none: what rounding leaves of an exact solution."""

Method = Literal["highs-ds", "highs-ipm"]

SIMPLEX_TARGETS = 300
"""Up to this many targets the simplex method is quickest; the interior point method scales better."""


def solve_exactly(program: CoveringProgram) -> tuple[Floats, Floats]:
    """(cover, packing) of a program with listed sources only, equal in value up to rounding."""
    order: list[Method] = ["highs-ds", "highs-ipm"]
    if program.n_targets > SIMPLEX_TARGETS:
        order.reverse()
    best = (np.inf, np.empty(0), np.empty(0))
    for method in order:
        x, y = _optimum(program, method)
        cover, packing = repaired(program, np.maximum(x, 0.0), np.maximum(y, 0.0))
        gap = cover.sum() / packing.sum() - 1.0
        if gap < best[0]:
            best = (gap, cover, packing)
        if gap <= EXACT_GAP:
            break
    return best[1], best[2]


def _optimum(program: CoveringProgram, method: Method) -> tuple[Floats, Floats]:
    from scipy.optimize import linprog  # a third of a second to import, and most plans need no program

    ones = np.ones(len(program.row_indices))
    shape = (program.n_targets, program.n_sources)
    a: Any = sparse.csr_array((-ones, program.row_indices, program.row_indptr), shape=shape)
    found = linprog(
        np.ones(program.n_sources),
        A_ub=a,
        b_ub=-np.ones(program.n_targets),
        method=method,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise SolverError(
            f"HiGHS did not solve a covering program of {program.n_sources} arms: {found.message}; "
            "pass tolerance=0.01 for a first-order solve"
        )
    return np.asarray(found.x), -np.asarray(found.ineqlin.marginals)
