"""What a route is, and everything that follows from it: who may call it, how it is read, how it is described.

`app.ROUTES` is the table. A row makes an endpoint of the router, which figures name by its path, and an operation of
the OpenAPI document.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sidelight._version import __version__
from sidelight.service import messages
from sidelight.service.access import Caller, refused
from sidelight.service.messages import Problem, unknown_policy

if TYPE_CHECKING:
    from sidelight.service.edge import Edge
    from sidelight.service.service import Service

JSON, LINES, PARQUET = "application/json", "application/x-ndjson", "application/vnd.apache.parquet"
EVENTS, TEXT, HTML = "text/event-stream", "text/plain", "text/html"

MOST_PAGE = 1_000
"""Policies, or open decisions, of one answer at most."""

_NAME = re.compile(messages.NAME)
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True)
class Parameter:
    """Of the path, the query or the header; `read` turns its text into a value, or refuses it."""

    name: str
    where: str
    about: str
    schema: dict[str, Any]
    read: Callable[[str], Any] = str

    def described(self) -> dict[str, Any]:
        """As the document has it."""
        required = self.where == "path"
        about = {"description": self.about, "schema": self.schema}
        return {"name": self.name, "in": self.where, "required": required, **about}


@dataclass(frozen=True)
class Route:
    """A row of the table."""

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Any]]  # its docstring is what the document says of it
    scope: str | None = None  # that a token must have; None: nobody needs one
    takes: type | str | None = None  # the message in the body, or its media type where the handler reads it
    gives: type | str | tuple[str, ...] | None = None  # the message in the answer, or its media types
    status: int = 200
    refuses: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()  # besides the name of the policy in the path
    limit: str = "body"  # which of `Limits` the body may reach
    optional_token: bool = False  # it tells more to whoever has one
    described: bool = True  # in the document

    @property
    def about(self) -> str:
        """What it is for."""
        return " ".join((self.handler.__doc__ or "").split())

    @property
    def operation(self) -> str:
        """Its name in the document: createPolicy for `create_policy`."""
        first, *rest = self.handler.__name__.split("_")
        return first + "".join(word.capitalize() for word in rest)


@dataclass
class Call:
    """One request, read as its route says."""

    service: Service
    request: Request
    caller: Caller | None = None  # who asks, where the route needs a token
    name: str = ""  # of the policy, where the path names one
    query: dict[str, Any] = field(default_factory=dict)
    key: str | None = None  # Idempotency-Key
    body: Any = None  # of the type that the route takes

    @property
    def edge(self) -> Edge:
        """The way to other processes."""
        edge: Edge = self.request.scope["app"]
        return edge

    @property
    def whose(self) -> str | None:
        """The one policy that the token is for; None: all of them."""
        return None if self.caller is None else self.caller.policy

    def path(self, name: str) -> str:
        """A part of the path as it was sent."""
        return str(self.request.path_params[name])

    def check_scope(self, scope: str, policy: str | None) -> None:
        """Refuse who may not do this to the policy; None stands for all of them."""
        if self.caller is None or not self.caller.may(scope, policy):
            whom = "all policies" if policy is None else f"policy {policy!r}"
            raise Problem(403, "forbidden", f"this token does not have the scope {scope!r} for {whom}")

    async def chunks(self, limit: int) -> AsyncIterator[bytes]:
        """The body, refused as soon as it is too large."""
        stated = self.request.headers.get("content-length", "")
        size = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 19 else 0
        if size <= limit:
            size = 0
            async for chunk in self.request.stream():
                size += len(chunk)
                if size > limit:
                    break
                yield chunk
        if size > limit:
            raise Problem(413, "too_large", f"the body may have at most {limit:,} bytes")


class Endpoint:
    """A route of a running service, as an ASGI application."""

    def __init__(self, route: Route, service: Service) -> None:
        self.route, self.service = route, service
        self._query = {each.name: each.read for each in route.parameters if each.where == "query"}
        self._has_key = any(each is KEY for each in route.parameters)
        self._decoder: msgspec.json.Decoder[Any] | None = None
        if isinstance(route.takes, type):
            self._decoder = msgspec.json.Decoder(route.takes)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI."""
        call = Call(self.service, Request(scope, receive))
        if self.route.scope is not None:
            self._authorize(call, self.route.scope)
            if scope["query_string"]:
                self._read_query(call)
        if self._has_key:
            self._read_key(call)
        if self._decoder is not None:
            await self._read_body(call, self._decoder)
        answer = await self.route.handler(call)
        if answer is None:
            answer = Response(status_code=204)
        elif not isinstance(answer, Response):
            answer = Response(messages.encode(answer), self.route.status, media_type=JSON)
        await answer(scope, receive, send)

    def _authorize(self, call: Call, scope: str) -> None:
        """Who asks, if they may: for the policy of the path, else for what their token is for."""
        service, request = self.service, call.request
        header = request.headers.get("authorization")
        call.caller = service.tokens.caller(header)
        if call.caller is None:
            service.failures.check(request.client.host if request.client else "")
            raise refused(header)
        service.rates.check(call.caller.id)
        call.name = str(request.path_params.get("name", ""))
        if call.name and not _NAME.fullmatch(call.name):
            call.check_scope(scope, None)
            raise unknown_policy(call.name[:80])
        call.check_scope(scope, call.name or call.whose)

    def _read_query(self, call: Call) -> None:
        for name, text in call.request.query_params.multi_items():
            if name not in self._query or name in call.query:
                known = f"is unknown; there are {', '.join(self._query) or 'none'}"
                what = "was given twice" if name in call.query else known
                raise Problem(422, "invalid_query", f"the parameter {name!r:.40} {what}")
            call.query[name] = self._query[name](text)

    def _read_key(self, call: Call) -> None:
        call.key = call.request.headers.get("idempotency-key")
        if call.key is not None and not _KEY.fullmatch(call.key):
            raise Problem(
                422, "invalid_key", "an Idempotency-Key has 1 to 200 printable ASCII characters, no spaces"
            )

    async def _read_body(self, call: Call, decoder: msgspec.json.Decoder[Any]) -> None:
        data = bytearray()
        async for chunk in call.chunks(getattr(self.service.limits, self.route.limit)):
            data += chunk
        call.request.scope["sidelight.body"] = bytes(data)  # it may have to be passed on
        try:
            call.body = decoder.decode(data or b"{}")
        except msgspec.ValidationError as error:
            raise Problem(422, "invalid_request", str(error)) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise Problem(400, "no_json", f"the body is no JSON: {error}") from None


# -- parameters ---------------------------------------------------------------------------------------------


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_PAGE):
        raise Problem(422, "invalid_query", f"limit is a number 1..{MOST_PAGE}, got {text!r:.40}")
    return int(text)


def _format(text: str) -> str:
    if text not in ("jsonl", "parquet"):
        raise Problem(422, "invalid_query", f"format is jsonl or parquet, got {text!r:.40}")
    return text


def decision_number(text: str) -> int:
    """The number of a decision."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Problem(404, "unknown_decision", f"{text!r:.40} is no decision: decisions are numbered from 1")
    return int(text)


_NUMBER = {"type": "integer", "maximum": 10**15 - 1}
_NEXT = "`next` of the page before."

NAME = Parameter("name", "path", "Of the policy.", {"type": "string", "pattern": messages.NAME})
DECISION = Parameter("id", "path", "Of the decision.", {**_NUMBER, "minimum": 1})
TOKEN = Parameter("id", "path", "Of the token.", {"type": "string", "pattern": "^[0-9a-f]{12}$"})
AFTER_NAME = Parameter("after", "query", _NEXT, {"type": "string"})
AFTER_DECISION = Parameter("after", "query", _NEXT, {**_NUMBER, "minimum": 0}, decision_number)
LIMIT = Parameter(
    "limit", "query", "Of the page.", {"type": "integer", "minimum": 1, "maximum": MOST_PAGE}, _limit
)
FORMAT = Parameter(
    "format", "query", "Instead of `Accept`.", {"type": "string", "enum": ["jsonl", "parquet"]}, _format
)
KEY = Parameter(
    "Idempotency-Key",
    "header",
    "Chosen by the client, once for each intent: the same key gives the same answer and changes nothing.",
    {"type": "string", "pattern": "^[!-~]{1,200}$"},
)


# -- the document -------------------------------------------------------------------------------------------

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


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The API as an OpenAPI 3.1 document, from the table and the types that requests are read with."""
    shown = [route for route in routes if route.described]
    types = {kind for route in shown for kind in (route.takes, route.gives) if isinstance(kind, type)}
    _, schemas = msgspec.json.schema_components(
        sorted({*types, messages.Error}, key=lambda kind: kind.__name__),
        ref_template="#/components/schemas/{name}",
    )
    for kind, example in messages.EXAMPLES.items():
        schemas[kind.__name__]["examples"] = [example]
    paths: dict[str, Any] = {}
    for route in shown:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    about = "Decisions with graph feedback. A 2xx answer means that what it says is on the disk."
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sidelight",
            "version": __version__,
            "description": about,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    token: dict[str, list[str]] = {"token": []}
    found: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.about,
        "security": [token] if route.scope else [{}, token] if route.optional_token else [],
        "responses": {str(route.status): {"description": "Done.", **_content(route.gives)}},
    }
    if route.scope is not None:
        found["description"] = f"Needs a token with the scope `{route.scope}`."
    parameters = ((NAME,) if "{name}" in route.path else ()) + route.parameters
    if parameters:
        found["parameters"] = [each.described() for each in parameters]
    if route.takes is not None:
        fields = msgspec.structs.fields(route.takes) if isinstance(route.takes, type) else ()
        needed = not fields or any(each.required for each in fields)
        found["requestBody"] = {"required": needed, **_content(route.takes)}
    for status in route.refuses:  # what needs no token says in its own form that something is wrong
        body = _content(messages.Error if route.scope else route.gives)
        found["responses"][str(status)] = {"description": _WHY[status], **body}
    return found


def _content(kind: type | str | tuple[str, ...] | None) -> dict[str, Any]:
    if kind is None:
        return {}
    if isinstance(kind, type):
        referred: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}
        if kind in messages.EXAMPLES:
            referred["example"] = messages.EXAMPLES[kind]
        return {"content": {JSON: referred}}
    media = (kind,) if isinstance(kind, str) else kind
    return {"content": {each: {"schema": {"type": "object" if each == JSON else "string"}} for each in media}}
