"""Streams: what they tell, to whom, how often, and that they end."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
from serving import ADMIN, eventually, running

import sidelight as sl
from sidelight.service import live, page
from sidelight.service.access import Limits


@contextmanager
def streamed(service, path, token=None):
    """Events of a stream, as (name, data), as they come."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with service.http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        yield events(answer.iter_lines())


def events(lines):
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def numbers(text):
    import base64

    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def until(found, name, holds=lambda data: True):
    return next(data for kind, data in found if kind == name and holds(data))


def test_a_policy_as_it_runs(service):
    service.create(
        graph={"n": 3, "edges": [[0, 1], [1, 0], [1, 2], [2, 1]], "labels": ["tea", "milk", "rum"]}
    )
    with streamed(service, "/v1/policies/p/stream") as found:
        name, graph = next(found)
        assert (name, graph["arms"], graph["labels"]) == ("graph", 3, ["tea", "milk", "rum"])
        plan = sl.plan(sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1)]))
        assert graph["promised"] == [[1, plan.bound_at(1).value]]
        first = until(found, "policy")
        assert (first["policy"]["decided"], first["recent"], first["waiting"]) == (0, [], [])
        one, two = service.decide(count=2)
        service.tell((one["id"], [0.5] * len(one["reveals"])))
        service.http.delete(f"/v1/policies/p/decisions/{two['id']}")
        last = until(found, "policy", lambda data: data["policy"]["cancelled"])
        shown = service.show()
        assert last["policy"]["certificate"] == shown["certificate"]
        assert np.allclose(numbers(last["probabilities"]), shown["probabilities"])
        likely = sorted(enumerate(shown["probabilities"]), key=lambda pair: -pair[1])
        assert [pair[1] for pair in last["likely"]] == [chance for _, chance in likely]
        assert [each["what"] for each in last["recent"]] == ["cancelled", "observed", "decided", "decided"]
        observed = last["recent"][1]
        assert (observed["decision"], observed["arm"], observed["revealed"]) == (
            1, one["arm"], len(one["reveals"]),
        )  # fmt: skip
        assert last["names"][str(one["arm"])] == one["label"]
        (three,) = service.decide()
        waits = until(found, "policy", lambda data: data["waiting"])
        assert [(each["decision"], each["arm"]) for each in waits["waiting"]] == [(3, three["arm"])]
        assert waits["problems"] == []
        service.http.delete("/v1/policies/p")
        assert until(found, "gone")["removed"]
        assert list(found) == []


def test_many_decisions_are_few_updates(service, monkeypatch):
    monkeypatch.setattr(live, "EVERY", 0.2)
    service.create()
    with streamed(service, "/v1/policies/p/stream") as found:
        assert until(found, "policy")["policy"]["decided"] == 0
        began = time.monotonic()
        for _ in range(40):
            service.decide()
        updates = 1
        while next(data for name, data in found if name == "policy")["policy"]["decided"] < 40:
            updates += 1
        assert updates <= 2 + (time.monotonic() - began) / 0.2


def test_all_policies(service):
    service.create("a")
    service.create("b", graph="full:3")
    with streamed(service, "/v1/stream") as found:
        name, first = next(found)
        assert name == "policies"
        assert [each["name"] for each in first["policies"]] == ["a", "b"]
        assert (first["gone"], first["more"], first["problems"]) == ([], False, [])
        service.decide("b", count=3)
        changed = until(found, "policies")
        assert [(each["name"], each["decided"]) for each in changed["policies"]] == [("b", 3)]
        service.http.delete("/v1/policies/a")
        service.create("c")
        seen, gone = set(), set()
        while seen != {"c"} or gone != {"a"}:
            more = until(found, "policies")
            seen |= {each["name"] for each in more["policies"]}
            gone |= set(more["gone"])


def test_a_quiet_policy_says_that_it_is_alive(service, monkeypatch):
    monkeypatch.setattr(live, "LONGEST", 0.05)
    service.create()
    for path in ("/v1/policies/p/stream", "/v1/stream"):
        with streamed(service, path) as found:
            assert until(found, "alive")["problems"] == []


def test_who_may_watch(service):
    service.create("p")
    service.create("q")

    def token(*scopes, policy=None):
        return service.http.post("/v1/tokens", json={"scopes": scopes, "policy": policy}).json()

    reads, decides = token("read", policy="p"), token("decide")
    for path in ("/v1/policies/p/stream", "/v1/stream"):
        assert service.http.get(path, headers={"Authorization": "Bearer no"}).status_code == 401
        headers = {"Authorization": f"Bearer {decides['token']}"}
        assert service.http.get(path, headers=headers).status_code == 403
        assert service.http.get(path + "?all=1").status_code == 422
    headers = {"Authorization": f"Bearer {reads['token']}"}
    assert service.http.get("/v1/policies/q/stream", headers=headers).status_code == 403
    assert service.http.get("/v1/policies/none/stream").status_code == 404
    with streamed(service, "/v1/stream", reads["token"]) as found:
        assert [each["name"] for each in next(found)[1]["policies"]] == ["p"]
        service.http.delete(f"/v1/tokens/{reads['id']}")
        assert list(found) == []  # revoked: it ends


def test_so_many_and_no_more(sqlite):
    with running(sqlite, limits=Limits(streams=1)) as service:
        service.create()
        with streamed(service, "/v1/policies/p/stream") as found:
            next(found)
            assert "sidelight_streams 1" in service.http.get("/metrics").text
            refused = service.http.get("/v1/stream")
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_streams")
        eventually(lambda: "sidelight_streams 0" in service.http.get("/metrics").text)
        with streamed(service, "/v1/stream") as found:
            next(found)


def test_a_large_policy_is_told_by_its_most_probable_arms(service, monkeypatch):
    monkeypatch.setattr(page, "MOST_ARMS", 5)
    monkeypatch.setattr(page, "MOST_BARS", 2)
    service.create(graph="cycle:6")
    with streamed(service, "/v1/policies/p/stream") as found:
        told = until(found, "policy")
        assert (told["probabilities"], len(told["likely"])) == (None, 2)


def test_stopping_ends_streams(sqlite):
    """Nothing that watches holds up a graceful stop."""
    began, told = threading.Event(), []

    def watch(address):
        with (
            httpx.Client(headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60) as http,
            http.stream("GET", f"{address}/v1/stream") as answer,
        ):
            for name, _ in events(answer.iter_lines()):
                told.append(name)
                began.set()
        told.append("ended")

    with running(sqlite) as service:
        thread = threading.Thread(target=watch, args=(str(service.http.base_url),))
        thread.start()
        began.wait()
    thread.join()
    assert (told[0], told[-1]) == ("policies", "ended")


@pytest.mark.slow
def test_through_another_process(postgres):
    """Whoever asks a process that does not serve the policy is passed on to the one that does."""
    from serving import Process

    store = postgres()
    owner = Process(store)
    other = Process(store)
    headers = {"Authorization": f"Bearer {ADMIN}"}
    try:
        with httpx.Client(base_url=owner.address, headers=headers, timeout=60) as http:
            http.post("/v1/policies", json={"name": "p", "graph": "cycle:6"}).raise_for_status()
            http.post("/v1/policies/p/decisions", json={})
        with (
            httpx.Client(base_url=other.address, headers=headers, timeout=60) as http,
            http.stream("GET", "/v1/policies/p/stream") as answer,
        ):
            found = events(answer.iter_lines())
            assert next(found)[0] == "graph"
            assert next(found)[1]["policy"]["decided"] == 1
            with httpx.Client(base_url=other.address, headers=headers, timeout=60) as second:
                assert second.post("/v1/policies/p/decisions", json={}).status_code == 201
            assert until(found, "policy", lambda data: data["policy"]["decided"] == 2)
            assert other.stop() == 0
    finally:
        owner.kill()
        other.kill()


def test_many_who_watch_are_told_less_often(service):
    """All streams together may spend a twentieth of a core, however many there are."""
    watching = service.service
    watching.streams = 1
    assert live._pause(watching, 0.001) == live.EVERY
    assert live._pause(watching, 0.02) == pytest.approx(0.4)
    watching.streams = 10
    assert live._pause(watching, 0.02) == pytest.approx(4.0)
    assert live._pause(watching, 1.0) == live.LONGEST
    watching.streams = 0
