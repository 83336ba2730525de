"""Uniform play: no learning at all."""

from __future__ import annotations

from sidelight.engine._numba.jit import inlined
from sidelight.engine.rules import draw, note_seen, rule_kernels
from sidelight.planning.baselines.rules import uniform_bound
from sidelight.policy.rule import Rule


@inlined()
def update(state, count, kept):
    """Nothing is learnt."""


@inlined()
def weigh(state):
    """1/N each."""
    state.probabilities[:] = 1.0 / state.probabilities.size


class uniform(Rule):
    """Every arm with probability 1/N in every round, on any graph: R ≤ (1 − 1/N)·T, and no less in the worst case.

    >>> import sidelight as sl
    >>> sl.baselines.uniform(sl.families.cycle(4), 1000).bound.value
    750.0
    """

    name = "uniform"
    kernels = rule_kernels(name, draw, note_seen, update, weigh)
    theorem = "uniform play: (1 − 1/N)·T"
    needs_loops = False

    def terms(self, t: float) -> dict[str, float]:
        """Whatever the losses, an arm drawn evenly costs at most this much more than the best."""
        return {"no learning": uniform_bound(self.graph.n_arms, t)}
