"""Disks that are full, files that are damaged or in use: a clear error, and nothing that was answered is lost."""

from __future__ import annotations

import os
import threading
import time
from functools import partial

import pytest
from serving import eventually, running, together

from sidelight.errors import StoreError
from sidelight.service.store.sqlite import SqliteStore


def test_a_full_disk(sqlite, tmp_path):
    """SQLite is told that there is no room: requests are refused, the state stays that of the disk."""
    with running(sqlite) as service:
        service.create()
        kept = service.decide(count=5)
        state = service.show()
        writing = service.service.store._writing
        pages = writing.execute("PRAGMA page_count").fetchone()[0]
        writing.execute(f"PRAGMA max_page_count = {pages}")
        refused = 0
        for _ in range(200):
            answer = service.http.post("/v1/policies/p/decisions", json={"count": 100})
            if answer.status_code == 201:
                kept += answer.json()["decisions"]
                continue
            refused += 1
            assert answer.status_code == 503
            assert "disk is full" in answer.json()["error"]["message"]
            assert int(answer.headers["retry-after"]) >= 1
            if refused == 3:
                break
        assert refused == 3
        health = service.http.get("/healthz")
        assert health.status_code == 503
        assert "disk is full" in health.text
        assert service.http.get("/readyz").status_code == 503
        time.sleep(1.5)  # a little room, as there still is, does not make it well again
        assert service.http.get("/readyz").status_code == 503
        assert service.show()["decided"] == len(kept)
        writing.execute("PRAGMA max_page_count = 1000000")
        eventually(lambda: service.http.get("/healthz").status_code == 200)
        (more,) = service.decide()
        assert more["id"] == len(kept) + 1
        assert state["decided"] == 5
    with running(sqlite) as service:
        assert service.show()["decided"] == len(kept) + 1


def test_one_of_two_policies_cannot_be_written(sqlite):
    """A batch that fails is tried policy by policy: only those fail that must."""
    with running(sqlite) as service:
        service.create("good")
        service.create("bad")
        store, append = service.service.store, service.service.store.append
        bad = store.row("bad").id

        def refusing(writes):
            if any(write.policy == bad for write in writes):
                raise StoreError("taken over")
            append(writes)

        store.append = refusing
        answers: dict[str, set[int]] = {"good": set(), "bad": set()}

        def ask(name):
            for _ in range(8):
                answer = service.http.post(f"/v1/policies/{name}/decisions", json={})
                answers[name].add(answer.status_code)

        together(*(partial(ask, name) for name in ("good", "bad") * 3))
        assert answers == {"good": {201}, "bad": {503}}
        store.append = append
        assert service.show("good")["decided"] == 24
        assert service.show("bad")["decided"] == 0
        assert service.decide("bad")[0]["id"] == 1


def test_a_writer_that_is_stuck(sqlite, monkeypatch):
    from sidelight.service import service as module

    monkeypatch.setattr(module, "STUCK", 0.05)
    with running(sqlite) as service:
        service.create()
        store, append, go = service.service.store, service.service.store.append, threading.Event()

        def waiting(writes):
            go.wait()
            append(writes)

        store.append = waiting
        thread = threading.Thread(target=service.decide)
        thread.start()
        eventually(lambda: "busy with one commit" in service.http.get("/healthz").text)
        go.set()
        thread.join()
        assert service.http.get("/healthz").status_code == 200


def test_an_error_of_our_own_drops_the_policy_not_the_service(sqlite):
    with running(sqlite) as service:
        service.create()
        service.decide(count=2)
        served = service.service.policies.served["p"]
        decide = served.policy.decide

        def broken():
            decide()
            raise ZeroDivisionError("a bug")

        served.policy.decide = broken
        answer = service.http.post("/v1/policies/p/decisions", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert "Zero" not in answer.text
        assert service.show()["decided"] == 2
        assert service.decide()[0]["id"] == 3


def test_asked_for_while_it_is_removed(sqlite):
    """Whoever comes between the request to remove a policy and its end is told that there is none."""
    with running(sqlite) as service:
        service.create()
        store, remove, go = service.service.store, service.service.store.remove, threading.Event()

        def waiting(row):
            go.wait()
            remove(row)

        store.remove = waiting
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(service.http.delete("/v1/policies/p").status_code)),
            threading.Thread(target=lambda: found.append(service.http.get("/v1/policies/p").status_code)),
        ]
        for thread in threads:
            thread.start()
            time.sleep(0.2)
        go.set()
        for thread in threads:
            thread.join()
        assert sorted(found) == [204, 404]
        service.create()


def test_two_services_on_one_file(sqlite):
    with running(sqlite), pytest.raises(StoreError, match="in use by another service"), running(sqlite):
        pass
    with running(sqlite) as service:
        service.create()


def test_a_link_to_a_file_has_its_lock(sqlite, tmp_path):
    path = tmp_path / "service.db"
    with running(sqlite):
        (tmp_path / "link.db").symlink_to(path)
        with pytest.raises(StoreError, match="in use by another service"), running(tmp_path / "link.db"):
            pass
        (tmp_path / "hard.db").hardlink_to(path)
        with pytest.raises(StoreError, match="hard link"), running(tmp_path / "hard.db"):
            pass


@pytest.mark.parametrize("ending", ["", ".lock"])
def test_nothing_is_written_once_another_service_may_have_begun(sqlite, tmp_path, ending):
    with running(sqlite) as service:
        service.create()
        (tmp_path / f"service.db{ending}").unlink()
        answer = service.http.post("/v1/policies/p/decisions", json={})
        assert answer.status_code == 503
        assert "deleted or replaced" in answer.json()["error"]["message"]
        assert service.http.get("/healthz").status_code == 503


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_file(sqlite, tmp_path):
    with running(sqlite):
        pass
    (tmp_path / "service.db").chmod(0o400)
    with pytest.raises(StoreError, match="read-only"), running(sqlite):
        pass


def test_a_store_that_turns_read_only(sqlite):
    with running(sqlite) as service:
        service.create()
        service.decide()
        service.service.store._writing.execute("PRAGMA query_only = ON")
        answer = service.http.post("/v1/policies/p/decisions", json={})
        assert answer.status_code == 503
        assert "read-only" in answer.json()["error"]["message"]
        assert service.show()["decided"] == 1


def test_a_damaged_page(sqlite, tmp_path):
    with running(sqlite) as service:
        service.create()
        for _ in range(20):
            service.decide(count=100)
    path = tmp_path / "service.db"
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = bytes(64)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"(?s)service\.db is damaged: .*backup"), running(sqlite):
        pass
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="damaged"), running(sqlite):
        pass


def test_a_store_of_the_future(tmp_path):
    store = SqliteStore(tmp_path / "service.db")
    store.open()
    with store._transaction() as cursor:
        cursor.execute("UPDATE facts SET value = '99'")
    store.close()
    with pytest.raises(StoreError, match="format 99"):
        SqliteStore(tmp_path / "service.db").open()


def test_what_nobody_else_should_read(tmp_path):
    store = SqliteStore(tmp_path / "new" / "service.db")
    store.open()
    store.close()
    assert (tmp_path / "new" / "service.db").stat().st_mode & 0o077 == 0
