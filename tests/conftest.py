"""What every test may rely on."""

import logging

import pytest


@pytest.fixture(autouse=True)
def _heard():
    """A test that runs a command in this process with --quiet leaves the library's log turned down: not for others."""
    logging.getLogger("sidelight").setLevel(logging.NOTSET)
