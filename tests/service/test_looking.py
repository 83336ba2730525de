"""A store that is only read: as its service would tell it, beside one that runs, and without a trace."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from serving import Clock, running

import sidelight as sl
from sidelight.errors import InvalidOption, StoreError
from sidelight.service import page
from sidelight.service.page import stored_policies
from sidelight.service.store.base import make_store, reading

LINE = {"n": 3, "edges": [[0, 0], [0, 1], [1, 0], [1, 2], [2, 1]], "labels": ["tea", "milk", "rum"]}


def play(service, name, rounds, losses=lambda arm: (arm % 3) / 4):
    for _ in range(rounds):
        (decision,) = service.decide(name)
        told = [losses(arm) for arm in decision["reveals"]]
        assert service.tell((decision["id"], told), name=name).status_code == 200


def shown(service, name):
    """What the service says of a policy, without what its stream packs otherwise."""
    return {key: value for key, value in service.show(name).items() if key not in ("probabilities", "labels")}


def test_beside_a_service_that_runs(store):
    with running(store) as service:
        service.create("line", graph=LINE, rewards=[0, 2], expires=60)
        service.create("ring", horizon=50)
        play(service, "line", 12)
        play(service, "ring", 5)
        waits = service.decide("line", count=2)
        found = stored_policies(store)
        assert [each["state"]["policy"] for each in found.policies] == [
            shown(service, name) for name in ("line", "ring")
        ]
        line = found.policies[0]
        assert line["graph"]["labels"] == LINE["labels"]
        assert [each["decision"] for each in line["state"]["waiting"]] == [each["id"] for each in waits]
        assert [each["what"] for each in line["state"]["recent"]][:3] == ["decided", "decided", "observed"]
        assert line["certificates"][-1][0] == 12
        assert (found.more, found.failed) == (False, ())
        before = service.show("line")
        assert service.tell((waits[0]["id"], {}), name="line").status_code == 422  # it goes on
        play(service, "line", 1)
        assert service.show("line")["decided"] == before["decided"] + 1
        (one,) = stored_policies(store, "line").policies
        assert one["state"]["policy"] == shown(service, "line")


def test_certificates_are_those_of_the_rounds(sqlite):
    with running(sqlite, snapshot_every=10) as service:
        service.create("p", graph="cycle:6", seed=3)
        play(service, "p", 40)
        last = service.show()["certificate"]["value"]
    (found,) = stored_policies(sqlite).policies
    rounds = [made for made, _ in found["certificates"]]
    assert rounds[:5] == [1, 2, 3, 4, 5]
    assert rounds == sorted(set(rounds))
    assert found["certificates"][-1][1] == last
    twin, values = sl.plan("cycle:6").policy(seed=3), {}
    for made in range(1, rounds[-1] + 1):
        decision = twin.decide()
        twin.observe(decision, [(arm % 3) / 4 for arm in decision.reveals.tolist()])
        values[made] = twin.certificate().value
    assert np.allclose([values[made] for made in rounds], [value for _, value in found["certificates"]])


def test_many_decisions_at_once_count_when_they_are_answered(service, sqlite):
    service.create("p", graph="full:3")
    for batch in (20, 30):
        for decision in service.decide("p", count=batch):
            service.tell((decision["id"], [0.0, 0.5, 0.5]), name="p")
    (found,) = stored_policies(sqlite).policies
    assert [made for made, _ in found["certificates"]] == [20, 50]
    assert found["certificates"][-1][1] == service.show()["certificate"]["value"]


def test_a_long_log_is_read_from_its_last_snapshot(sqlite, monkeypatch):
    with running(sqlite, snapshot_every=20) as service:
        service.create("p")
        play(service, "p", 25)
        known = shown(service, "p")
    monkeypatch.setattr(page, "MOST_EVENTS", 10)
    (found,) = stored_policies(sqlite).policies
    assert found["state"]["policy"] == known
    assert found["certificates"] == []  # it was stopped gracefully: nothing is left to replay
    monkeypatch.setattr(page, "MOST_GRAPH_NUMBERS", 10)
    (found,) = stored_policies(sqlite).policies
    assert (found["graph"]["arms"], found["state"]["probabilities"]) == (6, None)
    assert "x" not in found["graph"]


def test_a_file_is_left_as_it_was(tmp_path):
    home = tmp_path / "home"
    path = home / "service.db"
    with running(path) as service:
        service.create("p")
        play(service, "p", 6)
        shutil.copytree(home, tmp_path / "killed")  # as a service leaves it that was killed
        decided = service.show()["decided"]
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in home.iterdir()}
    (found,) = stored_policies(str(path)).policies
    assert found["state"]["policy"]["decided"] == decided
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in home.iterdir()} == before
    home.chmod(0o500)
    try:
        assert len(stored_policies(str(path)).policies) == 1
    finally:
        home.chmod(0o700)
    killed = tmp_path / "killed" / "service.db"
    log = killed.with_name("service.db-wal")
    assert log.stat().st_size > 0
    told = (killed.read_bytes(), log.read_bytes())
    (found,) = stored_policies(str(killed)).policies
    assert found["state"]["policy"]["decided"] == decided
    assert (killed.read_bytes(), log.read_bytes()) == told
    with running(killed) as service:  # … and a service goes on from it
        assert service.show()["decided"] == decided


def test_a_service_that_starts_meanwhile_is_noticed(tmp_path):
    path = tmp_path / "service.db"
    with running(path) as service:
        service.create("p")
    with running(path, clock=Clock()) as service:
        service.decide()  # the log is still there when the reader begins: it reads with it
        with reading(str(path)) as store:
            assert store.last(store.row("p").id) == 1
    looked = reading(str(path))
    store = looked.__enter__()
    with running(path) as service:
        assert store.last(store.row("p").id) == 1  # the snapshot of the end is no event
        service.decide()
        with pytest.raises(StoreError, match="look again"):
            looked.__exit__(None, None, None)


def test_nothing_is_owned_and_nothing_can_be_written(postgres):
    address = postgres()
    with running(address) as service, reading(address) as store:
        service.create("p")
        assert store.names() == ["p"]
        assert len(store._read("SELECT id FROM owners")) == 1
        with pytest.raises(StoreError, match="read-only"):
            store._read("UPDATE policies SET name = 'q' RETURNING id")


def test_a_damaged_policy_costs_no_other(sqlite, tmp_path):
    with running(sqlite, snapshot_every=8) as service:
        for name in ("early", "late", "well"):
            service.create(name)
            play(service, name, 10)
    with closing(sqlite3.connect(tmp_path / "service.db")) as connection:
        first, second, _ = (row[0] for row in connection.execute("SELECT id FROM policies ORDER BY name"))
        connection.execute("UPDATE events SET time = time + 1 WHERE policy = ? AND seq = 2", (first,))
        connection.execute("DELETE FROM snapshots WHERE policy = ? AND seq > 0", (second,))
        connection.execute("UPDATE events SET time = time + 1 WHERE policy = ? AND seq = 3", (second,))
        connection.commit()
    found = stored_policies(sqlite)
    assert [each["state"]["policy"]["name"] for each in found.policies] == ["early", "well"]
    assert found.policies[0]["certificates"] == []  # its beginning is lost, its last snapshot is not
    ((name, why),) = found.failed
    assert name == "late"
    assert "event 3 was altered" in why
    with pytest.raises(StoreError, match="event 3 was altered"):
        stored_policies(sqlite, "late")


def test_so_many_and_no_more(sqlite, monkeypatch):
    with running(sqlite) as service:
        for name in ("a", "b", "c"):
            service.create(name)
    monkeypatch.setattr(page, "MOST_LISTED", 2)
    found = stored_policies(sqlite)
    assert (len(found.policies), found.more) == (2, True)
    assert len(stored_policies(sqlite, "c").policies) == 1


def test_what_is_no_store(tmp_path, postgres):
    def refused(address, *words):
        with pytest.raises(StoreError) as caught:
            stored_policies(str(address))
        assert all(word in str(caught.value) for word in words), caught.value

    refused(tmp_path / "none.db", "does not exist", "sidelight serve")
    refused(tmp_path, "is a folder")
    (tmp_path / "notes.txt").write_text("no database at all, and long enough to be one" * 100)
    refused(tmp_path / "notes.txt", "is no store of the service")
    (tmp_path / "empty.db").touch()
    refused(f"sqlite:///{tmp_path / 'empty.db'}", "is no store of the service")
    refused(postgres(), "is no store of the service")
    refused("postgresql://nobody@127.0.0.1:9/none?connect_timeout=2", "127.0.0.1:9")
    path = tmp_path / "newer.db"
    store = make_store(str(path))
    store.open()
    with store._transaction() as cursor:
        cursor.execute("UPDATE facts SET value = '99' WHERE name = 'format'")
    store.close()
    refused(path, "format 99", "use the version that wrote it")
    with pytest.raises(InvalidOption, match="is no store"):
        stored_policies("mysql://somewhere")


def test_an_unknown_policy(sqlite):
    with running(sqlite) as service:
        with pytest.raises(InvalidOption, match="has no policy 'p'; it has none at all"):
            stored_policies(sqlite, "p")
        for number in range(25):
            service.create(f"price-{number:02}", graph="full:2")
    with pytest.raises(
        InvalidOption, match=r"did you mean 'price-07'\? Known policies: price-00, .*price-19, …$"
    ):
        stored_policies(sqlite, "pirce-07")
