"""What both clients do, without doing it: an operation yields the requests it takes and returns what they mean.

`steps` adds the tries: it yields requests to be sent and seconds to be waited, and is sent answers, or the errors in
their place. Whoever drives it needs a connection and a clock, and nothing else.

Everything may be sent again: decisions carry an Idempotency-Key, which the service answers the same way twice, and an
observation that it knows already it counts as repeated.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

from sidelight._check import checked_count, is_whole
from sidelight.errors import InvalidOption, ServiceError

if TYPE_CHECKING:
    import httpx

    from sidelight.graph import FeedbackGraph

Losses = (
    Mapping[int, float]
    | Mapping[str, float]
    | Mapping[int, float | None]
    | Mapping[str, float | None]
    | Sequence[float | None]
)

AGAIN = (429, 502, 503, 504)
"""Answers that a later try may better, as may all that say when to come again."""

LONGEST_WAIT = 10.0
"""Seconds between two tries."""

MANY = 1_000
"""Observations of one request."""

_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_NOT_IN_TOKENS = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True)
class Decision:
    """An arm to be played, what that reveals, and how likely each of these was to be seen."""

    id: int
    round: int
    arm: int
    label: str
    reveals: list[int]
    seen: list[float]
    past_horizon: bool = False  # the policy was planned for fewer rounds


class Observed(NamedTuple):
    """Observations that were new, and those that the service knew."""

    accepted: int
    repeated: int


@dataclass(frozen=True)
class Call:
    """One request, with the names that httpx has for its parts."""

    method: str
    url: str
    json: Any = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


Result = TypeVar("Result")
Operation = Generator[Call, "httpx.Response", Result]
"""Yields requests, is sent their answers, returns what they mean."""


# -- tries --------------------------------------------------------------------------------------------------


def steps(
    operation: Operation[Result], url: str, tries: int
) -> Generator[Call | float, httpx.Response | Exception | None, Result]:
    """An operation step by step: a request to be sent, or seconds to be waited before the next one."""
    try:
        call = next(operation)
        while True:
            call = operation.send((yield from _answered(call, url, tries)))
    except StopIteration as done:
        result: Result = done.value
        return result


def _answered(
    call: Call, url: str, tries: int
) -> Generator[Call | float, httpx.Response | Exception | None, httpx.Response]:
    """The answer to one request, which is sent as often as it takes."""
    for attempt in range(1, tries + 1):
        answer = yield call
        assert answer is not None  # a request has an answer or an error, only a pause has none
        if not isinstance(answer, Exception):
            if attempt == tries or not _again(answer):
                return _checked(answer)
        elif attempt == tries:
            why = f"the service at {url} cannot be reached: {answer or type(answer).__name__}"
            raise ServiceError(why) from answer
        yield _wait(attempt, answer)
    raise ServiceError(f"nothing was sent to {url}: tries={tries}")


def _again(answer: httpx.Response) -> bool:
    """Whether a later try may be answered better."""
    return answer.status_code in AGAIN or "retry-after" in answer.headers


def _wait(attempt: int, answer: httpx.Response | Exception) -> float:
    """Seconds before the next try: as the service says, else twice as long each time, and not all at once."""
    stated = "" if isinstance(answer, Exception) else answer.headers.get("retry-after", "")
    least = float(stated) if stated.isdigit() else 0.0
    return min(random.uniform(0.5, 1.0) * max(least, 0.05 * 2.0**attempt), LONGEST_WAIT)


def _checked(answer: httpx.Response) -> httpx.Response:
    """The answer, or the error that it is."""
    if answer.is_success:
        return answer
    try:
        error = answer.json()["error"]
        message, code = f"{error['message']} (HTTP {answer.status_code})", error["code"]
    except (ValueError, KeyError, TypeError):
        error, message, code = None, f"{answer.url} answered {answer.status_code}", ""
    raise ServiceError(message, answer.status_code, code, error)


# -- operations ---------------------------------------------------------------------------------------------


def ask(method: str, path: str, **parts: Any) -> Operation[httpx.Response]:
    """One request, and its answer as it is."""
    return (yield Call(method, path, **parts))


def read(path: str, key: str | None = None) -> Operation[Any]:
    """GET, and the JSON of the answer, or what it has under `key`."""
    answer = (yield Call("GET", path)).json()
    return answer if key is None else answer[key]


def create(
    made: Result, name: str, graph: FeedbackGraph | str, options: Mapping[str, Any]
) -> Operation[Result]:
    """POST /v1/policies; returns `made`, which stands for the policy."""
    from sidelight.graph import FeedbackGraph

    described: Any = graph
    if isinstance(graph, FeedbackGraph):
        described = {"n": graph.n_arms, "edges": graph.edges().tolist()}
        if not graph.certain:
            described["probabilities"] = graph.edge_probabilities().tolist()
        if graph.labels is not None:
            described["labels"] = list(graph.labels)
    elif not isinstance(graph, str):
        raise InvalidOption(
            f'graph must be a FeedbackGraph, or a family such as "cycle:12", got {graph!r:.80}'
        )
    given = {key: value for key, value in options.items() if value is not None}
    yield Call("POST", "/v1/policies", {"name": name, "graph": described, **given}, headers=_key(None))
    return made


def policies() -> Operation[list[dict[str, Any]]]:
    """GET /v1/policies, page by page."""
    listed: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        page = (yield Call("GET", "/v1/policies", params={"after": after})).json()
        listed += page["policies"]
        after = page["next"]
    return listed


def decide(name: str, count: int | None, key: str | None) -> Operation[Any]:
    """POST …/decisions, with a key of its own unless one is given; a list unless `count` is None."""
    wanted = 1 if count is None else checked_count("count", count)
    answer = yield Call("POST", f"{policy(name)}/decisions", {"count": wanted}, headers=_key(key))
    decisions = [Decision(**made) for made in answer.json()["decisions"]]
    return decisions[0] if count is None else decisions


def observe(name: str, answers: Iterable[tuple[Decision | int, Losses]]) -> Operation[Observed]:
    """POST …/observations, as many as it takes."""
    items = [{"decision": _number(decision), **_told(losses)} for decision, losses in map(_pair, answers)]
    accepted = repeated = 0
    for at in range(0, len(items), MANY):
        answer = yield Call("POST", f"{policy(name)}/observations", {"observations": items[at : at + MANY]})
        observed = Observed(**answer.json())
        accepted, repeated = accepted + observed.accepted, repeated + observed.repeated
    return Observed(accepted, repeated)


def cancel(name: str, decision: Decision | int) -> Operation[None]:
    """DELETE …/decisions/{number}."""
    yield Call("DELETE", f"{policy(name)}/decisions/{_number(decision)}")


def policy(name: str) -> str:
    """The path of a policy."""
    if not isinstance(name, str):
        raise InvalidOption(f"the name of a policy is a text, got {name!r}")
    return f"/v1/policies/{quote(name, safe='')}"


# -- arguments: the service checks what they mean, here is only whether they can be sent ----------------------


def _pair(answer: object) -> tuple[Any, Any]:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise InvalidOption(f"what was revealed is told in pairs (decision, losses), got {answer!r:.80}")
    return answer[0], answer[1]


def _number(decision: object) -> int:
    if isinstance(decision, Decision):
        return decision.id
    if not is_whole(decision):
        raise InvalidOption(f"decision must be what decide() returned, or its id, got {decision!r:.80}")
    return int(decision)


def _told(losses: Any) -> dict[str, Any]:
    """Losses as they are sent: keys of JSON are text and mean labels, so numbers of arms are a list of their own."""
    if hasattr(losses, "keys"):  # a mapping, or a Series of pandas, whose index names the arms
        by_arm = losses.to_dict() if hasattr(losses, "to_dict") else losses
        if len(by_arm) < len(losses):
            names = list(losses.keys())
            raise InvalidOption(f"an arm is named twice in {names!r:.80}; tell one loss for each arm")
        read = {arm: _loss(arm, loss) for arm, loss in by_arm.items()}
        if all(isinstance(arm, str) for arm in read):
            return {"losses": read}
        if all(map(is_whole, read)):
            return {"arms": [int(arm) for arm in read], "losses": list(read.values())}
        why = f"all by number or all by label, got {list(read)!r:.80}"
        raise InvalidOption(f"arms of one decision are named {why}")
    try:
        if isinstance(losses, str | bytes | Set):
            raise TypeError
        return {"losses": [_loss(at, loss) for at, loss in enumerate(losses)]}
    except TypeError:
        why = f"{{arm or label: value}}, or values in the order of `reveals`, got {losses!r:.80}"
        raise InvalidOption(f"losses must be {why}") from None


def _loss(arm: object, loss: Any) -> float | None:
    """A number, or null for a reveal that failed: None, or NaN as in arrays."""
    if loss is None:
        return None
    try:
        value = inf if isinstance(loss, str | bytes) else float(loss)
    except (TypeError, ValueError, OverflowError):
        value = inf
    if abs(value) == inf:
        why = f"must be a finite number, or None if the reveal failed, got {loss!r:.80}"
        raise InvalidOption(f"losses[{arm!r}] {why}")
    return None if value != value else value


def _key(key: object) -> dict[str, str]:
    if key is None:
        key = secrets.token_urlsafe(18)
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        why = f"1 to 200 printable ASCII characters without spaces, got key={key!r:.80}"
        raise InvalidOption(f"key must be {why}")
    return {"Idempotency-Key": key}


# -- connections ---------------------------------------------------------------------------------------------


def http_library() -> Any:
    """httpx, or how to get it."""
    try:
        import httpx
    except ModuleNotFoundError as error:
        raise InvalidOption(
            "the client needs httpx, which a plain installation leaves out: pip install 'sidelight[client]'"
        ) from error
    return httpx


def address(url: object) -> str:
    """Of the service, without a slash at its end."""
    httpx = http_library()
    try:
        parsed = httpx.URL(url)
        fine = isinstance(url, str) and parsed.scheme in ("http", "https") and parsed.host
    except (TypeError, httpx.InvalidURL):
        fine = False
    if not fine:
        raise InvalidOption(f"url must be an address such as http://127.0.0.1:8383, got url={url!r:.80}")
    return str(url).rstrip("/")


def headers(token: object) -> dict[str, str]:
    """Of every request. What is said about a token does not show it, since messages end up in logs."""
    if token is None:
        return {}
    if not isinstance(token, str):
        kind = type(token).__name__
        raise InvalidOption(
            f"token must be text such as sl_…, or None for no token, got a value of type {kind}"
        )
    wrong = _NOT_IN_TOKENS.search(token)
    if not token or wrong is not None:
        why = "token is ''" if wrong is None else f"got {wrong[0]!r} at {wrong.start()}"
        raise InvalidOption(
            f"a token is printable ASCII without spaces, {why}; copy it again as it was shown"
        )
    return {"Authorization": f"Bearer {token}"}
