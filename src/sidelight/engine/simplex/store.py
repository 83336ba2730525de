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

from sidelight.engine._numba.jit import inlined

POWER_LIST, POWER_BUCKETS, ENTROPY_LIST, ENTROPY_TREE = range(4)

N_BUCKETS = 64  # at two per octave they reach d = 2³²
N_MOMENTS = 8  # one cache line; with the reach of a window (`buckets.reach`) they give 3e−14

N_TABLE = 128 + 128 + 1026
"""Cells of a table of powers: 1/c and c^(−q) for 128 c between 1 and 2, then 2^(−kq) for k = −1..1024."""
LARGEST_TABLED = 8.0
"""Powers beyond this have no table: ten terms of the series between its cells would not be accurate enough."""

# store.scalars, per group: a record of two cache lines, what is read most in the first
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

# store.series, per bucketed group: F as a power series around a centre, then
CARRY = N_MOMENTS  # what rounding took from its first coefficient
INVERSE = N_MOMENTS + 1  # Σ 1/d at the centre
CENTER = N_MOMENTS + 2  # that λ
RENEWED = N_MOMENTS + 3  # 1 when some bucket was refreshed (see `renewed`); for the owner to read and clear
N_SERIES = N_MOMENTS + 4


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
