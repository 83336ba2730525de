"""What a page knows about a graph is about that graph."""

import pytest

import sidelight as sl
from sidelight.errors import InvalidOption
from sidelight.report.section import GraphSection


def test_sections_are_about_one_graph():
    comparison = sl.compare_bounds(sl.families.cycle(4), 100)
    section = GraphSection.of(comparison)
    assert section.at(100) is comparison
    assert section.at(7) is None
    assert section.partition is comparison.plan.partition
    with pytest.raises(InvalidOption, match="4 arms"):
        GraphSection(sl.families.cycle(5), comparisons=(comparison,))
    with pytest.raises(InvalidOption):
        GraphSection.of()
