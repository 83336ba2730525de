"""Requests of those who mean harm, or send nonsense: each is refused in words, and nothing is taken for it."""

from __future__ import annotations

import contextlib
import io
import json
import socket
from base64 import b64decode, b64encode

import httpx
import numpy as np
import pytest
from serving import ADMIN, Running, running

from sidelight.service import exports, routes, server
from sidelight.service.access import Limits
from sidelight.service.events import checksum

TOO_LARGE = (
    "hypercube:25", "hypercube:21", "newsvendor:40000", "newsvendor:10000", "cliques:2x30000", "cliques:10000000x2",
    "bicliques:30000+30000", "bounded_in_degree:99999,20000,1", "grid:30000,30000", "full:30000:works=0.5",
    "random:99999,0.1,1", "complete_bipartite:99999,99999", "cycle:" + "9" * 90,
)  # fmt: skip


@pytest.mark.parametrize("graph", TOO_LARGE)
def test_families_are_refused_by_their_size_before_they_are_built(service, monkeypatch, graph):
    monkeypatch.setattr("sidelight.graph.families.parse", lambda spec: pytest.fail("it was built"))
    answer = service.http.post("/v1/policies", json={"name": "q", "graph": graph})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "too_large")
    assert "would have" in error["message"]
    assert "at most 100,000 and 2,000,000 are allowed" in error["message"]


def test_a_long_list_of_edges_is_refused_unread(sqlite, monkeypatch):
    with running(sqlite, limits=Limits(arms=10, edges=20)) as service:
        many = {"name": "q", "graph": {"n": 4, "edges": [[0, 1]] * 50}}
        answer = service.http.post("/v1/policies", json=many)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_large")
        assert "20 edges" in answer.json()["error"]["message"]


@pytest.mark.parametrize("graph", ["cycle:²", "cycle:٣", "cycle:" + "9" * 150, "hypercube:99", "x" * 500])
def test_what_is_no_number_is_no_mistake_of_the_service(service, graph):
    assert service.http.post("/v1/policies", json={"name": "q", "graph": graph}).status_code == 422


def test_a_name_does_not_end_with_a_line_end(service):
    edges = {"n": 2, "edges": [[0, 1], [1, 0]], "labels": ["a\n", "b"]}
    for path, body in (
        ("/v1/policies", {"name": "z\n", "graph": "cycle:4"}),
        ("/v1/policies", {"name": "z", "graph": edges}),
        ("/v1/tokens", {"scopes": ["read"], "policy": "z\n"}),
    ):
        assert service.http.post(path, json=body).status_code == 422, body
    assert service.http.get("/v1/policies").json()["policies"] == []


# -- files ----------------------------------------------------------------------------------------------------


def exported(service: Running) -> list[dict]:
    service.create()
    for decision in service.decide(count=3)[:2]:
        service.tell((decision["id"], [0.5] * len(decision["reveals"])))
    text = service.http.get("/v1/policies/p/export").text
    return [json.loads(line) for line in text.splitlines()]


def rechecked(lines: list[dict]) -> bytes:
    """The file with the checksums that its events, as they are now, would have, and without seals, as of old."""
    check = 0
    lines[0].pop("check", None)
    for line in lines:
        if isinstance(line.get("about"), str) and '"sidelight"' in line["about"]:
            line["about"] = json.dumps({k: v for k, v in json.loads(line["about"]).items() if k != "check"})
        if "event" in line:
            seq, kind, decision, time, key, body, _ = line["event"]
            try:
                check = checksum(check, seq, kind, decision, time, key and b64decode(key), b64decode(body))
            except Exception:  # what cannot be packed has none, and is sent all the same
                check = 0
            line["event"][-1] = check
        if "end" in line:
            line["check"] = check
    return "\n".join(json.dumps(line) for line in lines).encode()


def nested(depth: int) -> dict:
    made: dict = {}
    for _ in range(depth):
        made = {"a": made}
    return made


def altered_snapshot(line: dict, **changes: np.ndarray) -> None:
    with np.load(io.BytesIO(b64decode(line["data"]))) as archive:
        arrays = dict(archive)
    stream = io.BytesIO()
    np.savez_compressed(stream, **(arrays | changes))
    line["data"] = b64encode(stream.getvalue()).decode()


FILES = {
    "a key that no event can have": lambda lines: lines[2]["event"].__setitem__(4, "A" * 100_000),
    "a body that is too short": lambda lines: lines[2]["event"].__setitem__(5, "AAAA"),
    "an empty body": lambda lines: lines[2]["event"].__setitem__(5, ""),
    "an arm that is none": lambda lines: lines[2]["event"].__setitem__(5, b64encode(b"\xff" * 16).decode()),
    "an event of an unknown kind": lambda lines: lines[2]["event"].__setitem__(1, 99),
    "a decision that is none": lambda lines: lines[5]["event"].__setitem__(2, 77),
    "a time at the end of time": lambda lines: lines[2]["event"].__setitem__(3, 1e300),
    "a time before time": lambda lines: lines[2]["event"].__setitem__(3, -1.0),
    "a creation at the end of time": lambda lines: lines[0]["about"].update(created=10**400),
    "a clock without end": lambda lines: lines[1].update(about='{"clock": 1e400, "times": [], "counts": [0,0,0]}'),
    "a clock that is too large": lambda lines: lines[1].update(
        about=json.dumps({"clock": 10**400, "times": [], "counts": [0, 0, 0]})
    ),
    "a clock that is a word": lambda lines: lines[1].update(about='{"clock": "x", "times": [], "counts": [0,0,0]}'),
    "counts that are too many": lambda lines: lines[1].update(about='{"clock": 1, "times": [], "counts": [0]}'),
    "a snapshot that says nothing": lambda lines: lines[1].update(about="[]"),
    "a snapshot that is nested": lambda lines: lines[1].update(about=nested(500)),
    "a snapshot whose text is nested": lambda lines: lines[1].update(about="[" * 5000),
    "a snapshot that is nothing": lambda lines: lines[1].update(data=""),
    "a graph of too many arms": lambda lines: altered_snapshot(lines[1], **{"graph.n_arms": np.array(10**8)}),
    "a graph of too many edges": lambda lines: altered_snapshot(
        lines[1], **{"graph.out_indices": np.zeros(3_000_000, dtype=np.int32)}
    ),
    "many snapshots": lambda lines: lines.insert(1, lines[1]) or lines.extend([lines[1]] * 3),
    "a version that is nested": lambda lines: lines[0].update(version=nested(500)),
}  # fmt: skip


@pytest.mark.parametrize("what", FILES)
def test_files_that_are_refused(service, what):
    lines = exported(service)
    FILES[what](lines)
    answer = service.http.post("/v1/policies/q/import", content=rechecked(lines))
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["code"] in ("invalid_export", "too_large")
    assert service.http.get("/v1/policies/q").status_code == 404


def test_what_is_not_known_of_how_it_was_made_is_not_kept(service):
    lines = exported(service)
    lines[0]["about"]["more"] = nested(500)
    assert service.http.post("/v1/policies/q/import", content=rechecked(lines)).status_code == 201
    again = [json.loads(line) for line in service.http.get("/v1/policies/q/export").text.splitlines()]
    assert "more" not in again[0]["about"]


def test_a_file_of_a_larger_policy_than_is_allowed(sqlite, tmp_path):
    with running(sqlite) as service:
        file = rechecked(exported(service))
    with running(tmp_path / "other.db", limits=Limits(arms=5)) as service:
        answer = service.http.post("/v1/policies/q/import", content=file)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_large")


def test_a_line_of_a_file_has_an_end(service, monkeypatch):
    monkeypatch.setattr(exports, "LONGEST_LINE", 1000)
    answer = service.http.post("/v1/policies/q/import", content=b"x" * 2000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_export")


# -- connections ----------------------------------------------------------------------------------------------


def connected(service: Running, text: bytes = b"") -> socket.socket:
    line = socket.create_connection((service.http.base_url.host, service.http.base_url.port), timeout=20)
    line.sendall(text)
    return line


def hung_up(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def test_heads_that_do_not_end_are_not_waited_for(service, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.5)
    first, silent = connected(service, b"GET / HTTP/1.1\r\nHost:"), connected(service)
    assert hung_up(first)
    assert hung_up(silent)
    assert service.http.get("/healthz").status_code == 200


def test_a_head_is_not_too_long(service, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 1e9)
    line = connected(service, b"GET / HTTP/1.1\r\nX: ")
    with contextlib.suppress(ConnectionError):
        line.sendall(b"x" * 1_000_000)
    assert hung_up(line)
    assert service.http.get("/healthz").status_code == 200


def test_those_who_wait_make_room(sqlite, monkeypatch):
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 20)
    with running(sqlite) as service:
        service.create()
        lines = [connected(service, b"GET / HTTP/1.1\r\nHost:") for _ in range(60)]
        assert all(hung_up(line) for line in lines[:30])
        assert service.show()["decided"] == 0


def test_a_body_that_does_not_come(service, monkeypatch):
    service.create()
    monkeypatch.setattr(routes, "PATIENCE", 0.2)
    head = f"POST /v1/policies/p/decisions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN}\r\n"
    line = connected(service, f"{head}Content-Length: 9\r\n\r\n{{".encode())
    answer = b"".join(iter(lambda: line.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"too_slow" in answer
    assert service.show()["decided"] == 0


# -- words ----------------------------------------------------------------------------------------------------


def test_tokens_are_not_guessed_at_the_figures(sqlite):
    with running(sqlite, limits=Limits(failures=0.001)) as service:
        url = f"{service.http.base_url}/metrics"
        assert httpx.get(url).status_code == 200
        wrong = {"Authorization": "Bearer wrong"}
        assert [httpx.get(url, headers=wrong).status_code for _ in range(3)] == [401, 429, 429]
        assert httpx.get(url).status_code == 200
        assert service.http.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/policies/p", "DELETE, GET, HEAD"),
        ("PATCH", "/v1/policies", "GET, HEAD, POST"),
        ("GET", "/v1/policies/p/observations", "POST"),
        ("OPTIONS", "/v1/policies/p/decisions", "GET, HEAD, POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_what_a_path_allows_is_said_in_full(service, method, path, allowed):
    answer = service.http.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_decisions_past_the_horizon_say_so(service):
    service.create(horizon=2)
    made = service.decide(count=3, key="once")
    assert [each.get("past_horizon", False) for each in made] == [False, False, True]
    assert service.decide(count=3, key="once") == made
    listed = service.http.get("/v1/policies/p/decisions").json()["decisions"]
    assert listed == made
