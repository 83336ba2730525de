"""The fractional domination number δ*: the least exploration that sees every arm, with its certificate."""

from sidelight.analysis.domination.domination import Domination, block_dominations, fractional_domination
from sidelight.analysis.domination.partial import PartialCover, lower_hull, partial_cover, partial_covers

__all__ = [
    "Domination",
    "PartialCover",
    "block_dominations",
    "fractional_domination",
    "lower_hull",
    "partial_cover",
    "partial_covers",
]
