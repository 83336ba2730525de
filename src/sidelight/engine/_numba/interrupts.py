"""Ctrl-C while machine code is being made.

The compiler calls back into Python, and an exception raised inside such a call is printed and forgotten: the
interrupt would be lost. So it is kept until the compiler is done.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise a KeyboardInterrupt that arrives inside only at the end.

    Where none can arrive, in other threads than the main one and in a process that ignores ctrl-C, nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    arrived = []
    signal.signal(signal.SIGINT, lambda *_: arrived.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if arrived:
        raise KeyboardInterrupt
