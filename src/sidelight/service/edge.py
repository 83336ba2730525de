"""Around every request: an id, a clock, a line in the log, and an answer whatever happens."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import count
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sidelight.errors import StoreError
from sidelight.service.messages import Problem, encode, store_failed
from sidelight.service.service import Service
from sidelight.service.store.base import OwnedElsewhere

log = logging.getLogger("sidelight.service")

SLOW = 1.0
"""Seconds after which a request is worth a line in the log."""

FORWARDED = "x-sidelight-forwarded"
PASSED_ON = ("authorization", "idempotency-key", "content-type", "accept", "x-request-id")
EVENTS = b"text/event-stream"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Edge:
    """The outermost layer of the application."""

    def __init__(self, service: Service, router: Any) -> None:
        self.service, self.router = service, router
        self.access_log = False
        self._numbers = count(1)
        self._client: Any = None  # to other processes, where there are any

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # a websocket, which nobody here answers
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    async def close(self) -> None:
        """Let go of connections to other processes."""
        if self._client is not None:
            await self._client.aclose()

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
                if any(
                    key == b"content-type" and value.startswith(EVENTS) for key, value in message["headers"]
                ):
                    answered = time.perf_counter()  # what a stream tells later is no delay
                message["headers"].append((b"x-request-id", name))
            await send(message)

        scope["app"] = self
        try:
            await self.router(scope, receive, sending)
        except Exception as error:
            if status:  # the answer has begun: all that can be done is to break it off
                log.error(
                    "an answer broke off", extra={"data": {"request": name.decode(), "error": _trace(error)}}
                )
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
        client = scope.get("client") or ("", 0)
        about = {
            "request": name,
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "seconds": round(seconds, 6),
            "client": client[0],
        }
        log.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra={"data": about})

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
            headers = dict(error.headers or {})
            error = Problem(
                error.status_code, "not_allowed" if error.status_code == 405 else "refused", error.detail
            )
        if not isinstance(error, Problem):
            log.error("a mistake of our own", extra={"data": {"request": name, "error": _trace(error)}})
            error = Problem(500, "internal", "a mistake of the service, which its log describes")
        if error.retry_after is not None:
            headers["retry-after"] = str(math.ceil(error.retry_after))
        if error.status == 401:
            headers["www-authenticate"] = "Bearer"
        if error.status == 413:
            headers["connection"] = "close"
        return Response(encode(error.body(name)), error.status, headers, media_type="application/json")

    # -- other processes -------------------------------------------------------------------------------

    async def forwarded(self, request: Request, address: str, path: str | None = None) -> Response:
        """The answer of the process that serves the policy, about `path` if that is another: one hop, or 503."""
        if path is None:
            body = request.scope.get("sidelight.body")
            asked = (request.method, _target(request), await request.body() if body is None else body)
        else:
            asked = ("GET", path, b"")
        async with self._asked(request, address, *asked) as answer:
            content = await answer.aread()
        kept = {
            key: answer.headers[key]
            for key in ("retry-after", "content-disposition")
            if key in answer.headers
        }
        return Response(content, answer.status_code, kept, media_type=answer.headers.get("content-type"))

    async def passed_on(self, request: Request, address: str) -> AsyncIterator[bytes]:
        """What the process that serves the policy streams, as it comes."""
        stack = AsyncExitStack()
        answer = await stack.enter_async_context(self._asked(request, address, "GET", _target(request), b""))
        if answer.status_code != 200:
            await stack.aclose()
            raise _unreachable()

        async def pieces() -> AsyncIterator[bytes]:
            with suppress(Problem):  # it has ended: whoever watches asks again
                async with stack:
                    async for piece in answer.aiter_raw():
                        yield piece

        return pieces()

    @asynccontextmanager
    async def _asked(
        self, request: Request, address: str, method: str, target: str, body: bytes
    ) -> AsyncIterator[Any]:
        """The answer of another process as it begins, to what is asked in the name of `request`."""
        import httpx

        if not address or FORWARDED in request.headers:
            raise _unreachable()
        if self._client is None:
            limits = httpx.Limits(max_connections=None)  # streams hold theirs, and are never quiet for 30 s
            self._client = httpx.AsyncClient(timeout=30.0, limits=limits, trust_env=False)
        headers = {key: request.headers[key] for key in PASSED_ON if key in request.headers}
        try:
            async with self._client.stream(
                method, f"{address}{target}", content=body, headers={**headers, FORWARDED: "1"}
            ) as answer:
                yield answer
        except httpx.HTTPError:
            self.service.policies.owner_lost(address)
            raise _unreachable() from None


def _target(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _unreachable() -> Problem:
    return Problem(
        503, "owned_elsewhere", "another process serves this policy and cannot be reached; try again", 1.0
    )


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-4_000:]


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, message, and what else is known."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        data = getattr(record, "data", {})
        known = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        return json.dumps({**known, **data}, default=str)


def log_to_stderr(level: int = logging.INFO) -> Callable[[], None]:
    """Send the log of the service to standard error; the result undoes it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    before = (log.level, log.propagate)
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False

    def undo() -> None:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]

    return undo
