"""The clients: as the library, with retries that change nothing twice."""

from __future__ import annotations

import asyncio
import threading

import httpx
import numpy as np
import pytest
from serving import ADMIN

import sidelight as sl
from sidelight.client import AsyncClient, Client, calls
from sidelight.errors import InvalidOption, ServiceError


@pytest.fixture
def client(service):
    with Client(str(service.http.base_url), ADMIN) as found:
        yield found


def test_reveals_that_may_fail(client):
    """Probabilities of edges arrive, and so does what was not revealed: as with a policy."""
    graph = sl.FeedbackGraph.from_edges(
        3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)], probabilities=[1, 0.5, 1, 0.25, 1]
    )
    remote, policy = client.create("p", graph, seed=5), sl.plan(graph).policy(seed=5)
    for turn in range(12):
        mine, theirs = policy.decide(), remote.decide()
        assert mine.seen.tolist() == theirs.seen
        failed = None if turn % 2 else float("nan")
        losses = [0.5 if j == mine.arm else failed for j in mine.reveals.tolist()]
        policy.observe(mine, losses)
        told = losses if turn % 3 else dict(zip(theirs.reveals, losses, strict=True))
        assert remote.observe(theirs, told) == (1, 0)
    assert remote.show()["probabilities"] == policy.probabilities.tolist()
    assert remote.show()["certificate"]["value"] == policy.certificate().value


def test_a_loop_as_with_a_policy(service, client):
    graph = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)], labels=["a", "b", "c"])
    remote = client.create("p", graph, losses=(0, 2), seed=5, horizon=500, expires=60.0)
    policy = sl.plan(graph, horizon=500).policy(seed=5, losses=(0, 2))
    for _ in range(10):
        mine, theirs = policy.decide(), remote.decide()
        assert (mine.arm, mine.label, mine.reveals.tolist()) == (theirs.arm, theirs.label, theirs.reveals)
        policy.observe(mine, [1.0])
        assert remote.observe(theirs, {graph.labels[theirs.reveals[0]]: 1.0}) == (1, 0)
    two = remote.decide(count=2, key="k")
    assert remote.decide(count=2, key="k") == two
    assert remote.observe_all((each, [0.0]) for each in two) == (2, 0)
    last = remote.decide()
    remote.cancel(last)
    remote.cancel(last.id)
    assert remote.show()["cancelled"] == 1
    assert [policy["name"] for policy in client.policies()] == ["p"]
    remote.remove()
    assert list(client.policies()) == []


NUMBERS_AS_LABELS = [["4", "3", "2", "1", "0"], ["5", "6", "7", "8", "9"], ["1", "2", "3", "4", "5"]]


@pytest.mark.parametrize("labels", NUMBERS_AS_LABELS, ids=" ".join)
@pytest.mark.parametrize("named", ["by number", "by label", "in order"])
def test_labels_that_look_like_numbers(service, client, labels, named):
    """Every value reaches its arm, from both clients, by decision and by id."""
    edges = [(i, (i + step) % 5) for i in range(5) for step in (0, 1)]
    graph = sl.FeedbackGraph.from_edges(5, edges, labels=labels)
    remote = client.create("p", graph, rewards=(0, 25), seed=5)

    def told(decision):
        values = {"by number": {j: float(j) for j in decision.reveals}}
        values["by label"] = {labels[j]: float(j) for j in decision.reveals}
        return values.get(named, [float(j) for j in decision.reveals])

    async def main(decision) -> None:
        async with AsyncClient(str(service.http.base_url), ADMIN) as other:
            await other.policy("p").observe(decision.id, told(decision))

    for decision in remote.decide(count=10):
        if decision.id % 2:
            assert remote.observe(decision, told(decision)) == (1, 0)
        else:
            asyncio.run(main(decision))
    log = remote.log()
    assert log.labels == graph.labels
    assert (log.n_rows, log.value.tolist()) == (20, log.revealed.tolist())


def test_errors_say_what_the_service_says(client):
    with pytest.raises(ServiceError, match="no policy 'none'") as caught:
        client.policy("none").show()
    assert (caught.value.status, caught.value.code) == (404, "unknown_policy")
    remote = client.create("p", "cycle:6")
    with pytest.raises(ServiceError, match="does not exist") as caught:
        remote.observe(7, [0.5, 0.5])
    assert caught.value.about["item"] == 0


WRONG = [
    (lambda p: p.observe(1, {"a": "x"}), r"losses\['a'\] must be a finite number.* got 'x'"),
    (lambda p: p.observe(1, [0.5, float("inf")]), r"losses\[1\] must be a finite number.* got inf"),
    (lambda p: p.observe(1, {1: 0.5, "1": 0.5}), r"all by number or all by label, got \[1, '1'\]"),
    (lambda p: p.observe(1, {1.5: 0.5}), r"all by number or all by label, got \[1.5\]"),
    (lambda p: p.observe("x", [1, 2]), "what decide.. returned, or its id, got 'x'"),
    (lambda p: p.observe(None, [1, 2]), "or its id, got None"),
    (lambda p: p.observe(1, None), "order of `reveals`, got None"),
    (lambda p: p.observe(1, 5), "order of `reveals`, got 5"),
    (lambda p: p.observe(1, "12"), "order of `reveals`, got '12'"),
    (lambda p: p.observe(1, np.array(0.5)), "order of `reveals`, got array"),
    (lambda p: p.cancel("x"), "or its id, got 'x'"),
    (lambda p: p.decide(key=5), "printable ASCII .* got key=5"),
    (lambda p: p.decide(key="é"), "printable ASCII .* got key='é'"),
    (lambda p: p.decide(key=""), "printable ASCII .* got key=''"),
    (lambda p: p.decide(count=0), "got count=0"),
    (lambda p: p.decide(count=-1), "got count=-1"),
    (lambda p: p.decide(count=True), "whole number, got count=True"),
    (lambda p: p.decide(count=1.0), "whole number, got count=1.0"),
    (lambda p: p.client.create("x", 5), "family such as .* got 5"),
    (lambda p: p.client.create("x", None), "family such as .* got None"),
]


@pytest.mark.parametrize(("ask", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments_are_refused_before_anything_is_sent(ask, message):
    sent = []
    transport = httpx.MockTransport(lambda request: sent.append(request))

    async def main() -> None:
        async with AsyncClient("http://127.0.0.1:9") as client:
            client._http = httpx.AsyncClient(transport=transport)
            with pytest.raises(InvalidOption, match=message):
                await ask(client.policy("p"))

    with Client("http://127.0.0.1:9") as client:
        client._http = httpx.Client(transport=transport)
        with pytest.raises(InvalidOption, match=message):
            ask(client.policy("p"))
    asyncio.run(main())
    assert sent == []


@pytest.mark.parametrize("make", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("url", "token", "message"),
    [
        (None, None, "got url=None"),
        ("127.0.0.1:8383", None, "such as http://127.0.0.1:8383, got url='127.0.0.1:8383'"),
        ("http://a:b", None, "got url='http://a:b'"),
        ("http://127.0.0.1:9", "", "token is ''"),
        ("http://127.0.0.1:9", 5, "got a value of type int"),
        ("http://127.0.0.1:9", "sl_é", "got 'é' at 3; copy it again"),
    ],
)
def test_no_client_without_an_address_and_a_token_that_can_be_sent(make, url, token, message):
    with pytest.raises(InvalidOption, match=message) as caught:
        make(url, token)
    assert "sl_é" not in str(caught.value)  # what was secret stays so


class Series:
    """As much of a Series of pandas as is looked at: values in one order, arms in another."""

    def __init__(self, values, index) -> None:
        self.values, self.index = values, index

    def __iter__(self):
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def keys(self):
        return self.index

    def to_dict(self):
        return dict(zip(self.index, self.values, strict=True))


def test_a_series_is_read_by_its_index():
    call = next(calls.observe("p", [(1, Series([0.25, 0.75], [4, 3]))]))
    assert call.json == {"observations": [{"decision": 1, "arms": [4, 3], "losses": [0.25, 0.75]}]}
    with pytest.raises(InvalidOption, match=r"named twice in \[3, 3\]"):
        next(calls.observe("p", [(1, Series([0.25, 0.75], [3, 3]))]))


def test_tries_and_pauses_without_a_connection():
    """What the clients drive: errors and 503 are tried again after longer and longer pauses, then told."""
    steps, pauses = calls.steps(calls.ask("GET", "/v1/tokens"), "http://somewhere", 5), []
    assert next(steps).url == "/v1/tokens"
    answers = [
        httpx.ReadError("lost"),
        httpx.Response(503),
        httpx.Response(200, headers={"Retry-After": "9"}),
    ]
    for answer in answers:
        pauses.append(steps.send(answer))
        assert steps.send(None).url == "/v1/tokens"
    assert 0.05 <= pauses[0] <= 0.1 <= pauses[1] <= 0.2 < 4.5 <= pauses[2] <= 9.0
    with pytest.raises(StopIteration) as done:
        steps.send(httpx.Response(200, json={"tokens": []}))
    assert done.value.value.json() == {"tokens": []}
    steps = calls.steps(calls.ask("DELETE", "/v1/policies/p"), "http://somewhere", 1)
    next(steps)
    with pytest.raises(ServiceError, match="http://somewhere cannot be reached: lost"):
        steps.send(httpx.ReadError("lost"))


def test_no_service():
    with (
        Client("http://127.0.0.1:9", "x" * 20, tries=2) as client,
        pytest.raises(ServiceError, match="reached"),
    ):
        client.policy("p").show()


def test_tokens(client):
    made = client.create_token(["read"], note="for a look")
    assert [each["note"] for each in client.tokens()] == ["for a look"]
    client.revoke(made["id"])
    assert client.tokens() == []


class Losing(httpx.BaseTransport):
    """Every other answer is lost on its way back, after the service has done its part."""

    def __init__(self) -> None:
        self.inner, self.calls = httpx.HTTPTransport(), 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        answer = self.inner.handle_request(request)
        if self.calls % 2:
            answer.read()
            raise httpx.ReadError("lost")
        return answer


def test_answers_that_are_lost_count_once(service, client):
    service.create()
    client._http.close()
    headers = {"Authorization": f"Bearer {ADMIN}"}
    client._http = httpx.Client(base_url=service.http.base_url, headers=headers, transport=Losing())
    remote = client.policy("p")
    for _ in range(5):
        decision = remote.decide()
        assert remote.observe(decision, [0.5, 0.5]) == (0, 1)  # the first answer was lost, the second says so
    shown = service.show()
    assert (shown["decided"], shown["round"], shown["open"]) == (5, 5, 0)


def test_a_creation_that_outlasts_the_client(service, monkeypatch):
    """Planning and compiling may take longer than a client waits: the request that it sends again is the same one."""
    from sidelight.service import policies

    make, release, begun = policies.make_policy, threading.Event(), []

    def slowly(*arguments):
        begun.append(arguments)
        release.wait(30)
        return make(*arguments)

    monkeypatch.setattr(policies, "make_policy", slowly)
    with Client(str(service.http.base_url), ADMIN, timeout=0.2, tries=3) as impatient:
        with pytest.raises(ServiceError, match="cannot be reached"):
            impatient.create("p", "cycle:6")
        with pytest.raises(ServiceError, match="is being made"):  # by somebody else: told when to come again
            Client(str(service.http.base_url), ADMIN, tries=1).create("p", "cycle:6")
        threading.Timer(1.0, release.set).start()
        impatient.tries = 40
        (call,) = calls.create(None, "q", "cycle:6", {})
        for _ in range(2):  # the same request twice, with the same key
            impatient.run(each for each in (call,))
        assert impatient.policy("q").show()["name"] == "q"
    assert len(begun) == 2


def test_many_at_once(service):
    async def main() -> None:
        async with AsyncClient(str(service.http.base_url), ADMIN) as client:
            remote = await client.create("p", "full:4", seed=1)

            async def one() -> None:
                for _ in range(5):
                    decision = await remote.decide()
                    await remote.observe(decision, dict.fromkeys(decision.reveals, 0.5))

            await asyncio.gather(*(one() for _ in range(8)))
            last = await remote.decide(count=2)
            await remote.cancel(last[0])
            shown = await remote.show()
            assert (shown["decided"], shown["open"], shown["cancelled"]) == (42, 1, 1)
            assert [policy["name"] async for policy in client.policies()] == ["p"]
            with pytest.raises(ServiceError, match="no policy"):
                await client.policy("none").decide()

    asyncio.run(main())


@pytest.mark.parametrize("told", [[5], [(1,)], ["ab"]])
def test_answers_come_in_pairs(told):
    with pytest.raises(InvalidOption, match="in pairs"):
        next(calls.observe("p", told))


def test_names_are_texts():
    with pytest.raises(InvalidOption, match="is a text, got 5"):
        calls.policy(5)
