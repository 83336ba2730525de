"""The API as an OpenAPI 3.1 document, from the same types that requests are read with."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from sidelight._version import __version__
from sidelight.service import messages

_TYPES = (
    messages.NewPolicy, messages.PolicyAnswer, messages.PolicyList, messages.Decide, messages.Decisions,
    messages.Observe, messages.Observed, messages.Cancelled, messages.OpenList, messages.NewToken,
    messages.Token, messages.TokenList, messages.Error,
)  # fmt: skip

_EXAMPLES: dict[type, Any] = {
    messages.NewPolicy: {
        "name": "prices",
        "graph": {"n": 4, "edges": [[0, 1], [1, 0], [2, 3], [3, 2]], "labels": ["5", "10", "20", "40"]},
        "rewards": [0, 40],
        "seed": 7,
        "expires": 86400,
    },
    messages.Decide: {"count": 1},
    messages.Decisions: {
        "decisions": [{"id": 1, "round": 1, "arm": 2, "label": "20", "reveals": [3], "seen": [0.25]}]
    },
    messages.Observe: {"observations": [{"decision": 1, "losses": {"3": 0.2}}]},
    messages.Observed: {"accepted": 1, "repeated": 0},
    messages.Cancelled: {"decision": 1, "repeated": False},
    messages.NewToken: {"scopes": ["decide", "observe"], "policy": "prices", "note": "the shop"},
    messages.Error: {
        "error": {
            "code": "answered_differently",
            "message": "observation 0: decision 1 was answered before, by other values",
            "item": 0,
            "decision": 1,
            "request_id": "5f2a-1c",
        }
    },
}

_WHY = {
    400: "The body is no JSON.",
    401: "No token, or one that is not known.",
    403: "The token does not have the scope.",
    404: "There is no such policy, decision or token.",
    409: "It contradicts what is stored; the error names the item.",
    413: "The body is too large.",
    422: "Well-formed, but not possible; the error names the item and the value.",
    429: "Too many requests, open decisions, streams, policies or tokens; `Retry-After` says when to try again.",
    503: "Nothing was stored; it may be sent again after `Retry-After`.",
}


class _Operation(NamedTuple):
    method: str
    path: str
    name: str
    about: str
    scope: str | None = None
    takes: type | None = None
    gives: type | str | None = None
    status: int = 200
    refused: tuple[int, ...] = ()
    parameters: tuple[dict[str, Any], ...] = ()


def _parameter(name: str, where: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "description": about, "schema": schema}


_NAME = _parameter("name", "path", "Of the policy.", {"type": "string", "pattern": messages.NAME})
_KEY = _parameter(
    "Idempotency-Key",
    "header",
    "Chosen by the client, once for each intent: the same key gives the same answer and changes nothing.",
    {"type": "string", "pattern": "^[!-~]{1,200}$"},
)
_LIMIT = _parameter("limit", "query", "Of the page.", {"type": "integer", "minimum": 1, "maximum": 1000})
_AFTER_NAME = _parameter("after", "query", "`next` of the page before.", {"type": "string"})
_AFTER_ID = _parameter(
    "after", "query", "`next` of the page before.", {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
)
_DECISION = _parameter(
    "id", "path", "Of the decision.", {"type": "integer", "minimum": 1, "maximum": 10**15 - 1}
)
_TOKEN = _parameter("id", "path", "Of the token.", {"type": "string", "pattern": "^[0-9a-f]{12}$"})
_FORMAT = _parameter(
    "format", "query", "Instead of `Accept`.", {"type": "string", "enum": ["jsonl", "parquet"]}
)

_POLICY = "/v1/policies/{name}"
_READ = (401, 403, 404, 422, 429, 503)
_WRITE = (400, 401, 403, 404, 409, 413, 422, 429, 503)

_OPERATIONS = (
    _Operation("post", "/v1/policies", "createPolicy", "Plan for a graph, and begin.", "admin",
               messages.NewPolicy, messages.PolicyAnswer, 201, (400, 401, 403, 409, 413, 422, 429, 503), (_KEY,)),
    _Operation("get", "/v1/policies", "listPolicies", "Policies in the order of their names.", "read",
               None, messages.PolicyList, 200, (401, 403, 422, 429, 503), (_AFTER_NAME, _LIMIT)),
    _Operation("get", _POLICY, "showPolicy", "A policy as it stands.", "read",
               None, messages.PolicyAnswer, 200, _READ, (_NAME,)),
    _Operation("delete", _POLICY, "removePolicy", "Delete a policy and all its events.", "admin",
               None, None, 204, (401, 403, 404, 409, 429, 503), (_NAME,)),
    _Operation("post", f"{_POLICY}/decisions", "decide", "Make decisions: which arms to play.", "decide",
               messages.Decide, messages.Decisions, 201, _WRITE, (_NAME, _KEY)),
    _Operation("get", f"{_POLICY}/decisions", "listOpenDecisions", "Decisions that wait for an answer.", "read",
               None, messages.OpenList, 200, _READ, (_NAME, _AFTER_ID, _LIMIT)),
    _Operation("delete", f"{_POLICY}/decisions/{{id}}", "cancel", "Give a decision up: nothing will come.", "observe",
               None, messages.Cancelled, 200, (401, 403, 404, 409, 429, 503), (_NAME, _DECISION)),
    _Operation("post", f"{_POLICY}/observations", "observe",
               "Tell what decisions revealed. All observations of a request are taken, or none. The same one again"
               " counts as repeated.", "observe", messages.Observe, messages.Observed, 200, _WRITE, (_NAME,)),
    _Operation("get", f"{_POLICY}/stream", "watchPolicy",
               "A policy as it runs, as server-sent events: `graph` first, `policy` whenever it has moved on (four"
               " times a second at most), `alive` when it has not for five seconds, `gone` at its end.",
               "read", None, "events", 200, _READ, (_NAME,)),
    _Operation("get", "/v1/stream", "watchPolicies",
               "All policies as they run, the first 200 by name, as server-sent events: `policies` with those that"
               " are new or have moved on, and the names of those that are gone; `alive` otherwise.",
               "read", None, "events", 200, (401, 403, 422, 429, 503)),
    _Operation("get", f"{_POLICY}/log", "readLog",
               "Answered decisions with their probabilities, a row for each revealed arm, to be evaluated.",
               "read", None, "log", 200, _READ, (_NAME, _FORMAT)),
    _Operation("get", f"{_POLICY}/export", "exportPolicy", "Everything about a policy, while it goes on.", "admin",
               None, "lines", 200, _READ, (_NAME,)),
    _Operation("post", f"{_POLICY}/import", "importPolicy", "What another service has exported, under this name.",
               "admin", None, messages.PolicyAnswer, 201, _WRITE, (_NAME,)),
    _Operation("post", "/v1/tokens", "createToken", "A new token, shown this once.", "admin",
               messages.NewToken, messages.Token, 201, (400, 401, 403, 413, 422, 429, 503)),
    _Operation("get", "/v1/tokens", "listTokens", "All tokens, without their secrets.", "admin",
               None, messages.TokenList, 200, (401, 403, 429)),
    _Operation("delete", "/v1/tokens/{id}", "removeToken", "Revoke a token.", "admin",
               None, None, 204, (401, 403, 404, 429, 503), (_TOKEN,)),
    _Operation("get", "/healthz", "health", "Is the service alive and able to store anything?", None,
               None, "object", 200, (503,)),
    _Operation("get", "/readyz", "readiness", "May requests be sent here?", None, None, "object", 200, (503,)),
    _Operation("get", "/metrics", "metrics",
               "Figures for Prometheus; those of policies need a token that may read them.", None, None, "text"),
    _Operation("get", "/openapi.json", "openapi", "This document.", None, None, "object"),
    _Operation("get", "/", "page", "The page.", None, None, "html"),
)  # fmt: skip


@cache
def document() -> dict[str, Any]:
    """The whole description."""
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
    for kind, example in _EXAMPLES.items():
        schemas[kind.__name__]["examples"] = [example]
    paths: dict[str, Any] = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sidelight",
            "version": __version__,
            "description": "Decisions with graph feedback. A 2xx answer means that what it says is on the disk.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: _Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "responses": {str(operation.status): _answer(operation)},
        "security": [] if operation.scope is None else [{"token": []}],
    }
    if operation.scope is not None:
        found["description"] = f"Needs a token with the scope `{operation.scope}`."
    if operation.name == "metrics":
        found["security"] = [{}, {"token": []}]
    if operation.parameters:
        found["parameters"] = list(operation.parameters)
    if operation.takes is not None:
        content = {"application/json": _referred(operation.takes)}
        found["requestBody"] = {"required": operation.takes is not messages.Decide, "content": content}
    elif operation.name == "importPolicy":
        found["requestBody"] = {
            "required": True,
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    for status in operation.refused:
        content = {"application/json": _referred(messages.Error)}
        if operation.name in ("health", "readiness"):
            content = {"application/json": {"schema": {"type": "object"}}}
        found["responses"][str(status)] = {"description": _WHY[status], "content": content}
    return found


def _answer(operation: _Operation) -> dict[str, Any]:
    about = "Done."
    if operation.gives is None:
        return {"description": about}
    if isinstance(operation.gives, type):
        return {"description": about, "content": {"application/json": _referred(operation.gives)}}
    text = {"schema": {"type": "string"}}
    contents: dict[str, dict[str, Any]] = {
        "log": {"application/x-ndjson": text, "application/vnd.apache.parquet": text},
        "lines": {"application/x-ndjson": text},
        "events": {"text/event-stream": text},
        "object": {"application/json": {"schema": {"type": "object"}}},
        "text": {"text/plain": text},
        "html": {"text/html": text},
    }
    return {"description": about, "content": contents[operation.gives]}


def _referred(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}
    if kind in _EXAMPLES:
        found["example"] = _EXAMPLES[kind]
    return found
