"""Known algorithms that are plans: each has its tuning and its bound here, and `compare_bounds` asks for them."""

from sidelight.planning.baselines.algorithms import (
    chlz21,
    exp3,
    exp3g,
    exp3g_strong,
    exp3g_weak,
    hedge,
    q_ftrl,
)

__all__ = ["chlz21", "exp3", "exp3g", "exp3g_strong", "exp3g_weak", "hedge", "q_ftrl"]
