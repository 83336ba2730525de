"""Arrays by what they hold, one alias each; and read-only ones."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Indices = npt.NDArray[np.integer[Any]]  # whole numbers of any width
Bools = npt.NDArray[np.bool_]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(values: Any, dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only copy: nobody else can write to it."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array
