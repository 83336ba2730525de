"""Players by name: who is compared unless told otherwise."""

import pytest

import sidelight as sl
from sidelight.policy import names


@pytest.mark.parametrize(
    ("spec", "there", "missing"),
    [
        ("cycle:6", {"exp3g", "chlz21", "ftl"}, {"hedge", "ucb_n", "ts_n", "tsallis_inf", "exp3_ix"}),
        ("mab:6", {"exp3g", "tsallis_inf", "exp3_ix", "ucb_n", "ts_n"}, {"hedge"}),
        ("full:6", {"hedge", "tsallis_inf", "ucb_n"}, set()),
    ],
)
def test_baselines_that_apply_are_compared(spec, there, missing):
    graph = sl.families.parse(spec)
    found = names.compared(graph, 1_000)
    assert found[: len(names.OWN)] == names.OWN
    assert there <= set(found)
    assert not missing & set(found)
    for name in found:
        assert names.make(name, graph, 1_000).graph is graph


def test_rules_that_visit_every_arm_are_not_compared_on_many():
    many = names.compared(sl.families.mab(names.MOST_ARMS_OF_RULES + 1), 10)
    assert "exp3g" in many
    assert not {"tsallis_inf", "exp3_ix", "ucb_n", "ts_n", "ftl"} & set(many)
