"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends."""

from sidelight.environment import (
    Coins,
    Environment,
    Function,
    Matrix,
    bernoulli,
    function,
    gap,
    matrix,
    packing,
    switching,
)

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
