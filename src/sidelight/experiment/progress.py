"""A bar for sweeps, with the time left."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from sidelight.experiment.sweep.spec import CellSpec


class SweepProgress:
    """Cells done and the time left, on stderr; measured in rounds, since horizons differ."""

    def __init__(self, cells: Sequence[CellSpec], waiting: Sequence[CellSpec], wanted: bool | None) -> None:
        self.rounds = {cell.id: cell.horizon * len(cell.seeds) for cell in cells}
        self.left = {cell.id for cell in waiting}
        self.wanted = bool(waiting) and (sys.stderr.isatty() if wanted is None else wanted)
        self.bar: Any = None

    def __enter__(self) -> SweepProgress:
        if self.wanted:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            text = TextColumn("{task.fields[cells]}/" + f"{len(self.rounds)} cells")
            times = TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn()
            self.bar = Progress(text, BarColumn(), *times, console=Console(stderr=True))
            self.bar.start()
            done = sum(rounds for id, rounds in self.rounds.items() if id not in self.left)
            total = sum(self.rounds.values())
            self.task = self.bar.add_task("", total=total, completed=done, cells=self._done)
        return self

    @property
    def _done(self) -> int:
        return len(self.rounds) - len(self.left)

    def advance(self, id: str) -> None:
        """One more cell is finished."""
        self.left.discard(id)
        if self.bar is not None:
            self.bar.update(self.task, advance=self.rounds[id], cells=self._done)

    def __exit__(self, *exception: object) -> None:
        if self.bar is not None:
            self.bar.stop()
