"""The real graphs of the shared data folder, for tests that skip where it is absent."""

import json
import warnings
from pathlib import Path

import pytest

from sidelight.errors import WeightsIgnored
from sidelight.graph import read_graph

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "graphs"
NAMES = sorted(path.stem for path in DATA.glob("*.json")) or ["absent"]


def card_of(name):
    """What the data folder says about the graph."""
    if not (DATA / f"{name}.json").exists():
        pytest.skip("shared/data is not beside the repository")
    return json.loads((DATA / f"{name}.json").read_text())


def real_graph(name, undirected=None):
    """The graph; each edge both ways where the card calls it undirected."""
    card = card_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsIgnored)
        both = not card["directed"] if undirected is None else undirected
        return read_graph(DATA / f"{name}.csv.gz", n_arms=card["N"], undirected=both)
