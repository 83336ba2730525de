"""Arrays by what they hold; one alias each."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Indices = npt.NDArray[np.integer[Any]]  # whole numbers of any width
Bools = npt.NDArray[np.bool_]
