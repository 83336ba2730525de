import os
import signal
import threading

import pytest

from sidelight.engine._numba.interrupts import interrupts_kept


@pytest.fixture(autouse=True)
def _listening():
    """A test-suite in the background ignores ctrl-C; these tests do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(reached):
    with interrupts_kept():
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("the end")


def test_an_interrupt_is_raised_at_the_end():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(reached)
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_happens():
    with interrupts_kept():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_errors_pass_and_the_handler_comes_back():
    with pytest.raises(ValueError, match="inside"), interrupts_kept():
        raise ValueError("inside")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_interrupts_goes_on_ignoring_them():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reached = []
    interrupted(reached)
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with interrupts_kept():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
