"""Policies as they run, for whoever watches: streams of server-sent events.

A stream looks four times a second whether what it shows has moved on, and tells it once, however many decisions that
were: everything it tells is on the disk. Requests know nothing of it, so where nobody watches nothing is paid for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from sidelight.service import messages, page
from sidelight.service.messages import Problem
from sidelight.service.page import MOST_LISTED
from sidelight.service.store.base import OwnedElsewhere

if TYPE_CHECKING:
    from sidelight.service.service import Service

EVERY = 0.25
"""Seconds between two looks."""
SHARE = 0.05
"""Of a core, about, that all streams together spend on making what they tell: if it is much, less often."""
LONGEST = 5.0
"""Seconds between two looks, however much there is to tell; without news a stream says that it is alive."""
NAMES_EVERY = 2.0
"""Seconds until a policy that is new, gone or of another process is noticed in the list."""

May = Callable[[], bool]
"""May the caller still read this?"""
Answer = Callable[[], messages.PolicyAnswer]
"""Says how a policy stands."""


class EventStream(StreamingResponse):
    """An answer that goes on; it counts as long as it does."""

    def __init__(self, service: Service, events: AsyncIterator[bytes]) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}  # proxies pass it on at once
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._service = service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI."""
        self._service.streams += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._service.streams -= 1


def check_room(service: Service) -> None:
    """Refuse one stream too many."""
    if service.streams >= service.limits.streams:
        why = f"{service.streams} streams are open, at most {service.limits.streams} may be"
        raise Problem(429, "too_many_streams", why, retry_after=5.0)


class _Pace:
    """When a stream looks again, and when it says that it is alive."""

    def __init__(self, service: Service) -> None:
        self.service, self.quiet, self.spent = service, 0.0, 0.0

    @contextmanager
    def working(self) -> Iterator[None]:
        """What is done inside counts as spent; nothing inside waits, or the thread would work for others."""
        began = time.thread_time()
        yield
        self.spent += time.thread_time() - began

    def alive(self, news: bool) -> bool:
        """Is it time to say that there is no news? `told` says that there was some just now."""
        if news or self.quiet < LONGEST:
            self.quiet = 0.0 if news else self.quiet
            return False
        self.quiet = 0.0
        return True

    async def ends(self) -> bool:
        """Wait until the next look; is the service about to stop?"""
        pause, self.spent = _pause(self.service, self.spent), 0.0
        self.quiet += pause
        try:
            await asyncio.wait_for(self.service.ending.wait(), pause)
        except TimeoutError:
            return False
        return True


async def policy_events(service: Service, name: str, may: May) -> AsyncIterator[bytes]:
    """`graph` once, `policy` whenever it has moved on, `alive` where it does not; `gone` at its end."""
    stand: tuple[int, int] | None = None  # which policy of this name, and how far
    pace = _Pace(service)
    while may():
        news = b""
        try:
            served = service.policies.served.get(name)
            if served is None or served.failed or stand != (served.row.id, served.seq):
                served = await service.policies.look(name)
                if stand is None or stand[0] != served.row.id:
                    yield _event("graph", await asyncio.to_thread(page.graph, served))
                stand = (served.row.id, served.seq)
                recent = await service.policies.reading(page.recent, service.store, served)
                with pace.working():
                    news = _event("policy", page.state(served, recent) | _health(service))
        except (Problem, OwnedElsewhere) as error:  # removed, or another process serves it: ask again
            gone = isinstance(error, Problem) and error.status == 404
            yield _event("gone", {"removed": gone, "message": str(error)})
            return
        if news:
            yield news
        if pace.alive(bool(news)):
            yield _event("alive", _health(service))
        if await pace.ends():
            return


async def list_events(
    service: Service, whose: str | None, may: May, ready: Callable[[str], Awaitable[Answer]]
) -> AsyncIterator[bytes]:
    """`policies`: first all of them, then those that have moved on or are gone; `alive` where none is."""
    stands: dict[str, tuple[int, int]] = {}  # of each policy, as it was told last
    names: list[str] = []
    due, first, pace = 0.0, True, _Pace(service)
    while may():
        now = time.monotonic()
        try:
            if now >= due:
                due = now + NAMES_EVERY
                names = [whose] if whose is not None else await service.policies.names("", MOST_LISTED + 1)
            changed, shown = [], names[:MOST_LISTED]
            for name in shown:
                if stands.get(name) != _stand(service, name, due) and (answer := await _asked(ready, name)):
                    with pace.working():
                        changed.append(answer())
                    stands[name] = _stand(service, name, due)
        except Problem:  # the store cannot be read just now, and requests are told so
            changed, shown = [], list(stands)
        gone = [name for name in stands if name not in shown]
        for name in gone:
            del stands[name]
        news = bool(changed or gone or first)
        if news:
            event_data = {
                "policies": changed,
                "gone": gone,
                "more": len(names) > MOST_LISTED,
                **_health(service),
            }
            with pace.working():
                event = _event("policies", event_data)
            yield event
            first = False
        if pace.alive(news):
            yield _event("alive", _health(service))
        if await pace.ends():
            return


# -- when ---------------------------------------------------------------------------------------------------


def _pause(service: Service, spent: float) -> float:
    return min(max(EVERY, spent * service.streams / SHARE), LONGEST)


async def until_ending(service: Service, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What another process streams, until this one is about to stop."""
    ending = asyncio.ensure_future(service.ending.wait())
    try:
        while True:
            piece = asyncio.ensure_future(anext(pieces, None))
            try:
                await asyncio.wait((piece, ending), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not piece.done():
                    piece.cancel()
                    await asyncio.wait((piece,))
            if piece.cancelled() or (data := piece.result()) is None:
                return
            yield data
    finally:
        ending.cancel()


def _stand(service: Service, name: str, due: float) -> tuple[int, int]:
    """Changes when the policy has: how far it is, or, where that is not known here, whenever names are looked up."""
    served = service.policies.served.get(name)
    return (-1, int(1000 * due)) if served is None else (served.row.id, served.seq)


async def _asked(ready: Callable[[str], Awaitable[Answer]], name: str) -> Answer | None:
    try:
        return await ready(name)
    except Problem:  # removed meanwhile, or its owner cannot be reached: the next look may find it
        return None


# -- what ---------------------------------------------------------------------------------------------------


def _event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), messages.encode(data))


def _health(service: Service) -> dict[str, Any]:
    return {"time": service.clock(), "problems": service.ailments()}
