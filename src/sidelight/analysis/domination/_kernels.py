"""Slack in a covering program or room in a packing, used up one variable after the other."""

from sidelight._types import Floats, Indices
from sidelight.engine._numba.jit import compiled


@compiled()
def take_slack(
    indptr: Indices, indices: Indices, order: Indices, most: Floats, slack: Floats, taken: Floats
) -> None:
    """In `order`, taken[v] = the most, up to most[v], that all constraints of v allow; their `slack` shrinks by it.

    The constraints of v are indices[indptr[v]:indptr[v + 1]]. Where they allow nothing, `taken` stays as it is.
    """
    for k in range(order.size):
        v = order[k]
        step = most[v]
        for e in range(indptr[v], indptr[v + 1]):
            step = min(step, slack[indices[e]])
        if step > 0.0:
            taken[v] = step
            for e in range(indptr[v], indptr[v + 1]):
                slack[indices[e]] -= step


@compiled()
def take_weighed_slack(
    indptr: Indices,
    indices: Indices,
    values: Floats,
    order: Indices,
    most: Floats,
    slack: Floats,
    taken: Floats,
) -> None:
    """`take_slack` where constraint indices[e] shrinks by values[e] > 0 times what is taken."""
    for k in range(order.size):
        v = order[k]
        step = most[v]
        for e in range(indptr[v], indptr[v + 1]):
            step = min(step, slack[indices[e]] / values[e])
        if step > 0.0:
            taken[v] = step
            for e in range(indptr[v], indptr[v + 1]):
                slack[indices[e]] -= step * values[e]
