"""Requests as data, and what both clients do with them: what to send, when to send it again, what an answer means.

Everything may be sent again: decisions carry an Idempotency-Key, which the service answers the same way twice, and an
observation that it knows already it counts as repeated.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sidelight.client.answers import Decision
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


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    json: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


def create(name: str, graph: FeedbackGraph | str, options: Mapping[str, Any]) -> Call:
    """POST /v1/policies."""
    described: Any = graph
    if not isinstance(graph, str):
        described = {"n": graph.n_arms, "edges": graph.edges().tolist()}
        if not graph.certain:
            described["probabilities"] = graph.edge_probabilities().tolist()
        if graph.labels is not None:
            described["labels"] = list(graph.labels)
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
    body = {
        "name": name,
        "graph": described,
        **{key: value for key, value in given.items() if value is not None},
    }
    return Call("POST", "/v1/policies", body, headers=_key(None))


def decide(name: str, count: int, key: str | None) -> Call:
    """POST …/decisions, with a key of its own unless one is given."""
    return Call("POST", f"{policy(name)}/decisions", {"count": count}, headers=_key(key))


def observe(name: str, told: Iterable[tuple[Decision | int, Losses]]) -> list[Call]:
    """POST …/observations, as many as it takes."""
    items = [
        {"decision": d.id if isinstance(d, Decision) else int(d), "losses": _losses(losses)}
        for d, losses in told
    ]
    return [
        Call("POST", f"{policy(name)}/observations", {"observations": items[at : at + MANY]})
        for at in range(0, len(items), MANY)
    ]


def policy(name: str) -> str:
    """The path of a policy."""
    return f"/v1/policies/{quote(name, safe='')}"


def _losses(losses: Losses) -> Any:
    if isinstance(losses, Mapping):
        return {str(arm): _loss(loss) for arm, loss in losses.items()}
    return [_loss(loss) for loss in losses]


def _loss(loss: float | None) -> float | None:
    """A number, or null for a reveal that failed: None, or NaN as in arrays."""
    return None if loss is None or loss != loss else float(loss)


def _key(key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": key or secrets.token_urlsafe(18)}


def http_library() -> Any:
    """httpx, or how to get it."""
    try:
        import httpx
    except ModuleNotFoundError as error:
        raise InvalidOption(
            "the client needs httpx, which a plain installation leaves out: pip install 'sidelight[client]'"
        ) from error
    return httpx


def headers(token: str | None) -> dict[str, str]:
    """Of every request."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def again(answer: httpx.Response) -> bool:
    """Whether a later try may be answered better."""
    return answer.status_code in AGAIN or "retry-after" in answer.headers


def wait(attempt: int, answer: httpx.Response | None) -> float:
    """Seconds before the next try: as the service says, else twice as long each time, and not all at once."""
    stated = answer.headers.get("retry-after", "") if answer is not None else ""
    least = float(stated) if stated.isdigit() else 0.0
    spread: float = random.uniform(0.5, 1.0) * 0.1 * 2.0**attempt
    return min(max(least * random.uniform(0.5, 1.0) if answer is not None else 0.0, spread), LONGEST_WAIT)


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer, or the error that it is."""
    if answer.is_success:
        return answer
    try:
        about = answer.json()["error"]
        message, code = f"{about['message']} (HTTP {answer.status_code})", about["code"]
    except (ValueError, KeyError, TypeError):
        about, message, code = None, f"{answer.url} answered {answer.status_code}", ""
    raise ServiceError(message, answer.status_code, code, about)


def unreachable(url: object, error: Exception) -> ServiceError:
    """No answer, after all tries."""
    return ServiceError(f"the service at {url} cannot be reached: {error or type(error).__name__}")
