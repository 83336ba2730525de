"""Where simplices live: arrays shared by the top level and every block.

A *simplex* is a point Σ x = 1 held by sums and a multiplier; its coordinates are split into *groups* of equal
potential and rate. A group is kept in one of three forms, with the same meaning and different costs:

    POWER_LIST      x = d^(−q), d = λ + s: visited one by one; best for a few dozen coordinates
    POWER_BUCKETS   the same, never written out (see `buckets`): best for many coordinates, few revealed
    ENTROPY_LIST    x = exp(−(λ + s)): weights exp(min − s) kept, recomputed in one vectorised pass when sums change

Sums s are scaled by the group's rate; the multiplier of group g is λ_g = scale_g·Λ + offset_g with Λ that of
its simplex. Coordinates are numbered once for all simplices: block k's coordinate on the top level is k, the
coordinate of slot i inside its block is m + i. `place` maps a coordinate to its position in `key`.
"""

from typing import NamedTuple

import numpy as np

from sidelight.kernels._jit import step

POWER_LIST, POWER_BUCKETS, ENTROPY_LIST = range(3)

N_BUCKETS = 64
N_MOMENTS = 8

# Store.scalars, per group
(
    LAMBDA,  # λ_g
    CHANGE,  # change of F_g at λ_g by the sums added since the last solution
    SLOPE,  # Taylor coefficients of F_g at λ_g in the direction of falling λ
    CURVE,
    TWIST,
    MASS,  # F_g at the solution: the share of the group in its simplex
    FLOOR,  # buckets: least λ_g that the moments reach;  entropy: the least sum
    WEIGHT,  # buckets: total proposal weight;  entropy: Σ weights
    ROOT_WEIGHT,  # buckets: total proposal weight for 1/d;  entropy: x = weight · this factor
    SHIFT,  # what has been added to all sums to keep their digits
) = range(10)
N_SCALARS = 10
LEAST, TOTAL, FACTOR = FLOOR, WEIGHT, ROOT_WEIGHT  # their names for entropy groups


class Store(NamedTuple):
    """All simplices: first what is fixed, then what changes."""

    first_group: np.ndarray  # (J+1,) int32: groups of each simplex
    origin: np.ndarray  # (G+1,) int32: first position of each group
    form: np.ndarray  # (G,) int32
    bucketed: np.ndarray  # (G,) int32: index among the bucketed groups, −1 for others
    power: np.ndarray  # (G,) q, 0 for entropy
    scale: np.ndarray  # (G,)
    offset: np.ndarray  # (G,)
    binomial: np.ndarray  # (H·P,) C(q+p−1, p) of each bucketed group
    cap: np.ndarray  # (H·B,) (lo(1−ρ))^(−q) of the buckets of each bucketed group
    key: np.ndarray  # (N,) sums s by position
    weight: np.ndarray  # (N,) exp(least − s) in entropy groups
    scalars: np.ndarray  # (G·N_SCALARS,)
    multiplier: np.ndarray  # (J,) Λ
    ref: np.ndarray  # (H·B,) λ at the last refresh of each bucket
    moments: np.ndarray  # (H·P·B,) A_p, laid out [group][p][bucket]
    carry: np.ndarray  # (H·B,) what rounding took from A_0
    inverse: np.ndarray  # (H·B,) Σ 1/(ref + s)
    occupant: np.ndarray  # (N,) int32: position -> coordinate
    place: np.ndarray  # (N,) int32: coordinate -> position
    start: np.ndarray  # (H·(B+1),) int32: first position of each bucket
    span: np.ndarray  # (2H,) int32: buckets outside span[2h]..span[2h+1] (inclusive) are empty


@step()
def head(g):
    """Where the scalars of group g begin."""
    return g * N_SCALARS
