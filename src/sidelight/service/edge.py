"""Around every request: an id, a clock, a line in the log, and an answer whatever happens."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from itertools import count
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match

from sidelight.errors import StoreError
from sidelight.service.logs import failed, note, trace
from sidelight.service.messages import Problem, encode, outcome_unknown, store_failed
from sidelight.service.peers import Answer, BrokenOff, Peers, Unreachable
from sidelight.service.service import Service
from sidelight.service.store.base import OwnedElsewhere

SLOW = 1.0
"""Seconds after which a request is worth a line in the log."""

FORWARDED = "x-sidelight-forwarded"
PASSED_ON = ("authorization", "idempotency-key", "content-type", "accept", "x-request-id")
PASSED_BACK = ("retry-after", "content-disposition", "content-type")
EVENTS = b"text/event-stream"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Edge:
    """The outermost layer of the application."""

    def __init__(self, service: Service, router: Any) -> None:
        self.service, self.router = service, router
        self.access_log = False
        self._numbers = count(1)
        self._peers = Peers()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # a websocket, which nobody here answers
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    async def close(self) -> None:
        """Let go of connections to other processes."""
        await self._peers.close()

    async def _http(self, scope: Any, receive: Any, send: Any) -> None:
        began = time.perf_counter()
        status, name, answered = 0, b"", None
        for header, value in scope["headers"]:
            if header == b"x-request-id" and _ID.fullmatch(value.decode("latin-1")):
                name = value
        name = name or f"{self.service.instance}-{next(self._numbers):x}".encode()

        async def sending(message: Any) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status = message["status"]
                if dict(message["headers"]).get(b"content-type", b"").startswith(EVENTS):
                    answered = time.perf_counter()  # what a stream tells later is no delay
                message["headers"].append((b"x-request-id", name))
            await send(message)

        scope["app"] = self
        try:
            await self.router(scope, receive, sending)
        except Exception as error:
            if status:  # the answer has begun: all that can be done is to break it off
                failed("an answer broke off", trace(error), request=name.decode())
                raise
            answer = await self._explained(error, scope, receive, name.decode())
            await answer(scope, receive, sending)
        finally:
            seconds = (answered or time.perf_counter()) - began
            endpoint = scope.get("endpoint")
            method, route = (scope["method"], endpoint.route.path) if endpoint else ("any", "none")
            self.service.metrics.note(method, route, status, seconds)
            if self.access_log or status >= 500 or seconds > SLOW:
                self._log(scope, name.decode(), status, seconds)

    def _log(self, scope: Any, name: str, status: int, seconds: float) -> None:
        client, level = (scope.get("client") or ("", 0))[0], logging.ERROR if status >= 500 else logging.INFO
        request = {"request": name, "method": scope["method"], "path": scope["path"], "status": status}
        note("request", level, **request, seconds=round(seconds, 6), client=client)

    # -- when something is wrong -----------------------------------------------------------------------

    async def _explained(self, error: Exception, scope: Any, receive: Any, name: str) -> Response:
        if isinstance(error, OwnedElsewhere):
            try:
                return await self.forwarded(Request(scope, receive), error.address)
            except Problem as problem:
                error = problem
        if isinstance(error, StoreError):
            error = store_failed(error)
        headers = {}
        if isinstance(error, HTTPException):
            headers, status = dict(error.headers or {}), error.status_code
            if status == 405:
                headers["Allow"] = ", ".join(self._allowed(scope))
            error = Problem(status, "not_allowed" if status == 405 else "refused", error.detail)
        if not isinstance(error, Problem):
            failed("a mistake of our own", trace(error), request=name)
            error = Problem(500, "internal", "a mistake of the service, which its log describes")
        if error.retry_after is not None:
            headers["retry-after"] = str(math.ceil(error.retry_after))
        if error.status == 401:
            headers["www-authenticate"] = "Bearer"
        if error.status in (408, 413):
            headers["connection"] = "close"
        return Response(encode(error.body(name)), error.status, headers, media_type="application/json")

    def _allowed(self, scope: Any) -> list[str]:
        """Methods that the path knows, of all routes that have it."""
        paths = [path for path in self.router.routes if path.matches(scope)[0] is not Match.NONE]
        return sorted({method for path in paths for method in path.methods})

    # -- other processes -------------------------------------------------------------------------------

    async def forwarded(self, request: Request, address: str, path: str | None = None) -> Response:
        """The answer of the process that serves the policy, about `path` if that is another: one hop, or 503."""
        if path is None:
            body = request.scope.get("sidelight.body")
            body = await request.body() if body is None else body
            answer = await self._asked(request, address, request.method, _target(request), body)
        else:
            answer = await self._asked(request, address, "GET", path)
        headers = {key: value for key, value in answer.headers.items() if key in PASSED_BACK}
        if "content-length" not in answer.headers and answer.status == 200:  # a log or a file, as it comes
            return StreamingResponse(answer.pieces, 200, headers)
        try:
            content = b"".join([piece async for piece in answer.pieces])
        except BrokenOff as error:
            raise self._broken_off(address, error) from None
        return Response(content, answer.status, headers)

    async def passed_on(self, request: Request, address: str) -> AsyncIterator[bytes]:
        """What the owner of the policy streams, as it comes; where it breaks off, whoever watches asks again."""
        answer = await self._asked(request, address, "GET", _target(request))

        async def pieces() -> AsyncIterator[bytes]:
            with suppress(BrokenOff):
                async with aclosing(answer.pieces) as told:
                    async for piece in told:
                        yield piece

        if answer.status != 200:
            async for _ in pieces():
                pass
            raise self._unreachable(address)
        return pieces()

    async def _asked(
        self, request: Request, address: str, method: str, target: str, body: bytes = b""
    ) -> Answer:
        """The answer of another process as it begins, to what is asked in the name of `request`."""
        if not address or FORWARDED in request.headers:
            raise self._unreachable(address)
        headers = {key: request.headers[key] for key in PASSED_ON if key in request.headers}
        try:
            return await self._peers.ask(address, method, target, {**headers, FORWARDED: "1"}, body)
        except Unreachable:
            raise self._unreachable(address) from None
        except BrokenOff as error:
            raise self._broken_off(address, error) from None

    def _broken_off(self, address: str, error: BrokenOff) -> Problem:
        self.service.policies.owner_lost(address)
        return outcome_unknown(f"the process that serves this policy did not answer ({error})")

    def _unreachable(self, address: str) -> Problem:
        self.service.policies.owner_lost(address)
        why = "another process serves this policy and cannot be reached; try again"
        return Problem(503, "owned_elsewhere", why, 1.0)


def _target(request: Request) -> str:
    path, query = request.scope["raw_path"].decode("latin-1"), request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path
