"""The log of the service: one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

log = logging.getLogger("sidelight.service")


def note(message: str, level: int = logging.INFO, /, **data: Any) -> None:
    """A line in the log: what happened, and to what."""
    log.log(level, message, extra={"data": data})


def failed(message: str, error: BaseException | str, /, **data: Any) -> None:
    """A line about an error; a mistake of our own comes with its traceback."""
    note(message, logging.ERROR, **data, error=str(error))


def trace(error: BaseException) -> str:
    """Where an error came from, in so many characters."""
    return "".join(traceback.format_exception(error))[-4_000:]


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, message, and what else is known."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        return json.dumps({**line, **getattr(record, "data", {})}, default=str)


@contextmanager
def to_stderr(level: int = logging.INFO) -> Iterator[None]:
    """Send the log of the service to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    before = (log.level, log.propagate)
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.level, log.propagate = before
