"""A word on what takes so long, while machine code is being made for the first time."""

import contextlib
import logging
import multiprocessing
import sys
import threading
from collections.abc import Iterator

AFTER = 1.0
"""Seconds of compiling after which there is something to say; what is in the cache takes less."""

TEXT = (
    "compiling kernels, once per machine and version: usually 10 to 20 seconds for a plan, as long again for its "
    "first simulation; `sidelight warmup` compiles all"
)

_log = logging.getLogger("sidelight")
_unsaid = [TEXT]


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Say once per process that kernels are being compiled, if that takes long.

    A warning where somebody sits at a terminal, which Python shows unless it is told otherwise, else for those who
    listen to the logger "sidelight". Helper processes say nothing: theirs is not the first word.
    """
    if not _unsaid or multiprocessing.parent_process() is not None:
        yield
        return
    timer = threading.Timer(AFTER, _say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say() -> None:
    with contextlib.suppress(IndexError):  # said meanwhile
        text = _unsaid.pop()
        seen = sys.stderr is not None and sys.stderr.isatty()
        _log.log(logging.WARNING if seen else logging.INFO, text)
