"""Logs written while playing: appended, checked, and whole after a crash."""

import os
import threading
from types import SimpleNamespace

import pytest

import sidelight as sl

PATHS = ["log.csv", "log", "log.parquet"]  # the last two are folders of parquet parts


def fill(writer, ids, **options):
    for t in ids:
        seen = {0: 0.5, 1: 0.75} if t % 3 else {}
        values = {j: 0.25 * j + t / 100 for j in seen}
        writer.add(
            t, round=t, arm=t % 2, seen=seen, values=values, probability=0.5, told_at=float(t), **options
        )


@pytest.mark.parametrize("path", PATHS)
def test_what_is_added_is_read(tmp_path, path):
    with sl.LogWriter(tmp_path / path, n_arms=3, part=4, version="v2") as writer:
        fill(writer, range(10))
    log = sl.Log.read(tmp_path / path)
    assert (log.n_rounds, log.n_rows, log.n_arms) == (10, 12, 3)
    assert log.decision_id.tolist() == log.round.tolist() == list(range(10))
    assert log.value[:2].tolist() == [0.01, 0.26]
    assert log.seen[:2].tolist() == [0.5, 0.75]
    assert log.version == ("v2",) * 10
    assert log.told_at.tolist() == list(map(float, range(10)))


@pytest.mark.parametrize("path", PATHS)
def test_a_log_is_continued(tmp_path, path):
    for ids in (range(5), range(5, 7), range(7, 12)):
        with sl.LogWriter(tmp_path / path, n_arms=3) as writer:
            fill(writer, ids)
    assert sl.Log.read(tmp_path / path).round.tolist() == list(range(12))


def test_another_log_in_the_same_place_is_refused(tmp_path):
    for path in PATHS:
        with sl.LogWriter(tmp_path / path, n_arms=3) as writer:
            fill(writer, range(5))
    for path in PATHS:
        for other in ({"n_arms": 4}, {"n_arms": 3, "rewards": (0, 1)}, {"n_arms": 3, "labels": "abc"}):
            with pytest.raises(sl.errors.LogError, match="another log"):
                sl.LogWriter(tmp_path / path, **other)
        assert sl.Log.read(tmp_path / path).n_rounds == 5
    with sl.LogWriter(tmp_path / "fourth", n_arms=4) as writer:
        fill(writer, range(5, 6))
    part = next((tmp_path / "fourth").iterdir())
    part.rename(tmp_path / "log" / part.name.replace("part-000000", "part-000001"))
    with pytest.raises(sl.errors.LogError, match="another log"):
        sl.Log.read(tmp_path / "log")


@pytest.mark.parametrize("path", PATHS)
def test_the_same_decision_twice_is_noticed(tmp_path, path):
    with sl.LogWriter(tmp_path / path, n_arms=3) as writer:
        fill(writer, [1, 2, 1])
    with pytest.raises(sl.errors.LogError, match="both tell arm"):
        sl.Log.read(tmp_path / path)


def test_labels_and_units(tmp_path):
    with sl.LogWriter(tmp_path / "log", 2, labels=["tea", "milk"], rewards=(0, 25)) as writer:
        writer.add("a", round=0, arm="milk", seen={"tea": 0.5, 1: 1.0}, values={"milk": 20, 0: 5})
    log = sl.Log.read(tmp_path / "log")
    assert (log.labels, log.unit.kind, log.arm.tolist()) == (("tea", "milk"), "rewards", [1])
    assert log.value.tolist() == [5, 20]


def test_decisions_of_a_policy(tmp_path):
    decision = SimpleNamespace(id=7, round=3, arm=1, reveals=[0, 2], seen=[0.25, 0.5])
    with sl.LogWriter(tmp_path / "log.csv", 3) as writer:
        writer.write(decision, [0.1, 0.9], probability=0.25)
        decision.id = 8
        writer.write(decision, {2: 0.5, 0: 0.75})
        with pytest.raises(sl.errors.LogError, match="decision 8 reveals 2 arms, got 3 values"):
            writer.write(decision, [0.1, 0.2, 0.3])
    log = sl.Log.read(tmp_path / "log.csv")
    assert log.value.tolist() == [0.1, 0.9, 0.75, 0.5]
    assert log.seen.tolist() == [0.25, 0.5] * 2


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"values": {0: 1.5}}, r"loss of arm 0 must be in \[0, 1\], got 1.5"),
        ({"values": {0: float("nan")}}, "loss of arm 0.*nan"),
        ({"values": {0: "much"}}, "loss of arm 0.*'much'"),
        ({"values": {2: 0.5}}, r"does not reveal arm 2; it reveals \[0\]"),
        ({"values": {"tea": 0.5}}, "does not reveal arm 'tea'"),
        ({"seen": {0: 0.0}}, r"seeing arm 0 must be in \(0, 1\], got 0.0"),
        ({"seen": {0: 1.5}}, "seeing arm 0.*1.5"),
        ({"arm": 9}, r"its arm must be in 0\.\.2, got 9"),
        ({"round": 1.5}, "its round must be a whole number, got 1.5"),
        ({"probability": 0.0}, "its probability.*0.0"),
    ],
)
def test_refused_decisions_leave_no_trace(tmp_path, path, wrong, message):
    right = {"round": 1, "arm": 0, "seen": {0: 0.5}, "values": {0: 0.5}}
    with sl.LogWriter(tmp_path / path, 3) as writer:
        writer.add("good", **right)
        with pytest.raises(sl.errors.LogError, match=f"decision 'bad'.*{message}"):
            writer.add("bad", **{**right, **wrong})
    assert sl.Log.read(tmp_path / path).decision_id.tolist() == ["good"]


def test_a_csv_cut_off_anywhere_loses_one_decision_at_most(tmp_path):
    file = tmp_path / "log.csv"
    with sl.LogWriter(file, n_arms=3) as writer:
        fill(writer, [1, 2])
        whole = file.stat().st_size
        fill(writer, [4])
    data = file.read_bytes()
    for size in range(whole, len(data)):
        file.write_bytes(data[:size])
        half = data[whole:size].count(b"\n")  # one of two rows is there
        if half:
            with pytest.warns(sl.errors.IncompleteDecision):
                log = sl.Log.read(file)
        else:
            log = sl.Log.read(file)
        assert log.round.tolist() == [1, 2]
        with sl.LogWriter(file, n_arms=3) as writer:  # whoever continues starts with a whole log
            assert file.stat().st_size == whole
            fill(writer, [5])
        assert sl.Log.read(file).round.tolist() == [1, 2, 5]


def test_a_large_decision_cut_off(tmp_path):
    """More rows than are looked at first."""
    file, n = tmp_path / "log.csv", 3000
    many = dict.fromkeys(range(n), 0.5)
    with sl.LogWriter(file, n_arms=n) as writer:
        writer.add("one", round=0, arm=0, seen=many, values=many)
        whole = file.stat().st_size
        writer.add("two", round=1, arm=0, seen=many, values=many)
    data = file.read_bytes()
    for size, left in ((whole + 5, whole), (len(data) - 30, whole), (len(data), len(data))):
        file.write_bytes(data[:size])
        sl.LogWriter(file, n_arms=n).close()
        assert file.stat().st_size == left


def test_unflushed_parts_are_lost_and_nothing_else(tmp_path):
    writer = sl.LogWriter(tmp_path / "log", n_arms=3, part=2)
    fill(writer, [1, 2, 4])
    assert sl.Log.read(tmp_path / "log").round.tolist() == [1, 2]
    writer.flush()
    assert sl.Log.read(tmp_path / "log").round.tolist() == [1, 2, 4]
    writer.close()
    with pytest.raises(sl.errors.LogError, match="closed"):
        fill(writer, [5])


@pytest.mark.parametrize("path", PATHS)
def test_threads_share_a_writer(tmp_path, path):
    with sl.LogWriter(tmp_path / path, n_arms=3, part=7) as writer:
        threads = [threading.Thread(target=fill, args=(writer, range(k, 60, 4))) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sl.Log.read(tmp_path / path).round.tolist() == list(range(60))


def test_a_full_disk_leaves_whole_decisions(tmp_path, monkeypatch):
    write = os.write
    with sl.LogWriter(tmp_path / "log.csv", n_arms=3) as writer:
        fill(writer, [1])
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", lambda file, data: write(file, data[:20]))
            with pytest.raises(sl.errors.LogError, match="disk is full"):
                fill(writer, [2])
        fill(writer, [4])
    assert sl.Log.read(tmp_path / "log.csv").round.tolist() == [1, 4]


def test_a_part_that_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with sl.LogWriter(tmp_path / "log", n_arms=3, part=2) as writer:
        fill(writer, [1])
        with monkeypatch.context() as patched:
            patched.setattr("sidelight._files.os.replace", full)
            with pytest.raises(sl.errors.LogError, match="No space left"):
                fill(writer, [2])
            with pytest.raises(sl.errors.LogError, match="No space left"):
                writer.flush()
        fill(writer, [2])
    assert sl.Log.read(tmp_path / "log").round.tolist() == [1, 2]


def test_versions_number_their_decisions_for_themselves(tmp_path):
    for version in ("first", "second"):
        with sl.LogWriter(tmp_path / "log.csv", n_arms=3, version=version) as writer:
            fill(writer, [1, 2])
    log = sl.Log.read(tmp_path / "log.csv")
    assert log.decision_id.tolist() == [1, 1, 2, 2]
    assert log.version == ("first", "second") * 2
    log.write(tmp_path / "again.csv")
    assert sl.Log.read(tmp_path / "again.csv").decision_id.tolist() == [1, 1, 2, 2]


def test_places_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "log.csv", tmp_path / "log.csv.gz"):
        with pytest.raises(sl.errors.LogError):
            sl.LogWriter(place, 3)
    (tmp_path / "other.csv").write_text("src,dst\n0,1\n")
    with pytest.raises(sl.errors.LogError, match="another log, or none"):
        sl.LogWriter(tmp_path / "other.csv", 3)
    with pytest.raises(sl.InvalidOption, match="different labels"):
        sl.LogWriter(tmp_path / "log", 3, labels=["a", "b"])
