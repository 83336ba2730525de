"""What a policy can certify about its own regret while it plays."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from sidelight import _html

LEDGER = ("projection", "restriction", "global exploration", "local exploration")
"""The four parts of the regret (Lemma regret), in the order of the engine."""

BOUGHT = ("temperature", "rounds")
"""The two parts of a self-tuning plan's certificate: what its temperature cost, and what its rounds did."""

UNANSWERED = "unanswered"
"""The part of decisions that are open or were cancelled: at most 1 each."""

MEANING = "in expectation the regret is no larger; on a single run it may be"
"""What a certificate says: E[value] ≥ E[regret]."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """A number whose expectation bounds the expected regret of the rounds played so far.

    For every arm a and all losses that do not depend on the player's coins, E[value] ≥ E[regret against a], for
    this `arm` if one was asked for. On one run it is an estimate of such a bound: the regret of that run may
    exceed it. `terms` are at least the parts of `Policy.ledger` against that arm, on every run. Proof:
    docs/theory/certificate.md. Self-tuning plans keep accounts of their own: what their temperature cost so far, and
    their rounds (docs/theory/self-tuning.md). A decision that is open or was cancelled counts 1; which ones are, and
    when answers come, must not depend on the player's coins either (docs/theory/delays.md), nor must graphs that are
    shown afterwards (docs/theory/changing-graphs.md), which is tested: `doubt` says so where that was found.

    >>> Certificate(100, None, {"restriction": 30.0, "global exploration": 12.0}).value
    42.0
    """

    round: int  # rounds that it speaks of: all that were decided
    arm: int | None  # the arm it holds against; None: every arm
    terms: dict[str, float]
    label: str | None = None  # of that arm, where it has one
    doubt: str = (
        ""  # why it does not hold, if something was found on which its proof rests and which is not so
    )

    @property
    def value(self) -> float:
        """Σ `terms`."""
        return sum(self.terms.values())

    @property
    def certified(self) -> bool:
        """Does it hold? False in doubt, and once estimates have left the range of numbers."""
        return isfinite(self.value) and not self.doubt

    @property
    def meaning(self) -> str:
        """What it says, or why it says nothing."""
        return f"NOT certified, {self.doubt}" if self.doubt else MEANING

    def summary(self) -> str:
        """The certificate as a small table."""
        parts = [(name, f"{value:,.2f}") for name, value in self.terms.items()]
        parts += [("sum", f"{self.value:,.2f}")] * (len(parts) > 1)
        return "\n".join(
            [f"{self._claim}: {self.meaning}", *(f"  {name:<18}  {value:>14}" for name, value in parts)]
        )

    @property
    def _claim(self) -> str:
        label = "" if self.label is None else f" ({self.label!r})"
        whom = "any arm" if self.arm is None else f"arm {self.arm}{label}"
        rounds = f"{self.round:,} {'round' if self.round == 1 else 'rounds'}"
        return f"certificate {self.value:,.2f} after {rounds} against {whom}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Certificate({self._claim.removeprefix('certificate ')})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        claim = self._claim
        return _html.panel(
            claim[0].upper() + claim[1:],
            _html.facts((name, f"{value:,.2f}") for name, value in self.terms.items()),
            _html.note(f"the sum of these parts; {self.meaning}"),
        )
