"""The exact value of tiny games."""

from sidelight.analysis.minimax.value import Minimax, minimax

__all__ = ["Minimax", "minimax"]
