"""Independent coin flips with a fixed mean per arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight.errors import InvalidOption
from sidelight.kernels.random import hashed_unit


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """Arm i costs 1 with probability means[i] in every round, else 0.

    The loss of an arm in a round is a function of (key, round, arm), so it can be asked for in any order,
    and two policies that meet the same key meet the same losses.
    """

    means: npt.NDArray[np.float64]  # (n,) in [0, 1]

    def loss(self, key: int, round_: int, arm: int) -> float:
        """The loss of `arm` in round `round_` (0, 1, …)."""
        return 1.0 if hashed_unit(np.uint64(key), round_, arm) < self.means[arm] else 0.0

    @property
    def best_arm(self) -> int:
        """The comparator of pseudo-regret: the first arm of least mean."""
        return int(np.argmin(self.means))

    def gap(self, arm: int) -> float:
        """What playing `arm` costs more than the best arm, in expectation."""
        return float(self.means[arm] - self.means[self.best_arm])


def bernoulli(means: npt.ArrayLike) -> Bernoulli:
    """Environment of independent Bernoulli losses.

    >>> bernoulli([0.5, 0.2]).best_arm
    1
    """
    values = np.array(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise InvalidOption(f"means must be a flat, non-empty sequence, got shape {values.shape}")
    inside = (values >= 0.0) & (values <= 1.0)
    if not inside.all():
        at = int(np.argmin(inside))
        raise InvalidOption(f"the mean of arm {at} must be in [0, 1], got {values[at]}")
    values.flags.writeable = False
    return Bernoulli(values)
