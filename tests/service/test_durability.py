"""What is answered is stored, once; what is loaded again goes on bit for bit. On both stores."""

from __future__ import annotations

import io
import threading

import numpy as np
import pyarrow.parquet as pq
import pytest
from serving import ADMIN, Clock, replayed, running, together

import sidelight as sl
from sidelight.client import Client
from sidelight.errors import StoreError
from sidelight.service.access import Limits
from sidelight.service.events import Kind
from sidelight.service.served import Served


def play(service, rounds, name="p", seed=3):
    """Decisions of several at a time, some answered late, some cancelled, some left open."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decisions = service.decide(name, count=int(rng.integers(1, 4)), key=str(rng.integers(10**9)))
        for decision in reversed(decisions):
            chance = rng.random()
            if chance < 0.7:
                losses = rng.random(len(decision["reveals"])).tolist()
                assert service.tell((decision["id"], losses), name=name).status_code == 200
            elif chance < 0.8:
                path = f"/v1/policies/{name}/decisions/{decision['id']}"
                assert service.http.delete(path).status_code == 200


def test_the_same_key_gives_the_same_decisions(store):
    with running(store) as service:
        service.create()
        first = service.decide(key="a", count=3)
        assert service.decide(key="a", count=3) == first
        assert service.decide(key="b", count=3) != first
        service.tell(*((d["id"], [0.5, 0.5]) for d in first))
        assert service.decide(key="a", count=3) == first
        other = service.http.post("/v1/policies/p/decisions", json={}, headers={"Idempotency-Key": "a"})
        assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
        bad = service.http.post("/v1/policies/p/decisions", json={}, headers={"Idempotency-Key": "a b"})
        assert bad.status_code == 422
        assert service.show()["decided"] == 6
        service.create("q")
        assert service.decide("q", key="a", count=3)[0]["id"] == 1  # keys are of one policy
    with running(store) as service:
        assert service.decide(key="a", count=3) == first
        assert service.show()["decided"] == 6


def test_one_key_from_many_at_once(store):
    with running(store) as service:
        service.create()
        found, begin = [], threading.Barrier(8)

        def ask():
            begin.wait()
            found.append(service.decide(key="same"))

        together(*[ask] * 8)
        assert found == [found[0]] * 8
        assert service.show()["decided"] == 1


def test_the_same_observation_again(store):
    with running(store) as service:
        service.create()
        (a, b) = service.decide(count=2)
        losses = {str(arm): 0.25 for arm in a["reveals"]}
        assert service.tell((a["id"], losses)).json() == {"accepted": 1, "repeated": 0}
        state = service.show()
        assert service.tell((a["id"], losses)).json() == {"accepted": 0, "repeated": 1}
        assert service.tell((a["id"], [0.25, 0.25])).json() == {"accepted": 0, "repeated": 1}
        other = service.tell((b["id"], [0.1, 0.2]), (a["id"], [0.25, 0.5]))
        assert (other.status_code, other.json()["error"]["item"]) == (409, 1)
        assert service.show() == state
        both = service.tell((b["id"], [0.1, 0.2]), (b["id"], [0.1, 0.2]), (a["id"], losses))
        assert both.json() == {"accepted": 1, "repeated": 2}
        twice = service.decide()[0]
        unlike = service.tell((twice["id"], [0.1, 0.2]), (twice["id"], [0.1, 0.3]))
        assert unlike.status_code == 409
    with running(store) as service:
        assert service.tell((a["id"], losses)).json() == {"accepted": 0, "repeated": 1}
        assert service.tell((a["id"], [0.25, 0.5])).status_code == 409


def test_cancelled_once(store):
    with running(store) as service:
        service.create()
        (a, b) = service.decide(count=2)
        path = f"/v1/policies/p/decisions/{a['id']}"
        assert service.http.delete(path).json() == {"decision": a["id"], "repeated": False}
        assert service.http.delete(path).json() == {"decision": a["id"], "repeated": True}
        told = service.tell((a["id"], [0.5, 0.5]))
        assert (told.status_code, told.json()["error"]["code"]) == (409, "cancelled")
        service.tell((b["id"], [0.5, 0.5]))
        answered = service.http.delete(f"/v1/policies/p/decisions/{b['id']}")
        assert (answered.status_code, answered.json()["error"]["code"]) == (409, "answered")
        shown = service.show()
        assert (shown["cancelled"], shown["open"], shown["round"]) == (1, 0, 2)
        assert shown["certificate"]["terms"]["unanswered"] == 1.0


def test_what_nobody_answers_expires(store):
    clock = Clock()
    with running(store, clock=clock) as service:
        service.create(expires=60.0)
        (early,) = service.decide()
        clock.now += 40
        (late,) = service.decide()
        clock.now += 20
        told = service.tell((early["id"], [0.5, 0.5]))
        assert (told.status_code, told.json()["error"]["code"]) == (409, "expired")
        shown = service.show()
        assert (shown["open"], shown["expired"], shown["cancelled"]) == (1, 1, 0)
        assert shown["certificate"]["terms"]["unanswered"] == 2.0  # one expired, one open
    clock.now += 39
    with running(store, clock=clock) as service:  # times survive
        assert service.show()["open"] == 1
        clock.now += 2
        assert service.show()["expired"] == 2
        assert service.tell((late["id"], [0.5, 0.5])).status_code == 409
        assert service.http.delete(f"/v1/policies/p/decisions/{late['id']}").json()["repeated"]


def test_expiry_needs_no_request(sqlite):
    clock = Clock()
    with running(sqlite, clock=clock) as service:
        service.create(expires=5)
        service.decide(count=3)
        clock.now += 10
        assert service.service.policies.sweep() == 3


def test_a_clock_that_goes_back_does_no_harm(store):
    clock = Clock()
    with running(store, clock=clock) as service:
        service.create(expires=60.0)
        service.decide()
        clock.now -= 10_000
        service.decide()
        assert service.show()["open"] == 2
        clock.now += 10_000 + 61
        assert service.show()["expired"] == 2
        (decision,) = service.decide()
        clock.now = 0.0
    with running(store, clock=clock) as service:
        assert service.tell((decision["id"], [0.5, 0.5])).status_code == 200
        kinds, times = zip(*((e.kind, e.time) for e in service.service.store.events(1)), strict=True)
        assert list(times) == sorted(times)
        assert kinds.count(Kind.EXPIRED) == 2


@pytest.mark.parametrize("graph", ["cycle:6", "cliques:2x3", "loopy_star:5"])
def test_loaded_again_bit_for_bit(sqlite, graph):
    """With snapshots on the way and restarts in between, the state is that of a twin fed the same events."""
    for part in range(3):
        with running(sqlite, snapshot_every=50) as service:
            if part == 0:
                service.create(graph=graph)
            play(service, 25, seed=part)
    twin = replayed(sqlite)
    with running(sqlite) as service:
        shown = service.show()
        assert shown["probabilities"] == twin.probabilities.tolist()
        assert shown["certificate"]["value"] == twin.certificate().value
        assert service.service.policies.served["p"].policy.to_bytes() == twin.to_bytes()
        assert service.decide(count=20)[-1]["arm"] == twin.decide(count=20)[-1].arm


def test_loaded_again_without_a_stop(sqlite):
    """What a killed process leaves, its events without a last snapshot, leads to the state it had."""
    with running(sqlite, snapshot_every=70) as service:
        service.create()
        play(service, 45)
        served = service.service.policies.served["p"]
        state = service.show()
        row, store = served.row, service.service.store
        newest, older = list(store.snapshots(row.id))[:2]
        for snapshot in (newest, older):
            again = Served.restored(row, snapshot, store.events(row.id, snapshot.seq), Limits())
            assert (again.seq, again.check, again.clock) == (served.seq, served.check, served.clock)
            assert (again.open, again.counts) == (served.open, served.counts)
            assert again.policy.probabilities.tolist() == state["probabilities"]
            assert again.policy.certificate().terms == state["certificate"]["terms"]
            assert again.policy.decide().arm == served.policy.copy().decide().arm


def test_what_was_altered_is_noticed(sqlite):
    with running(sqlite) as service:
        service.create()
        play(service, 20)
        served, store = service.service.policies.served["p"], service.service.store
        events, first = list(store.events(1)), list(store.snapshots(1))[-1]
        other = next(i for i, e in enumerate(events) if e.kind == Kind.OBSERVED)
        body = bytearray(events[other].body)
        body[6] ^= 1
        for wrong in (
            [*events[:other], events[other]._replace(body=bytes(body)), *events[other + 1 :]],
            events[:other] + events[other + 1 :],
            [*events[:other], events[other + 1], events[other], *events[other + 2 :]],
            [*events[:-1], events[-1]._replace(time=events[-1].time + 1)],
        ):
            with pytest.raises(StoreError, match="damaged: event"):
                Served.restored(served.row, first, wrong, Limits())


def test_a_log_of_another_engine_is_refused(sqlite):
    """Arms that replay does not reproduce stop it, with the way out."""
    with running(sqlite) as service:
        service.create()
        service.create("q", seed=8)
        play(service, 20)
        store = service.service.store
        row, wrong = store.row("p"), list(store.snapshots(store.row("q").id))[-1]
        with pytest.raises(StoreError, match=r"cannot be continued: replaying event \d+ decides arm"):
            Served.restored(row, wrong, store.events(row.id), Limits())


def test_made_once_though_asked_twice(store):
    with running(store) as service:
        body = {"name": "p", "graph": "cycle:4"}
        head = {"Idempotency-Key": "make"}
        first = service.http.post("/v1/policies", json=body, headers=head)
        again = service.http.post("/v1/policies", json=body, headers=head)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        assert service.http.post("/v1/policies", json=body).status_code == 409


def test_the_log_goes_through_evaluate(store, tmp_path):
    with running(store) as service:
        labels = [f"price {arm}" for arm in range(6)]
        edges = [[i, j] for i in range(6) for j in range(6) if j >= i or i == 0]
        service.create(graph={"n": 6, "edges": edges, "labels": labels}, rewards=[0, 25])
        rng = np.random.default_rng(1)
        for decision in service.decide(count=60) + service.decide(count=60):
            rewards = {labels[arm]: float(rng.uniform(0, 4 * arm + 5)) for arm in decision["reveals"]}
            if decision["id"] % 5:
                service.tell((decision["id"], rewards))
        with Client(str(service.http.base_url), ADMIN) as client:
            log = client.policy("p").log()
        assert log.n_rounds == 96
        assert (log.unit.kind, log.unit.high, log.labels) == ("rewards", 25.0, tuple(labels))
        assert not np.isnan(log.probability).any()
        found = sl.evaluate(log, {"last": "price 5", "all": "uniform"})
        assert found.rows[0].estimate > found.rows[1].estimate
        lines = service.http.get("/v1/policies/p/log").text.splitlines()
        assert len(lines) == log.n_rows
        parquet = service.http.get("/v1/policies/p/log", headers={"Accept": "application/vnd.apache.parquet"})
        (tmp_path / "log.parquet").write_bytes(parquet.content)
        assert sl.Log.read(tmp_path / "log.parquet").n_rows == log.n_rows


def test_a_log_of_nothing_but_open_decisions(service):
    service.create()
    service.decide(count=3)
    assert service.http.get("/v1/policies/p/log").text == ""
    answer = service.http.get("/v1/policies/p/log", params={"format": "parquet"})
    assert answer.status_code == 200
    assert pq.read_table(io.BytesIO(answer.content)).num_rows == 0


def test_exported_and_brought_elsewhere(store, sqlite, tmp_path):
    file = tmp_path / "p.sidelight"
    with running(store, snapshot_every=50) as service:
        service.create(expires=1000.0)
        play(service, 25)
        with Client(str(service.http.base_url), ADMIN) as client:
            client.policy("p").export(file)
        shown = service.show()
        later = service.decide(count=10)
    data = file.read_bytes()
    with running(tmp_path / "other.db") as service:
        with Client(str(service.http.base_url), ADMIN) as client:
            brought = client.bring("again", file).show()
            assert brought == {**shown, "name": "again"}
            assert [d["arm"] for d in service.decide("again", count=10)] == [d["arm"] for d in later]
        post = service.http.post
        assert post("/v1/policies/again/import", content=data).status_code == 409
        lines = data.splitlines(keepends=True)
        for wrong in (
            b"".join(lines[:-1]),
            data[: len(data) // 2],
            b"".join(lines[:8] + lines[9:]),
            b"".join([lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]]),
            data + b"{}\n",
            data.replace(b'"snapshot":0', b'"snapshot":1'),
        ):
            answer = post("/v1/policies/wrong/import", content=wrong)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_export"), (
                answer.text
            )
        assert service.http.get("/v1/policies/wrong").status_code == 404
