"""One progress bar for everything that may take long."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """A bar on standard error with the time left, gone when the work is.

    By default only at a terminal, and only once the work has taken `after` seconds; `wanted` decides
    otherwise. Rich is imported when the bar appears: most work is over before.
    """

    def __init__(self, text: str, total: float, wanted: bool | None = None, after: float = 0.0) -> None:
        self.text, self.total = text, total
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.after = 0.0 if wanted else after
        self.started = time.monotonic()
        self._bar: Any = None

    @property
    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.started

    def __enter__(self) -> Progress:
        return self

    def update(self, done: float, note: str = "", text: str | None = None) -> None:
        """Redraw, or appear if it is time: `done` of the total, and a note behind the bar."""
        if not self.wanted or self.elapsed < self.after:
            return
        if self._bar is None:
            from rich import progress as rich
            from rich.console import Console

            words = (
                rich.TextColumn("{task.description}"),
                rich.BarColumn(),
                rich.TextColumn("{task.fields[note]}"),
            )
            times = rich.TimeElapsedColumn(), rich.TextColumn("left:"), rich.TimeRemainingColumn()
            console = Console(stderr=True)  # in a log, where nothing can be taken back, the last state stays
            self._bar = rich.Progress(*words, *times, console=console, transient=console.is_terminal)
            self._bar.start()
            self._task = self._bar.add_task(self.text, total=self.total, note=note)
        self._bar.update(self._task, completed=done, note=note, description=text or self.text)

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()
