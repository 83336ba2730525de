"""What was altered in a store is believed nowhere, and costs the policy that it belongs to, no other."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

import httpx
import pytest
from altered_stores import altered, looked, made, wrong
from serving import Clock, running

ALTERED = int(os.environ.get("SIDELIGHT_FUZZ", "80"))


def harm(path, sql, *values):
    with closing(sqlite3.connect(path)) as connection:
        changed = connection.execute(sql, values).rowcount
        connection.commit()
    assert changed > 0


def played(service, name):
    service.create(name, expires=100.0)
    for turn in range(10):
        first, _ = service.decide(name, key=f"k{turn}", count=2)
        assert service.tell((first["id"], [0.25, 0.5]), name=name).status_code == 200
    return service.show(name)


@pytest.fixture
def two(tmp_path):
    """A store with two policies, `bad` and `well`, of ten open decisions each, and what was known of `bad`."""
    path = tmp_path / "service.db"
    with running(path, snapshot_every=8) as service:
        known = played(service, "bad")
        played(service, "well")
    return path, known


NEWEST = "policy = 1 AND seq = (SELECT MAX(seq) FROM snapshots WHERE policy = 1)"


@pytest.mark.parametrize(
    "change",
    [
        "about = substr(about, 1, 40)",
        "about = replace(about, '1000000.0', '1000090.0')",
        "about = replace(about, '1000000.0', '0.0')",
        "about = ''",
        "about = '[]'",
        "chk = chk + 1",
        "data = substr(data, 1, 100)",
        "data = 'text'",
    ],
)
def test_a_damaged_snapshot_gives_way_to_the_one_before(two, change):
    path, known = two
    harm(path, f"UPDATE snapshots SET {change} WHERE {NEWEST}")
    with running(path, clock=Clock(1_000_099.0)) as service:
        assert service.show("bad") == known  # no decision has expired
        assert service.http.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "table",
    [
        "snapshots SET about = substr(about, 1, 40) WHERE policy = 1",
        "policies SET about = replace(about, '100.0', '1.0') WHERE id = 1",
        "policies SET about = substr(about, 1, 40) WHERE id = 1",
    ],
)
def test_a_damaged_policy_is_refused_and_no_other(two, table):
    path, _ = two
    harm(path, f"UPDATE {table}")
    with running(path, clock=Clock(1_000_099.0)) as service:
        for method, where in (("GET", ""), ("POST", "/decisions"), ("GET", "/log"), ("GET", "/export")):
            answer = service.http.request(method, f"/v1/policies/bad{where}", json={})
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "damaged"), answer.text
        assert service.show("well")["open"] == 10
        listed = service.http.get("/v1/policies").json()
        assert [each["name"] for each in listed["policies"]] == ["well"]
        assert "damaged" in listed["damaged"]["bad"]
        assert service.http.get("/healthz").status_code == 200
        assert service.http.delete("/v1/policies/bad").status_code == 204  # to bring it back from an export
        assert service.create("bad")["decided"] == 0


def test_altered_events_are_told_nowhere(two):
    """Those before the last snapshot are not replayed: whoever reads them is refused, the policy goes on."""
    path, known = two
    observed = "UPDATE events SET body = substr(body, 1, 4) || zeroblob(16) WHERE policy = 1 AND seq = 3"
    harm(path, observed)
    harm(path, "UPDATE events SET time = time + 1 WHERE policy = 1 AND seq = 4")
    with running(path) as service:
        assert service.show("bad") == known
        asked = service.http.post
        refused = [
            service.http.get("/v1/policies/bad/log"),
            service.http.get("/v1/policies/bad/log?format=parquet"),
            service.tell((1, [0.25, 0.5]), name="bad"),
            asked("/v1/policies/bad/decisions", json={"count": 2}, headers={"Idempotency-Key": "k1"}),
        ]
        for answer in refused:
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "damaged"), answer.text
        with pytest.raises(httpx.RemoteProtocolError):  # it had begun when the damage was found
            service.http.get("/v1/policies/bad/export")
        assert service.tell((3, [0.25, 0.5]), name="bad").json() == {"accepted": 0, "repeated": 1}
        assert service.decide("bad", key="k5", count=2)[0]["id"] == 11
        assert len(service.http.get("/v1/policies/well/log").text.splitlines()) == 20


def test_an_index_that_does_not_fit_is_made_anew(two):
    """Where the rows are in order; else asking twice would count twice."""
    path, known = two
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        sql = "SELECT sql FROM sqlite_master WHERE name = ?"
        was = {name: connection.execute(sql, (name,)).fetchone()[0] for name in ("events_key", "events_end")}
        for name, text in was.items():
            other = text.replace(" WHERE ", " WHERE seq > 5 AND ")
            connection.execute(f"DROP INDEX {name}")
            connection.execute(other)
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, name))
        connection.commit()
    with running(path) as service:
        assert service.show("bad") == known
        assert service.decide("bad", key="k0", count=2)[0]["id"] == 1
        assert service.tell((1, [0.25, 0.5]), name="bad").json() == {"accepted": 0, "repeated": 1}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_nothing_where_a_snapshot_should_be(two):
    path, known = two
    with closing(sqlite3.connect(path)) as connection:
        (was,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'snapshots'").fetchone()
    allowed = was.replace("data BLOB NOT NULL", "data BLOB")
    for text, before in ((allowed, "SELECT ?"), (was, f"UPDATE snapshots SET data = ? WHERE {NEWEST}")):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(before, (None,))
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'snapshots'", (text,))
            connection.commit()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("NULL value in snapshots.data",)]
    with running(path) as service:
        assert service.show("bad") == known


def test_an_end_that_is_lost_is_no_endless_search(two):
    path, _ = two
    harm(path, "DELETE FROM events WHERE policy = 1 AND seq = 3")
    with running(path) as service:
        answer = service.tell((1, [0.25, 0.5]), name="bad")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "damaged")


def test_exports_that_were_altered(two, tmp_path):
    path, _ = two
    with running(path) as service:
        data = service.http.get("/v1/policies/bad/export").content
        for old, new in ((b'"expires":100.0', b'"expires":1.0'), (b"1000000.0, ", b"1000009.0, ")):
            assert old in data
            put = service.http.post("/v1/policies/again/import", content=data.replace(old, new, 1))
            assert (put.status_code, put.json()["error"]["code"]) == (422, "invalid_export"), put.text
        head, rest = data.split(b"\n", 1)
        early = {key: value for key, value in json.loads(head).items() if key != "check"}
        put = service.http.post(
            "/v1/policies/again/import", content=json.dumps(early).encode() + b"\n" + rest
        )
        assert put.status_code == 201, put.text


def test_altered_files(tmp_path):
    """SIDELIGHT_FUZZ of them; `make fuzz` has ten thousand."""
    data, known = made(tmp_path)
    assert all(len(said) == 4 for said in known.values())
    path = tmp_path / "altered.db"
    whole = found = 0
    for seed in range(ALTERED):
        what = altered(data, path, seed)
        said = looked(path)
        assert wrong(said, known) == [], f"seed {seed}: {what}"
        refused = sum(said[name] != known[name] for name in known)
        whole += refused == len(known)
        found += refused > 0
        for rest in path.parent.glob("altered.db-*"):
            rest.unlink()
    print(f"{ALTERED} altered files: {found} noticed, in {whole} of them all policies refused, none believed")
    assert found > ALTERED / 20
