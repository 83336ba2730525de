"""Covering programs solved piece by piece: closed forms where they exist, a linear program for the rest.

Every rule returns a cover and a packing that prove each other, so rules compose: the parts' certificates
together certify the whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._types import Floats, Indices
from sidelight.analysis import linear
from sidelight.analysis.domination.covering import LISTED, CoveringProgram, listed_program, split
from sidelight.analysis.domination.first_order import Certificates, solve_first_order

# -- by HiGHS, with both certificates made exactly feasible -------------------------------------------------


EXACT_GAP = 1e-9
"""A relative gap that counts as none: what rounding leaves of an exact solution."""

SIMPLEX_TARGETS = 300
"""Up to this many targets the simplex method is quickest; the interior point method scales better."""


def solve_exactly(program: CoveringProgram) -> tuple[Floats, Floats]:
    """(cover, packing) of a program with listed sources only, equal in value up to rounding."""
    certificates = Certificates(program)
    for method in linear.methods(program.n_targets > SIMPLEX_TARGETS):
        solution = linear.solved(
            f"a covering program of {program.n_sources} arms",
            np.ones(program.n_sources),
            method,
            "; pass tolerance=0.01 for a first-order solve",
            A_ub=-certificates.a,
            b_ub=-np.ones(program.n_targets),
        )
        certificates.offer(np.maximum(solution.x, 0.0), np.maximum(-solution.ineqlin.marginals, 0.0))
        if certificates.gap <= EXACT_GAP:
            break
    return certificates.cover, certificates.packing


# -- piece by piece -----------------------------------------------------------------------------------------


EXACT_TARGETS = 2_000
"""Largest piece given to the exact solver unless asked for more."""

EXACT_ENTRIES = 20_000
"""Most listed edges of such a piece."""

EXACT_TOTAL = 20_000
"""Most targets, over all different pieces, that the exact solver gets unless asked for more."""

DEFAULT_GAP = 0.01
"""What the first-order solver aims at when nobody asks: a bound that grows like δ^{1/3} loses 0.3 %."""

SMALLEST_GAP = 1e-6
"""A tighter tolerance than this asks for the exact solver, at any size."""

MAX_STEPS, MAX_STEPS_ASKED = 6_000, 100_000
"""First-order steps without and with a tolerance asked for."""


EVEN = 1e-12
"""Sums of probabilities that differ by so little, relative to them, are equal."""


class Solution(NamedTuple):
    """A cover, the packing that proves how good it is, and the rules that found them."""

    weights: Floats  # (n_sources,)
    packing: Floats  # (n_targets,)
    rules: tuple[str, ...]


def solve_covering(program: CoveringProgram, tolerance: float | None) -> Solution:
    """Solve a program each of whose targets has a source."""
    if not (program.row_values == 1).all():
        return _solve_weighed(program, tolerance)
    most = int(np.argmax(program.out_degree))
    if program.out_degree[most] == program.n_targets:
        weights, packing = np.zeros(program.n_sources), np.zeros(program.n_targets)
        weights[most] = packing[0] = 1.0
        return Solution(weights, packing, ("one arm reveals all",))
    if (program.spared == LISTED).any():
        return _solve_universal(program, tolerance)
    # No source reveals everything, so each is spared by exactly one target: a loop-less clique.
    share = 1.0 / (program.n_sources - 1)
    return Solution(np.full(program.n_sources, share), np.where(program.spared >= 0, share, 0.0), ("clique",))


def _solve_weighed(program: CoveringProgram, tolerance: float | None) -> Solution:
    """Where reveals may fail: one probability for all scales a program without, others are solved as they are.

    "All but e" holds by itself when some listed target lacks e: its sources weigh 1 even though they count r ≤ 1.
    Otherwise it is written out.
    """
    everywhere, values = program.spared != LISTED, program.row_values
    if not everywhere.any() and (values == values[0]).all():
        plain = replace(program, row_values=np.ones(len(values)))
        weights, packing, rules = solve_covering(plain, tolerance)
        return Solution(weights / values[0], packing / values[0], rules)
    listed, spared = np.flatnonzero(~everywhere), np.maximum(program.spared, 0)
    needed = everywhere & (program.spared >= 0) & (program.listed_out_degree[spared] == len(listed))
    targets = np.flatnonzero(needed | ~everywhere)
    inner = program
    if len(targets) < program.n_targets or needed.any():
        inner = _written_out(program, targets)
    weights, packing = np.zeros(program.n_sources), np.zeros(program.n_targets)
    weights, packing[targets], rules = _solve_components(inner, tolerance)
    return Solution(weights, packing, rules)


def _written_out(program: CoveringProgram, targets: Indices) -> CoveringProgram:
    """The program of some targets, all of them listed."""
    rows, chances, counts = [], [], []
    sources = np.arange(program.n_sources, dtype=np.int32)
    for u in targets.tolist():
        if program.spared[u] == LISTED:
            row = slice(program.row_indptr[u], program.row_indptr[u + 1])
            rows.append(program.row_indices[row])
            chances.append(program.row_values[row])
        else:
            rows.append(np.delete(sources, program.spared[u]))
            chances.append(np.ones(program.n_sources - 1))
        counts.append(len(rows[-1]))
    return listed_program(program.n_sources, np.array(counts), np.concatenate(rows), np.concatenate(chances))


def _solve_universal(program: CoveringProgram, tolerance: float | None) -> Solution:
    """Remove the targets that all sources (but one) reveal, solve the listed ones, combine.

    "All but e" holds by itself when some listed target lacks e as well. Otherwise e reveals everything but
    itself; call these sources the core, k of them. They are interchangeable: give them s in total and the
    others (1−s)·x where x covers the listed targets without the core, δ = Σx > 1. A listed target then has
    s + (1−s) = 1, a core target s(k−1)/k + (1−s)δ, and both are 1 for s = k(δ−1)/(k(δ−1)+1), at total
    1 + s/k. The same formula with the dual value in place of δ gives the packing.
    """
    listed = np.flatnonzero(program.spared == LISTED)
    spared = program.spared[program.spared >= 0]
    core = spared[program.listed_out_degree[spared] == len(listed)]
    weights, packing = np.zeros(program.n_sources), np.zeros(program.n_targets)
    if core.size == 0:
        inner = program
        if len(listed) < program.n_targets:
            inner = program.restricted(np.arange(program.n_sources), listed)
        weights, packing[listed], rules = _solve_listed(inner, tolerance)
        return Solution(weights, packing, rules)

    k = core.size
    core_targets = np.flatnonzero(np.isin(program.spared, core))
    others = np.delete(np.arange(program.n_sources), core)
    if others.size == 0:
        weights[:] = packing[core_targets] = 1.0 / (k - 1)
        return Solution(weights, packing, ("clique",))
    inner = program.restricted(others, listed)
    alone = np.flatnonzero(inner.in_degree == 0)
    if alone.size:  # a target that only the core reveals: the limit δ → ∞
        weights[core] = weights[others[0]] = 1.0 / k
        packing[core_targets] = packing[listed[alone[0]]] = 1.0 / k
        return Solution(weights, packing, ("universal",))
    x, y, rules = _solve_listed(inner, tolerance)
    for part, whole, rest, inside in ((x, weights, others, core), (y, packing, listed, core_targets)):
        above = max(float(part.sum()) - 1.0, 0.0)  # below 0 only by rounding: repaired packings are maximal
        whole[rest] = part / (k * above + 1.0)
        whole[inside] = above / (k * above + 1.0)
    return Solution(weights, packing, ("universal", *rules))


def _solve_listed(program: CoveringProgram, tolerance: float | None) -> Solution:
    """Give weight 1 to every source that alone reveals some target; what it reveals is done with."""
    only = np.flatnonzero(program.in_degree == 1)
    if only.size == 0:
        return _solve_components(program, tolerance)
    weights, packing = np.zeros(program.n_sources), np.zeros(program.n_targets)
    parents, child = np.unique(program.row_indices[program.row_indptr[only]], return_index=True)
    weights[parents] = packing[only[child]] = 1.0
    entries_done = weights[program.row_indices] > 0.0
    owner = np.repeat(np.arange(program.n_targets), program.in_degree)
    left = np.flatnonzero(np.bincount(owner[entries_done], minlength=program.n_targets) == 0)
    if left.size == 0:
        return Solution(weights, packing, ("in-degree one",))
    useful = np.unique(program.row_indices[~entries_done & np.isin(owner, left)])
    x, y, rules = _solve_components(program.restricted(useful, left), tolerance)
    weights[useful], packing[left] = x, y
    return Solution(weights, packing, ("in-degree one", *rules))


def _solve_components(program: CoveringProgram, tolerance: float | None) -> Solution:
    """Solve each connected component: one source suffices, all sums are equal, or a linear program.

    Sums are of what each target gets from its sources and each source gives to its targets, if all weigh 1.
    """
    n_s, n_t, values = program.n_sources, program.n_targets, program.row_values
    count, label = _components(program)
    source_part, target_part = label[:n_s], label[n_s:]
    targets_in = np.bincount(target_part, minlength=count)
    owner = np.repeat(np.arange(n_t), program.in_degree)
    got: Floats = np.bincount(owner, weights=values, minlength=n_t).astype(np.float64)
    given: Floats = np.bincount(program.row_indices, weights=values, minlength=n_s).astype(np.float64)
    low_in, high_in = _extremes(got, target_part, count)
    low_out, high_out = _extremes(given, source_part, count)

    weights, packing = np.zeros(n_s), np.zeros(n_t)
    single = (high_out == targets_in) & (targets_in > 0)  # a source of nothing is a component without targets
    single &= bool((values == 1).all())
    chosen = np.flatnonzero((given == targets_in[source_part]) & single[source_part])
    for where, solution, part in ((chosen, weights, source_part), (np.arange(n_t), packing, target_part)):
        which, first = np.unique(part[where], return_index=True)
        solution[where[first[single[which]]]] = 1.0

    even = (high_in - low_in <= EVEN * high_in) & (high_out - low_out <= EVEN * high_out)
    regular = ~single & (targets_in > 0) & even
    mine, theirs = regular[source_part], regular[target_part]
    weights[mine] = 1.0 / low_in[source_part[mine]]
    packing[theirs] = 1.0 / high_out[target_part[theirs]]

    rules = ["one arm reveals all"] * bool(single.any()) + ["regular"] * bool(regular.any())
    hard = ~single & ~regular & (targets_in > 0)
    if hard.any():
        number = np.where(hard, np.cumsum(hard) - 1, -1)
        parts = (number[source_part], number[target_part], int(hard.sum()))
        rules += _solve_hard(program, *parts, tolerance, weights, packing)
    return Solution(weights, packing, tuple(rules))


def _solve_hard(
    program: CoveringProgram,
    source_part: Indices,
    target_part: Indices,
    n_parts: int,
    tolerance: float | None,
    weights: Floats,
    packing: Floats,
) -> list[str]:
    """Fill in the components without closed form: exactly while that is cheap, the rest to a gap."""
    exactly = tolerance is not None and tolerance < SMALLEST_GAP
    budget = EXACT_TOTAL
    solved: dict[bytes, tuple[Floats, Floats]] = {}
    rest: list[tuple[Indices, Indices]] = []
    for sources, targets, piece in split(program, source_part, target_part, n_parts):
        key = piece.signature()
        if key not in solved:
            small = piece.n_targets <= min(EXACT_TARGETS, budget) and len(piece.row_indices) <= EXACT_ENTRIES
            if not (small or exactly):
                rest.append((sources, targets))
                continue
            budget -= piece.n_targets
            solved[key] = solve_exactly(piece)
        weights[sources], packing[targets] = solved[key]
    if rest:
        sources = np.concatenate([own for own, _ in rest])
        targets = np.concatenate([own for _, own in rest])
        aim, steps = (DEFAULT_GAP, MAX_STEPS) if tolerance is None else (tolerance, MAX_STEPS_ASKED)
        found = solve_first_order(program.restricted(sources, targets), aim, steps)
        weights[sources], packing[targets] = found
    return ["exact linear program"] * bool(solved) + ["first-order"] * bool(rest)


def _components(program: CoveringProgram) -> tuple[int, Indices]:
    """(number, label of every source and then of every target) of the components of the bipartite graph."""
    n_s, n_t = program.n_sources, program.n_targets
    indptr = np.concatenate([np.zeros(n_s, dtype=np.int64), program.row_indptr])
    pattern = np.ones(len(program.row_indices), dtype=np.int8)
    graph = sparse.csr_array((pattern, program.row_indices, indptr), shape=(n_s + n_t, n_s + n_t))
    count, label = connected_components(graph, directed=False)
    return int(count), label


def _extremes(values: Floats, part: Indices, count: int) -> tuple[Floats, Floats]:
    """(least, greatest) value in each part."""
    low, high = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(low, part, values)
    np.maximum.at(high, part, values)
    return low, high
