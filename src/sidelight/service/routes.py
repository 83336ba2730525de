"""What a route is, and everything that follows from it: who may call it, how it is read, how it is described.

`app.ROUTES` is the table. A row makes an endpoint of the router, which figures name by its path, and an operation of
the OpenAPI document.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta
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

PATIENCE, SLOWEST = 30.0, 1 << 14
"""A body is waited for this many seconds, and as long as so many bytes of it a second take."""

_NAME = re.compile(messages.NAME)
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True)
class Parameter:
    """Of the path, the query or the header; `kind` says which texts it may have, and what they mean."""

    name: str
    where: str
    about: str
    kind: Any

    def read(self, text: str) -> Any:
        """The value that a text means."""
        try:
            return msgspec.convert(text, self.kind, strict=False)
        except msgspec.ValidationError as error:
            raise Problem(422, "invalid_query", f"{self.name}: {error}, got {text!r:.40}") from None

    def described(self) -> dict[str, Any]:
        """As the document has it."""
        details = {"description": self.about, "schema": _plain(msgspec.json.schema(self.kind))}
        return {"name": self.name, "in": self.where, "required": self.where == "path", **details}


@dataclass(frozen=True)
class Route:
    """A row of the table."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]  # its docstring is what the document says of it
    scope: str | None = None  # that a token must have; None: nobody needs one
    reads: str | None = None  # the media type of the body where the handler reads it itself
    sends: str | tuple[str, ...] | None = None  # media types of the answer where it is no message
    status: int = 200
    refuses: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()  # besides the name of the policy in the path
    limit: str = "body"  # which of `Limits` the body may reach
    optional_token: bool = False  # it tells more to whoever has one
    described: bool = True  # in the document

    @property
    def takes(self) -> type | str | None:
        """The message in the body, as the handler has it, or a media type."""
        return self.reads or get_type_hints(self.handler).get("body")

    @property
    def gives(self) -> type | str | tuple[str, ...] | None:
        """The message in the answer, or media types; None where it is empty."""
        answer: type = get_type_hints(self.handler)["return"]
        return self.sends or (None if answer is type(None) else answer)

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
            try:
                async with asyncio.timeout(PATIENCE) as patience:
                    began = asyncio.get_running_loop().time()
                    async for chunk in self.request.stream():
                        size += len(chunk)
                        patience.reschedule(began + PATIENCE + size / SLOWEST)
                        if size > limit:
                            break
                        yield chunk
            except TimeoutError:
                why = f"the body came more slowly than {SLOWEST:,} bytes a second"
                raise Problem(408, "too_slow", why) from None
        if size > limit:
            raise Problem(413, "too_large", f"the body may have at most {limit:,} bytes")


class Endpoint:
    """A route of a running service, as an ASGI application."""

    def __init__(self, route: Route, service: Service) -> None:
        self.route, self.service = route, service
        self._query = {each.name: each.read for each in route.parameters if each.where == "query"}
        self._has_key = any(each is KEY for each in route.parameters)
        takes = route.takes
        self._decoder: Any = msgspec.json.Decoder(takes) if isinstance(takes, type) else None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI."""
        call = Call(self.service, Request(scope, receive))
        if self.route.scope is not None:
            await self._authorize(call, self.route.scope)
            if scope["query_string"]:
                self._read_query(call)
        elif self.route.optional_token and call.request.headers.get("authorization"):
            await self._recognize(call)
        if self._has_key:
            self._read_key(call)
        if self.route.limit == "body":
            answer = await self._answer(call)
        else:
            async with self.service.making:
                answer = await self._answer(call)
        if answer is None:
            answer = Response(status_code=204)
        elif not isinstance(answer, Response):
            answer = Response(messages.encode(answer), self.route.status, media_type=JSON)
        await answer(scope, receive, send)

    async def _answer(self, call: Call) -> Any:
        if self._decoder is None:
            return await self.route.handler(call)
        return await self.route.handler(call, await self._body(call, self._decoder))

    async def _recognize(self, call: Call) -> None:
        """Who asks; one who is nobody is refused, and not often."""
        service, request = self.service, call.request
        header = request.headers.get("authorization")
        call.caller = await service.caller(header)
        if call.caller is None:
            service.failures.check(request.client.host if request.client else "")
            raise refused(header)
        service.rates.check(call.caller.id)

    async def _authorize(self, call: Call, scope: str) -> None:
        """Who asks, if they may: for the policy of the path, else for what their token is for."""
        await self._recognize(call)
        request = call.request
        call.name = str(request.path_params.get("name", ""))
        if call.name and not _NAME.fullmatch(call.name):
            call.check_scope(scope, None)
            raise unknown_policy(call.name[:80])
        call.check_scope(scope, call.name or call.whose)

    def _read_query(self, call: Call) -> None:
        for name, text in call.request.query_params.multi_items():
            if name not in self._query or name in call.query:
                expected = f"is unknown; there are {', '.join(self._query) or 'none'}"
                what = "was given twice" if name in call.query else expected
                raise Problem(422, "invalid_query", f"the parameter {name!r:.40} {what}")
            call.query[name] = self._query[name](text)

    def _read_key(self, call: Call) -> None:
        call.key = call.request.headers.get("idempotency-key")
        if call.key is not None and not _KEY.fullmatch(call.key):
            why = "an Idempotency-Key has 1 to 200 printable ASCII characters, no spaces"
            raise Problem(422, "invalid_key", why)

    async def _body(self, call: Call, decoder: msgspec.json.Decoder[Any]) -> Any:
        data, limits = bytearray(), self.service.limits
        async for chunk in call.chunks(getattr(limits, self.route.limit)):
            data += chunk
        if self.route.limit != "body" and data.count(b"[") > limits.arms + limits.edges + 10:
            raise messages.too_large(
                f"the body has more lists than the {limits.edges:,} edges that are allowed"
            )
        call.request.scope["sidelight.body"] = bytes(data)  # it may have to be passed on
        try:
            return decoder.decode(data or b"{}")
        except msgspec.ValidationError as error:
            raise Problem(422, "invalid_request", str(error)) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise Problem(400, "no_json", f"the body is no JSON: {error}") from None


# -- parameters ---------------------------------------------------------------------------------------------


def decision_number(text: str) -> int:
    """The number of a decision."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Problem(404, "unknown_decision", f"{text!r:.40} is no decision: decisions are numbered from 1")
    return int(text)


_NEXT, _MOST = "`next` of the page before.", 10**15 - 1
_KEPT = "Chosen by the client, once for each intent: the same key gives the same answer and changes nothing."

NAME = Parameter("name", "path", "Of the policy.", messages.Name)
DECISION = Parameter("id", "path", "Of the decision.", Annotated[int, Meta(ge=1, le=_MOST)])
TOKEN = Parameter("id", "path", "Of the token.", Annotated[str, Meta(pattern="^[0-9a-f]{12}$")])
AFTER_NAME = Parameter("after", "query", _NEXT, str)
AFTER_DECISION = Parameter("after", "query", _NEXT, Annotated[int, Meta(ge=0, le=_MOST)])
LIMIT = Parameter("limit", "query", "Of the page.", Annotated[int, Meta(ge=1, le=MOST_PAGE)])
FORMAT = Parameter("format", "query", "Instead of `Accept`.", Literal["jsonl", "parquet"])
KEY = Parameter("Idempotency-Key", "header", _KEPT, Annotated[str, Meta(pattern="^[!-~]{1,200}$")])


# -- the document -------------------------------------------------------------------------------------------

_WHY = {
    400: "The body is no JSON.",
    401: "No token, or one that is not known.",
    403: "The token does not have the scope.",
    404: "There is no such policy, decision or token.",
    408: "The body came too slowly.",
    409: "It contradicts what is stored; the error names the item.",
    413: "The body is too large.",
    422: "Well-formed, but not possible; the error names the item and the value.",
    429: "Too many requests, open decisions, streams, policies or tokens; `Retry-After` says when to try again.",
    503: (
        "The store failed and nothing was stored; with the code `unknown` that is not known. Send it again after"
        " `Retry-After`, with the same key. With the code `damaged` the policy cannot be read."
    ),
}


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The API as an OpenAPI 3.1 document, from the table and the types that requests are read with."""
    shown = [route for route in routes if route.described]
    types = {kind for route in shown for kind in (route.takes, route.gives) if isinstance(kind, type)}
    _, schemas = msgspec.json.schema_components(
        sorted({*types, messages.Error}, key=lambda kind: kind.__name__),
        ref_template="#/components/schemas/{name}",
    )
    schemas = _plain(schemas)
    for kind, example in messages.EXAMPLES.items():
        schemas[kind.__name__]["examples"] = [example]
    paths: dict[str, Any] = {}
    for route in shown:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    description = "Decisions with graph feedback. A 2xx answer means that what it says is on the disk."
    info: dict[str, Any] = {"title": "Sidelight", "version": __version__, "description": description}
    info["license"] = {"name": "MIT", "identifier": "MIT"}
    components = {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}


def _plain(schema: Any) -> Any:
    """A schema as generators of clients read it: pairs without `items: false`, patterns of any language."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _plain(value) for name, value in schema.items()}
    if plain.get("items") is False:
        plain["items"] = plain.pop("prefixItems")[0]
    if "pattern" in plain:
        plain["pattern"] = plain["pattern"].replace(r"\Z", "$")
    return plain


def _operation(route: Route) -> dict[str, Any]:
    token: dict[str, list[str]] = {"token": []}
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.about,
        "security": [token] if route.scope else [{}, token] if route.optional_token else [],
        "responses": {str(route.status): {"description": "Done.", **_content(route.gives)}},
    }
    if route.scope is not None:
        operation["description"] = f"Needs a token with the scope `{route.scope}`."
    parameters = ((NAME,) if "{name}" in route.path else ()) + route.parameters
    if parameters:
        operation["parameters"] = [each.described() for each in parameters]
    if (takes := route.takes) is not None:
        fields = msgspec.structs.fields(takes) if isinstance(takes, type) else ()
        needed = not fields or any(each.required for each in fields)
        operation["requestBody"] = {"required": needed, **_content(takes)}
    for status in route.refuses:  # what needs no token says in its own form that something is wrong
        body = _content(messages.Error if route.scope else route.gives)
        operation["responses"][str(status)] = {"description": _WHY[status], **body}
    return operation


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
