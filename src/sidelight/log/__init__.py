"""Logs of decisions: what was played, what it revealed, and with which probability each of it was to be seen."""

from sidelight.log.log import Log
from sidelight.log.unit import Unit
from sidelight.log.writer import LogWriter

__all__ = ["Log", "LogWriter", "Unit"]
