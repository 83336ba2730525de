"""Known algorithms, one file each, as plans for the engine or as rules of their own."""

from sidelight.policy.rules.chlz21 import chlz21
from sidelight.policy.rules.exp3 import exp3
from sidelight.policy.rules.exp3_ix import exp3_ix
from sidelight.policy.rules.exp3g import exp3g
from sidelight.policy.rules.exp3g_strong import exp3g_strong
from sidelight.policy.rules.exp3g_weak import exp3g_weak
from sidelight.policy.rules.ftl import ftl
from sidelight.policy.rules.hedge import hedge
from sidelight.policy.rules.q_ftrl import q_ftrl
from sidelight.policy.rules.ts_n import ts_n
from sidelight.policy.rules.tsallis_inf import tsallis_inf
from sidelight.policy.rules.ucb_n import ucb_n
from sidelight.policy.rules.uniform import uniform

RULES = (tsallis_inf, exp3_ix, ucb_n, ts_n, uniform, ftl)
"""Every rule; files and commands find them by name here."""

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
