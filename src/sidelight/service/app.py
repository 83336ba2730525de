"""The routes: read a request strictly, ask the service, write the answer. Nothing else happens here."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import IO, Any, TypeVar, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router

from sidelight.errors import SavedStateError, SidelightError, StoreError
from sidelight.service import exports, live, logs, messages, openapi, page
from sidelight.service.edge import Edge
from sidelight.service.events import PolicyRow
from sidelight.service.problems import Problem, store_failed, unknown_policy
from sidelight.service.served import Served
from sidelight.service.service import Service
from sidelight.service.store.base import NameTaken, OwnedElsewhere
from sidelight.service.tokens import Caller, new_token, refused

Read = TypeVar("Read")

JSON, LINES, PARQUET = "application/json", "application/x-ndjson", "application/vnd.apache.parquet"
PAGE = 100
"""Policies, or open decisions, of one answer unless told otherwise."""
MOST_PAGE = 1_000

_NAME = re.compile(messages.NAME)
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def create_app(service: Service) -> Edge:
    """The service as an ASGI application; its lifespan starts and stops the service."""
    routes = Routes(service)
    return Edge(
        service, Router(routes.listed(), redirect_slashes=False, default=_nowhere), routes.templates()
    )


async def _nowhere(scope: Any, receive: Any, send: Any) -> None:
    raise Problem(404, "not_found", "there is nothing here; /openapi.json lists what is")


class Routes:
    """One method for each route."""

    def __init__(self, service: Service) -> None:
        self.service, self.policies = service, service.policies
        self.new_policy = msgspec.json.Decoder(messages.NewPolicy)
        self.decide_request = msgspec.json.Decoder(messages.Decide)
        self.observe_request = msgspec.json.Decoder(messages.Observe)
        self.new_token = msgspec.json.Decoder(messages.NewToken)

    def listed(self) -> list[Route]:
        """All routes."""
        return [Route(path, endpoint, methods=[method]) for method, path, endpoint in self._table()]

    def templates(self) -> dict[Any, str]:
        """What figures call each of them."""
        return {endpoint: path for _, path, endpoint in self._table()}

    def _table(self) -> tuple[tuple[str, str, Callable[..., Any]], ...]:
        policy = "/v1/policies/{name}"
        return (
            ("POST", f"{policy}/decisions", self.decide),
            ("POST", f"{policy}/observations", self.observe),
            ("DELETE", f"{policy}/decisions/{{id}}", self.cancel),
            ("GET", f"{policy}/decisions", self.open_decisions),
            ("GET", policy, self.show),
            ("DELETE", policy, self.remove),
            ("GET", f"{policy}/stream", self.watch),
            ("GET", f"{policy}/log", self.log),
            ("GET", f"{policy}/export", self.export),
            ("POST", f"{policy}/import", self.bring),
            ("POST", "/v1/policies", self.create),
            ("GET", "/v1/policies", self.list),
            ("GET", "/v1/stream", self.watch_all),
            ("POST", "/v1/tokens", self.add_token),
            ("GET", "/v1/tokens", self.tokens),
            ("DELETE", "/v1/tokens/{id}", self.remove_token),
            ("GET", "/healthz", self.health),
            ("GET", "/readyz", self.readiness),
            ("GET", "/metrics", self.metrics),
            ("GET", "/openapi.json", self.openapi),
            ("GET", "/", self.page),
            ("GET", "/assets/{file}", self.asset),
        )

    # -- who, and what ---------------------------------------------------------------------------------

    def _caller(self, request: Request, scope: str, policy: str | None) -> Caller:
        """Who asks, if they may."""
        service = self.service
        header = request.headers.get("authorization")
        caller = service.tokens.caller(header)
        if caller is None:
            service.failures.check(request.client.host if request.client else "")
            raise refused(header)
        service.rates.check(caller.id)
        if not caller.may(scope, policy):
            whom = "all policies" if policy is None else f"policy {policy!r}"
            raise Problem(403, "forbidden", f"this token does not have the scope {scope!r} for {whom}")
        return caller

    def _policy(self, request: Request, scope: str) -> str:
        """The name of the policy, for somebody who may do this to it."""
        name = str(request.path_params["name"])
        if not _NAME.fullmatch(name):
            self._caller(request, scope, None)
            raise unknown_policy(name[:80])
        self._caller(request, scope, name)
        return name

    async def _body(self, request: Request, decoder: msgspec.json.Decoder[Read], limit: int) -> Read:
        data = bytearray()
        async for chunk in _chunks(request, limit):
            data += chunk
        request.scope["sidelight.body"] = bytes(data)
        try:
            return decoder.decode(data or b"{}")
        except msgspec.ValidationError as error:
            raise Problem(422, "invalid_request", str(error)) from None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise Problem(400, "no_json", f"the body is no JSON: {error}") from None

    def _key(self, request: Request) -> str | None:
        key = request.headers.get("idempotency-key")
        if key is not None and not _KEY.fullmatch(key):
            raise Problem(
                422, "invalid_key", "an Idempotency-Key has 1 to 200 printable ASCII characters, no spaces"
            )
        return key

    # -- policies --------------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        """POST /v1/policies."""
        caller = self.service.tokens.caller(request.headers.get("authorization"))
        if caller is None or caller.policy is None:
            self._caller(request, "admin", None)
        wanted = await self._body(request, self.new_policy, self.service.limits.graph_body)
        if caller is not None and caller.policy is not None:
            self._caller(request, "admin", wanted.name)
        served = await self.policies.create(wanted, self._key(request))
        return _json(served.answer(), 201)

    async def list(self, request: Request) -> Response:
        """GET /v1/policies."""
        query = _query(request, {"after": str, "limit": _limit})
        caller = self.service.tokens.caller(request.headers.get("authorization"))
        whose = caller.policy if caller is not None else None
        self._caller(request, "read", whose)
        limit = query.get("limit", PAGE)
        if whose is not None:
            names = [whose] if whose > query.get("after", "") else []
        else:
            names = await self.policies.names(query.get("after", ""), limit + 1)
        shown = []
        for name in names[:limit]:
            try:
                shown.append((await self._ready(request, name))())
            except Problem as problem:
                if problem.status != 404:  # it was removed meanwhile
                    raise
        return _json(messages.PolicyList(shown, names[limit - 1] if len(names) > limit else None))

    async def _ready(self, request: Request, name: str) -> live.Answer:
        """What makes the answer about a policy at once, when all is on the disk that it tells."""
        try:
            return partial((await self.policies.look(name)).answer, probabilities=False)
        except OwnedElsewhere as elsewhere:
            edge: Edge = request.scope["app"]
            answer = await edge.forwarded(request, elsewhere.address, f"/v1/policies/{name}")
            found = msgspec.json.decode(answer.body, type=messages.PolicyAnswer)
            found.probabilities = found.labels = None
            return lambda: found

    async def show(self, request: Request) -> Response:
        """GET /v1/policies/{name}."""
        return _json((await self.policies.look(self._policy(request, "read"))).answer())

    async def remove(self, request: Request) -> Response:
        """DELETE /v1/policies/{name}."""
        await self.policies.remove(self._policy(request, "admin"))
        return Response(status_code=204)

    # -- decisions -------------------------------------------------------------------------------------

    async def decide(self, request: Request) -> Response:
        """POST /v1/policies/{name}/decisions."""
        name = self._policy(request, "decide")
        key = self._key(request)
        wanted = await self._body(request, self.decide_request, self.service.limits.body)
        made = await self.policies.decide(name, wanted.count, key)
        return _json(messages.Decisions(made), 201)

    async def observe(self, request: Request) -> Response:
        """POST /v1/policies/{name}/observations."""
        name = self._policy(request, "observe")
        told = await self._body(request, self.observe_request, self.service.limits.body)
        return _json(await self.policies.observe(name, told.observations))

    async def cancel(self, request: Request) -> Response:
        """DELETE /v1/policies/{name}/decisions/{id}."""
        name = self._policy(request, "observe")
        return _json(await self.policies.cancel(name, _decision(request.path_params["id"])))

    async def open_decisions(self, request: Request) -> Response:
        """GET /v1/policies/{name}/decisions: those that are open."""
        name = self._policy(request, "read")
        query = _query(request, {"after": _decision, "limit": _limit})
        served = await self.policies.look(name)
        return _json(served.open_decisions(query.get("after", 0), query.get("limit", PAGE)))

    # -- watching --------------------------------------------------------------------------------------

    def _may(self, request: Request, policy: str | None) -> live.May:
        """Whether the token that a stream began with may still read: it can be revoked meanwhile."""
        header, tokens = request.headers.get("authorization"), self.service.tokens

        def may() -> bool:
            caller = tokens.caller(header)
            return caller is not None and caller.may("read", policy)

        return may

    async def watch(self, request: Request) -> Response:
        """GET /v1/policies/{name}/stream."""
        name = self._policy(request, "read")
        _query(request, {})
        live.check_room(self.service)
        try:
            await self.policies.look(name)
            events = live.policy_events(self.service, name, self._may(request, name))
        except OwnedElsewhere as elsewhere:
            edge: Edge = request.scope["app"]
            events = live.until_ending(self.service, await edge.passed_on(request, elsewhere.address))
        return live.EventStream(self.service, events)

    async def watch_all(self, request: Request) -> Response:
        """GET /v1/stream."""
        _query(request, {})
        caller = self.service.tokens.caller(request.headers.get("authorization"))
        whose = caller.policy if caller is not None else None
        self._caller(request, "read", whose)
        live.check_room(self.service)
        ready = partial(self._ready, request)
        events = live.list_events(self.service, whose, self._may(request, whose), ready)
        return live.EventStream(self.service, events)

    # -- logs and files --------------------------------------------------------------------------------

    async def log(self, request: Request) -> Response:
        """GET /v1/policies/{name}/log."""
        name = self._policy(request, "read")
        wanted = _query(request, {"format": _format}).get("format")
        if wanted is None:
            wanted = "parquet" if PARQUET in request.headers.get("accept", "") else "jsonl"
        served = await self.policies.look(name)
        about = (self.service.store, served.row.id, served.policy)
        if wanted == "jsonl":
            return StreamingResponse(_streamed(logs.json_lines(*about)), media_type=LINES)
        try:
            file = await asyncio.to_thread(logs.parquet, *about)
        except StoreError as error:
            raise store_failed(error) from error
        return StreamingResponse(
            _streamed(_pieces(file)), media_type=PARQUET, headers=_as_file(f"{name}.parquet")
        )

    async def export(self, request: Request) -> Response:
        """GET /v1/policies/{name}/export."""
        served = await self.policies.look(self._policy(request, "admin"))
        lines = exports.exported(self.service.store, served.row, served.seq)
        headers = _as_file(f"{served.row.name}.sidelight")
        return StreamingResponse(_streamed(lines), media_type=LINES, headers=headers)

    async def bring(self, request: Request) -> Response:
        """POST /v1/policies/{name}/import: the file of an export, as a new policy."""
        name = self._policy(request, "admin")
        with tempfile.SpooledTemporaryFile(max_size=1 << 24) as spool:
            async for chunk in _chunks(request, self.service.limits.import_body):
                spool.write(chunk)
            served = await self._brought(name, cast(IO[bytes], spool))
        return _json(served.answer(), 201)

    async def _brought(self, name: str, file: IO[bytes]) -> Served:
        found = await asyncio.to_thread(exports.read_export, file)
        policies = self.policies
        async with policies.reserved(name):
            last = found.snapshots[-1]
            row = PolicyRow(0, name, found.about)
            try:  # whether it can be played on is seen before it is stored
                await asyncio.to_thread(
                    lambda: Served.restored(row, last, found.events(last.seq), policies.limits)
                )
            except (SavedStateError, SidelightError, ValueError, KeyError, TypeError) as error:
                raise Problem(422, "invalid_export", f"this policy cannot be played on: {error}") from None
            try:
                create = partial(
                    self.service.store.create, name, found.about, found.snapshots, found.events()
                )
                await self.service.writer.run(create)
            except NameTaken:
                raise Problem(409, "name_taken", f"there is a policy {name!r} already") from None
            except StoreError as error:
                raise store_failed(error) from error
            policies.count += 1
        return await policies.get(name)

    # -- tokens ----------------------------------------------------------------------------------------

    async def add_token(self, request: Request) -> Response:
        """POST /v1/tokens."""
        service = self.service
        caller = service.tokens.caller(request.headers.get("authorization"))
        self._caller(request, "admin", caller.policy if caller else None)
        wanted = await self._body(request, self.new_token, service.limits.body)
        self._caller(request, "admin", wanted.policy)
        if len(service.tokens.rows) >= service.limits.tokens:
            raise Problem(429, "too_many_tokens", f"at most {service.limits.tokens:,} tokens are allowed")
        row, token = new_token(wanted.scopes, wanted.policy, wanted.note, service.clock())
        try:
            await service.writer.run(service.store.add_token, row)
        except StoreError as error:
            raise store_failed(error) from error
        service.tokens.rows[row.id] = row
        shown = messages.Token(row.id, list(row.scopes), row.policy, row.note, row.created, token)
        return _json(shown, 201)

    async def tokens(self, request: Request) -> Response:
        """GET /v1/tokens."""
        known = self.service.tokens.caller(request.headers.get("authorization"))
        caller = self._caller(request, "admin", known.policy if known else None)
        rows = [row for row in self.service.tokens.rows.values() if caller.policy in (None, row.policy)]
        shown = [messages.Token(row.id, list(row.scopes), row.policy, row.note, row.created) for row in rows]
        return _json(messages.TokenList(shown))

    async def remove_token(self, request: Request) -> Response:
        """DELETE /v1/tokens/{id}."""
        service = self.service
        known = service.tokens.caller(request.headers.get("authorization"))
        caller = self._caller(request, "admin", known.policy if known else None)
        row = service.tokens.rows.get(str(request.path_params["id"]))
        if row is None or caller.policy not in (None, row.policy):
            raise Problem(404, "unknown_token", "there is no such token")
        try:
            await service.writer.run(service.store.remove_token, row.id)
        except StoreError as error:
            raise store_failed(error) from error
        service.tokens.rows.pop(row.id, None)
        return Response(status_code=204)

    # -- about the service -----------------------------------------------------------------------------

    async def health(self, request: Request) -> Response:
        """GET /healthz: is it alive and able to store anything?"""
        ailments = self.service.ailments()
        body = {"status": "failing" if ailments else "ok", "problems": ailments}
        return _json(body, 503 if ailments else 200)

    async def readiness(self, request: Request) -> Response:
        """GET /readyz: may requests be sent here?"""
        ready = self.service.ready and not self.service.ailments()
        return _json({"ready": ready}, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        """GET /metrics: figures of the process for all, of policies for those who may read them."""
        caller = self.service.tokens.caller(request.headers.get("authorization"))
        text = self.service.metrics.text(self.policies, caller, self.service.streams)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, request: Request) -> Response:
        """GET /openapi.json."""
        return _json(openapi.document())

    async def page(self, request: Request) -> Response:
        """GET /."""
        return Response(page.watched(), media_type="text/html; charset=utf-8", headers=page.HEADERS)

    async def asset(self, request: Request) -> Response:
        """GET /assets/{file}: what the pages are made of."""
        found = page.asset(str(request.path_params["file"]))
        if found is None:
            raise Problem(404, "not_found", "there is no such file; /openapi.json lists what there is")
        text, kind = found
        return Response(text, media_type=kind, headers=page.HEADERS)


# -- reading and writing ------------------------------------------------------------------------------------


def _json(value: Any, status: int = 200) -> Response:
    return Response(messages.encode(value), status, media_type=JSON)


async def _chunks(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body, refused as soon as it is too large."""
    stated = request.headers.get("content-length", "")
    size = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 19 else 0
    if size <= limit:
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                break
            yield chunk
    if size > limit:
        raise Problem(413, "too_large", f"the body may have at most {limit:,} bytes")


def _query(request: Request, known: dict[str, Callable[[str], Any]]) -> dict[str, Any]:
    found = {}
    for name, value in request.query_params.multi_items():
        if name not in known or name in found:
            what = "was given twice" if name in found else f"is unknown; there are {', '.join(known)}"
            raise Problem(422, "invalid_query", f"the parameter {name!r:.40} {what}")
        found[name] = known[name](value)
    return found


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_PAGE):
        raise Problem(422, "invalid_query", f"limit is a number 1..{MOST_PAGE}, got {text!r:.40}")
    return int(text)


def _format(text: str) -> str:
    if text not in ("jsonl", "parquet"):
        raise Problem(422, "invalid_query", f"format is jsonl or parquet, got {text!r:.40}")
    return text


def _decision(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Problem(404, "unknown_decision", f"{text!r:.40} is no decision: decisions are numbered from 1")
    return int(text)


def _as_file(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 18):
            yield piece


async def _streamed(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each piece is made in a thread, so that a long log holds nobody up."""
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
