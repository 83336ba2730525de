"""The game of a plan or a rule: at its first round, or to be resumed from a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.engine.random import seeded_words
from sidelight.planning import Plan
from sidelight.policy.dense_game import DenseGame
from sidelight.policy.game import Game
from sidelight.policy.plan_game import FALLEN, PlanGame, built
from sidelight.policy.rule_game import RuleGame


def begun(plan: Any, seed: int) -> Game:
    """The game that a new policy plays."""
    if isinstance(plan, Plan):
        return PlanGame(plan, built(plan, seed))
    return RuleGame(plan, seeded_words(seed))


def blank_game(kind: str, plan: Any) -> Game:
    """A game of this kind, whose state is to be written."""
    if kind == DenseGame.kind:
        return DenseGame(plan, np.zeros(4, dtype=np.uint64))
    if kind == FALLEN:
        return PlanGame(plan, built(plan, 0, fallen=True))
    return begun(plan, 0)
