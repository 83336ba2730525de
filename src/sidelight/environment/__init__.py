"""Environments: where losses come from."""

from sidelight.environment.base import Environment
from sidelight.environment.bounded import Bounded, bounded
from sidelight.environment.coins import Coins, bernoulli, gap, packing, switching
from sidelight.environment.datasets import Dataset, dataset, dataset_names
from sidelight.environment.drifting import Drifting, drifting
from sidelight.environment.function import Function, function
from sidelight.environment.hard import hard, hard_bandit, hard_experts, hard_packing, hard_weak_arm
from sidelight.environment.matrix import Matrix, matrix
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import parse, usages
from sidelight.environment.newsvendor import newsvendor
from sidelight.environment.opposed import Opposed, opposed
from sidelight.environment.replay import replay

__all__ = [
    "Bounded",
    "Coins",
    "Dataset",
    "Drifting",
    "Environment",
    "Function",
    "KnownMeans",
    "Matrix",
    "Opposed",
    "bernoulli",
    "bounded",
    "dataset",
    "dataset_names",
    "drifting",
    "function",
    "gap",
    "hard",
    "hard_bandit",
    "hard_experts",
    "hard_packing",
    "hard_weak_arm",
    "matrix",
    "newsvendor",
    "opposed",
    "packing",
    "parse",
    "replay",
    "switching",
    "usages",
]
