"""Stochastic arms with losses anywhere in [0, 1], not just at its ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.engine.losses import BOUNDED, World
from sidelight.environment.base import arm_units
from sidelight.environment.checks import checked_numbers, checked_unit_table, flat_numbers, frozen
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import GAP, Written, spelled
from sidelight.errors import InvalidOption

__all__ = ["Bounded", "bounded"]

ROUNDING = 1e-12
"""How far mean ± width may leave [0, 1]: 0.9 + 0.1 is not always 1. Losses are clipped."""


@dataclass(frozen=True, eq=False, repr=False)
class Bounded(KnownMeans):
    """The loss of arm i is uniform on [mean − width[i], mean + width[i]]; independent over arms and rounds."""

    means: Floats  # (rows, n)
    width: Floats  # (n,) ≥ 0, with mean ± width in [0, 1]
    period: int = 1
    name: str = "bounded"
    kind = BOUNDED

    def __post_init__(self) -> None:
        super().__post_init__()
        width = checked_numbers(self.width, "width")
        if width.ndim > 1 or width.size not in (1, self.n_arms):
            raise InvalidOption(f"width must be one number, or one per arm, got shape {width.shape}")
        width = np.array(np.broadcast_to(width, self.n_arms))
        inside = (width >= 0) & (self.means.min(axis=0) - width >= -ROUNDING)
        inside &= self.means.max(axis=0) + width <= 1 + ROUNDING
        if not inside.all():
            arm = int(np.argmin(inside))
            raise InvalidOption(
                f"losses of arm {arm} must stay in [0, 1]: got mean {self.means[0, arm]}, "
                f"width {width[arm]}; choose a smaller width"
            )
        object.__setattr__(self, "width", frozen(width))

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Uniform draws of `arms` in this round."""
        chosen = np.asarray(arms, dtype=np.int64)
        spread = self.width[chosen] * (2.0 * arm_units(seed, round_, chosen) - 1.0)
        losses: Floats = np.clip(self.row(round_)[chosen] + spread, 0.0, 1.0)
        return losses

    @property
    def world(self) -> World:
        """The same losses for the kernels."""
        return super().world._replace(width=self.width)


def _read(written: Written) -> Bounded:
    gap, width, best = written.numbers(GAP, 0.25, written.middle)
    return bounded(written.leading(gap, best), width)


@spelled("bounded[:GAP[,WIDTH[,ARM]]]", _read)
def bounded(means: npt.ArrayLike, width: npt.ArrayLike | None = None) -> Bounded:
    """Losses uniform on [mean − width, mean + width], by default as wide as [0, 1] allows for each arm.

    >>> bounded([0.5, 0.25]).width.tolist()
    [0.5, 0.25]
    """
    table = checked_unit_table(flat_numbers(means, "means")[None, :], "means")
    widest = np.minimum(table[0], 1.0 - table[0])
    return Bounded(table, widest if width is None else width)  # type: ignore[arg-type]
