"""`sidelight serve`: bind, prepare, open the port, and drain at the end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from sidelight.errors import ServiceError
from sidelight.graph import families
from sidelight.policy import Policy
from sidelight.policy.names import make
from sidelight.service.access import Limits
from sidelight.service.app import create_app
from sidelight.service.logs import note, to_stderr
from sidelight.service.served import SNAPSHOT_EVERY, warm
from sidelight.service.service import Service
from sidelight.service.store.base import make_store

GRACE = 30
"""Seconds that requests under way have when the service is told to stop."""


SLOW = 2.0
"""Seconds: what takes longer was compiled, and not read."""

PATIENCE = 10.0
"""Seconds that a connection may be open without a whole request."""

LONGEST_HEAD = 65_536
"""Bytes of a request before its body."""

MOST_UNREAD = 1 << 25
"""Bytes that may follow on a request which was answered before all of it had come."""

MOST_CONNECTIONS = 10_000
"""At once; half of the files that the system lets this process open, where that is less."""

UVICORN: dict[str, Any] = {
    "lifespan": "off", "access_log": False, "log_config": None, "log_level": logging.WARNING, "server_header": False,
    "proxy_headers": False, "timeout_graceful_shutdown": GRACE, "h11_max_incomplete_event_size": LONGEST_HEAD,
}  # fmt: skip


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
    listening = bound(settings.host, settings.port)
    host, port = listening.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    service = Service(
        make_store(settings.store, settings.advertise or address),
        settings.limits,
        environment=settings.environment,
        snapshot_every=settings.snapshot_every,
    )
    server = Server(service, lambda: announce(service, address), access_log=settings.access_log)

    async def prepare() -> None:
        await asyncio.to_thread(warm_kernels)
        if settings.new_admin_token:
            service.admin_token = await service.add_admin_token("made by --new-admin-token")

    gc.set_threshold(50_000, 20, 100)  # open decisions are many small objects, and none of them is in a cycle
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what it knows is said once, by us
    with contextlib.closing(listening), to_stderr(), _runner() as runner, server.signals():
        runner.run(server.serve_all(listening, prepare))


def _runner() -> asyncio.Runner:
    """uvloop where it is installed: a quarter less processor time for each request."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


async def _nothing() -> None:
    pass


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """One connection, and for how long it has had no whole request: uvicorn would wait for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """It begins."""
        super().connection_made(transport)
        self.last, self.since, self.heard = self.cycle, time.monotonic(), 0

    def data_received(self, data: bytes) -> None:
        """A piece of a request; of its head, not too much."""
        super().data_received(data)
        if self.last is not self.cycle or not self.waits:
            self.last, self.since, self.heard = self.cycle, time.monotonic(), 0
            return
        self.heard += len(data)
        if self.heard > (LONGEST_HEAD if self.cycle is None else MOST_UNREAD):
            self.transport.close()

    @property
    def waits(self) -> bool:
        """Is there nothing to be answered?"""
        return self.cycle is None or bool(self.cycle.response_complete)


class Server(uvicorn.Server):
    """A service on a socket, from its start to its end; `announce` is called when the port is open."""

    def __init__(self, service: Service, announce: Callable[[], None], *, access_log: bool = False) -> None:
        self.service, self.announce, self.edge = service, announce, create_app(service)
        self.edge.access_log = access_log
        self.most_connections = min(MOST_CONNECTIONS, _files_allowed() // 2)
        super().__init__(uvicorn.Config(self.edge, http=Connection, **UVICORN))

    async def serve_all(self, listening: socket.socket, prepare: Callable[[], Any] = _nothing) -> None:
        """Start the service, `prepare`, serve until it is told to stop, and stop the service."""
        await self.service.start()
        try:
            await prepare()
            await self.serve(sockets=[listening])
            if not self.started:
                raise ServiceError("the service could not be started; its log says why")
        finally:
            if not self.force_exit:
                await self.service.stop()
                await self.edge.close()

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Stop gracefully at the first signal and at once at the second; then the command has succeeded."""
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not as uvicorn does: once it has drained it would raise the signal again, and end as if killed."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the port, and say so."""
        await super().startup(sockets)
        if self.started:
            self.announce()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: hang up on those who have waited too long, or longest where there are too many."""
        now = time.monotonic()
        open_ = [each for each in self.server_state.connections if isinstance(each, Connection)]
        too_many = len(open_) - self.most_connections
        if counter % 10 == 0 or too_many > 0:
            for each in open_:
                each.since = each.since if each.waits else now
            waiting = sorted((each for each in open_ if each.waits), key=lambda each: each.since)
            for at, each in enumerate(waiting):
                if at < too_many or now - each.since > PATIENCE:
                    each.transport.close()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell streams to end before waiting for what is under way: they would go on for ever."""
        self.service.ending.set()
        await super().shutdown(sockets)


def _files_allowed() -> int:
    """How many files this process may open, connections among them; as many as the system grants at all."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows, which has no such limit
        return 2 * MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * MOST_CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return wanted if soft == resource.RLIM_INFINITY else soft


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address, not yet listening: what is not ready is refused, not kept waiting."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sends at once only where the protocol is named: else small answers wait 40 ms to be acknowledged
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        why = f"cannot listen at {host}:{port}: {error}; name another with --host and --port"
        raise ServiceError(why) from error
    return listening


def warm_kernels() -> None:
    """Compile, or read from the cache, what plans of every kind need: no request waits for the compiler."""
    from sidelight.experiment.warmup import HORIZON, PLANS, analyze

    analyze(families.parse("random:30,0.2,1:loops"))
    for at, (kind, (family, player)) in enumerate(PLANS.items(), start=1):
        began = time.perf_counter()
        policy = make(player, families.parse(family), HORIZON).policy(seed=0)
        assert isinstance(policy, Policy)
        warm(policy)
        if (seconds := time.perf_counter() - began) > SLOW:
            note(
                "compiled before the port opens",
                kind=kind,
                of=f"{at} of {len(PLANS)}",
                seconds=round(seconds),
            )
