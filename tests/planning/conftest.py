"""Laws are tested on a dozen cases; the rest of a cross of parameters is marked `full` (`make test-all`)."""

from collections import defaultdict
from hashlib import blake2b

import pytest

DOZEN = 12


@pytest.hookimpl(tryfirst=True)  # before marks are selected
def pytest_collection_modifyitems(items):
    """Keep the dozen cases with the smallest digests: the same in every run, spread over all parameters."""
    cases = defaultdict(list)
    for item in items:
        if "planning" in item.path.parts and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for same in cases.values():
        same.sort(key=lambda item: blake2b(item.nodeid.partition("[")[2].encode()).digest())
        for item in same[DOZEN:]:
            item.add_marker(pytest.mark.full)
