"""Environments: where losses come from."""

from sidelight.environment.coins import Coins, bernoulli, gap, packing, switching
from sidelight.environment.environment import Environment
from sidelight.environment.function import Function, function
from sidelight.environment.matrix import Matrix, matrix

__all__ = [
    "Coins",
    "Environment",
    "Function",
    "Matrix",
    "bernoulli",
    "function",
    "gap",
    "matrix",
    "packing",
    "switching",
]
