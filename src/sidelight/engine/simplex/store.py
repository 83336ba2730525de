"""Where simplices live: arrays shared by the top level and every block.

A *simplex* is a point Σ x = 1 held by sums and a multiplier; its coordinates are split into *groups* of equal
potential and rate, each a run of consecutive coordinates. A group is kept in one of four forms, with the same
meaning and different costs:

    POWER_LIST      x = d^(−q), d = λ + s: visited one by one; best for a few dozen coordinates
    POWER_BUCKETS   the same, never written out (see `buckets`): best for many coordinates, few revealed
    ENTROPY_LIST    x = exp(−(λ + s)): weights exp(base − s) are kept and added up; best when few, or all, change
    ENTROPY_TREE    the same with the weights under a sum tree (see `tree`): many coordinates, few revealed

Sums s are scaled by the group's rate; the multiplier of group g is λ_g = scale_g·Λ + offset_g with Λ that of
its simplex.
"""

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import pointer

POWER_LIST, POWER_BUCKETS, ENTROPY_LIST, ENTROPY_TREE = range(4)

N_BUCKETS = 64
N_MOMENTS = 8

# Store.scalars, per group: a record of two cache lines, what is read most in the first
(
    LAMBDA,  # λ_g
    CHANGE,  # lists: change of F_g at λ_g by the sums added since the last solution;  others: not 0 if stale
    FLOOR,  # buckets: least λ_g that the series reach;  entropy: the base of the weights, at most any sum
    WEIGHT,  # buckets: total proposal weight;  entropy: Σ weights
    ROOT_WEIGHT,  # buckets: total proposal weight for 1/d;  entropy: x = weight · this factor
    RATE,  # the factor that turns losses into sums
    SHARE,  # the owner's: what the point keeps when local exploration is mixed in
    HELD,  # the owner's: constant exploration inside the block
    PAID,  # the owner's: Σ_t ⟨ℓ̂, x⟩
    SLOPE,  # lists: Taylor coefficients of F_g at λ_g in the direction of falling λ
    CURVE,
    TWIST,
    MASS,  # F_g at the solution: the share of the group in its simplex
    SHIFT,  # what has been added to all sums to keep their digits
    LOSS,  # the owner's: loss of the block in a round, while that is being learnt from
) = range(15)
N_SCALARS = 16
BASE, TOTAL, FACTOR = FLOOR, WEIGHT, ROOT_WEIGHT  # their names for entropy groups

# Store.series, per bucketed group: F as a power series around a centre, then
CARRY = N_MOMENTS  # what rounding took from its first coefficient
INVERSE = N_MOMENTS + 1  # Σ 1/d at the centre
CENTER = N_MOMENTS + 2  # that λ
RENEWED = N_MOMENTS + 3  # 1 when some bucket was refreshed (see `renewed`); for the owner to read and clear
N_SERIES = N_MOMENTS + 4


class Store(NamedTuple):
    """All simplices: first what is fixed, then what changes."""

    first_group: np.ndarray  # (J+1,) int32: groups of each simplex
    origin: np.ndarray  # (2G,) int32: group g has the coordinates origin[2g]..origin[2g+1]
    form: np.ndarray  # (G,) int32
    extra: np.ndarray  # (G,) int32: index among the bucketed groups; first node of a tree
    power: np.ndarray  # (G,) q, 0 for entropy
    scale: np.ndarray  # (G,)
    offset: np.ndarray  # (G,)
    binomial: np.ndarray  # (H·P,) C(q+p−1, p) of each bucketed group
    key: np.ndarray  # (N,) sums s
    weight: np.ndarray  # (N,) exp(base − s) in entropy groups
    node: np.ndarray  # nodes of the sum trees
    scalars: np.ndarray  # (G·N_SCALARS,)
    portion: np.ndarray  # (G,) FACTOR·SHARE, beside each other: whoever reads many groups reads little else
    multiplier: np.ndarray  # (J,) Λ
    ref: np.ndarray  # (H·B,) λ at the last refresh of each bucket
    least: np.ndarray  # (H·B,) until its next refresh, no member of the bucket has a smaller d …
    cap: np.ndarray  # (H·B,) … or a larger x than least^(−q)
    moments: np.ndarray  # (H·B·P,) A_p, laid out [group][bucket][p]
    carry: np.ndarray  # (H·B,) what rounding took from A_0
    inverse: np.ndarray  # (H·B,) Σ 1/(ref + s)
    series: np.ndarray  # (H·N_SERIES,) see above
    sum_at: np.ndarray  # (N,) sums by position, in bucketed groups: sampling and refreshing go by position
    occupant: np.ndarray  # (N,) int32: position -> coordinate
    place: np.ndarray  # (N,) int32: coordinate -> position
    start: np.ndarray  # (H·(B+1),) int32: first position of each bucket
    span: np.ndarray  # (2H,) int32: buckets outside span[2h]..span[2h+1] (inclusive) are empty
    renewed: np.ndarray  # (H·B,) int32: was the bucket refreshed since the owner looked?


@inlined()
def head(g):
    """Where the scalars of group g begin."""
    return g * N_SCALARS


@inlined()
def first_of(store, g):
    """The first coordinate of group g."""
    return store.origin[2 * g]


@inlined()
def end_of(store, g):
    """One past the last coordinate of group g."""
    return store.origin[2 * g + 1]


@inlined()
def set_factor(store, g, factor):
    """From the weights of an entropy group to its coordinates."""
    store.scalars[head(g) + FACTOR] = factor
    store.portion[g] = factor * store.scalars[head(g) + SHARE]


@inlined()
def laid_open(store):
    """A store of arrays as one of pointers, which is what the kernels are compiled for."""
    return Store(
        pointer(store.first_group, 0, store.first_group.size),
        pointer(store.origin, 0, store.origin.size),
        pointer(store.form, 0, store.form.size),
        pointer(store.extra, 0, store.extra.size),
        pointer(store.power, 0, store.power.size),
        pointer(store.scale, 0, store.scale.size),
        pointer(store.offset, 0, store.offset.size),
        pointer(store.binomial, 0, store.binomial.size),
        pointer(store.key, 0, store.key.size),
        pointer(store.weight, 0, store.weight.size),
        pointer(store.node, 0, store.node.size),
        pointer(store.scalars, 0, store.scalars.size),
        pointer(store.portion, 0, store.portion.size),
        pointer(store.multiplier, 0, store.multiplier.size),
        pointer(store.ref, 0, store.ref.size),
        pointer(store.least, 0, store.least.size),
        pointer(store.cap, 0, store.cap.size),
        pointer(store.moments, 0, store.moments.size),
        pointer(store.carry, 0, store.carry.size),
        pointer(store.inverse, 0, store.inverse.size),
        pointer(store.series, 0, store.series.size),
        pointer(store.sum_at, 0, store.sum_at.size),
        pointer(store.occupant, 0, store.occupant.size),
        pointer(store.place, 0, store.place.size),
        pointer(store.start, 0, store.start.size),
        pointer(store.span, 0, store.span.size),
        pointer(store.renewed, 0, store.renewed.size),
    )
