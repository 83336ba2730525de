"""Doubling: plans for 1, 2, 4, … rounds, one after another, for comparison with plans that know no horizon."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import floor
from typing import Any

from sidelight._check import MOST_ROUNDS
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.candidates import best_of, natural_candidates
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Plan

DOUBLING = "doubling"
"""The realization of plans without a horizon that play plans with one, each twice as long as the one before."""

THEOREM = "Doubling"


@dataclass(frozen=True, eq=False, repr=False)
class Doubling:
    """Stage k plays the best plan for 2^k rounds in rounds 2^k..2^{k+1}−1; nothing is carried over.

    With B_k the bound of stage k where that is certified and below its length, and its length elsewhere,

        R_t ≤ Σ_{k<K} min(B_k, 2^k) + min(B_K, t − 2^K + 1),        K = ⌊log₂ t⌋.

    Stages are planned when they are asked for. Proof: docs/theory/anytime.md.
    """

    graph: FeedbackGraph
    known: dict[int, Plan] = field(default_factory=dict)  # stages planned so far

    @cached_property
    def _candidates(self) -> list[Candidate]:
        return list(natural_candidates(Solved(self.graph), "auto"))

    def stage(self, k: int) -> Plan:
        """The plan of rounds 2^k..2^{k+1}−1."""
        if k not in self.known:
            self.known[k] = best_of(self._candidates, 2**k)
        return self.known[k]

    def stage_of(self, t: int) -> Plan:
        """The plan of round t."""
        return self.stage(t.bit_length() - 1)

    @property
    def valid_from(self) -> int:
        """1: a stage without a certificate counts with its length."""
        return 1

    def at(self, t: int) -> Bound:
        """The bound after t rounds."""
        last = t.bit_length() - 1
        finished = sum(self._most(k, 2**k) for k in range(last))
        terms = {"finished stages": finished, "current stage": self._most(last, t - 2**last + 1)}
        return Bound(t, terms, THEOREM, (), 1, self._informative_from)

    def value_at(self, t: int) -> float:
        """The bound after t rounds as a number."""
        return self.at(t).value

    def _most(self, k: int, rounds: int) -> float:
        """What stage k can cost in its first `rounds` rounds."""
        bound = self.stage(k).bound
        says = bound.certified and bound.informative  # files may hold a stage that plays uniformly
        return min(bound.value, float(rounds)) if says else float(rounds)

    @cached_property
    def _informative_from(self) -> int:
        """The first stage whose bound is below its length saves something as soon as that many rounds are over."""
        k = 0
        while k < 63 and self._most(k, 2**k) >= 2**k:
            k += 1
        return 2**k + floor(self._most(k, 2**k)) if k < 63 else MOST_ROUNDS

    def summary(self) -> str:
        """The bound in words."""
        return "regret after t rounds ≤ the bounds of plans for 1, 2, 4, … rounds added up (Doubling)"

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON; the graph says the rest."""
        return {DOUBLING: {"first": 1}}


def doubling(g: FeedbackGraph) -> Plan:
    """Plans for 1, 2, 4, … rounds, one after another.

    >>> from sidelight.graph import families
    >>> made = doubling(families.cycle(6))
    >>> made.bound_at(10**6).value > made.stage_of(2**20).bound.value
    True
    """
    stages = Doubling(g)
    first = stages.stage(0)
    return Plan(g, first.partition, None, DOUBLING, first.choices, {}, stages, first.tuning, stages=stages)


def resumed(stage: Plan) -> Plan:
    """The doubling plan whose present stage is this plan, made earlier; later ones are planned when they begin."""
    plan, k = doubling(stage.graph), stage.bound.horizon.bit_length() - 1
    if stage.horizon != 2**k:
        raise InvalidOption(f"a stage has 1, 2, 4, … rounds, got one of {stage.horizon} rounds")
    assert isinstance(plan.stages, Doubling)
    plan.stages.known[k] = stage
    return plan
