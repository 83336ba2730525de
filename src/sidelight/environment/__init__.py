"""Environments: where losses come from. `__all__` is what makes one, and is in `sl.environments`."""

from sidelight.environment.base import Environment as Environment
from sidelight.environment.changing import changing, online
from sidelight.environment.data import Dataset as Dataset
from sidelight.environment.data import dataset, dataset_names
from sidelight.environment.function import function
from sidelight.environment.hard import hard, hard_bandit, hard_experts, hard_packing, hard_weak_arm, packing
from sidelight.environment.markets import auction, posted_prices
from sidelight.environment.means import Bounded as Bounded
from sidelight.environment.means import Coins as Coins
from sidelight.environment.means import Drifting as Drifting
from sidelight.environment.means import Opposed as Opposed
from sidelight.environment.means import bernoulli, bounded, drifting, gap, opposed, switching
from sidelight.environment.names import parse as parse
from sidelight.environment.names import usages as usages
from sidelight.environment.tables import matrix, newsvendor, replay

__all__ = [
    "auction", "bernoulli", "bounded", "changing", "dataset", "dataset_names", "drifting", "function", "gap",
    "hard", "hard_bandit", "hard_experts", "hard_packing", "hard_weak_arm", "matrix", "newsvendor", "online",
    "opposed", "packing", "posted_prices", "replay", "switching",
]  # fmt: skip
