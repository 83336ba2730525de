"""Tables as logs: grouped and ordered, or refused with the row and the value."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl

LONG = {
    "decision_id": ["b", "a", "b", "c"],
    "round": [2, 1, 2, 3],
    "arm": [0, 1, 0, 2],
    "probability": [0.5, 0.3, 0.5, 0.2],
    "revealed": [1, 1, 0, None],
    "loss": [0.4, 0.1, 0.2, None],
    "seen": [0.8, 0.8, 0.5, None],
}


def changed(**columns):
    return {name: column for name, column in {**LONG, **columns}.items() if column is not None}


def test_rows_are_grouped_by_decision_and_ordered_by_round():
    log = sl.Log.from_table(LONG)
    assert (log.n_rounds, log.n_rows, log.n_arms) == (3, 3, 3)
    assert log.decision_id.tolist() == ["a", "b", "c"]
    assert log.round.tolist() == [1, 2, 3]
    assert log.arm.tolist() == [1, 0, 2]
    assert log.start.tolist() == [0, 1, 3, 3]  # the last decision revealed nothing, and counts
    assert log.revealed.tolist() == [1, 0, 1]
    assert log.value.tolist() == [0.1, 0.2, 0.4]
    assert log.seen.tolist() == [0.8, 0.5, 0.8]
    assert not log.only_played


def test_one_row_a_round_needs_three_columns():
    log = sl.Log.from_table({"arm": [1, 0], "loss": [0.5, 0.0], "probability": [0.25, 0.75]})
    assert log.only_played
    assert_array_equal(log.seen, log.probability)
    assert log.round.tolist() == [0, 1]


def test_a_round_is_a_decision_unless_ids_say_otherwise():
    several = {"arm": [0, 0, 1], "revealed": [0, 1, 1], "loss": [0.1, 0.2, 0.3], "seen": [0.5] * 3}
    assert sl.Log.from_table({**several, "round": [7, 7, 9]}).n_rounds == 2
    assert sl.Log.from_table({**several, "decision_id": [7, 7, 9]}).round.tolist() == [0, 1]
    batch = sl.Log.from_table({**several, "round": [7, 7, 7], "decision_id": [1, 1, 2]})
    assert (batch.n_rounds, batch.round.tolist()) == (2, [7, 7])


def test_labels():
    table = {"arm": ["tea", "milk"], "loss": [0.1, 0.2], "probability": [0.5, 0.5]}
    log = sl.Log.from_table(table)
    assert log.labels == ("milk", "tea")
    assert log.arm.tolist() == [1, 0]
    ordered = sl.Log.from_table(table, labels=["tea", "milk", "water"])
    assert (ordered.n_arms, ordered.arm.tolist()) == (3, [0, 1])
    assert [ordered.arm_of(name) for name in ("water", 2)] == [2, 2]
    with pytest.raises(sl.InvalidOption, match="coffee"):
        ordered.arm_of("coffee")


def test_labels_that_look_like_numbers():
    """Text is a label first; a number is an arm, unless there is no such arm but such a label."""
    table = {"loss": [0.1, 0.2], "probability": [0.5, 0.5]}
    assert sl.Log.from_table({"arm": ["1", "0"], **table}, labels=["1", "0"]).arm.tolist() == [0, 1]
    assert sl.Log.from_table({"arm": [1, 0], **table}, labels=["1", "0"]).arm.tolist() == [1, 0]
    assert sl.Log.from_table({"arm": [10, 20], **table}, labels=["20", "10"]).arm.tolist() == [1, 0]
    assert sl.Log.from_table({"arm": ["1", "0"], **table}, labels=["tea", "milk"]).arm.tolist() == [1, 0]
    assert sl.Log.from_table({"arm": [1.0, 0.0], **table}, labels=["tea", "milk"]).arm.tolist() == [1, 0]


def test_pandas():
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(sl.InvalidOption, match="not installed"):
            sl.Log.from_table(LONG).to_pandas()
    else:
        log = sl.Log.from_table(LONG)
        assert sl.Log.from_table(log.to_pandas()).to_arrow() == log.to_arrow()


def test_units():
    table = {"arm": [0, 1], "reward": [25.0, 0.0], "probability": [0.5, 0.5]}
    log = sl.Log.from_table(table, rewards=(0, 25))
    assert_allclose(log.unit.to_unit_interval(log.value), [1, 0])
    assert log.unit.from_unit_interval(0.2) == 5
    assert "rewards in [0, 25]" in repr(log)
    for bad in ((1, 0), (0, 0), (0, float("inf")), (0,), "no"):
        with pytest.raises(sl.InvalidOption, match="rewards"):
            sl.Log.from_table(table, rewards=bad)
    with pytest.raises(sl.InvalidOption, match="not both"):
        sl.Log.from_table(table, rewards=(0, 25), losses=(0, 1))
    with pytest.raises(sl.errors.LogError, match="losses were stated"):
        sl.Log.from_table(table, losses=(0, 25))


class Frame:
    """What pandas and polars have in common."""

    def __init__(self, columns):
        self._columns = {name: np.asarray(column, dtype=object) for name, column in columns.items()}
        self.columns = list(self._columns)

    def __getitem__(self, name):
        return self._columns[name]


@pytest.mark.parametrize("form", [dict, pa.table, Frame])
def test_mappings_arrow_tables_and_frames_are_the_same(form):
    ours, again = sl.Log.from_table(LONG), sl.Log.from_table(form(LONG))
    assert again.to_arrow() == ours.to_arrow()


def test_arrow_and_back():
    log = sl.Log.from_table({**LONG, "version": ["v1"] * 4, "told_at": [1.5, 2.5, 1.5, None]})
    table = log.to_arrow()
    assert table["rows"].to_pylist() == [1, 2, 2, 0]
    assert table["revealed"].to_pylist() == [1, 0, 1, None]
    again = sl.Log.from_table(table)
    assert again.to_arrow() == table
    assert again.version == ("v1",) * 3
    assert_array_equal(again.told_at, [2.5, 1.5, np.nan])


def test_times_may_be_dates():
    times = np.array(["1970-01-01T00:00:02"] * 4, dtype="datetime64[s]")
    assert sl.Log.from_table({**LONG, "told_at": times}).told_at.tolist() == [2.0] * 3


def test_other_columns_are_ignored_with_a_notice():
    with pytest.warns(sl.errors.ColumnsIgnored, match="weather"):
        sl.Log.from_table({**LONG, "weather": ["sun"] * 4})


NAN = float("nan")
BAD = {
    "not a table": (7, "int"),
    "ragged": ({"arm": [0, 1], "loss": [0.1], "probability": [0.5, 0.5]}, "shapes"),
    "nothing": ({"arm": [], "loss": [], "probability": []}, "no rows"),
    "no value": (changed(loss=None), "loss or reward"),
    "two values": (changed(reward=[0.1] * 4), "loss or reward"),
    "no arm": (changed(arm=None), "'arm' is missing"),
    "no ids": (changed(decision_id=None, round=None), "'decision_id' or 'round'"),
    "no probability": ({"arm": [0], "loss": [0.1]}, "'seen' is missing"),
    "seen is needed": (changed(seen=None), "row 0 reveals arm 1 by playing arm 0"),
    "loss above": (changed(loss=[0.4, 1.5, 0.2, None]), r"row 1, column 'loss' must be in \[0, 1\], got 1.5"),
    "loss NaN": (changed(loss=[0.4, NAN, 0.2, None]), "row 1, column 'loss' must be a number"),
    "loss infinite": (changed(loss=[0.4, float("inf"), 0.2, None]), "row 1, column 'loss'.*inf"),
    "loss text": (changed(loss=["0.4", "much", "0.2", None]), "row 1, column 'loss' must be a number, got 'much'"),
    "loss missing": (changed(loss=[None, 0.1, 0.2, None]), "row 0, column 'loss' must be a number; leave"),
    "loss boolean": (changed(loss=[True, 0.1, 0.2, None]), "row 0, column 'loss' must be a number, got True"),
    "seen zero": (changed(seen=[0.8, 0.0, 0.5, None]), r"row 1, column 'seen' .* in \(0, 1\], got 0.0"),
    "seen above": (changed(seen=[0.8, 1.1, 0.5, None]), "row 1, column 'seen'.*1.1"),
    "seen NaN": (changed(seen=[0.8, NAN, 0.5, None]), "row 1, column 'seen'"),
    "probability zero": (changed(probability=[0.5, 0.0, 0.5, 0.2]), "row 1, column 'probability'.*0.0"),
    "arm negative": (changed(arm=[0, -1, 0, 2]), "row 1, column 'arm' must be an arm number.*-1"),
    "arm broken": (changed(arm=[0, 1.5, 0, 2]), "row 1, column 'arm'.*1.5"),
    "arm missing": (changed(arm=[0, None, 0, 2]), "row 1, column 'arm'"),
    "revealed broken": (changed(revealed=[1, 0.5, 0, None]), "row 1, column 'revealed'.*0.5"),
    "round broken": (changed(round=[2, 1.5, 2, 3]), "row 1, column 'round' must be a whole number"),
    "arm differs": (changed(arm=[0, 1, 1, 2]), "rows 0 and 2 are of one decision but differ in 'arm': 0 and 1"),
    "round differs": (changed(round=[2, 1, 3, 3]), "rows 0 and 2 .* differ in 'round'"),
    "probability differs": (changed(probability=[0.5, 0.3, 0.4, 0.2]), "rows 0 and 2 .* differ in 'probability'"),
    "twice": (changed(revealed=[1, 1, 1, None]), "rows 0 and 2 both tell arm 1"),
    "nothing twice": (changed(revealed=[None, 1, None, None]), "rows 0 and 2 both say that one decision"),
    "nothing and something": (changed(revealed=[1, 1, None, None]), "row 2 says that nothing was revealed, row 0"),
    "id missing": (changed(decision_id=["b", None, "b", "c"]), "row 1, column 'decision_id' must be there"),
    "rows lost": (changed(rows=[3, 1, 3, 0]), "row 0 says that its decision revealed 3 arms, 2 are there"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    table, message = BAD[name]
    with pytest.raises(sl.SidelightError, match=message):
        sl.Log.from_table(table)


def test_arms_outside_are_refused():
    with pytest.raises(sl.errors.LogError, match=r"row 3, column 'arm' must be an arm 0\.\.1, got 2"):
        sl.Log.from_table(LONG, n_arms=2)
    with pytest.raises(
        sl.errors.LogError, match="row 1, column 'arm' must be one of the labels x, y, got 'z'"
    ):
        sl.Log.from_table({"arm": ["x", "z"], "loss": [0, 0], "probability": [1, 1]}, labels=["x", "y"])
    with pytest.raises(sl.InvalidOption, match="labels must differ"):
        sl.Log.from_table(LONG, labels=["x", "x", "y"])
    with pytest.raises(sl.InvalidOption, match="contradicts"):
        sl.Log.from_table(LONG, labels=["x", "y", "z"], n_arms=4)


def test_a_decision_cut_off_at_the_end_is_left_out():
    table = {
        "round": [0, 1],
        "arm": [0, 0],
        "revealed": [0, 0],
        "loss": [0.1, 0.2],
        "seen": [1, 1],
        "rows": [1, 2],
    }
    with pytest.warns(sl.errors.IncompleteDecision, match="left out"):
        log = sl.Log.from_table(table)
    assert (log.n_rounds, log.value.tolist()) == (1, [0.1])


def test_rounding_is_forgiven():
    log = sl.Log.from_table({"arm": [0], "loss": [1 + 1e-12], "probability": [1 + 1e-12]})
    assert (log.value[0], log.seen[0]) == (1.0, 1.0)
