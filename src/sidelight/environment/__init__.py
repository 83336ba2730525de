"""Environments: where losses come from. A new one is imported and listed here, and known everywhere."""

from sidelight.environment.base import Environment
from sidelight.environment.bounded import Bounded, bounded
from sidelight.environment.changing import Changing, changing, online
from sidelight.environment.coins import Coins, bernoulli, gap, switching
from sidelight.environment.datasets import Dataset, dataset, dataset_names
from sidelight.environment.drifting import Drifting, drifting
from sidelight.environment.function import Function, function
from sidelight.environment.hard import hard, hard_bandit, hard_experts, hard_packing, hard_weak_arm, packing
from sidelight.environment.markets import auction, posted_prices
from sidelight.environment.means import KnownMeans
from sidelight.environment.names import parse, usages
from sidelight.environment.newsvendor import newsvendor
from sidelight.environment.opposed import Opposed, opposed
from sidelight.environment.replay import Matrix, matrix, replay

__all__ = [
    "Bounded", "Changing", "Coins", "Dataset", "Drifting", "Environment", "Function", "KnownMeans", "Matrix",
    "Opposed", "auction", "bernoulli", "bounded", "changing", "dataset", "dataset_names", "drifting", "function",
    "gap", "hard", "hard_bandit", "hard_experts", "hard_packing", "hard_weak_arm", "matrix", "newsvendor", "online",
    "opposed", "packing", "parse", "posted_prices", "replay", "switching", "usages",
]  # fmt: skip
