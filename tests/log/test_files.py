"""Logs in files: what is written is read back, and damage is named."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from recorded import record

import sidelight as sl

FORMS = ["log.csv", "log.csv.gz", "log.parquet"]


def plain():
    coins = sl.environments.bounded([0.2, 0.5, 0.8])
    policy = sl.plan(sl.families.revealing_action(3), horizon=30).policy(seed=2)
    return record(policy, lambda t, arms: coins.losses(1, t, arms), 30, version="first")


def named():
    return sl.Log.from_table(
        {
            "decision_id": ["x, y", "x, y", "z\n"],
            "round": [1, 1, 2],
            "arm": ["te,a", "te,a", "07"],
            "probability": [0.5, 0.5, None],
            "revealed": ["te,a", "07", None],
            "reward": [25.0, -1.0, None],
            "seen": [0.1 + 0.2, 1.0, None],
            "told_at": [1e9 + 0.125, 1e9 + 0.125, None],
        },
        labels=["te,a", "07", "unseen"],
        rewards=(-1, 25),
    )


def assert_same(log, again):
    assert again.to_arrow() == log.to_arrow()
    assert (again.n_arms, again.unit, again.labels) == (log.n_arms, log.unit, log.labels)


def numbered():
    """Labels that are other arms' numbers."""
    table = {"arm": ["2", "0", "1"], "loss": [0.2, 0.0, 0.1], "probability": [0.5] * 3}
    return sl.Log.from_table(table, labels=["1", "2", "0"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [plain, named, numbered])
def test_there_and_back(tmp_path, form, make):
    log, file = make(), tmp_path / form
    log.write(file)
    assert_same(log, sl.Log.read(file))
    again = sl.evaluate(file, "uniform", method="ips", level=0.9) if make is plain else None
    assert again is None or again == sl.evaluate(log, "uniform", method="ips", level=0.9)


def test_a_csv_of_the_users_own(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("arm,reward,probability\ntea,3,0.5\nmilk,9.5,0.25\n")
    log = sl.Log.read(file, rewards=(0, 10), labels=["tea", "milk", "water"])
    assert (log.n_arms, log.arm.tolist(), log.value.tolist()) == (3, [0, 1], [3.0, 9.5])
    with pytest.raises(
        sl.errors.LogError, match=r"own\.csv: row 1, column 'reward' must be in \[0, 5\], got 9.5"
    ):
        sl.Log.read(file, rewards=(0, 5))


def test_errors_name_file_row_and_value(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("arm,loss,probability\n0,0.5,0.5\n1,oops,0.5\n")
    with pytest.raises(
        sl.errors.LogError, match=r"own\.csv: row 1, column 'loss' must be a number, got 'oops'"
    ):
        sl.Log.read(file)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "does not exist"),
        ("absent.parquet", None, "does not exist"),
        ("empty.csv", b"", "is empty"),
        ("ragged.csv", b"arm,loss,probability\n0,1\n", "cannot be read"),
        ("text.parquet", b"arm,loss\n", "damaged or no parquet"),
        ("bytes.csv", b"\xff\xfe\x00", "cannot be read|loss or reward"),
        ("cut.csv.gz", b"\x1f\x8b\x08", "cannot be read"),
        ("log.txt", b"", "is a .csv, .csv.gz or .parquet"),
        ("mark.csv", b"# sidelight-log {\narm,loss,probability\n0,0,1\n", "about itself is damaged"),
        ("new.csv", b'# sidelight-log {"format": 9}\narm,loss,probability\n0,0,1\n', "format 9"),
    ],
)
def test_refused(tmp_path, name, content, message):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(sl.errors.LogError, match=message):
        sl.Log.read(file)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(sl.errors.LogError, match=r"\.csv, \.csv\.gz or \.parquet"):
        plain().write(tmp_path / "log.txt")
    with pytest.raises(sl.errors.LogError, match="cannot write"):
        plain().write(tmp_path / "no" / "log.csv")


@pytest.mark.parametrize("at", range(0, 1200, 97))
def test_damaged_parquet_is_no_log(tmp_path, at):
    """A changed byte is refused or changes nothing."""
    file, log = tmp_path / "log.parquet", plain()
    log.write(file)
    data = bytearray(file.read_bytes())
    data[at % len(data)] ^= 0x5A
    file.write_bytes(bytes(data))
    try:
        again = sl.Log.read(file)
    except sl.errors.LogError:
        return
    assert_array_equal(again.value, log.value)
    assert_array_equal(again.seen, log.seen)


def test_a_folder_without_parts(tmp_path):
    with pytest.raises(sl.errors.LogError, match="holds no parts"):
        sl.Log.read(tmp_path)


def test_ids_that_are_numbers_stay_numbers(tmp_path):
    log = sl.Log.from_table(
        {"decision_id": ["3", "20"], "arm": [0, 0], "loss": [0, 1], "probability": [1, 1]}
    )
    assert log.decision_id.tolist() == [3, 20]
    assert log.decision_id.dtype == np.int64
