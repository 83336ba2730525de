"""What is played with fixed seeds, and what is promised, stays as it was frozen."""

import json

import pytest
import traces

FROZEN = json.loads(traces.FILE.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_games_and_bounds_are_as_they_were_frozen():
    assert traces.differences(FROZEN, dict(traces.rows()), within=1e-8) == []
