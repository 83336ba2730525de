"""Known algorithms to compare with: `sidelight.baselines.exp3(graph, horizon)` and friends; see docs/baselines.md."""

from sidelight.policy.baselines import (
    chlz21,
    exp3,
    exp3_ix,
    exp3g,
    exp3g_strong,
    exp3g_weak,
    ftl,
    hedge,
    q_ftrl,
    ts_n,
    tsallis_inf,
    ucb_n,
    uniform,
)

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
