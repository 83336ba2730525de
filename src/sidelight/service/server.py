"""`sidelight serve`: bind, prepare, open the port, and drain at the end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sidelight.errors import ServiceError, SidelightError
from sidelight.service.access import Limits
from sidelight.service.served import SNAPSHOT_EVERY
from sidelight.service.service import Service

GRACE = 30
"""Seconds that requests under way have when the service is told to stop."""


@dataclass(frozen=True)
class Settings:
    """What the command line says."""

    store: str | None = None
    host: str = "127.0.0.1"
    port: int = 8383
    advertise: str | None = None  # where other processes reach this one
    limits: Limits = field(default_factory=Limits)
    snapshot_every: int = SNAPSHOT_EVERY
    access_log: bool = False
    new_admin_token: bool = False
    environment: str | None = None


def run(settings: Settings, announce: Callable[[Service, str], None]) -> None:
    """Serve until a signal says otherwise; `announce` is called when the port is open."""
    import uvicorn

    from sidelight.service.app import create_app
    from sidelight.service.edge import log_to_stderr
    from sidelight.service.store.base import make_store

    listening = bound(settings.host, settings.port)
    host, port = listening.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    service = Service(
        make_store(settings.store, settings.advertise or address),
        settings.limits,
        environment=settings.environment,
        snapshot_every=settings.snapshot_every,
    )
    app = create_app(service)
    app.access_log = settings.access_log
    config = uvicorn.Config(
        app,
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level=logging.WARNING,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=None,
        h11_max_incomplete_event_size=65_536,
        backlog=2048,
    )
    gc.set_threshold(50_000, 20, 100)  # open decisions are many small objects, and none of them is in a cycle
    undo = log_to_stderr()
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what it knows is said once, by us
    try:
        with _runner() as runner:
            server = ending_streams(drained_by_signals(uvicorn.Server(config)), service)
            runner.run(_serve(server, service, listening, settings, announce, address))
    finally:
        undo()
        listening.close()


def _runner() -> asyncio.Runner:
    """uvloop where it is installed: a quarter less processor time for each request."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def drained_by_signals(server: Any) -> Any:
    """The server, stopping gracefully at the first signal and at once at the second; then the command has succeeded.

    uvicorn would raise the signal again once it has drained, and end as if it had been killed.
    """

    @contextlib.contextmanager
    def captured() -> Iterator[None]:
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, server.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    server.capture_signals = captured
    return server


def ending_streams(server: Any, service: Service) -> Any:
    """The server, telling streams to end before it waits for what is under way: they would go on for ever."""
    shutdown = server.shutdown

    async def ending(sockets: Any = None) -> None:
        service.ending.set()
        await shutdown(sockets=sockets)

    server.shutdown = ending
    return server


async def _serve(
    server: Any,
    service: Service,
    listening: socket.socket,
    settings: Settings,
    announce: Callable[[Service, str], None],
    address: str,
) -> None:
    start, failed = service.start, []

    async def prepared() -> None:
        try:
            await start()
            await asyncio.to_thread(warm_kernels)
            await service.policies.prepare()
            if settings.new_admin_token:
                service.admin_token = await service.add_admin_token("made by --new-admin-token")
        except SidelightError as error:
            failed.append(error)
            raise

    async def opened(sockets: Any = None) -> None:
        await startup(sockets=sockets)
        if server.started:
            announce(service, address)

    service.start = prepared  # type: ignore[method-assign]
    startup, server.startup = server.startup, opened
    with contextlib.suppress(SystemExit):  # how uvicorn says that the service did not start
        await server.serve(sockets=[listening])
    if failed:
        raise failed[0]
    if not server.started:
        raise ServiceError("the service could not be started; its log says why")


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address, not yet listening: what is not ready is refused, not kept waiting."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        raise ServiceError(
            f"cannot listen at {host}:{port}: {error}; name another with --host and --port"
        ) from error
    return made


def warm_kernels() -> None:
    """Compile, or read from the cache, what the default plan needs: no first request waits for that."""
    from sidelight.graph import families
    from sidelight.planning import plan
    from sidelight.service.making import warm

    warm(plan(families.cycle(4)).policy(seed=0))
