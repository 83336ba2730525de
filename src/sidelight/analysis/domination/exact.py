"""Covering programs solved to optimality by HiGHS, with both certificates made exactly feasible."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sidelight._types import Floats
from sidelight.analysis.domination.covering import CoveringProgram
from sidelight.analysis.domination.first_order import Certificates
from sidelight.errors import SolverError

EXACT_GAP = 1e-9
"""A relative gap that counts as none: what rounding leaves of an exact solution."""

SIMPLEX_TARGETS = 300
"""Up to this many targets the simplex method is quickest; the interior point method scales better."""


def solve_exactly(program: CoveringProgram) -> tuple[Floats, Floats]:
    """(cover, packing) of a program with listed sources only, equal in value up to rounding."""
    from scipy.optimize import linprog  # a third of a second to import, and most plans need no program

    methods: list[Literal["highs-ds", "highs-ipm"]] = ["highs-ds", "highs-ipm"]
    if program.n_targets > SIMPLEX_TARGETS:
        methods.reverse()
    certificates = Certificates(program)
    for method in methods:  # the second only where rounding leaves a gap: it ends at another vertex
        found = linprog(
            np.ones(program.n_sources),
            A_ub=-certificates.a,
            b_ub=-np.ones(program.n_targets),
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.x is None:
            raise SolverError(
                f"HiGHS did not solve a covering program of {program.n_sources} arms: {found.message}; "
                "pass tolerance=0.01 for a first-order solve"
            )
        certificates.offer(np.maximum(found.x, 0.0), np.maximum(-found.ineqlin.marginals, 0.0))
        if certificates.gap <= EXACT_GAP:
            break
    return certificates.cover, certificates.packing
