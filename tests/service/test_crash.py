"""A process that is killed while it works loses nothing that it has answered, and counts nothing twice."""

from __future__ import annotations

import pytest
from killing import killed_under_load


@pytest.mark.slow
def test_killed_under_load(sqlite):
    killed_under_load(sqlite, kills=50)
