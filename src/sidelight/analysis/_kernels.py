"""Compiled passes over the edges: slack in covering programs used up, packings filled greedily."""

from sidelight._types import Bools, Floats, Indices
from sidelight.engine._numba.jit import compiled

# -- covering -----------------------------------------------------------------------------------------------


@compiled()
def take_slack(
    indptr: Indices,
    indices: Indices,
    values: Floats,
    order: Indices,
    most: Floats,
    slack: Floats,
    taken: Floats,
) -> None:
    """In `order`, taken[v] = the most, up to most[v], that all constraints of v allow; their `slack` shrinks.

    The constraints of v are indices[indptr[v]:indptr[v + 1]]; each shrinks by its value > 0 times what is taken.
    Where they allow nothing, `taken` stays as it is.
    """
    for k in range(order.size):
        v = order[k]
        step = most[v]
        for e in range(indptr[v], indptr[v + 1]):
            step = min(step, slack[indices[e]] / values[e])
        if step > 0.0:
            taken[v] = step
            for e in range(indptr[v], indptr[v + 1]):
                slack[indices[e]] -= step * values[e]


# -- packing ------------------------------------------------------------------------------------------------


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
