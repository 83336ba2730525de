"""Policies as they run, for whoever watches: streams of server-sent events.

A stream looks four times a second whether what it shows has moved on, and tells it once, however many decisions that
were: everything it tells is on the disk. Requests know nothing of it, so where nobody watches nothing is paid for.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
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
        raise Problem(
            429,
            "too_many_streams",
            f"{service.streams} streams are open, at most {service.limits.streams} may be",
            retry_after=5.0,
        )


# -- what is told -------------------------------------------------------------------------------------------


class Look(ABC):
    """What a stream shows, looked at again and again."""

    over = False  # there is nothing more to tell

    def __init__(self, service: Service) -> None:
        self.service = service
        self.spent = 0.0  # seconds of the processor for what the last look has found

    @abstractmethod
    async def news(self) -> list[bytes]:
        """The events since the last look."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the time that is spent in here, where nothing waits: this thread also works for others."""
        began = time.thread_time()
        yield
        self.spent += time.thread_time() - began

    def health(self) -> dict[str, Any]:
        """Of the service, which every event tells."""
        return {"time": self.service.clock(), "problems": self.service.ailments()}


class OnePolicy(Look):
    """`graph` once, `policy` whenever it has moved on, `gone` at its end."""

    def __init__(self, service: Service, name: str) -> None:
        super().__init__(service)
        self.name = name
        self.told: tuple[int, int] | None = None  # which policy of this name, and how far

    async def news(self) -> list[bytes]:
        """What has happened to it."""
        policies, found = self.service.policies, []
        served = policies.served.get(self.name)
        if served is not None and not served.failed and self.told == (served.row.id, served.seq):
            return []
        try:
            served = await policies.look(self.name)
            if self.told is None or self.told[0] != served.row.id:
                found.append(_event("graph", await asyncio.to_thread(page.graph, served)))
            self.told = (served.row.id, served.seq)
            recent = await policies.reading(page.recent, self.service.store, served)
            with self.working():
                found.append(_event("policy", page.state(served, recent) | self.health()))
        except (Problem, OwnedElsewhere) as error:  # removed, or another process serves it: ask again
            removed = isinstance(error, Problem) and error.status == 404
            found = [_event("gone", {"removed": removed, "message": str(error)})]
            self.over = True
        return found


class AllPolicies(Look):
    """`policies`: first all of them, or the one that is `whose`, then those that have moved on or are gone."""

    def __init__(
        self, service: Service, whose: str | None, ready: Callable[[str], Awaitable[Answer]]
    ) -> None:
        super().__init__(service)
        self.whose, self.ready = whose, ready
        self.told: dict[str, tuple[int, int]] = {}
        self.names: list[str] = []
        self.due = 0.0  # when names are to be looked up
        self.first = True

    async def news(self) -> list[bytes]:
        """What is new, has moved on or is gone."""
        changed: list[messages.PolicyAnswer] = []
        shown = list(self.told)
        try:
            await self._look_up_names()
            shown = self.names[:MOST_LISTED]
            for name in shown:
                if self.told.get(name) != self._stand(name) and (answer := await self._answer(name)):
                    with self.working():
                        changed.append(answer())
                    self.told[name] = self._stand(name)
        except Problem:  # the store cannot be read just now, and requests are told so
            shown = list(self.told)
        gone = [name for name in self.told if name not in shown]
        for name in gone:
            del self.told[name]
        if not (changed or gone or self.first):
            return []
        self.first = False
        more = len(self.names) > MOST_LISTED
        with self.working():
            return [_event("policies", {"policies": changed, "gone": gone, "more": more, **self.health()})]

    async def _look_up_names(self) -> None:
        now = time.monotonic()
        if now >= self.due:
            self.due = now + NAMES_EVERY
            whose, names = self.whose, self.service.policies.names
            self.names = [whose] if whose is not None else await names("", MOST_LISTED + 1)

    def _stand(self, name: str) -> tuple[int, int]:
        """Changes when the policy has: how far it is, or, where that is not known here, when names are looked up."""
        served = self.service.policies.served.get(name)
        return (-1, int(1000 * self.due)) if served is None else (served.row.id, served.seq)

    async def _answer(self, name: str) -> Answer | None:
        try:
            return await self.ready(name)
        except Problem:  # removed meanwhile, or its owner cannot be reached: the next look may find it
            return None


def _event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), messages.encode(data))


# -- when it is told ----------------------------------------------------------------------------------------


async def events(look: Look, may: May) -> AsyncIterator[bytes]:
    """The news of one look after another, and `alive` where there are none, as long as the caller may read them."""
    quiet = 0.0
    while may():
        look.spent = 0.0
        news = await look.news()
        if not news and quiet >= LONGEST:
            news = [_event("alive", look.health())]
        if news:
            quiet = 0.0
        for each in news:
            yield each
        pause = _pause(look.service, look.spent)
        quiet += pause
        if look.over or await _ends(look.service, pause):
            return


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
            if piece.cancelled() or (found := piece.result()) is None:
                return
            yield found
    finally:
        ending.cancel()


async def _ends(service: Service, seconds: float) -> bool:
    """Wait; is the service about to stop?"""
    try:
        await asyncio.wait_for(service.ending.wait(), seconds)
    except TimeoutError:
        return False
    return True
