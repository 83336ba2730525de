"""Loops of the covering program  min 1·x, Ax ≥ 1, x ≥ 0  and its dual packing  max 1·y, Aᵀy ≤ 1, y ≥ 0.

A is a 0/1 matrix, given twice: `row_*` lists the sources of each target, `col_*` the targets of each source.
Every target has a source. `coverage` is Ax (one entry per target), `load` is Aᵀy (one entry per source).
"""

from sidelight._types import Floats, Indices
from sidelight.engine._numba.jit import compiled


@compiled()
def gather_sums(indptr: Indices, indices: Indices, values: Floats, out: Floats) -> None:
    """out[k] = Σ values[indices[e]] over the entries e of row k."""
    for k in range(out.size):
        total = 0.0
        for e in range(indptr[k], indptr[k + 1]):
            total += values[indices[e]]
        out[k] = total


@compiled()
def primal_dual_steps(
    row_indptr: Indices,
    row_indices: Indices,
    col_indptr: Indices,
    col_indices: Indices,
    x: Floats,
    y: Floats,
    x_sum: Floats,
    y_sum: Floats,
    ahead: Floats,
    weight: float,
    steps: int,
) -> None:
    """Take `steps` diagonally preconditioned primal-dual steps in place, adding every iterate to the sums.

    x ← [x − τ(1 − Aᵀy)]₊,  y ← [y + σ(1 − A(2x − x_before))]₊  with τ_v = w/outdeg(v), σ_u = 1/(w·indeg(u)).
    """
    for _ in range(steps):
        for v in range(x.size):
            start, stop = col_indptr[v], col_indptr[v + 1]
            load = 0.0
            for e in range(start, stop):
                load += y[col_indices[e]]
            before = x[v]
            after = before - weight / max(stop - start, 1) * (1.0 - load)
            if after < 0.0:
                after = 0.0
            x[v] = after
            x_sum[v] += after
            ahead[v] = 2.0 * after - before
        for u in range(y.size):
            start, stop = row_indptr[u], row_indptr[u + 1]
            coverage = 0.0
            for e in range(start, stop):
                coverage += ahead[row_indices[e]]
            after = y[u] + (1.0 - coverage) / (weight * (stop - start))
            if after < 0.0:
                after = 0.0
            y[u] = after
            y_sum[u] += after


@compiled()
def repair_cover(
    row_indptr: Indices,
    row_indices: Indices,
    col_indptr: Indices,
    col_indices: Indices,
    order: Indices,
    x: Floats,
    out: Floats,
    coverage: Floats,
) -> float:
    """Turn x ≥ 0 into a feasible cover `out` and return its sum.

    Each source is scaled up by its worst covered target, x_v / min(1, min coverage), at most to 1; targets
    that no weight reaches get what they lack from their busiest source; then slack is taken back source by
    source in `order`.
    """
    gather_sums(row_indptr, row_indices, x, coverage)
    for v in range(x.size):
        worst = 1.0
        for e in range(col_indptr[v], col_indptr[v + 1]):
            worst = min(worst, coverage[col_indices[e]])
        out[v] = 0.0
        if x[v] > 0.0:  # then every coverage above is positive
            out[v] = min(1.0, x[v] / worst)

    gather_sums(row_indptr, row_indices, out, coverage)
    for u in range(coverage.size):
        lack = 1.0 - coverage[u]
        if lack > 0.0:
            busiest = row_indices[row_indptr[u]]
            most = -1
            for e in range(row_indptr[u], row_indptr[u + 1]):
                v = row_indices[e]
                if col_indptr[v + 1] - col_indptr[v] > most:
                    most = col_indptr[v + 1] - col_indptr[v]
                    busiest = v
            out[busiest] += lack
            for e in range(col_indptr[busiest], col_indptr[busiest + 1]):
                coverage[col_indices[e]] += lack

    total = 0.0
    for k in range(order.size):
        v = order[k]
        spare = out[v]
        for e in range(col_indptr[v], col_indptr[v + 1]):
            spare = min(spare, coverage[col_indices[e]] - 1.0)
        if spare > 0.0:
            out[v] -= spare
            for e in range(col_indptr[v], col_indptr[v + 1]):
                coverage[col_indices[e]] -= spare
        total += out[v]
    return total


@compiled()
def repair_packing(
    row_indptr: Indices,
    row_indices: Indices,
    col_indptr: Indices,
    col_indices: Indices,
    order: Indices,
    y: Floats,
    out: Floats,
    load: Floats,
) -> float:
    """Turn y ≥ 0 into a feasible packing `out` and return its sum.

    Each target is scaled down by its most loaded source, y_u / max(1, max load); then room that is left is
    used up target by target in `order`.
    """
    gather_sums(col_indptr, col_indices, y, load)
    for u in range(y.size):
        worst = 1.0
        for e in range(row_indptr[u], row_indptr[u + 1]):
            worst = max(worst, load[row_indices[e]])
        out[u] = y[u] / worst

    gather_sums(col_indptr, col_indices, out, load)
    total = 0.0
    for k in range(order.size):
        u = order[k]
        room = 1.0
        for e in range(row_indptr[u], row_indptr[u + 1]):
            room = min(room, 1.0 - load[row_indices[e]])
        if room > 0.0:
            out[u] += room
            for e in range(row_indptr[u], row_indptr[u + 1]):
                load[row_indices[e]] += room
        total += out[u]
    return total
