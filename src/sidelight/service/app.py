"""The routes: what each asks of the service. How a route is read, checked and described is in `routes.py`."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from functools import cache, partial
from typing import IO, Any, cast

import msgspec
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Path
from starlette.routing import Router

from sidelight.service import exports, live, messages, routes
from sidelight.service import page as pages
from sidelight.service.edge import Edge
from sidelight.service.messages import Problem
from sidelight.service.routes import JSON, LINES, PARQUET, Call, Route
from sidelight.service.service import Service
from sidelight.service.store.base import OwnedElsewhere, TokenRow

PAGE = 100
"""Policies, or open decisions, of one answer unless told otherwise."""


def create_app(service: Service) -> Edge:
    """The service as an ASGI application; whoever runs it starts and stops the service (`server.Server`)."""
    paths = [Path(route.path, routes.Endpoint(route, service), methods=[route.method]) for route in ROUTES]
    return Edge(service, Router(paths, redirect_slashes=False, default=_nowhere))


async def _nowhere(scope: Any, receive: Any, send: Any) -> None:
    raise Problem(404, "not_found", "there is nothing here; /openapi.json lists what is")


# -- policies -----------------------------------------------------------------------------------------------


async def create_policy(call: Call, body: messages.NewPolicy) -> messages.PolicyAnswer:
    """Plan for a graph, and begin."""
    call.check_scope("admin", body.name)
    return (await call.service.policies.create(body, call.key)).answer()


async def list_policies(call: Call) -> messages.PolicyList:
    """Policies in the order of their names."""
    after, limit = call.query.get("after", ""), call.query.get("limit", PAGE)
    if call.whose is not None:
        names = [call.whose] if call.whose > after else []
    else:
        names = await call.service.policies.names(after, limit + 1)
    shown, damaged = [], {}
    for name in names[:limit]:
        try:
            shown.append((await _ready(call, name))())
        except Problem as problem:
            if problem.code == "damaged":
                damaged[name] = str(problem)
            elif problem.status != 404:  # it was removed meanwhile
                raise
    return messages.PolicyList(shown, names[limit - 1] if len(names) > limit else None, damaged)


async def _ready(call: Call, name: str) -> live.Answer:
    """What makes the answer about a policy at once, when all is on the disk that it tells."""
    try:
        return partial((await call.service.policies.look(name)).answer, probabilities=False)
    except OwnedElsewhere as elsewhere:
        answer = await call.edge.forwarded(call.request, elsewhere.address, f"/v1/policies/{name}")
        if answer.status_code != 200:
            raise Problem(
                answer.status_code, "owned_elsewhere", f"policy {name!r} cannot be read where it is served"
            ) from None
        policy = msgspec.json.decode(answer.body, type=messages.PolicyAnswer)
        policy.probabilities = policy.labels = None
        return lambda: policy


async def show_policy(call: Call) -> messages.PolicyAnswer:
    """A policy as it stands."""
    return (await call.service.policies.look(call.name)).answer()


async def remove_policy(call: Call) -> None:
    """Delete a policy and all its events."""
    await call.service.remove_policy(call.name)


# -- decisions ----------------------------------------------------------------------------------------------


async def decide(call: Call, body: messages.Decide) -> messages.Decisions:
    """Make decisions: which arms to play."""
    return messages.Decisions(await call.service.policies.decide(call.name, body.count, call.key))


async def observe(call: Call, body: messages.Observe) -> messages.Observed:
    """Tell what decisions revealed. All observations of a request are taken, or none. The same one again counts as
    repeated.
    """
    return await call.service.policies.observe(call.name, body.observations)


async def cancel(call: Call) -> messages.Cancelled:
    """Give a decision up: nothing will come."""
    return await call.service.policies.cancel(call.name, routes.decision_number(call.path("id")))


async def list_open_decisions(call: Call) -> messages.OpenList:
    """Decisions that wait for an answer."""
    served = await call.service.policies.look(call.name)
    return served.open_decisions(call.query.get("after", 0), call.query.get("limit", PAGE))


# -- watching -----------------------------------------------------------------------------------------------


async def watch_policy(call: Call) -> Response:
    """A policy as it runs, as server-sent events: `graph` first, `policy` whenever it has moved on (four times a
    second at most), `alive` when it has not for five seconds, `gone` at its end.
    """
    service = call.service
    live.check_room(service)
    try:
        await service.policies.look(call.name)
        events = live.policy_events(service, call.name, _may_read(call, call.name))
    except OwnedElsewhere as elsewhere:
        passed_on = await call.edge.passed_on(call.request, elsewhere.address)
        events = live.until_ending(service, passed_on)
    return live.EventStream(service, events)


async def watch_policies(call: Call) -> Response:
    """All policies as they run, the first 200 by name, as server-sent events: `policies` with those that are new or
    have moved on, and the names of those that are gone; `alive` otherwise.
    """
    live.check_room(call.service)
    may, ready = _may_read(call, call.whose), partial(_ready, call)
    return live.EventStream(call.service, live.list_events(call.service, call.whose, may, ready))


def _may_read(call: Call, policy: str | None) -> live.May:
    """Whether the token that a stream began with may still read: it can be revoked meanwhile."""
    header, tokens = call.request.headers.get("authorization"), call.service.tokens

    def may() -> bool:
        caller = tokens.caller(header)
        return caller is not None and caller.may("read", policy)

    return may


# -- logs and files -----------------------------------------------------------------------------------------


async def read_log(call: Call) -> Response:
    """Answered decisions with their probabilities, a row for each revealed arm, to be evaluated."""
    wanted = call.query.get("format")
    if wanted is None:
        wanted = "parquet" if PARQUET in call.request.headers.get("accept", "") else "jsonl"
    served = await call.service.policies.look(call.name)
    source = (call.service.store, served.row.id, served.policy, served.seq)
    if wanted == "jsonl":
        return StreamingResponse(await _streamed(exports.json_lines(*source)), media_type=LINES)
    file = await asyncio.to_thread(exports.parquet, *source)
    return StreamingResponse(
        await _streamed(_pieces(file)), media_type=PARQUET, headers=_as_file(f"{call.name}.parquet")
    )


async def export_policy(call: Call) -> Response:
    """Everything about a policy, while it goes on."""
    served = await call.service.policies.look(call.name)
    lines = exports.exported(call.service.store, served.row, served.seq)
    headers = _as_file(f"{call.name}.sidelight")
    return StreamingResponse(await _streamed(lines), media_type=LINES, headers=headers)


async def import_policy(call: Call) -> messages.PolicyAnswer:
    """What another service has exported, under this name."""
    with tempfile.SpooledTemporaryFile(max_size=1 << 24) as spool:
        async for chunk in call.chunks(call.service.limits.import_body):
            spool.write(chunk)
        return (await call.service.policies.bring(call.name, cast(IO[bytes], spool))).answer()


def _as_file(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 18):
            yield piece


async def _streamed(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each piece is made in a thread, so that a long log holds nobody up; the first before the answer begins."""
    first = await asyncio.to_thread(next, pieces, None)

    async def told() -> AsyncIterator[bytes]:
        piece = first
        while piece is not None:
            yield piece
            piece = await asyncio.to_thread(next, pieces, None)

    return told()


# -- tokens -------------------------------------------------------------------------------------------------


async def create_token(call: Call, body: messages.NewToken) -> messages.Token:
    """A new token, shown this once."""
    call.check_scope("admin", body.policy)
    row, token = await call.service.add_token(body.scopes, body.policy, body.note)
    return _shown(row, token)


async def list_tokens(call: Call) -> messages.TokenList:
    """All tokens, without their secrets."""
    rows = call.service.tokens.rows.values()
    return messages.TokenList([_shown(row) for row in rows if call.whose in (None, row.policy)])


async def remove_token(call: Call) -> None:
    """Revoke a token."""
    row = call.service.tokens.rows.get(call.path("id"))
    if row is None or call.whose not in (None, row.policy):
        raise Problem(404, "unknown_token", "there is no such token")
    await call.service.remove_token(row)


def _shown(row: TokenRow, token: str | None = None) -> messages.Token:
    return messages.Token(row.id, list(row.scopes), row.policy, row.note, row.created, token)


# -- about the service --------------------------------------------------------------------------------------


async def health(call: Call) -> Response:
    """Is the service alive and able to store anything?"""
    ailments = call.service.ailments()
    body = {"status": "failing" if ailments else "ok", "problems": ailments}
    return Response(messages.encode(body), 503 if ailments else 200, media_type=JSON)


async def readiness(call: Call) -> Response:
    """May requests be sent here?"""
    ready = call.service.ready and not call.service.ailments()
    return Response(messages.encode({"ready": ready}), 200 if ready else 503, media_type=JSON)


async def metrics(call: Call) -> Response:
    """Figures for Prometheus; those of policies need a token that may read them."""
    text = call.service.metrics.text(call.service, call.caller)
    return Response(text, media_type=f"{routes.TEXT}; version=0.0.4; charset=utf-8")


async def openapi(call: Call) -> dict[str, Any]:
    """This document."""
    return _document()


@cache
def _document() -> dict[str, Any]:
    return routes.document(ROUTES)


async def page(call: Call) -> Response:
    """The page."""
    return Response(pages.html(), media_type=f"{routes.HTML}; charset=utf-8", headers=pages.HEADERS)


async def asset(call: Call) -> Response:
    """What the page is made of."""
    file = pages.asset(call.path("file"))
    if file is None:
        raise Problem(404, "not_found", "there is no such file; /openapi.json lists what there is")
    text, kind = file
    return Response(text, media_type=kind, headers=pages.HEADERS)


# -- the table ----------------------------------------------------------------------------------------------

_POLICY = "/v1/policies/{name}"
_ALWAYS = (401, 403, 422, 429)
_READ = (*_ALWAYS, 404, 503)
_WRITE = (*_READ, 400, 408, 409, 413)
_MADE = (*_ALWAYS, 400, 408, 409, 413, 503)

ROUTES = (
    Route("POST", f"{_POLICY}/decisions", decide, "decide", status=201, refuses=_WRITE, parameters=(routes.KEY,)),
    Route("POST", f"{_POLICY}/observations", observe, "observe", refuses=_WRITE),
    Route("DELETE", f"{_POLICY}/decisions/{{id}}", cancel, "observe",
          refuses=(*_READ, 409), parameters=(routes.DECISION,)),
    Route("GET", f"{_POLICY}/decisions", list_open_decisions, "read",
          refuses=_READ, parameters=(routes.AFTER_DECISION, routes.LIMIT)),
    Route("GET", _POLICY, show_policy, "read", refuses=_READ),
    Route("DELETE", _POLICY, remove_policy, "admin", status=204, refuses=(*_READ, 409)),
    Route("GET", f"{_POLICY}/stream", watch_policy, "read", sends=routes.EVENTS, refuses=_READ),
    Route("GET", f"{_POLICY}/log", read_log, "read",
          sends=(LINES, PARQUET), refuses=_READ, parameters=(routes.FORMAT,)),
    Route("GET", f"{_POLICY}/export", export_policy, "admin", sends=LINES, refuses=_READ),
    Route("POST", f"{_POLICY}/import", import_policy, "admin", reads=LINES,
          limit="import_body", status=201, refuses=_WRITE),
    Route("POST", "/v1/policies", create_policy, "admin",
          limit="graph_body", status=201, refuses=_MADE, parameters=(routes.KEY,)),
    Route("GET", "/v1/policies", list_policies, "read",
          refuses=(*_ALWAYS, 503), parameters=(routes.AFTER_NAME, routes.LIMIT)),
    Route("GET", "/v1/stream", watch_policies, "read", sends=routes.EVENTS, refuses=(*_ALWAYS, 503)),
    Route("POST", "/v1/tokens", create_token, "admin", status=201, refuses=_MADE),
    Route("GET", "/v1/tokens", list_tokens, "admin", refuses=_ALWAYS),
    Route("DELETE", "/v1/tokens/{id}", remove_token, "admin",
          status=204, refuses=_READ, parameters=(routes.TOKEN,)),
    Route("GET", "/healthz", health, sends=JSON, refuses=(503,)),
    Route("GET", "/readyz", readiness, sends=JSON, refuses=(503,)),
    Route("GET", "/metrics", metrics, sends=routes.TEXT, optional_token=True, refuses=(401, 429)),
    Route("GET", "/openapi.json", openapi, sends=JSON),
    Route("GET", "/", page, sends=routes.HTML),
    Route("GET", "/assets/{file}", asset, sends=routes.TEXT, described=False),
)  # fmt: skip
"""All routes, those first that are asked most."""
