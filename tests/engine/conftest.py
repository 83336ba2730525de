import os

import numpy as np
import pytest

from sidelight.engine.simplex import store as layout

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "1"


@pytest.fixture(autouse=True)
def _wrapping_words():
    """Random words wrap around by design; interpreted, NumPy would warn about it."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def scale():
    """How much longer compiled tests may play than interpreted ones."""
    return 1 if INTERPRETED else 20


FORMS = {  # LARGEST_LIST, LARGEST_SUM
    "lists": (10**9, 10**9),
    "buckets and trees": (0, 0),
}


@pytest.fixture(params=FORMS.values(), ids=FORMS.keys())
def forms(request, monkeypatch):
    """Every simplex in lists, then every one in buckets and trees, whatever its size."""
    monkeypatch.setattr(layout, "LARGEST_LIST", request.param[0])
    monkeypatch.setattr(layout, "LARGEST_SUM", request.param[1])
