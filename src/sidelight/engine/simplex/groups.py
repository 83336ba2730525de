"""Making a store: which coordinates form which simplex, in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight.engine.constants import LARGEST_LIST
from sidelight.engine.simplex.store import (
    ENTROPY_LIST,
    ENTROPY_TREE,
    LARGEST_TABLED,
    N_BUCKETS,
    N_MOMENTS,
    N_SCALARS,
    N_SERIES,
    N_TABLE,
    POWER_BUCKETS,
    POWER_LIST,
    RATE,
)
from sidelight.engine.simplex.tree import n_nodes

LARGEST_SUM = 24
"""Entropy groups up to this size, times one more than a round can change, are added up; larger ones get a tree."""


@dataclass(frozen=True)
class Group:
    """Consecutive coordinates of one simplex with one potential: power q (0 for entropy) and rate."""

    first: int
    size: int
    power: float
    rate: float
    changes: int = 1  # most coordinates that one round changes

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
                offset[first_group[j] + index] = 1.0 if group.power == 0.0 else 0.0

    origin = np.array([(group.first, group.first + group.size) for group in groups], dtype=np.int32)
    # Groups of one power share a table; q = 2 needs none.
    tabled = [q for q in np.unique(powers[bucketed]).tolist() if q != 2.0 and q <= LARGEST_TABLED]
    table_at = [tabled.index(q) * N_TABLE if q in tabled else -1 for q in powers[bucketed].tolist()]
    scalars = np.zeros(len(groups) * N_SCALARS)
    scalars[RATE::N_SCALARS] = [group.rate for group in groups]
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
        "portion": np.zeros(len(groups)),
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
