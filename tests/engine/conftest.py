import os

import numpy as np
import pytest

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
