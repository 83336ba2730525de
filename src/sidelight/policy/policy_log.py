"""A log that a policy keeps of its own decisions, as they are answered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sidelight._types import Floats
from sidelight.log.writer import LogWriter

if TYPE_CHECKING:
    import os

    from sidelight.graph import FeedbackGraph
    from sidelight.log.unit import Unit
    from sidelight.policy.decision import Decision


class PolicyLog:
    """Appends every decision to a log when it is answered, until it is closed; `Policy.log` makes one.

    A decision is written before it is learnt from. If that fails, it stays open and nothing has changed. What was
    cancelled is not written: it says nothing about any loss, and its P does not account for that.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        graph: FeedbackGraph,
        unit: Unit,
        closed: Callable[[], None],
    ) -> None:
        self._writer = LogWriter(
            path,
            graph.n_arms,
            labels=graph.labels,
            losses=(unit.low, unit.high) if unit.kind == "losses" else None,
            rewards=(unit.low, unit.high) if unit.kind == "rewards" else None,
            # A policy that was loaded from an older file gives some numbers of decisions a second time. Readers tell
            # them apart by the version.
            version=datetime.now(UTC).isoformat(),
        )
        self._closed = closed
        self._written = 0  # the last decision that was written

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._writer.path

    def write(self, decision: Decision, values: Floats) -> None:
        """Append a decision with the values that it revealed, in the user's unit; all of it, or an error.

        NaN is a reveal that failed: its arm has no row, which its P accounts for.
        """
        if decision.id == self._written:
            return  # an interrupt came between writing and learning, and it is answered again
        revealed = [None if value != value else value for value in values.tolist()]
        self._writer.write(decision, revealed, probability=decision.probability)
        self._written = decision.id

    def flush(self) -> None:
        """Bring everything that was written to the disk; `Policy.save` does so too."""
        self._writer.flush()

    def close(self) -> None:
        """Flush, and end: later answers are not logged."""
        self._writer.close()
        self._closed()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PolicyLog({str(self.path)!r})"
