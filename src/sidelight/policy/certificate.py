"""What a policy can certify about its own regret while it plays."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

LEDGER = ("projection", "restriction", "global exploration", "local exploration")
"""The four parts of the regret (Lemma regret), in the order of the engine."""

BOUGHT = ("temperature", "rounds")
"""The two parts of a self-tuning plan's certificate: what its temperature cost, and what its rounds did."""


UNANSWERED = "unanswered"
"""The part of decisions that are open or were cancelled: at most 1 each."""


@dataclass(frozen=True)
class Certificate:
    """A number whose expectation bounds the expected regret of the rounds played so far.

    For every arm a and all losses that do not depend on the player's coins, E[value] ≥ E[regret against a], for
    this `arm` if one was asked for. On one run it is an estimate of such a bound: the regret of that run may
    exceed it. `terms` are at least the parts of `Policy.ledger` against that arm, on every run. Proof:
    docs/theory/certificate.md. Self-tuning plans keep accounts of their own: what their temperature cost so far, and
    their rounds (docs/theory/self-tuning.md). A decision that is open or was cancelled counts 1; which ones are, and
    when answers come, must not depend on the player's coins either (docs/theory/delays.md).

    >>> Certificate(100, None, {"restriction": 30.0, "global exploration": 12.0}).value
    42.0
    """

    round: int  # rounds that it speaks of: all that were decided
    arm: int | None  # the arm it holds against; None: every arm
    terms: dict[str, float]
    label: str | None = None  # of that arm, where it has one

    @property
    def value(self) -> float:
        """Σ `terms`."""
        return sum(self.terms.values())

    @property
    def certified(self) -> bool:
        """Does it say anything? False once estimates have left the range of numbers."""
        return isfinite(self.value)

    def summary(self) -> str:
        """The certificate as a small table."""
        label = "" if self.label is None else f" ({self.label!r})"
        whom = "any arm" if self.arm is None else f"arm {self.arm}{label}"
        lines = [f"expected regret against {whom} in {self.round:,} rounds ≤ E[{self.value:,.2f}]"]
        return "\n".join(lines + [f"{name:<18}  {value:>14,.2f}" for name, value in self.terms.items()])

    def __str__(self) -> str:
        return self.summary()
