"""Greedy t-packing independent sets, one pass over the edges."""

from sidelight._types import Bools, Indices
from sidelight.engine._numba.jit import compiled


@compiled()
def greedy_packing(
    out_indptr: Indices,
    out_indices: Indices,
    in_indptr: Indices,
    in_indices: Indices,
    order: Indices,
    t: int,
    blocked: Bools,
    seen: Indices,
) -> int:
    """Accept arms in `order` while the set stays a t-packing independent set; return its size.

    `blocked` marks arms that may not enter and is updated; `seen[u]` counts the members that u reveals and
    starts at zero. Accepted arms are written to the front of `order`.
    """
    size = 0
    for k in range(order.size):
        v = order[k]
        if blocked[v]:
            continue
        fits = True
        for e in range(in_indptr[v], in_indptr[v + 1]):
            if seen[in_indices[e]] >= t:
                fits = False
                break
        if not fits:
            continue
        blocked[v] = True
        for e in range(in_indptr[v], in_indptr[v + 1]):
            seen[in_indices[e]] += 1
            blocked[in_indices[e]] = True
        for e in range(out_indptr[v], out_indptr[v + 1]):
            blocked[out_indices[e]] = True
        order[size] = v
        size += 1
    return size
