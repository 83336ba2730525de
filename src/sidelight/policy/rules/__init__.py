"""Known algorithms, one file each, as plans for the engine or as rules of their own."""

from sidelight.planning.baselines import chlz21, exp3, exp3g, exp3g_strong, exp3g_weak, hedge, q_ftrl
from sidelight.policy.rules.exp3_ix import exp3_ix
from sidelight.policy.rules.ftl import ftl
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
