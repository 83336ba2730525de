"""Numbers and arms as they enter an environment: checked once, with an error that shows what is wrong."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption

Array = TypeVar("Array", bound=npt.NDArray[Any])


def checked_numbers(values: npt.ArrayLike, what: str) -> Floats:
    """`values` as an array of floats."""
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"{what} must be numbers, got {values!r} ({error})") from None


def flat_numbers(values: npt.ArrayLike, what: str) -> Floats:
    """A flat, non-empty array of floats of its own."""
    numbers = checked_numbers(values, what).copy()
    if numbers.ndim != 1 or numbers.size == 0:
        raise InvalidOption(f"{what} must be a flat, non-empty sequence, got shape {numbers.shape}")
    return numbers


def checked_arms(values: Any, n_arms: int, what: str) -> Longs:
    """A non-empty list of indices in 0..n_arms−1, repetitions allowed."""
    arms = np.asarray(values)
    whole = arms.ndim == 1 and arms.size > 0 and arms.dtype.kind in "iu"
    if not (whole and arms.min() >= 0 and arms.max() < n_arms):
        raise InvalidOption(f"{what} must be whole numbers in 0..{n_arms - 1}, got {values!r}")
    return arms.astype(np.int64)


def checked_unit_table(values: npt.ArrayLike, what: str) -> Floats:
    """A read-only (rows, n) array of numbers in [0, 1], or an error naming the first that is not."""
    table = checked_numbers(values, what)
    if table.ndim != 2 or table.size == 0:
        raise InvalidOption(f"{what} must be a non-empty matrix (rows, arms), got shape {table.shape}")
    rows = max(1, 10**6 // table.shape[1])
    for first in range(0, len(table), rows):  # in pieces: the table may be a memory map
        piece = table[first : first + rows]
        inside = (piece >= 0.0) & (piece <= 1.0)
        if not inside.all():
            row, arm = np.argwhere(~inside)[0]
            raise InvalidOption(
                f"{what}: row {first + row}, arm {arm} must be in [0, 1], got {piece[row, arm]}"
            )
    return frozen(table)


def frozen(values: Array) -> Array:
    """A read-only view: the kernels are compiled for one kind of array only."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]
