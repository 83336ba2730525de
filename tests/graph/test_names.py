"""Arms in messages: by number and label, whoever complains."""

import pytest

import sidelight as sl
from sidelight.analysis import packing_lower_bound
from sidelight.graph.names import named, names

HIDDEN = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (2, 1)], labels=["one", "two", "three"])
CYCLE = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1)], labels=["left", "middle", "right"])
SEEN = r"2 \('three'\)"


def test_names():
    assert named(HIDDEN, 1) == "1 ('two')"
    assert [named(HIDDEN, other) for other in (7, -1, "two", 1.5)] == ["7", "-1", "two", "1.5"]
    assert named(sl.families.mab(3), 1) == "1"
    assert names(HIDDEN, [0, 2]) == "0 ('one'), 2 ('three')"


@pytest.mark.parametrize(
    ("complain", "message"),
    [
        (lambda: sl.plan(HIDDEN, 100), SEEN),
        (lambda: sl.fractional_domination(HIDDEN), f"nothing reveals arm {SEEN}"),
        (lambda: sl.baselines.chlz21(HIDDEN, 100), SEEN),
        (lambda: sl.partitions.components(HIDDEN), SEEN),
        (lambda: packing_lower_bound(HIDDEN, 100), SEEN),
        (lambda: sl.baselines.exp3_ix(CYCLE), r"0 \('left'\), 1 \('middle'\), 2 \('right'\) do not"),
        (lambda: sl.baselines.exp3(CYCLE, 100), r"0 \('left'\)"),
        (lambda: sl.Partition(CYCLE, [[0, 1]]), r"arm 2 \('right'\): in no block"),
        (lambda: sl.Partition(CYCLE, [[0, 1], [2]]), r"the single arm 2 \('right'\), which is not"),
        (lambda: sl.Partition(CYCLE, [[0, 1], [2, 1]]), r"arm 1 \('middle'\) is in blocks 0, 1"),
        (lambda: sl.Partition(CYCLE, [[0, 1], [2, 1.5]]), r"block 1 holds 1\.5: arms are whole"),
    ],
)
def test_messages_show_labels(complain, message):
    with pytest.raises(sl.SidelightError, match=message):
        complain()
