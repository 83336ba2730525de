"""Who waits for the compiler is told so, once, and only if it takes long."""

import logging
import time

import pytest

from sidelight.engine._numba import notice


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(notice, "AFTER", 0.05)
    monkeypatch.setattr(notice, "_unsaid", [notice.TEXT])


@pytest.fixture
def heard(caplog):
    caplog.set_level(logging.INFO, logger="sidelight")
    return caplog


def test_said_once_if_it_takes_long(heard):
    for _ in range(2):
        with notice.announced():
            time.sleep(0.3)
    assert [record.getMessage() for record in heard.records] == [notice.TEXT]
    assert "kernels" in notice.TEXT
    assert "seconds" in notice.TEXT


def test_not_said_if_it_does_not(heard):
    with notice.announced():
        pass
    time.sleep(0.3)
    assert not heard.records


def test_silent_unless_somebody_listens_or_sits_at_a_terminal(capfd, monkeypatch):
    logging.getLogger("sidelight").setLevel(logging.NOTSET)
    with notice.announced():
        time.sleep(0.3)
    assert capfd.readouterr() == ("", "")


def test_a_warning_at_a_terminal(heard, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with notice.announced():
        time.sleep(0.3)
    assert [record.levelno for record in heard.records] == [logging.WARNING]


def test_helpers_say_nothing_or_leave_it_to_their_parent(heard, monkeypatch):
    monkeypatch.setattr(notice.multiprocessing, "parent_process", object)
    with notice.announced():
        time.sleep(0.3)
    told = []
    monkeypatch.setattr(notice, "_above", [])
    notice.leave_to(lambda: told.append(True))
    with notice.announced():
        time.sleep(0.3)
    assert told == [True]
    assert not heard.records


def test_errors_pass_through(heard):
    with pytest.raises(ValueError, match="wrong"), notice.announced():
        raise ValueError("wrong")
