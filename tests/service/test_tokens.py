"""Who may do what: every route against every scope, and what a token looks like in the store."""

from __future__ import annotations

import sqlite3
from contextlib import nullcontext

import pytest
from serving import ADMIN, eventually, running

from sidelight.errors import InvalidOption
from sidelight.service import app
from sidelight.service.access import Tokens, new_token

OBSERVATION = {"observations": [{"decision": 1, "losses": [0.5, 0.5]}]}
ROUTES = [
    ("GET", "/v1/policies/{}", None, "read"),
    ("GET", "/v1/policies/{}/decisions", None, "read"),
    ("GET", "/v1/policies/{}/log", None, "read"),
    ("POST", "/v1/policies/{}/decisions", {}, "decide"),
    ("POST", "/v1/policies/{}/observations", OBSERVATION, "observe"),
    ("DELETE", "/v1/policies/{}/decisions/2", None, "observe"),
    ("GET", "/v1/policies/{}/export", None, "admin"),
    ("DELETE", "/v1/policies/{}", None, "admin"),
]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_scopes_and_policies(service):
    service.create("mine")
    service.create("other")
    service.decide("mine", count=2)
    service.decide("other", count=2)

    def token(**wanted):
        answer = service.http.post("/v1/tokens", json=wanted)
        assert answer.status_code == 201
        return answer.json()["token"]

    one = {scope: token(scopes=[scope], policy="mine") for scope in ("read", "decide", "observe", "admin")}
    every = {scope: token(scopes=[scope]) for scope in ("read", "decide", "observe", "admin")}
    for method, path, body, needed in ROUTES:
        for scope in ("read", "decide", "observe", "admin"):
            enough = scope in (needed, "admin")
            for name, tokens, may in (("mine", one, enough), ("other", one, False), ("other", every, enough)):
                if may and method == "DELETE" and needed == "admin":
                    continue  # they would be gone
                answer = service.http.request(
                    method, path.format(name), json=body, headers=bearer(tokens[scope])
                )
                assert (answer.status_code < 300) == may, (method, path, scope, name, answer.text)
                assert may or answer.status_code == 403
    names = [
        p["name"] for p in service.http.get("/v1/policies", headers=bearer(one["read"])).json()["policies"]
    ]
    assert names == ["mine"]
    make = {"name": "third", "graph": "cycle:4"}
    assert service.http.post("/v1/policies", json=make, headers=bearer(one["admin"])).status_code == 403
    assert service.http.post("/v1/policies", json=make, headers=bearer(every["decide"])).status_code == 403
    wide = service.http.post("/v1/tokens", json={"scopes": ["read"]}, headers=bearer(one["admin"]))
    assert wide.status_code == 403
    narrow = {"scopes": ["read"], "policy": "mine"}
    assert service.http.post("/v1/tokens", json=narrow, headers=bearer(one["admin"])).status_code == 201
    seen = service.http.get("/v1/tokens", headers=bearer(one["admin"])).json()["tokens"]
    assert {each["policy"] for each in seen} == {"mine"}
    foreign = next(t["id"] for t in service.http.get("/v1/tokens").json()["tokens"] if t["policy"] is None)
    assert service.http.delete(f"/v1/tokens/{foreign}", headers=bearer(one["admin"])).status_code == 404


@pytest.mark.parametrize("route", app.ROUTES, ids=lambda route: route.operation)
def test_every_route_needs_its_scope(guarded, route):
    """By the table: nobody without a token, nobody with all scopes but the one; the rest is open to all."""
    service, lacking = guarded
    path = route.path.format(name="p", id="1", file="none.js")
    stranger = service.http.request(route.method, path, headers=bearer("nobody"))
    assert (stranger.status_code in (401, 429)) == (route.scope is not None or route.optional_token)
    if route.scope is not None:
        refused = service.http.request(route.method, path, headers=bearer(lacking[route.scope]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with a policy, and tokens that lack one scope each."""
    scopes = ("read", "decide", "observe", "admin")
    with running(tmp_path_factory.mktemp("guarded") / "service.db") as service:
        service.create()
        lacking = {}
        for scope in scopes:
            others = [other for other in scopes if other not in (scope, "admin")]
            lacking[scope] = service.http.post("/v1/tokens", json={"scopes": others}).json()["token"]
        yield service, lacking


def test_tokens_end_with_their_policy(store):
    """Another policy of the same name is not theirs, in no process that shares the store, at once."""
    shared = store.startswith("postgresql")
    with running(store) as one, running(store) if shared else nullcontext(one) as two:
        one.create()
        made = one.http.post("/v1/tokens", json={"scopes": ["admin"], "policy": "p"}).json()["token"]
        every = one.http.post("/v1/tokens", json={"scopes": ["admin"]}).json()["token"]
        eventually(lambda: two.http.get("/v1/policies/p", headers=bearer(made)).status_code == 200)
        for each in (one, two):
            each.service.failures.earned.clear()  # those of waiting; requests are forwarded from one to the other
        one.decide()
        assert one.http.delete("/v1/policies/p").status_code == 204
        assert one.http.get("/v1/policies/p", headers=bearer(made)).status_code == 401
        two.create()
        for running_ in (two, one):
            for path in ("/v1/policies", "/v1/policies/p/export", "/v1/policies/p"):
                refused = running_.http.get(path, headers=bearer(made))
                assert refused.status_code == 401, (path, refused.text)
                running_.service.failures.earned.clear()
            assert running_.http.get("/v1/policies/p", headers=bearer(every)).status_code == 200


def test_nobody_gets_in_without(service):
    """A token that was revoked, altered or never made is told from none, and in nothing else from each other."""
    service.create()
    made = service.http.post("/v1/tokens", json={"scopes": ["admin"]}).json()
    good = made["token"]
    assert service.http.get("/v1/policies", headers=bearer(good)).status_code == 200
    assert service.http.delete(f"/v1/tokens/{made['id']}").status_code == 204

    def refusal(header: str) -> str:
        headers = {"Authorization": header.encode("latin-1")}
        answer = service.http.get("/v1/policies", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized"), header
        service.service.failures.earned.clear()
        return answer.json()["error"]["message"]

    tokens = (good, good[:-1], f"{good}x", f"sl_{'0' * 12}_{good[16:]}", ADMIN[:-1], "\xff", "x")
    unknown = {refusal(f"Bearer {token}") for token in tokens}
    assert unknown == {"this token is not known or was revoked; ask for a new one"}
    none = {refusal(header) for header in ("", "Bearer", "Basic x", f"Basic {good}", good)}
    assert none == {"a token is needed: `Authorization: Bearer …`"}


def test_tokens_last_and_are_kept_as_digests(store, tmp_path):
    with running(store) as service:
        made = service.http.post("/v1/tokens", json={"scopes": ["read", "read"], "note": "a note"}).json()
        assert made["scopes"] == ["read"]
    with running(store) as service:
        assert service.http.get("/v1/policies", headers=bearer(made["token"])).status_code == 200
        (listed,) = service.http.get("/v1/tokens").json()["tokens"]
        assert "token" not in listed
        assert listed["note"] == "a note"
        (row,) = service.service.store.tokens()
        assert made["token"].rsplit("_", 1)[1].encode() not in b"".join(str(part).encode() for part in row)


def test_the_first_token_is_shown_once(tmp_path):
    import asyncio

    from sidelight.service.service import Service
    from sidelight.service.store.sqlite import SqliteStore

    async def begun() -> str | None:
        service = Service(SqliteStore(tmp_path / "service.db"))
        await service.start()
        await service.stop()
        return service.admin_token

    first, second = asyncio.run(begun()), asyncio.run(begun())
    assert first is not None
    assert second is None
    with running(tmp_path / "service.db") as service:
        assert service.http.get("/v1/tokens", headers=bearer(first)).status_code == 200
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert first.split("_", 2)[2].encode() not in everything
    with sqlite3.connect(tmp_path / "service.db") as connection:
        assert connection.execute("SELECT scopes FROM tokens").fetchall() == [("admin",)]
    connection.close()


def test_a_token_set_by_hand(caplog):
    Tokens([], "short")
    assert "can be guessed" in caplog.text
    for wrong in ("with spaces in it all", "ünlesbar-für-header"):
        with pytest.raises(InvalidOption, match="printable ASCII"):
            Tokens([], wrong)


def test_tokens_are_random():
    made = {new_token(["read"], None, "", 0.0)[1] for _ in range(100)}
    assert len(made) == 100
    assert {len(token) for token in made} == {59}
