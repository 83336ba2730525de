"""Several processes on one PostgreSQL store: one owner for each policy, others forward, the living take over."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial

import httpx
import pytest
from killing import killed_under_load
from losing_proxy import Proxy
from serving import ADMIN, Process, eventually, running, together

from sidelight.errors import StoreError
from sidelight.service.events import Write
from sidelight.service.store.base import OwnedElsewhere, make_store


def test_each_policy_has_one_owner(postgres):
    address = postgres()
    first, second = make_store(address, "http://first"), make_store(address, "http://second")
    first.open()
    second.open()
    try:
        row = first.create("p", {"created": 0.0}, [])
        mine = first.own(row)
        assert first.own(row) == mine
        with pytest.raises(OwnedElsewhere) as caught:
            second.own(row)
        assert caught.value.address == "http://first"
        first._writing.close()  # the process is gone, as far as the server can tell

        def taken():
            with suppress(OwnedElsewhere):
                return second.own(row)

        theirs = eventually(taken)
        assert theirs.epoch == mine.epoch + 1
        with pytest.raises(StoreError, match="taken this policy over"):
            first.append([Write(row.id, mine.epoch, ())])  # it was not dead after all
        second.append([Write(row.id, theirs.epoch, ())])
    finally:
        first.close()
        second.close()
    third = make_store(address, "http://third")
    third.open()
    assert third.own(row).epoch == theirs.epoch + 1
    third.close()


def test_others_forward_to_the_owner(postgres):
    address = postgres()
    with running(address) as one, running(address) as two:
        store = one.service.store
        one.create()
        assert "p" not in one.service.policies.served  # whoever is asked for it first owns it
        one.show()
        decisions = two.decide(count=3, key="k")
        assert "p" not in two.service.policies.served
        assert one.decide(count=3, key="k") == decisions
        assert two.tell((decisions[0]["id"], [0.5, 0.5])).json() == {"accepted": 1, "repeated": 0}
        assert two.tell((decisions[0]["id"], [0.5, 0.6])).status_code == 409
        assert two.http.delete(f"/v1/policies/p/decisions/{decisions[1]['id']}").status_code == 200
        assert two.show() == one.show()
        two.create("q")
        assert [p["name"] for p in two.http.get("/v1/policies").json()["policies"]] == ["p", "q"]
        assert two.http.get("/v1/policies/p/log").text == one.http.get("/v1/policies/p/log").text
        assert two.http.post("/v1/policies", json={"name": "p", "graph": "cycle:4"}).status_code == 409
        made = one.http.post("/v1/tokens", json={"scopes": ["read"]}).json()["token"]
        headers = {"Authorization": f"Bearer {made}"}  # known to the other process within seconds
        eventually(lambda: two.http.get("/v1/policies", headers=headers).status_code == 200)
        with store._transaction() as cursor:
            cursor.execute("UPDATE owners SET address = %s", ("http://127.0.0.1:9",))
        two.service.policies.owner_lost(store.here)  # or wait until it asks again by itself
        lost = two.http.get("/v1/policies/p")
        assert (lost.status_code, lost.json()["error"]["code"]) == (503, "owned_elsewhere")
        looped = two.http.get("/v1/policies/p", headers={"X-Sidelight-Forwarded": "1"})
        assert looped.status_code == 503


def test_a_connection_that_is_lost(postgres):
    import psycopg

    address = postgres()
    with running(address) as service:
        service.create()
        service.decide(count=2)
        number = service.service.store._writing.info.backend_pid
        with psycopg.connect(address, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (number,))
        answers = []
        for _ in range(40):
            answer = service.http.post("/v1/policies/p/decisions", json={})
            answers.append(answer.status_code)
            if answer.status_code == 201:
                break
            time.sleep(0.05)
        assert answers[-1] == 201, answer.text
        assert set(answers[:-1]) <= {503}
        assert answer.json()["decisions"][0]["id"] == 3


@pytest.fixture
def proxy(postgres, monkeypatch):
    monkeypatch.setattr("sidelight.service.store.postgres.SILENCE", 1.0)
    proxy = Proxy(postgres())
    yield proxy
    proxy.close()


@pytest.mark.parametrize("lose", ["answer", "commit"])
def test_a_commit_whose_answer_is_lost(proxy, lose):
    """It may be stored: that is said, and settled from the store; asked again it counts once."""
    stored = lose == "answer"
    with running(proxy.address) as service:
        service.create()
        service.decide(key="a", count=2)
        asked = {"url": "/v1/policies/p/decisions", "json": {}, "headers": {"Idempotency-Key": "k"}}
        proxy.lose = lose
        answer = service.http.post(**asked)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unknown"), answer.text
        assert "ask again with the same Idempotency-Key" in answer.json()["error"]["message"]
        served = eventually(lambda: service.service.policies.served.get("p"))  # without a request
        assert served.decided == 2 + stored
        assert served.seq == service.service.store.last(served.row.id)
        assert service.http.get("/healthz").status_code == 200
        assert service.http.post(**asked).json()["decisions"][0]["id"] == 3
        proxy.lose = lose
        told = service.tell((1, [0.25, 0.5]))
        assert (told.status_code, told.json()["error"]["code"]) == (503, "unknown")
        eventually(lambda: service.service.policies.served.get("p"))
        assert service.tell((1, [0.25, 0.5])).json() == {"accepted": 1 - stored, "repeated": int(stored)}
        assert (service.show()["decided"], service.show()["round"]) == (3, 1)


def test_a_partition(proxy):
    """Every request ends, /healthz says why, and once the way is free again memory and store agree."""
    with running(proxy.address) as service:
        for name in ("p", "q", "r"):
            service.create(name)
            service.decide(name)
        service.http.timeout = 30.0
        made = {"name": "s", "graph": "full:3"}
        proxy.open.clear()
        ended: list[int] = []

        def ask(method, path, **rest):
            ended.append(service.http.request(method, f"/v1/{path}", **rest).status_code)

        names = ("p", "q", "r", "p", "q", "r")
        calls = [partial(ask, "POST", f"policies/{name}/decisions", json={}) for name in names]
        calls += [partial(ask, "GET", path) for path in ("policies", "policies/p", "policies/none")]
        together(*calls, partial(ask, "POST", "policies", json=made), partial(ask, "DELETE", "policies/r"))
        assert set(ended) <= {200, 503}  # what is in memory, and on the disk, can be read
        assert ended.count(503) >= 8
        health = eventually(lambda: (found := service.http.get("/healthz")).status_code == 503 and found)
        assert "said nothing for 1 s" in health.text or "timeout expired" in health.text
        proxy.open.set()
        eventually(lambda: service.http.get("/healthz").status_code == 200)
        for name in ("p", "q"):
            eventually(lambda name=name: service.http.get(f"/v1/policies/{name}").status_code == 200)
            decided = service.show(name)["decided"]
            assert service.decide(name)[0]["id"] == decided + 1
            served = service.service.policies.served[name]
            assert served.seq == service.service.store.last(served.row.id)


@pytest.mark.slow
def test_taken_over_within_five_seconds(postgres):
    address = postgres()
    headers = {"Authorization": f"Bearer {ADMIN}"}
    first, second = Process(address), Process(address)
    try:
        with httpx.Client(headers=headers, timeout=30) as http:
            made = http.post(
                f"{first.address}/v1/policies", json={"name": "p", "graph": "cycle:6", "seed": 3}
            )
            assert made.status_code == 201
            path = "/v1/policies/p/decisions"
            mine = http.post(f"{first.address}{path}", json={"count": 5}).json()["decisions"]
            assert http.post(f"{second.address}{path}", json={}).json()["decisions"][0]["id"] == 6
            began = time.monotonic()
            first.kill()
            while (answer := http.post(f"{second.address}{path}", json={})).status_code != 201:
                assert answer.status_code == 503
                time.sleep(0.05)
                assert time.monotonic() - began < 5.0
            assert answer.json()["decisions"][0]["id"] == 7
            items = [{"decision": d["id"], "losses": [0.5] * len(d["reveals"])} for d in mine]
            told = http.post(f"{second.address}/v1/policies/p/observations", json={"observations": items})
            assert told.json() == {"accepted": 5, "repeated": 0}
        assert second.stop() == 0
    finally:
        first.kill()
        second.kill()


@pytest.mark.slow
def test_killed_under_load(postgres):
    killed_under_load(postgres(), kills=10)


def test_no_server():
    store = make_store("postgresql://nobody:secret@127.0.0.1:9/none")
    with pytest.raises(StoreError) as caught:
        store.open()
    assert "secret" not in str(caught.value)
    assert "nobody" in str(caught.value)
