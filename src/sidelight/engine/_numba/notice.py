"""A word on what takes so long, while machine code is being made for the first time."""

import contextlib
import logging
import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator

AFTER = 1.0
"""Seconds of compiling after which there is something to say; what is in the cache takes less."""

TEXT = (
    "compiling kernels, once per machine and version: usually 10 to 20 seconds for a plan, as long again for its "
    "first simulation; `sidelight warmup` compiles all"
)

_log = logging.getLogger("sidelight")
_unsaid = [TEXT]
_above: list[Callable[[], None]] = []


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Say once per process that kernels are being compiled, if that takes long.

    A warning where somebody sits at a terminal, which Python shows unless it is told otherwise, else for those who
    listen to the logger "sidelight". Helper processes leave it to whoever started them, or say nothing.
    """
    helping = multiprocessing.parent_process() is not None
    if not _unsaid or (helping and not _above):
        yield
        return
    timer = threading.Timer(AFTER, _above[0] if helping else say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def leave_to(say_above: Callable[[], None]) -> None:
    """In a helper process: what to call where there is something to say, from another thread."""
    _above[:] = [say_above]


def say() -> None:
    """The word itself, the first time."""
    with contextlib.suppress(IndexError):  # said meanwhile
        text = _unsaid.pop()
        seen = sys.stderr is not None and sys.stderr.isatty()
        _log.log(logging.WARNING if seen else logging.INFO, text)
