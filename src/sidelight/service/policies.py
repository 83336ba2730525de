"""All policies of one process: loaded when they are asked for, changed in order, answered once on the disk."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import IO, Any, TypeVar

import numpy as np

from sidelight.errors import SavedStateError, SidelightError, StoreError
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.policy import Policy
from sidelight.service import messages
from sidelight.service.access import Limits, check_size
from sidelight.service.events import Damaged, PolicyRow
from sidelight.service.exports import WRONG, read_export
from sidelight.service.logs import failed, note
from sidelight.service.messages import Problem, outcome_unknown, store_failed, too_large, unknown_policy
from sidelight.service.served import SNAPSHOT_EVERY, Served, restored, warm
from sidelight.service.store.base import NameTaken, OwnedElsewhere, Store
from sidelight.service.writer import Writer

Result = TypeVar("Result")

PATIENCE = 30.0
"""Seconds for which a request waits for the store at most."""

OWNER_KNOWN = 1.0
"""Seconds for which the owner of a policy is believed to be the same."""


class Policies:
    """The applier: requests change policies here, one after another, in the thread of the event loop."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        limits: Limits,
        *,
        clock: Callable[[], float] = time.time,
        snapshot_every: int = SNAPSHOT_EVERY,
    ) -> None:
        self.store, self.writer, self.limits, self.clock = store, writer, limits, clock
        self.snapshot_every = snapshot_every
        self.served: dict[str, Served] = {}
        self.count = 0  # of policies in the store, as far as is known
        self._loading: dict[str, asyncio.Future[Served]] = {}
        self._left: dict[str, Served] = {}  # dropped: what they wrote must settle before they load again
        self._creating: dict[str, tuple[str | None, asyncio.Event]] = {}  # by whose key, and when it is over
        self._bringing = asyncio.Lock()  # snapshots of a policy are large, of a few policies too large
        self._elsewhere: dict[str, tuple[str, float]] = {}  # owners, and until when that is believed
        self._workers = ThreadPoolExecutor(2, "sidelight-load")
        self._planner = ThreadPoolExecutor(1, "sidelight-plan")

    # -- finding ---------------------------------------------------------------------------------------

    async def get(self, name: str) -> Served:
        """The policy of this name, from memory or from the store."""
        served = self.served.get(name)
        if served is not None and not served.failed:
            return served
        address, until = self._elsewhere.get(name, ("", 0.0))
        if time.monotonic() < until:
            raise OwnedElsewhere(name, address)
        loading = self._loading.get(name)
        if loading is None:
            loading = self._loading[name] = asyncio.ensure_future(self._loaded(name))
            loading.add_done_callback(partial(self._loading_over, name))
        return await asyncio.shield(loading)

    def _loading_over(self, name: str, loading: asyncio.Future[Served]) -> None:
        self._loading.pop(name, None)
        if not loading.cancelled():
            loading.exception()  # nobody may be waiting for it, and that is no mistake

    async def _loaded(self, name: str) -> Served:
        before = self.served.pop(name, None) or self._left.pop(name, None)
        if before is not None and before.stored is not None:
            await asyncio.wait([before.stored])
        try:
            row = await self.reading(self.store.row, name)
            if row is None:
                raise unknown_policy(name)
            row = await self.writer.run(self.store.own, row)
            served = await asyncio.get_running_loop().run_in_executor(self._workers, self._restored, row)
        except OwnedElsewhere as elsewhere:
            self._elsewhere[name] = (elsewhere.address, time.monotonic() + OWNER_KNOWN)
            raise
        except (StoreError, SavedStateError) as error:
            failed("a policy cannot be loaded", error, policy=name)
            if isinstance(error, Damaged | SavedStateError):
                raise store_failed(Damaged(str(error))) from error
            raise Problem(503, "store_failed", str(error), retry_after=5.0) from error
        self.served[name] = served
        return served

    def _restored(self, row: PolicyRow) -> Served:
        served = restored(self.store, row, self.limits, self.snapshot_every)
        warm(served.policy)
        return served

    def knows(self, name: str | None) -> bool:
        """Is it served here, or known who serves it? There is nothing to know of all policies together."""
        until = self._elsewhere.get(name or "", ("", 0.0))[1]
        return name is None or name in self.served or time.monotonic() < until

    def owner_lost(self, address: str) -> None:
        """A process that owns policies does not answer: ask the store again."""
        self._elsewhere = {name: known for name, known in self._elsewhere.items() if known[0] != address}

    def drop(self, served: Served) -> None:
        """Forget a policy in memory, for good: the next request loads it from the store."""
        served.failed = True
        if self.served.get(served.row.name) is served:
            del self.served[served.row.name]
            self._left[served.row.name] = served

    async def reading(self, read: Callable[..., Result], *arguments: Any) -> Result:
        """A read of the store: at once where that takes microseconds, else in a thread."""
        try:
            if not self.store.remote:
                return read(*arguments)
            async with asyncio.timeout(PATIENCE):
                return await asyncio.get_running_loop().run_in_executor(self._workers, read, *arguments)
        except TimeoutError:
            raise store_failed("the store does not answer") from None
        except StoreError as error:
            raise store_failed(error) from error

    async def writing(self, write: Callable[..., Any], *arguments: Any) -> Any:
        """What the writer does in a transaction of its own."""
        try:
            return await self.writer.run(write, *arguments)
        except NameTaken as error:
            raise Problem(409, "name_taken", str(error)) from None
        except StoreError as error:
            raise store_failed(error) from error

    # -- changing --------------------------------------------------------------------------------------

    def _apply(self, served: Served, action: Callable[..., Result], *arguments: Any) -> Result:
        """Change a policy and hand what follows to the writer."""
        if served.removed:
            raise unknown_policy(served.row.name)
        if served.failed:
            raise store_failed("the policy is being loaded again")
        if self.writer.depth > self.limits.waiting:
            why = f"{self.writer.depth:,} requests wait for the disk already"
            raise Problem(429, "busy", why, retry_after=1.0)
        try:
            return action(*arguments)
        except Problem:
            raise
        except BaseException:
            self.drop(served)  # it may have changed in part
            served.outgoing.clear()
            raise
        finally:
            self._write(served)

    def _write(self, served: Served) -> None:
        write = served.taken()
        if write is not None:
            served.stored = self.writer.submit(write, served)

    async def _changed(self, served: Served, action: Callable[..., Result], *arguments: Any) -> Result:
        """Change a policy, and wait until that is on the disk."""
        result = self._apply(served, action, *arguments)
        await self.settled(served)
        return result

    async def settled(self, served: Served) -> None:
        """Wait until everything that was applied to a policy so far is on the disk."""
        stored = served.stored
        if stored is None or (stored.done() and stored.exception() is None):
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.shield(stored)  # others wait for it too, whatever becomes of this request
        except TimeoutError:
            raise outcome_unknown("the store does not answer") from None
        except StoreError as error:
            self.drop(served)
            raise store_failed(error) from error

    async def look(self, name: str) -> Served:
        """A policy to be read: what is due has expired, and everything it shows is on the disk."""
        served = await self.get(name)
        await self._changed(served, served.expire, self.clock())
        return served

    async def decide(self, name: str, count: int, key: str | None) -> list[messages.Decision]:
        """Make decisions; the same key gives the same ones again."""
        if count > self.limits.count:
            raise too_large(f"at most {self.limits.count:,} decisions a request, got {count:,}")
        served = await self.get(name)
        if key is None:
            return await self._changed(served, served.decide, count, None, self.clock())
        digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
        first = served.requests.get(digest)
        again = self._decide_once(served, count, digest) if first is None else asyncio.shield(first)
        decisions = await again
        if len(decisions) != count:
            why = f"this Idempotency-Key was used for {len(decisions)} decisions before, not {count}; use another"
            raise Problem(422, "key_reused", why)
        return decisions

    async def _decide_once(self, served: Served, count: int, key: bytes) -> list[messages.Decision]:
        """Look a key up and decide if it is new; whoever comes with the same key meanwhile waits for the answer."""
        answer = served.requests[key] = asyncio.get_running_loop().create_future()
        try:
            stored = await self.reading(self.store.find_key, served.row.id, key)
            if stored:
                decisions = served.decided_before(stored)
            else:
                decisions = await self._changed(served, served.decide, count, key, self.clock())
            answer.set_result(decisions)
            return decisions
        except BaseException as error:
            ended = not isinstance(error, Exception)  # the task was cancelled, not refused
            answer.set_exception(store_failed("the request was broken off") if ended else error)
            answer.exception()  # nobody may be waiting, and that is no mistake
            raise
        finally:
            del served.requests[key]

    async def observe(self, name: str, items: list[messages.Observation]) -> messages.Observed:
        """Learn from answers, all or none."""
        if len(items) > self.limits.count:
            raise too_large(f"at most {self.limits.count:,} observations a request, got {len(items):,}")
        served, now = await self.get(name), self.clock()
        ends = await self._ends(served, [item.decision for item in items], now)
        return await self._changed(served, served.observe, items, ends, now)

    async def cancel(self, name: str, decision: int) -> messages.Cancelled:
        """Give a decision up."""
        served, now = await self.get(name), self.clock()
        ends = await self._ends(served, [decision], now)
        return await self._changed(served, served.cancel, decision, ends, now)

    async def _ends(self, served: Served, numbers: list[int], now: float) -> dict[int, tuple[int, bytes]]:
        """How those of the decisions have ended that are closed, at `now` or before: it is on the disk."""
        self._apply(served, served.expire, now)
        ends: dict[int, tuple[int, bytes]] = {}
        while unknown := [number for number in served.closed(numbers) if number not in ends]:
            await self.settled(served)
            ends |= await self.reading(self.store.find_ends, served.row.id, unknown)
            if served.removed:
                raise unknown_policy(served.row.name)
            if missing := [number for number in unknown if number not in ends]:
                why = f"the log is damaged: how decision {missing[0]} has ended is missing"
                raise store_failed(Damaged(why))
        return ends

    # -- making and removing ---------------------------------------------------------------------------

    async def names(self, after: str, limit: int) -> list[str]:
        """Names of policies in order, a page of them."""
        return await self.reading(self.store.names, after, limit)

    async def create(self, request: messages.NewPolicy, key: str | None) -> Served:
        """Plan and store a new policy."""
        name = request.name
        digest = None if key is None else hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        async with self.reserved(name, digest):
            before = await self.reading(self.store.row, name)
            if before is not None:
                if digest is not None and before.about.get("key") == digest:
                    return await self.get(name)
                raise Problem(409, "name_taken", f"there is a policy {name!r} already")
            loop = asyncio.get_running_loop()
            policy = await loop.run_in_executor(self._planner, make_policy, request, self.limits)
            about = {
                "created": self.clock(),
                "expires": request.expires,
                "arms": policy.graph.n_arms,
                "horizon": request.horizon,
                "realization": policy.plan.realization,
                "key": digest,
            }
            served = Served(PolicyRow(0, name, about), policy, self.limits, self.snapshot_every)
            row = await self.writing(self.store.create, name, about, [served.snapshot_now()])
            served.row = row
            if not self.store.remote:  # where others share it, it belongs to whoever is asked for it first
                self.served[name] = served
            self.count += 1
        note("policy created", policy=name, arms=policy.graph.n_arms)
        return served

    async def bring(self, name: str, file: IO[bytes]) -> Served:
        """Store what another service has exported, as a new policy."""
        async with self._bringing, self.reserved(name):
            brought = await asyncio.to_thread(read_export, file, self.limits)
            last = brought.snapshots[-1]
            row = PolicyRow(0, name, brought.about)
            try:  # whether it can be played on is seen before it is stored
                events = brought.events(last.seq)
                served = await asyncio.to_thread(Served.restored, row, last, events, self.limits)
            except WRONG as error:
                raise Problem(422, "invalid_export", f"this policy cannot be played on: {error}") from None
            await self.writing(self.store.create, name, brought.about, brought.snapshots, brought.events())
            self.count += 1
        return served if self.store.remote else await self.get(name)

    @asynccontextmanager
    async def reserved(self, name: str, key: str | None = None) -> AsyncIterator[None]:
        """While a policy of this name is being made or removed, nobody else does; the same request again waits."""
        while key is not None and self._creating.get(name, (None,))[0] == key:
            await self._creating[name][1].wait()
        if self.count + len(self._creating) >= self.limits.policies:
            raise Problem(429, "too_many_policies", f"at most {self.limits.policies:,} policies are allowed")
        if name in self._creating:
            raise Problem(409, "being_made", f"policy {name!r} is being made", retry_after=1.0)
        over = asyncio.Event()
        self._creating[name] = (key, over)
        try:
            yield
        finally:
            del self._creating[name]
            over.set()

    async def remove(self, name: str) -> None:
        """Delete a policy and all its events, also one that is damaged."""
        try:
            served = await self.get(name)
        except Problem as problem:
            row = await self.reading(self.store.ruin, name)
            if problem.code != "damaged" or row is None:
                raise
            await self.writing(self.store.remove, await self.writer.run(self.store.own, row))
            self.count -= 1
            return
        async with self.reserved(name):
            await self.settled(served)
            served.failed = served.removed = True  # nothing of it is written any more
            self.served.pop(name, None)
            try:
                await self.writing(self.store.remove, served.row)
            except Problem:
                served.removed = False
                raise
            self.count -= 1
        note("policy removed", policy=name)

    async def watch(self) -> None:
        """Load, one by one, the policies in which something may expire: a rule that nobody waits for."""
        for name in await self.reading(self.store.names):
            with contextlib.suppress(SidelightError):
                row = await self.reading(self.store.row, name)
                if row is not None and row.about.get("expires") is not None and name not in self.served:
                    await self.get(name)
                    await asyncio.sleep(0.1)
            await asyncio.sleep(0)

    async def settle(self) -> None:
        """Read back, now that the store can be written again, what was dropped when that failed."""
        for name in list(self._left):
            with contextlib.suppress(SidelightError):
                await self.get(name)

    # -- keeping in order ------------------------------------------------------------------------------

    def sweep(self) -> int:
        """Expire what is due in every loaded policy; how many decisions that were."""
        now, total = self.clock(), 0
        for served in list(self.served.values()):
            if served.expires is not None and served.open and not served.failed:
                try:
                    total += self._apply(served, served.expire, now)
                except SidelightError as error:
                    failed("expiry failed", error, policy=served.row.name)
        return total

    async def close(self) -> None:
        """Save what has changed since its last snapshot, so that the next start, of any version, replays nothing."""
        changed = [each for each in self.served.values() if not each.failed and each.seq > each.snapshot_seq]
        for served in changed:
            served.save()
            self._write(served)
            await asyncio.sleep(0)
        for served in changed:
            try:
                await self.settled(served)
            except SidelightError as error:  # its events are on the disk all the same
                failed("no last snapshot", error, policy=served.row.name)
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._planner.shutdown(wait=False, cancel_futures=True)


# -- planning ------------------------------------------------------------------------------------------------


def make_policy(request: messages.NewPolicy, limits: Limits) -> Policy:
    """The policy that is asked for, or a `Problem` that says why there is none. May take seconds."""
    if request.rewards is not None and request.losses is not None:
        why = "`rewards` and `losses` are both given; a policy is told one of them"
        raise Problem(422, "invalid_policy", why)
    try:
        graph = _graph(request.graph, limits)
        policy = plan(graph, horizon=request.horizon).policy(
            request.seed, losses=request.losses, rewards=request.rewards
        )
        warm(policy)
    except SidelightError as error:
        raise error if isinstance(error, Problem) else Problem(422, "invalid_policy", str(error)) from None
    except MemoryError:
        raise too_large("planning for this graph takes more memory than there is") from None
    return policy


def _graph(wanted: messages.Graph | str, limits: Limits) -> FeedbackGraph:
    if isinstance(wanted, str):
        check_size(repr(wanted), *families.size(wanted), limits)
        graph = families.parse(wanted)
        check_size(repr(wanted), graph.n_arms, graph.n_edges, limits)  # random ones may have more
        return graph
    check_size("the graph", wanted.n, len(wanted.edges), limits)
    bad = [edge for edge in wanted.edges if not (0 <= edge[0] < wanted.n and 0 <= edge[1] < wanted.n)]
    if bad:
        why = f"edges join arms 0..{wanted.n - 1}, got {list(bad[0])!r:.80} ({len(bad)} such edges)"
        raise Problem(422, "invalid_policy", why)
    edges = np.array(wanted.edges, dtype=np.int64).reshape(-1, 2)
    return FeedbackGraph.from_edges(wanted.n, edges, labels=wanted.labels, probabilities=wanted.probabilities)
