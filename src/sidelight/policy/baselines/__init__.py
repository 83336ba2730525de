"""Known algorithms, one file each, as plans for the engine or as small policies of their own."""

from sidelight.policy.baselines.chlz21 import chlz21
from sidelight.policy.baselines.exp3 import exp3
from sidelight.policy.baselines.exp3_ix import exp3_ix
from sidelight.policy.baselines.exp3g import exp3g
from sidelight.policy.baselines.exp3g_strong import exp3g_strong
from sidelight.policy.baselines.exp3g_weak import exp3g_weak
from sidelight.policy.baselines.ftl import ftl
from sidelight.policy.baselines.hedge import hedge
from sidelight.policy.baselines.q_ftrl import q_ftrl
from sidelight.policy.baselines.ts_n import ts_n
from sidelight.policy.baselines.tsallis_inf import tsallis_inf
from sidelight.policy.baselines.ucb_n import ucb_n
from sidelight.policy.baselines.uniform import uniform

__all__ = [
    "chlz21",
    "exp3",
    "exp3_ix",
    "exp3g",
    "exp3g_strong",
    "exp3g_weak",
    "ftl",
    "hedge",
    "q_ftrl",
    "ts_n",
    "tsallis_inf",
    "ucb_n",
    "uniform",
]
