"""A law with many cases is tested on a dozen of them, spread over all; the others run with `make test-all`."""

from collections import defaultdict

import pytest

DOZEN = 12
GOLDEN = (5**0.5 - 1) / 2


def every_case(test):
    """For a test none of whose cases stands for another."""
    test.every_case = True
    return test


def mark_beyond_a_dozen(items):
    """Mark all but a dozen cases of each parametrised test `full`.

    Cases are ordered by the fraction of index × golden ratio: the first dozen lie evenly, and in step with no
    parameter. Cases that are full anyway do not count.
    """
    cases = defaultdict(list)
    for item in items:
        if not hasattr(item, "callspec") or getattr(item.function, "every_case", False):
            continue
        if not item.get_closest_marker("full"):
            cases[item.path, item.originalname].append(item)
    for found in cases.values():
        for rank, index in enumerate(sorted(range(len(found)), key=lambda i: i * GOLDEN % 1.0)):
            if rank >= DOZEN:
                found[index].add_marker(pytest.mark.full)
