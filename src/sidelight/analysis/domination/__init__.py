"""The fractional domination number δ*: the least exploration that sees every arm, with its certificate."""

from sidelight.analysis.domination.blocks import block_dominations
from sidelight.analysis.domination.domination import Domination, fractional_domination

__all__ = ["Domination", "block_dominations", "fractional_domination"]
