"""One progress bar for everything that may take long."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

from sidelight import _html

REDRAWN_SECONDS = 0.2
"""How often a bar in a notebook is drawn at most: each time is a message."""


class Progress:
    """A bar with the time left, gone when the work is: on standard error, or below the cell of a notebook.

    By default only at a terminal or in a notebook, and only once the work has taken `after` seconds; `wanted` decides
    otherwise. Rich is imported when the bar appears: most work is over before.
    """

    def __init__(self, text: str, total: float, wanted: bool | None = None, after: float = 0.0) -> None:
        self.text, self.total = text, total
        self._show = _notebook()
        self.wanted = (sys.stderr.isatty() or self._show is not None) if wanted is None else wanted
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
        if self._show is not None:
            self._bar = self._bar or _Cell(self._show)
            left = timedelta(seconds=round(self.elapsed * (self.total - done) / done)) if done > 0 else "–"
            remark = f"{note}  left: {left}".strip()
            self._bar.draw(
                _html.progress(text or self.text, done / self.total if self.total else 0.0, remark)
            )
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


class _Cell:
    """A place below the cell of a notebook, drawn anew in place and empty in the end."""

    def __init__(self, display: Any) -> None:
        self._handle = display(_content(""), raw=True, display_id=True)
        self._drawn = -REDRAWN_SECONDS

    def draw(self, shown: str) -> None:
        if time.monotonic() - self._drawn >= REDRAWN_SECONDS:
            self._handle.update(_content(shown), raw=True)
            self._drawn = time.monotonic()

    def stop(self) -> None:
        self._handle.update(_content(""), raw=True)


def _content(shown: str) -> dict[str, str]:
    """Also as plain text, which is nothing: a saved notebook shall not tell of a bar."""
    return {"text/html": shown, "text/plain": ""}


def _notebook() -> Any:
    """IPython's `display` where a notebook listens, else None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
