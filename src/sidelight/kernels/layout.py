"""Making a store: which coordinates form which simplex, in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight.kernels.simplex import rebuild_all
from sidelight.kernels.store import (
    ENTROPY_LIST,
    N_BUCKETS,
    N_MOMENTS,
    N_SCALARS,
    POWER_BUCKETS,
    POWER_LIST,
    Store,
)

LARGEST_LIST = 24
"""Tsallis groups up to this size are visited one by one, larger ones are kept in buckets."""


@dataclass(frozen=True)
class Group:
    """Coordinates of one simplex with one potential: power q (0 for entropy) and rate."""

    coordinates: npt.NDArray[np.int32]
    power: float
    rate: float


def make_store(simplices: Sequence[Sequence[Group]], n_coordinates: int) -> Store:
    """A store in which simplex j consists of the groups simplices[j], all sums zero."""
    groups = [group for simplex in simplices for group in simplex]
    sizes = np.array([group.coordinates.size for group in groups], dtype=np.int64)
    powers = np.array([group.power for group in groups], dtype=np.float64)
    form = np.where(powers == 0.0, ENTROPY_LIST, np.where(sizes > LARGEST_LIST, POWER_BUCKETS, POWER_LIST))
    bucketed = np.where(form == POWER_BUCKETS, np.cumsum(form == POWER_BUCKETS) - 1, -1)
    h = int((form == POWER_BUCKETS).sum())

    scale = np.ones(len(groups))
    offset = np.zeros(len(groups))
    first_group = np.concatenate([[0], np.cumsum([len(simplex) for simplex in simplices])])
    for j, simplex in enumerate(simplices):
        for index, group in enumerate(simplex):
            if len(simplex) > 1:  # one multiplier for all: rates and the constant of the entropy matter
                scale[first_group[j] + index] = group.rate
                offset[first_group[j] + index] = 1.0 if group.power == 0.0 else 0.0

    occupant = np.full(n_coordinates, -1, dtype=np.int32)
    place = np.full(n_coordinates, -1, dtype=np.int32)
    origin = np.concatenate([[0], np.cumsum(sizes)])
    if groups:
        laid_out = np.concatenate([group.coordinates for group in groups]).astype(np.int32)
        occupant[: laid_out.size] = laid_out
        place[laid_out] = np.arange(laid_out.size, dtype=np.int32)
    store = Store(
        first_group=first_group.astype(np.int32),
        origin=origin.astype(np.int32),
        form=form.astype(np.int32),
        bucketed=bucketed.astype(np.int32),
        power=powers,
        scale=scale,
        offset=offset,
        binomial=_binomials(powers[form == POWER_BUCKETS]),
        cap=np.zeros(h * N_BUCKETS),
        key=np.zeros(n_coordinates),
        weight=np.zeros(n_coordinates),
        scalars=np.zeros(len(groups) * N_SCALARS),
        multiplier=np.zeros(len(simplices)),
        ref=np.zeros(h * N_BUCKETS),
        moments=np.zeros(h * N_MOMENTS * N_BUCKETS),
        carry=np.zeros(h * N_BUCKETS),
        inverse=np.zeros(h * N_BUCKETS),
        occupant=occupant,
        place=place,
        start=np.zeros(h * (N_BUCKETS + 1), dtype=np.int32),
        span=np.tile(np.array([0, N_BUCKETS - 1], dtype=np.int32), h),
    )
    rebuild_all(store)
    return store


def _binomials(powers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """C(q+p−1, p) for p = 0..P−1 and every q, row by row."""
    p = np.arange(1, N_MOMENTS)
    ratios = (powers[:, None] + p - 1) / p
    ones = np.ones((powers.size, 1))
    return np.hstack([ones, np.cumprod(ratios, axis=1)]).ravel()
