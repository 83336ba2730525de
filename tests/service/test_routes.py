"""The routes as the contract has them, and what they say to bad requests."""

from __future__ import annotations

import asyncio
import json
import re
import socket

import pytest
from serving import running

import sidelight as sl
from sidelight.service.access import Limits, Rates
from sidelight.service.server import bound

SQUARE = {"n": 4, "edges": [[0, 1], [1, 0], [2, 3], [3, 2]]}
LABELLED = {**SQUARE, "labels": ["a", "b", "2", "d"]}


def test_from_a_graph_to_a_policy_that_learns(service):
    made = service.create(graph=SQUARE, horizon=1000)
    plan = sl.plan(sl.FeedbackGraph.from_edges(4, SQUARE["edges"]), horizon=1000)
    promised = {"value": plan.bound.value, "rounds": 1000, "certified": plan.bound.certified, "why": ""}
    assert made["bound"] == promised
    (decision,) = service.decide()
    assert set(decision) == {"id", "round", "arm", "label", "reveals", "seen"}
    assert (decision["id"], decision["round"], decision["label"]) == (1, 1, str(decision["arm"]))
    assert service.show()["open"] == 1
    answer = service.tell((1, {str(arm): 0.2 for arm in decision["reveals"]}))
    assert (answer.status_code, answer.json()) == (200, {"accepted": 1, "repeated": 0})
    shown = service.show()
    assert (shown["round"], shown["open"], shown["decided"]) == (1, 0, 1)
    assert abs(sum(shown["probabilities"]) - 1.0) < 1e-12
    listed = service.http.get("/v1/policies").json()
    assert [policy["name"] for policy in listed["policies"]] == ["p"]
    assert listed["next"] is None
    assert listed["policies"][0]["certificate"] == shown["certificate"]


@pytest.mark.parametrize("horizon", [None, 300])
def test_over_http_as_in_the_library(service, horizon):
    """Same seed, same events: the same decisions, probabilities and certificate, to the last bit."""
    service.create(graph="cliques:2x3", seed=11, rewards=[-1, 3], horizon=horizon)
    policy = sl.plan(sl.families.cliques([3, 3]), horizon=horizon).policy(seed=11, rewards=(-1, 3))
    for turn in range(60):
        mine, theirs = policy.decide(count=2), service.decide(count=2)
        for ours, other in zip(mine, theirs, strict=True):
            assert (ours.id, ours.arm, ours.reveals.tolist()) == (other["id"], other["arm"], other["reveals"])
            assert ours.seen.tolist() == other["seen"]
        told = {arm: (arm + turn) % 4 - 1.0 for arm in mine[1].reveals.tolist()}
        policy.observe(mine[1], told)
        items = [(theirs[1]["id"], {str(arm): value for arm, value in told.items()})]
        if turn % 3:
            policy.observe(mine[0], [1.5] * mine[0].reveals.size)
            items.append((theirs[0]["id"], [1.5] * len(theirs[0]["reveals"])))
        else:
            policy.cancel(mine[0])
            assert service.http.delete(f"/v1/policies/p/decisions/{theirs[0]['id']}").status_code == 200
        assert service.tell(*items).json()["accepted"] == len(items)
    shown = service.show()
    assert shown["probabilities"] == policy.probabilities.tolist()
    assert shown["certificate"]["value"] == policy.certificate().value
    assert shown["certificate"]["terms"] == policy.certificate().terms
    promised = policy.plan.bound_at(horizon or policy.round).value * policy.unit.width
    assert (shown["bound"]["value"], shown["bound"]["certified"]) == (promised, False)
    assert "answers come at once" in shown["bound"]["why"]
    assert "cancelled: 20 ≤ 0 FAILS" in shown["bound"]["why"]


@pytest.mark.parametrize("labels", [None, ["a", "b", "2", "d"], ["1", "0", "3", "2"], ["5", "6", "7", "8"]])
def test_arms_by_label_and_by_number(service, labels):
    """Keys are labels where arms have labels, which may look like numbers; a list of arms has numbers."""
    service.create(graph={**SQUARE, "labels": labels})
    twin = sl.plan(sl.FeedbackGraph.from_edges(4, SQUARE["edges"])).policy(seed=7)
    for decision in service.decide(count=20):
        (seen,) = decision["reveals"]
        item = {"decision": decision["id"], "losses": {labels[seen] if labels else str(seen): seen / 4}}
        if decision["id"] % 2:
            item |= {"arms": [seen], "losses": [seen / 4]}
        told = service.http.post("/v1/policies/p/observations", json={"observations": [item]})
        assert told.status_code == 200, told.text
    for mine in twin.decide(count=20):
        twin.observe(mine, {int(j): j / 4 for j in mine.reveals})
    assert service.show()["probabilities"] == twin.probabilities.tolist()


@pytest.mark.parametrize(
    ("labels", "told", "word"),
    [
        (["a", "b", "2", "d"], {"losses": {"1": 0.5}}, "'1' is no label"),
        (["5", "6", "7", "8"], {"losses": {"1": 0.5}}, "'1' is no label"),
        (["5", "6", "7", "8"], {"losses": {"6": 0.5}, "arms": [1]}, "these have keys"),
        (["5", "6", "7", "8"], {"losses": [0.5], "arms": [1, 0]}, "2 arms and 1 losses"),
        (["5", "6", "7", "8"], {"losses": [0.5], "arms": [0]}, "also reveals 1 ('6')"),
        (["5", "6", "7", "8"], {"losses": [0.5, 0.5], "arms": [1, 1]}, "told twice"),
    ],
)
def test_arms_that_are_not_clear(service, labels, told, word):
    service.create(graph={**SQUARE, "labels": labels})
    decision = next(d for d in service.decide(count=30) if d["arm"] == 0)
    observation = {"decision": decision["id"], **told}
    answer = service.http.post("/v1/policies/p/observations", json={"observations": [observation]})
    assert (answer.status_code, word in answer.json()["error"]["message"]) == (422, True), answer.text
    assert service.show()["open"] == 30


def test_pages(service):
    for name in "abcde":
        service.create(name, graph="full:3")
    first = service.http.get("/v1/policies?limit=2").json()
    assert ([p["name"] for p in first["policies"]], first["next"]) == (["a", "b"], "b")
    rest = service.http.get("/v1/policies?limit=100&after=b").json()
    assert ([p["name"] for p in rest["policies"]], rest["next"]) == (["c", "d", "e"], None)
    service.decide("a", count=5)
    page = service.http.get("/v1/policies/a/decisions?limit=2&after=1").json()
    assert ([d["id"] for d in page["decisions"]], page["next"]) == ([2, 3], 3)


def test_remove(service):
    service.create()
    service.decide(count=3)
    assert service.http.delete("/v1/policies/p").status_code == 204
    assert service.http.get("/v1/policies/p").status_code == 404
    service.create()
    assert service.show()["decided"] == 0


BAD_POLICIES = [
    ({}, 422, "name"),
    ({"name": "p"}, 422, "graph"),
    ({"name": "../p", "graph": "cycle:4"}, 422, "name"),
    ({"name": "", "graph": "cycle:4"}, 422, "name"),
    ({"name": "q", "graph": "cycle:4", "horizn": 5}, 422, "horizn"),
    ({"name": "q", "graph": "circle:4"}, 422, "circle"),
    ({"name": "q", "graph": "cycle:1000000000"}, 422, "1,000,000,000 arms"),
    ({"name": "q", "graph": "full:99999"}, 422, "arms"),
    ({"name": "q", "graph": {"n": 10**9, "edges": []}}, 422, "arms"),
    ({"name": "q", "graph": {"n": 0, "edges": []}}, 422, "n"),
    ({"name": "q", "graph": {"n": 2, "edges": [[0, 5]]}}, 422, "[0, 5]"),
    ({"name": "q", "graph": {"n": 2, "edges": [[0, -1]]}}, 422, "[0, -1]"),
    ({"name": "q", "graph": {"n": 2, "edges": [[0, 10**30]]}}, 422, "edges"),
    ({"name": "q", "graph": {"n": 2, "edges": [[0, 1]]}}, 422, "reveal"),
    ({"name": "q", "graph": {"n": 2, "edges": [[0, 1, 1]]}}, 422, "edges"),
    ({"name": "q", "graph": {**SQUARE, "labels": ["a", "a", "b", "c"]}}, 422, "label"),
    ({"name": "q", "graph": {**SQUARE, "labels": ["a"]}}, 422, "label"),
    ({"name": "q", "graph": {**SQUARE, "labels": ["a", "b", "c", "x" * 500]}}, 422, "label"),
    ({"name": "q", "graph": "cycle:4", "horizon": 0}, 422, "horizon"),
    ({"name": "q", "graph": "cycle:4", "rewards": [1, 1]}, 422, "rewards"),
    ({"name": "q", "graph": "cycle:4", "rewards": [0, 1], "losses": [0, 1]}, 422, "both"),
    ({"name": "q", "graph": "cycle:4", "seed": -1}, 422, "seed"),
    ({"name": "q", "graph": "cycle:4", "expires": 0}, 422, "expires"),
    ({"name": "p", "graph": "cycle:4"}, 409, "already"),
]


def test_policies_that_cannot_be(service):
    service.create()
    for body, status, words in BAD_POLICIES:
        answer = service.http.post("/v1/policies", json=body)
        assert answer.status_code == status, (body, answer.text)
        assert words in answer.json()["error"]["message"], (body, answer.text)
    assert len(service.http.get("/v1/policies").json()["policies"]) == 1


BAD_OBSERVATIONS = [
    ({"1": 0.5}, 422),  # one is missing
    ({"1": 0.5, "5": 1.5}, 422),
    ({"1": 0.5, "5": -0.1}, 422),
    ({"1": 0.5, "5": 0.5, "3": 0.5}, 422),
    ({"1": 0.5, "7": 0.5}, 422),
    ({"1": 0.5, "01": 0.5}, 422),
    ({"1": 0.5, "five": 0.5}, 422),
    ({"1": 0.5, "5": None}, 422),
    ({"1": 0.5, "5": "0.5"}, 422),
    ([0.5], 422),
    ([0.5, 0.5, 0.5], 422),
    ([0.5, 2], 422),
    (0.5, 422),
]


def test_observations_that_are_refused_change_nothing(service):
    service.create()
    decisions = service.decide(count=40)
    first = next(d for d in decisions if d["reveals"] == [1, 5])["id"]
    other = next(d for d in decisions if d["id"] != first)["id"]
    before = service.show()
    for losses, status in BAD_OBSERVATIONS:
        answer = service.tell((other, [0.5, 0.5]), (first, losses))
        assert answer.status_code == status, (losses, answer.text)
        error = answer.json()["error"]
        if "item" in error:
            assert (error["item"], error["decision"]) == (1, first)
        assert service.show() == before
    for number in (0, -1, 41, 10**30):
        answer = service.tell((other, [0.5, 0.5]), (number, [0.5, 0.5]))
        assert answer.status_code == 422, answer.text
        assert service.show() == before
    raw = b'{"observations": [{"decision": 1, "losses": {"1": NaN, "5": 1e999}}]}'
    assert service.http.post("/v1/policies/p/observations", content=raw).status_code in (400, 422)
    assert service.tell().status_code == 422
    assert service.show() == before


REQUESTS = [
    ("POST", "/v1/policies/p/decisions", b"{", 400),
    ("POST", "/v1/policies/p/decisions", b"[]", 422),
    ("POST", "/v1/policies/p/decisions", b'{"count": 0}', 422),
    ("POST", "/v1/policies/p/decisions", b'{"count": 1001}', 422),
    ("POST", "/v1/policies/p/decisions", b'{"count": 1.5}', 422),
    ("POST", "/v1/policies/p/decisions", b'{"many": 1}', 422),
    ("POST", "/v1/policies/p/decisions", b"[" * 100_000, 422),
    ("POST", "/v1/policies/p/decisions", b"\xff\xfe", 400),
    ("POST", "/v1/policies/none/decisions", b"{}", 404),
    ("POST", "/v1/policies/none/observations", b'{"observations": [{"decision": 1, "losses": {}}]}', 404),
    ("POST", "/v1/policies/p/observations", b"{}", 422),
    ("POST", "/v1/policies/p/observations", b'{"observations": [{"decision": true, "losses": {}}]}', 422),
    ("GET", "/v1/policies/none", None, 404),
    ("GET", "/v1/policies/%00", None, 404),
    ("GET", "/v1/policies/..%2f..%2fetc", None, 404),
    ("GET", "/v1/policies?limit=0", None, 422),
    ("GET", "/v1/policies?limit=x", None, 422),
    ("GET", "/v1/policies?page=1", None, 422),
    ("GET", "/v1/policies/p/log?format=csv", None, 422),
    ("GET", "/v1/policies/none/log", None, 404),
    ("GET", "/v1/policies/none/export", None, 404),
    ("DELETE", "/v1/policies/none", None, 404),
    ("DELETE", "/v1/policies/p/decisions/1", None, 404),
    ("DELETE", "/v1/policies/p/decisions/x", None, 404),
    ("DELETE", "/v1/policies/p/decisions/-1", None, 404),
    ("DELETE", "/v1/policies/p/decisions/99999999999999999999", None, 404),
    ("DELETE", "/v1/tokens/nobody", None, 404),
    ("POST", "/v1/tokens", b'{"scopes": ["everything"]}', 422),
    ("POST", "/v1/tokens", b'{"scopes": []}', 422),
    ("POST", "/v1/policies/q/import", b"nothing of the kind", 422),
    ("POST", "/v1/policies/q/import", b"", 422),
    ("PUT", "/v1/policies/p", b"{}", 405),
    ("GET", "/v1/policies/p/", None, 404),
    ("GET", "/favicon.ico", None, 404),
]


def test_bad_requests_are_told_so(service):
    service.create()
    for method, path, body, status in REQUESTS:
        answer = service.http.request(method, path, content=body)
        assert answer.status_code == status, (method, path, answer.text)
        error = answer.json()["error"]
        assert error["message"]
        assert error["request_id"] == answer.headers["x-request-id"]
    assert service.show()["decided"] == 0


def test_sizes(sqlite):
    limits = Limits(body=2_000, graph_body=2_000, policies=2, open=3, count=3, arms=20, edges=30)
    with running(sqlite, limits=limits) as service:
        service.create()
        post = service.http.post
        assert post("/v1/policies/p/decisions", content=b" " * 2_001).status_code == 413
        pieces = (b" " * 500 for _ in range(5))  # without a length
        assert post("/v1/policies/p/decisions", content=pieces).status_code == 413
        assert post("/v1/policies", json={"name": "q", "graph": "cycle:21"}).status_code == 422
        assert post("/v1/policies", json={"name": "q", "graph": "full:6"}).status_code == 422
        service.decide(count=3)
        full = post("/v1/policies/p/decisions", json={})
        assert (full.status_code, full.json()["error"]["code"]) == (429, "too_many_open")
        assert full.headers["retry-after"] == "1"
        service.create("q")
        assert post("/v1/policies", json={"name": "r", "graph": "cycle:4"}).status_code == 429


def test_rates(sqlite):
    with running(sqlite, limits=Limits(rate=0.001, failures=0.001)) as service:
        service.create()
        refused = service.http.get("/v1/policies/p")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests")
        assert 900 < int(refused.headers["retry-after"]) <= 1000
        wrong = {"Authorization": "Bearer wrong"}
        answers = [service.http.get("/v1/policies", headers=wrong).status_code for _ in range(3)]
        assert answers == [401, 429, 429]


def test_what_was_taken_is_earned_again():
    rates = Rates(rate=5.0)
    assert [rates.wait("one", 100.0) for _ in range(11)] == [0.0] * 10 + [pytest.approx(0.2)]
    assert rates.wait("other", 100.0) == 0.0
    assert rates.wait("one", 100.2) == 0.0
    assert rates.wait("one", 100.2) > 0.0
    assert [rates.wait("one", 1000.0) for _ in range(11)].count(0.0) == 10


def test_page_and_documents(service):
    page = service.http.get("/", headers={"Authorization": ""})
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in page.text
    named = [f"/{path}" for path in re.findall(r'(?:src|href)="(assets/[^"]+)"', page.text)]
    assert len(named) >= 6
    for text in [page.text] + [service.http.get(path).text for path in named if "uplot" not in path]:
        assert "http://" not in text
        assert "https://" not in text
    assert service.http.get("/assets/nothing.js").status_code == 404
    for path in (*named, "/openapi.json", "/healthz", "/readyz", "/metrics"):
        assert service.http.get(path, headers={"Authorization": ""}).status_code == 200, path


def test_figures(service):
    service.create(expires=5)
    service.decide(count=3)
    service.clock.now += 10
    service.decide()
    shown = service.show()
    text = service.http.get("/metrics").text
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert figures['sidelight_policy_decided_total{policy="p"}'] == "4.0"
    assert figures['sidelight_policy_open{policy="p"}'] == "1.0"
    assert figures['sidelight_policy_expired_total{policy="p"}'] == "3.0"
    assert float(figures['sidelight_policy_certificate{policy="p"}']) == shown["certificate"]["value"]
    assert float(figures['sidelight_policy_entropy{policy="p"}']) == shown["entropy"]
    route = 'method="POST",route="/v1/policies/{name}/decisions",status="201"'
    assert figures[f"sidelight_requests_total{{{route}}}"] == "2.0"
    assert figures["sidelight_open_decisions"] == "1.0"
    public = service.http.get("/metrics", headers={"Authorization": ""}).text
    assert "sidelight_open_decisions 1.0" in public
    assert '"p"' not in public


def test_every_request_has_an_id(service):
    assert (
        service.http.get("/healthz", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    )
    strange = service.http.get("/healthz", headers={"X-Request-Id": "a b"}).headers["x-request-id"]
    assert strange not in ("", "a b")


def test_log_lines_are_json_and_tell_no_secrets(service, caplog):
    from sidelight.service.logs import JsonLines

    with caplog.at_level("INFO", logger="sidelight.service"):
        service.create()
        made = service.http.post("/v1/tokens", json={"scopes": ["read"]}).json()
        service.http.get("/v1/policies", headers={"Authorization": f"Bearer {made['token']}"})
    lines = [JsonLines().format(record) for record in caplog.records if record.name == "sidelight.service"]
    assert any(json.loads(line)["message"] == "policy created" for line in lines)
    assert made["token"].split("_", 2)[2] not in "".join(lines)


def test_reveals_that_may_fail(service):
    """Left out or null where the graph says so, refused elsewhere; the log has what was revealed."""
    lossy = {**SQUARE, "edges": [*SQUARE["edges"], [0, 3]], "probabilities": [0.5, 1, 0.5, 1, 0.8]}
    service.create(graph=lossy, seed=3)
    graph = sl.FeedbackGraph.from_edges(4, lossy["edges"], probabilities=lossy["probabilities"])
    policy, revealed = sl.plan(graph).policy(seed=3), []
    for turn in range(30):
        mine, (theirs,) = policy.decide(), service.decide()
        assert (mine.arm, mine.seen.tolist()) == (theirs["arm"], theirs["seen"])
        sure = graph.reveal_probabilities(mine.arm) == 1
        told = [0.25 if certain or turn % 2 else None for certain in sure.tolist()]
        if sure.any():
            refused = service.tell((theirs["id"], [None] * len(told)))
            assert refused.status_code == 422
            assert "never fails" in refused.text
        policy.observe(mine, told)
        answer = dict(zip(map(str, theirs["reveals"]), told, strict=True)) if turn % 4 else told
        assert service.tell((theirs["id"], answer)).json() == {"accepted": 1, "repeated": 0}
        assert service.tell((theirs["id"], answer)).json() == {"accepted": 0, "repeated": 1}
        revealed += [arm for arm, loss in zip(theirs["reveals"], told, strict=True) if loss is not None]
    assert service.show()["probabilities"] == policy.probabilities.tolist()
    lines = service.http.get("/v1/policies/p/log").text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["revealed"] for row in rows if row.get("revealed") is not None] == revealed
    wrong = service.http.post(
        "/v1/policies", json={"name": "q", "graph": {**lossy, "probabilities": [2.0] * 5}}
    )
    assert wrong.status_code == 422


def test_small_answers_are_sent_at_once():
    """On asyncio's own loop too: head and body are two writes, and the second must not wait for the client's word."""

    async def sends_at_once():
        listening, found = bound("127.0.0.1", 0), asyncio.get_running_loop().create_future()

        def met(reader, writer):
            accepted = writer.get_extra_info("socket")
            found.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(met, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await found

    assert asyncio.run(sends_at_once())
