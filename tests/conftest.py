"""What every test may rely on."""

import logging
from pathlib import Path

import pytest
from dozen import mark_beyond_a_dozen

CROSSED = ("environment", "planning", "policy", "report")  # folders whose laws meet many cases


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    folders = [Path(__file__).with_name(name) for name in CROSSED]
    mark_beyond_a_dozen([item for item in items if any(item.path.is_relative_to(at) for at in folders)])


@pytest.fixture(autouse=True)
def _heard():
    """Tests that run a command with --quiet in this process leave the library log turned down: not for others."""
    logging.getLogger("sidelight").setLevel(logging.NOTSET)
