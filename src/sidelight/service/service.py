"""One running service: a store, its writer, the policies, the tokens, and what goes on beside requests."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
import warnings
from collections.abc import Callable

from sidelight.errors import PastHorizon
from sidelight.service.access import MEBIBYTE, Caller, Limits, Rates, Tokens, new_token
from sidelight.service.logs import note
from sidelight.service.messages import Problem
from sidelight.service.metrics import Metrics
from sidelight.service.policies import Policies
from sidelight.service.served import SNAPSHOT_EVERY
from sidelight.service.store.base import Store, TokenRow
from sidelight.service.writer import MOST_WRITES, Writer

STUCK = 10.0
"""Seconds that a commit may take before the service says that it is not well."""

SCARCE = 32 * MEBIBYTE
"""Less room than this on the disk is as good as none."""

FIRST_ADMIN = "the first token, made when the store was"


class Service:
    """Everything but HTTP."""

    def __init__(
        self,
        store: Store,
        limits: Limits | None = None,
        *,
        environment: str | None = None,
        clock: Callable[[], float] = time.time,
        snapshot_every: int = SNAPSHOT_EVERY,
        most_writes: int = MOST_WRITES,
    ) -> None:
        self.store, self.limits, self.clock = store, limits or Limits(), clock
        self.writer = Writer(store, most_writes)
        self.policies = Policies(store, self.writer, self.limits, clock=clock, snapshot_every=snapshot_every)
        self.metrics = Metrics()
        self.rates, self.failures = Rates(self.limits.rate), Rates(self.limits.failures)
        self.tokens = Tokens([])
        self._changing_tokens = asyncio.Lock()  # what was read before a change is no news after it
        self.admin_token: str | None = None  # made at the first start, to be shown once
        self.ready = False
        self.streams = 0  # how many watch
        self.making = asyncio.Semaphore(self.limits.making)  # who may hold a large body in memory
        self.ending = asyncio.Event()  # they are to end: the service is about to stop
        self.instance = secrets.token_hex(4)
        self._unread = ""  # why the store could not be read last
        self._environment = environment
        self._beside: list[asyncio.Task[None]] = []

    # -- from start to stop ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the store and begin; raises `StoreError` if it cannot be used."""
        warnings.simplefilter("ignore", PastHorizon)  # answers say the horizon and the round
        await asyncio.to_thread(self.store.open)
        self.writer.start()
        rows = await asyncio.to_thread(self.store.tokens)
        self.tokens = Tokens(rows, self._environment)
        if not rows and self._environment is None:
            self.admin_token = await self.add_admin_token(FIRST_ADMIN)
        self.policies.count = await asyncio.to_thread(self.store.count)
        beside = (self._sweep(), self._refresh(), self.policies.watch())
        self._beside = [asyncio.create_task(each) for each in beside]
        self.ready = True
        note("started", **self.store.details, policies=self.policies.count)

    async def stop(self) -> None:
        """Answer what waits, save what has changed, and let go of the store."""
        self.ready = False
        self.ending.set()
        for task in self._beside:
            task.cancel()
        await self.policies.close()
        await self.writer.stop()
        await asyncio.to_thread(self.store.close)
        note("stopped", events=self.writer.written, commits=self.writer.commits)

    # -- tokens ----------------------------------------------------------------------------------------

    async def add_token(self, scopes: list[str], policy: str | None, note: str) -> tuple[TokenRow, str]:
        """A new token as it is stored, and what it is shown as, once."""
        if len(self.tokens.rows) >= self.limits.tokens:
            raise Problem(429, "too_many_tokens", f"at most {self.limits.tokens:,} tokens are allowed")
        row, token = new_token(scopes, policy, note, self.clock())
        async with self._changing_tokens:
            await self.policies.writing(self.store.add_token, row)
            self.tokens.rows[row.id] = row
        return row, token

    async def add_admin_token(self, note: str) -> str:
        """A token that may do everything."""
        return (await self.add_token(["admin"], None, note))[1]

    async def remove_token(self, row: TokenRow) -> None:
        """The token is good no longer."""
        async with self._changing_tokens:
            await self.policies.writing(self.store.remove_token, row.id)
            self.tokens.rows.pop(row.id, None)

    async def remove_policy(self, name: str) -> None:
        """Delete a policy, all its events and its tokens: another policy of this name is not theirs."""
        async with self._changing_tokens:
            await self.policies.remove(name)
            self.tokens.rows = {key: row for key, row in self.tokens.rows.items() if row.policy != name}

    async def read_tokens(self) -> None:
        """Those that another process has made or revoked."""
        async with self._changing_tokens:
            rows = await self.policies.reading(self.store.tokens)
            self.tokens.rows = {row.id: row for row in rows}

    async def caller(self, header: str | None) -> Caller | None:
        """Who sends this `Authorization` header; None if it is nobody.

        Another process may have removed the policy that a token is for, and made one of the same name. Whoever serves
        the policy has asked the store since.
        """
        caller = self.tokens.caller(header)
        if caller is None or not self.store.remote or self.policies.knows(caller.policy):
            return caller
        await self.read_tokens()
        return self.tokens.caller(header)

    # -- beside requests -------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Once a second: cancel what has expired, and see whether a disk that failed works again."""
        while True:
            await asyncio.sleep(1.0)
            with contextlib.suppress(Exception):
                self.policies.sweep()
                if self.writer.failing and self.writer.depth == 0:
                    await self.writer.run(self.store.probe)
                    self.writer.failing = ""
                await self.policies.settle()

    async def _refresh(self) -> None:
        """Every two seconds: tokens, which also tells whether the store can be reached."""
        while self.store.remote:
            await asyncio.sleep(2.0)
            try:
                await self.read_tokens()
                self._unread = ""
            except Problem as problem:
                self._unread = str(problem.__cause__ or problem)

    # -- health ----------------------------------------------------------------------------------------

    def ailments(self) -> list[str]:
        """What is wrong; nothing if all is well."""
        problems = []
        if not self.writer.alive:
            problems.append("the writer has ended")
        if self.writer.stuck_for > STUCK:
            problems.append(f"the writer has been busy with one commit for {self.writer.stuck_for:.0f} s")
        if self.writer.failing:
            problems.append(f"the last commit failed: {self.writer.failing}")
        if self._unread:
            problems.append(f"the store cannot be read: {self._unread}")
        try:
            free = self.store.free_bytes()
        except OSError as error:
            problems.append(f"the disk cannot be asked: {error.strerror or error}")
        else:
            if free is not None and free < SCARCE:
                problems.append(f"the disk is full: {free // MEBIBYTE} MiB are left")
        return problems


def environment_token() -> str | None:
    """SIDELIGHT_ADMIN_TOKEN, None where it is not set."""
    return os.environ.get("SIDELIGHT_ADMIN_TOKEN") or None
