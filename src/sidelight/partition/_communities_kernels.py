"""Local moves of Louvain's method: each vertex to the neighbouring community that gains most modularity."""

from sidelight._types import Floats, Indices
from sidelight.engine._numba.jit import compiled


@compiled()
def move_vertices(
    indptr: Indices,
    indices: Indices,
    weights: Floats,
    strength: Floats,
    order: Indices,
    label: Indices,
    total: Floats,
    links: Floats,
) -> int:
    """One pass over the vertices in `order`; returns how many moved.

    `weights` are those of the edges of a symmetric graph without loops, strength[v] is what v's edges weigh, loops
    counted twice, total[c] the strength of community c. `label` and `total` are updated; `links` is zero before and
    after.
    """
    everything = strength.sum()
    moved = 0
    for k in range(order.size):
        v = order[k]
        home, own = label[v], strength[v]
        total[home] -= own
        for e in range(indptr[v], indptr[v + 1]):
            links[label[indices[e]]] += weights[e]
        best, most = home, links[home] - own * total[home] / everything
        for e in range(indptr[v], indptr[v + 1]):
            c = label[indices[e]]
            gain = links[c] - own * total[c] / everything
            if gain > most + 1e-12 * own:
                best, most = c, gain
        for e in range(indptr[v], indptr[v + 1]):
            links[label[indices[e]]] = 0.0
        total[best] += own
        if best != home:
            label[v] = best
            moved += 1
    return moved
