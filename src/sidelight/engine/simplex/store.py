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

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined
from sidelight.engine.constants import LARGEST_LIST
from sidelight.engine.simplex.tree import n_nodes

POWER_LIST, POWER_BUCKETS, ENTROPY_LIST, ENTROPY_TREE = range(4)

N_BUCKETS = 64  # at two per octave they reach d = 2³²
N_MOMENTS = 8  # one cache line; with the reach of a window (`buckets.reach`) they give 3e−14

N_TABLE = 128 + 128 + 1026
"""Cells of a table of powers: 1/c and c^(−q) for 128 c between 1 and 2, then 2^(−kq) for k = −1..1024."""
LARGEST_TABLED = 8.0
"""Powers beyond this have no table: ten terms of the series between its cells would not be accurate enough."""

GROUP = (
    "multiplier",  # λ_g
    "change",  # lists: change of F_g at λ_g by the sums added since the last solution;  others: not 0 if stale
    "floor base",  # buckets: least λ_g that the series reach;  entropy: the base of the weights, near the least sum
    "weight total",  # buckets: total proposal weight;  entropy: Σ weights
    "root_weight factor",  # buckets: total proposal weight for 1/d;  entropy: x = weight · this factor
    "rate",  # the factor that turns losses into sums
    "share",  # the owner's: what the point keeps when local exploration is mixed in
    "held",  # the owner's: constant exploration inside the block
    "paid",  # the owner's: Σ_t ⟨ℓ̂, x⟩
    "slope",  # lists: Taylor coefficients of F_g at λ_g in the direction of falling λ
    "curve",
    "twist",
    "mass",  # F_g at the solution: the share of the group in its simplex
    "shift",  # what has been added to all sums to keep their digits
    "ceiling",  # buckets: the greatest λ_g that the series reach
)
"""The numbers of a group, in store.scalars: a record of two cache lines, what is read most in the first.

Some cells have two names, as a group is kept in one form only.
"""
N_SCALARS = 16
group_in = record_of("group", GROUP)
AS_RECORDS = np.dtype(
    {
        "names": [name for cell in GROUP for name in cell.split()],
        "formats": [np.float64 for cell in GROUP for _ in cell.split()],
        "offsets": [8 * index for index, cell in enumerate(GROUP) for _ in cell.split()],
        "itemsize": 8 * N_SCALARS,
    }
)
"""store.scalars.view(AS_RECORDS)["rate"]: one number of all groups."""

# store.series, per bucketed group: F as a power series around a centre, then
CARRY = N_MOMENTS  # what rounding took from its first coefficient
INVERSE = N_MOMENTS + 1  # Σ 1/d at the centre
CENTER = N_MOMENTS + 2  # that λ
RENEWED = N_MOMENTS + 3  # 1 when some bucket was refreshed (see `renewed`); for the owner to read and clear
N_SERIES = N_MOMENTS + 4


@inlined()
def group(store, g):
    """The numbers of group g, by name."""
    return group_in(store.scalars, g * N_SCALARS)


@inlined()
def first_of(store, g):
    """The first coordinate of group g."""
    return store.origin[2 * g]


@inlined()
def end_of(store, g):
    """One past the last coordinate of group g."""
    return store.origin[2 * g + 1]


# -- making a store: which coordinates form which simplex, in which form ------------------------------------

LARGEST_SUM = 24
"""Entropy groups up to this size, times one more than a round can change, are added up; larger ones get a tree."""


@dataclass(frozen=True)
class Group:
    """Consecutive coordinates of one simplex with one potential: power q (0 for entropy) and rate.

    `line` is the slope of a line beside the potential, as a multiple of rate: where potentials differ, it matters.
    """

    first: int
    size: int
    power: float
    rate: float
    changes: int = 1  # most coordinates that one round changes
    line: float = 0.0

    @property
    def form(self) -> int:
        """How the group is best kept."""
        if self.power > 0.0:
            return POWER_BUCKETS if self.size > LARGEST_LIST else POWER_LIST
        return ENTROPY_TREE if self.size > LARGEST_SUM * (1 + self.changes) else ENTROPY_LIST


def make_store(simplices: Sequence[Sequence[Group]], n_coordinates: int) -> dict[str, np.ndarray]:
    """Fields of a store in which simplex j consists of the groups simplices[j], all sums zero.

    The points that belong to them are yet to be found (`solve.rebuild`).
    """
    groups = [group for simplex in simplices for group in simplex]
    powers = np.array([group.power for group in groups], dtype=np.float64)
    form = np.array([group.form for group in groups], dtype=np.int32)
    bucketed, tree = form == POWER_BUCKETS, form == ENTROPY_TREE
    h = int(bucketed.sum())
    nodes = np.array(
        [n_nodes(group.size) if group.form == ENTROPY_TREE else 0 for group in groups], dtype=np.int64
    )
    extra = np.where(bucketed, np.cumsum(bucketed) - 1, np.where(tree, np.cumsum(nodes) - nodes, -1))

    # A simplex of one group needs no common scale: its own λ serves as Λ, and rates are in the sums.
    scale = np.ones(len(groups))
    offset = np.zeros(len(groups))
    first_group = np.concatenate([[0], np.cumsum([len(simplex) for simplex in simplices])])
    for j, simplex in enumerate(simplices):
        for index, group in enumerate(simplex):
            if len(simplex) > 1:  # one multiplier Λ for all groups: λ_g = rate·Λ, plus 1 for entropy
                scale[first_group[j] + index] = group.rate
                offset[first_group[j] + index] = 1.0 if group.power == 0.0 else group.line

    origin = np.array([(group.first, group.first + group.size) for group in groups], dtype=np.int32)
    # Groups of one power share a table; q = 2 needs none.
    tabled = [q for q in np.unique(powers[bucketed]).tolist() if q != 2.0 and q <= LARGEST_TABLED]
    table_at = [tabled.index(q) * N_TABLE if q in tabled else -1 for q in powers[bucketed].tolist()]
    scalars = np.zeros(len(groups) * N_SCALARS)
    scalars.view(AS_RECORDS)["rate"] = [group.rate for group in groups]
    return {
        "first_group": first_group.astype(np.int32),
        "origin": origin.ravel(),
        "form": form,
        "extra": extra.astype(np.int32),
        "power": powers,
        "scale": scale,
        "offset": offset,
        "binomial": _binomials(powers[bucketed]),
        "table_at": np.array(table_at, dtype=np.int32),
        "power_table": np.concatenate([np.zeros(0), *map(_power_table, tabled)]),
        "key": np.zeros(n_coordinates),
        "weight": np.zeros(n_coordinates),
        "node": np.zeros(int(nodes.sum())),
        "scalars": scalars,
        "multiplier": np.zeros(len(simplices)),
        "ref": np.zeros(h * N_BUCKETS),
        "least": np.ones(h * N_BUCKETS),
        "cap": np.ones(h * N_BUCKETS),
        "moments": np.zeros(h * N_MOMENTS * N_BUCKETS),
        "carry": np.zeros(h * N_BUCKETS),
        "inverse": np.zeros(h * N_BUCKETS),
        "series": np.zeros(h * N_SERIES),
        "sum_at": np.zeros(n_coordinates if h else 0),
        "occupant": np.arange(n_coordinates, dtype=np.int32),
        "place": np.arange(n_coordinates, dtype=np.int32),
        "start": np.zeros(h * (N_BUCKETS + 1), dtype=np.int32),
        "span": np.tile(np.array([0, N_BUCKETS - 1], dtype=np.int32), h),
        "renewed": np.zeros(h * N_BUCKETS, dtype=np.int32),
    }


def _binomials(powers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """C(q+p−1, p) for p = 0..P−1 and every q, row by row."""
    p = np.arange(1, N_MOMENTS)
    ratios = (powers[:, None] + p - 1) / p
    ones = np.ones((powers.size, 1))
    return np.hstack([ones, np.cumprod(ratios, axis=1)]).ravel()


def _power_table(q: float) -> npt.NDArray[np.float64]:
    """What `fast_power` reads: 1/c for the middles c of 128 parts of 1..2, c^(−q), and 2^(−kq) for k = −1..1024."""
    inverse = 1.0 / (1.0 + (np.arange(128) + 0.5) / 128)
    return np.concatenate([inverse, inverse**q, np.exp2(-q * np.arange(-1, 1025))])
