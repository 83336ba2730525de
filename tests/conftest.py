"""What every test may rely on."""

import logging

import pytest


@pytest.fixture(autouse=True)
def _heard():
    """Tests that run a command with --quiet in this process leave the library log turned down: not for others."""
    logging.getLogger("sidelight").setLevel(logging.NOTSET)
