"""What a feedback graph allows: observability, domination numbers, packings, each with its certificate."""

from sidelight.analysis.domination.domination import Domination, block_dominations, fractional_domination
from sidelight.analysis.domination.partial import PartialCover, lower_hull, partial_cover, partial_covers
from sidelight.analysis.game import Minimax, minimax
from sidelight.analysis.independence.number import IndependenceNumber, independence_number
from sidelight.analysis.long_run import LongRun, long_run
from sidelight.analysis.observability import Observability, observability
from sidelight.analysis.packing import LowerBound, PackingSet, packing_independent_set, packing_lower_bound

__all__ = [
    "Domination", "IndependenceNumber", "LongRun", "LowerBound", "Minimax", "Observability", "PackingSet",
    "PartialCover", "block_dominations", "fractional_domination", "independence_number", "long_run", "lower_hull",
    "minimax", "observability", "packing_independent_set", "packing_lower_bound", "partial_cover", "partial_covers",
]  # fmt: skip
