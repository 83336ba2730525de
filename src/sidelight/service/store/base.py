"""What a store does, and which one an address means.

Both stores speak SQL, nearly the same (values are marked by ?): what differs is how they connect, lock and fail.

Threads: `open`, `close` and everything under "writing" is called by one thread at a time, which owns the writing
connection. What is under "reading" may be called by any thread.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sidelight.errors import InvalidOption, StoreError
from sidelight.service.events import ENDS, Event, Kind, PolicyRow, Snapshot, Write, read_decided

FORMAT = 1
"""Of the tables. Raise it with a migration."""

PAGE = 5_000
"""Events that are read at once: no reader holds on to the store for long."""

KEPT_SNAPSHOTS = 2
"""The last, and one before it in case it is damaged."""

FILE = "service.sqlite"
"""What the file of an embedded store is called unless told otherwise."""

INSERT = "INSERT INTO events (policy, seq, kind, decision, time, key, body, chk) VALUES"
ROW = "(?, ?, ?, ?, ?, ?, ?, ?)"

_ENDED = f"kind IN ({', '.join(str(int(kind)) for kind in ENDS)})"
"""An event that closes a decision; the index on these is used only where a query says the same."""


_POLICIES = "SELECT id, name, about, epoch FROM policies"


class TokenRow(NamedTuple):
    """A token, without what it takes to use it."""

    id: str
    digest: bytes  # SHA-256 of the secret part
    scopes: tuple[str, ...]
    policy: str | None
    note: str
    created: float


class OwnedElsewhere(StoreError):
    """Another process serves this policy, and lives at `address`."""

    def __init__(self, name: str, address: str) -> None:
        super().__init__(f"policy {name!r} is served by another process")
        self.address = address


class NameTaken(StoreError):
    """A policy of this name exists."""


class Store(ABC):
    """Events, snapshots, policies and tokens."""

    remote = False  # is a read worth a thread?
    failure: type[Exception]  # what the database raises

    def __init__(self, where: str) -> None:
        self.where = where  # for messages, without secrets
        self._writing: Any = None
        self._readers: list[Any] = []
        self._local = threading.local()  # the reading connection of each thread
        self._closed = self._reads_only = False

    # -- how it connects -------------------------------------------------------------------------------

    @abstractmethod
    def open(self) -> None:
        """Connect, lock, make or migrate the tables."""

    def open_to_read(self) -> None:
        """Connect for reading alone: nothing is locked, owned, made or migrated, and whoever serves it goes on."""
        self._reads_only = True
        try:
            rows = self._read("SELECT value FROM facts WHERE name = 'format'")
        except StoreError as error:
            if not self._is_foreign(error):
                raise
            rows = []
        if not rows:
            raise StoreError(f"{self.where} is no store of the service: it has none of its tables")
        self._check_format(rows[0][0])

    @abstractmethod
    def _is_foreign(self, error: StoreError) -> bool:
        """Is this what a query meets in a database that no service has made?"""

    def check_settled(self) -> None:
        """Raise if what was read may be no state that the store ever had."""
        return

    def close(self) -> None:
        """Let go of everything."""
        self._closed = True
        for connection in (*self._readers, self._writing):
            if connection is not None:
                with suppress(self.failure):
                    connection.close()
        self._readers, self._writing = [], None

    @abstractmethod
    def _connected(self, to_write: bool) -> Any:
        """A new connection."""

    def _is_lost(self, connection: Any) -> bool:
        """Has the connection ended without our doing?"""
        return False

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, on the reading connection of this thread; one that was lost is made once more."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            try:
                with self._understood():
                    return list(connection.execute(sql, values).fetchall())
            except StoreError:
                if not self._is_lost(connection):
                    raise
        if self._closed:
            raise StoreError(f"{self.where} is closed")
        connection = self._local.connection = self._connected(to_write=False)
        self._readers = [each for each in self._readers if not self._is_lost(each)] + [connection]
        with self._understood():
            return list(connection.execute(sql, values).fetchall())

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """A transaction on the writing connection: committed to the disk at the end, or rolled back."""

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """Errors of the database as ours."""
        try:
            yield
        except self.failure as error:
            raise self._explained(error) from error

    @abstractmethod
    def _explained(self, error: Any) -> StoreError:
        """An error of the database as ours, with what to do about it."""

    def own(self, row: PolicyRow) -> PolicyRow:
        """Take a policy over, or raise `OwnedElsewhere`; the row comes back with its epoch. Writing thread."""
        return row

    def _fence(self, cursor: Any, writes: Sequence[Write]) -> None:
        """Refuse to write for policies that another process has taken over."""
        return

    def free_bytes(self) -> int | None:
        """Room that is left for it; None where that is not known."""
        return None

    @property
    def details(self) -> dict[str, str]:
        """What `sidelight doctor` and the log say about it."""
        return {"where": self.where}

    # -- reading ---------------------------------------------------------------------------------------

    def rows(self) -> list[PolicyRow]:
        """All policies by name."""
        return [_policy(row) for row in self._read(f"{_POLICIES} ORDER BY name")]

    def names(self, after: str, limit: int) -> list[str]:
        """Names in order, from the one that follows `after`."""
        sql = "SELECT name FROM policies WHERE name > ? ORDER BY name LIMIT ?"
        return [name for (name,) in self._read(sql, (after, limit))]

    def count(self) -> int:
        """How many policies there are."""
        return int(self._read("SELECT COUNT(*) FROM policies")[0][0])

    def row(self, name: str) -> PolicyRow | None:
        """One policy."""
        rows = self._read(f"{_POLICIES} WHERE name = ?", (name,))
        return _policy(rows[0]) if rows else None

    def snapshots(self, policy: int) -> Iterator[Snapshot]:
        """The newest first; one that is damaged says so when it is used."""
        sql = "SELECT seq FROM snapshots WHERE policy = ? ORDER BY seq DESC"
        for (seq,) in self._read(sql, (policy,)):
            one = "SELECT chk, about, data FROM snapshots WHERE policy = ? AND seq = ?"
            for check, about, data in self._read(one, (policy, seq)):
                yield Snapshot(policy, seq, check, about, bytes(data))

    def events(self, policy: int, after: int = 0) -> Iterator[Event]:
        """In order, page by page: what is committed meanwhile is seen."""
        sql = (
            "SELECT seq, kind, decision, time, key, body, chk FROM events"
            f" WHERE policy = ? AND seq > ? ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._read(sql, (policy, after)):
            for seq, kind, decision, time, key, body, check in page:
                yield Event(policy, seq, kind, decision, time, _bytes(key), bytes(body), check)
            after = page[-1][0]
            if len(page) < PAGE:
                return

    def last(self, policy: int) -> int:
        """The number of the last event, 0 if there is none."""
        sql = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE policy = ?"
        return int(self._read(sql, (policy,))[0][0])

    def find_key(self, policy: int, key: bytes) -> list[tuple[int, bytes]]:
        """(decision, body) of the decisions that were made for a request with this key, none if there was none."""
        sql = "SELECT seq, body FROM events WHERE policy = ? AND key = ?"
        rows = self._read(sql, (policy, key))
        if not rows:
            return []
        seq, count = rows[0][0], read_decided(bytes(rows[0][1])).wanted
        sql = "SELECT decision, body FROM events WHERE policy = ? AND seq >= ? AND seq < ? ORDER BY seq"
        return [(decision, bytes(body)) for decision, body in self._read(sql, (policy, seq, seq + count))]

    def find_ends(self, policy: int, decisions: Sequence[int]) -> dict[int, tuple[int, bytes]]:
        """(kind, body) of what closed each of these decisions, of those that are closed."""
        if not decisions:
            return {}
        marks = ", ".join("?" * len(decisions))
        where = f"policy = ? AND decision IN ({marks}) AND {_ENDED}"
        rows = self._read(f"SELECT decision, kind, body FROM events WHERE {where}", (policy, *decisions))
        return {decision: (kind, bytes(body)) for decision, kind, body in rows}

    def history(self, policy: int) -> Iterator[list[tuple[int, bytes, bytes, float]]]:
        """Pages of (decision, its body, body and time of its answer), of answered ones in the order of rounds."""
        sql = (
            "SELECT d.seq, d.decision, d.body, o.body, o.time FROM events d JOIN events o"
            f" ON o.policy = d.policy AND o.decision = d.decision AND o.{_ENDED} AND o.kind = {Kind.OBSERVED:d}"
            f" WHERE d.policy = ? AND d.kind = {Kind.DECIDED:d} AND d.seq > ? ORDER BY d.seq LIMIT {PAGE}"
        )
        after = 0
        while page := self._read(sql, (policy, after)):
            yield [(decision, bytes(body), bytes(told), time) for _, decision, body, told, time in page]
            after = page[-1][0]

    def tokens(self) -> list[TokenRow]:
        """All tokens, the oldest first."""
        sql = "SELECT id, digest, scopes, policy, note, created FROM tokens ORDER BY created, id"
        return [
            TokenRow(name, bytes(digest), tuple(scopes.split()), policy, note, created)
            for name, digest, scopes, policy, note, created in self._read(sql)
        ]

    # -- writing ---------------------------------------------------------------------------------------

    def append(self, writes: Sequence[Write]) -> None:
        """All events and snapshots of all `writes`, in one transaction."""
        with self._transaction() as cursor:
            self._fence(cursor, writes)
            self._insert(cursor, [event for write in writes for event in write.events])
            for write in writes:
                if write.snapshot is not None:
                    self._insert_snapshot(cursor, write.snapshot)

    def create(
        self,
        name: str,
        about: Mapping[str, Any],
        snapshots: Iterable[Snapshot],
        events: Iterable[Event] = (),
    ) -> PolicyRow:
        """A new policy with its first snapshot, and with all its events where it comes from elsewhere."""
        with self._transaction() as cursor:
            cursor.execute("SELECT id FROM policies WHERE name = ?", (name,))
            if cursor.fetchone() is not None:
                raise NameTaken(f"there is a policy {name!r} already")
            sql = "INSERT INTO policies (name, about, epoch) VALUES (?, ?, 0) RETURNING id"
            cursor.execute(sql, (name, json.dumps(about)))
            number = int(cursor.fetchone()[0])
            for snapshot in snapshots:
                self._insert_snapshot(cursor, snapshot._replace(policy=number))
            page: list[Event] = []
            for event in events:
                page.append(event._replace(policy=number))
                if len(page) == PAGE:
                    self._insert(cursor, page)
                    page.clear()
            self._insert(cursor, page)
        return PolicyRow(number, name, about)

    def remove(self, row: PolicyRow) -> None:
        """Everything of one policy."""
        with self._transaction() as cursor:
            self._fence(cursor, [Write(row.id, row.epoch, ())])
            for table in ("events", "snapshots"):
                cursor.execute(f"DELETE FROM {table} WHERE policy = ?", (row.id,))
            cursor.execute("DELETE FROM policies WHERE id = ?", (row.id,))
            cursor.execute("DELETE FROM tokens WHERE policy = ?", (row.name,))

    def add_token(self, token: TokenRow) -> None:
        """A token, or the one of the same id anew."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM tokens WHERE id = ?", (token.id,))
            cursor.execute(
                "INSERT INTO tokens (id, digest, scopes, policy, note, created) VALUES (?, ?, ?, ?, ?, ?)",
                (token.id, token.digest, " ".join(token.scopes), token.policy, token.note, token.created),
            )

    def remove_token(self, name: str) -> None:
        """A token is good no longer."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM tokens WHERE id = ?", (name,))

    def probe(self) -> None:
        """Write more than most requests need, to see whether that works again; nothing of it stays."""
        with self._transaction() as cursor:
            cursor.execute("INSERT INTO facts (name, value) VALUES ('probe', ?)", ("." * (1 << 16),))
            cursor.execute("DELETE FROM facts WHERE name = 'probe'")

    # -- shared by both --------------------------------------------------------------------------------

    def _insert(self, cursor: Any, events: Sequence[Event]) -> None:
        if events:
            cursor.executemany(f"{INSERT} {ROW}", events)

    def _insert_snapshot(self, cursor: Any, snapshot: Snapshot) -> None:
        policy, seq, check, about, data = snapshot
        cursor.execute(
            "INSERT INTO snapshots (policy, seq, chk, about, data) VALUES (?, ?, ?, ?, ?)",
            (policy, seq, check, about, data),
        )
        older = (
            "DELETE FROM snapshots WHERE policy = ? AND seq > 0 AND seq NOT IN"
            f" (SELECT seq FROM snapshots WHERE policy = ? ORDER BY seq DESC LIMIT {KEPT_SNAPSHOTS})"
        )
        cursor.execute(older, (policy, policy))

    def _migrate(self, cursor: Any, types: Mapping[str, str]) -> None:
        """Make the tables, or bring those of an older version up to date."""
        for statement in schema(types):
            cursor.execute(statement)
        cursor.execute("SELECT value FROM facts WHERE name = 'format'")
        stored = cursor.fetchone()
        if stored is None:
            cursor.execute("INSERT INTO facts (name, value) VALUES ('format', ?)", (str(FORMAT),))
        else:
            self._check_format(stored[0])

    def _check_format(self, format: str) -> None:
        if format != str(FORMAT):
            raise StoreError(
                f"{self.where} has tables of format {format}, this version of Sidelight reads {FORMAT};"
                " use the version that wrote it, or a newer one"
            )


def schema(types: Mapping[str, str]) -> Iterator[str]:
    """The tables. `types` says how a store calls its numbers, reals, bytes and keys, in this order."""
    number, real, data, serial, clustered = types.values()
    yield "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
    yield (
        f"CREATE TABLE IF NOT EXISTS policies (id {serial}, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL,"
        f" epoch {number} NOT NULL, owner TEXT)"
    )
    yield (
        f"CREATE TABLE IF NOT EXISTS events (policy {number} NOT NULL, seq {number} NOT NULL, kind {number} NOT NULL,"
        f" decision {number} NOT NULL, time {real} NOT NULL, key {data}, body {data} NOT NULL, chk {number} NOT NULL,"
        f" PRIMARY KEY (policy, seq)){clustered}"
    )
    yield "CREATE UNIQUE INDEX IF NOT EXISTS events_key ON events (policy, key) WHERE key IS NOT NULL"
    yield f"CREATE UNIQUE INDEX IF NOT EXISTS events_end ON events (policy, decision) WHERE {_ENDED}"
    yield (
        f"CREATE TABLE IF NOT EXISTS snapshots (policy {number} NOT NULL, seq {number} NOT NULL,"
        f" chk {number} NOT NULL, about TEXT NOT NULL, data {data} NOT NULL, PRIMARY KEY (policy, seq))"
    )
    yield (
        f"CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, digest {data} NOT NULL, scopes TEXT NOT NULL,"
        f" policy TEXT, note TEXT NOT NULL, created {real} NOT NULL)"
    )


def _policy(row: tuple[Any, ...]) -> PolicyRow:
    number, name, about, epoch = row
    return PolicyRow(number, name, json.loads(about), epoch)


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


# -- addresses -----------------------------------------------------------------------------------------------


def default_path() -> Path:
    """Where data lie unless told otherwise: the user's folder for data of programs."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "sidelight" / FILE


def make_store(address: str | None, here: str = "") -> Store:
    """The store of an address: sqlite:///relative.db, sqlite:////absolute/path.db, postgresql://…, or a plain path.

    `here` is where other processes that share the store reach this one.
    """
    from sidelight.service.store.sqlite import SqliteStore

    if address is None:
        return SqliteStore(default_path())
    scheme = urlsplit(address).scheme if "://" in address else ""
    if scheme in ("postgresql", "postgres"):
        from sidelight.service.store.postgres import PostgresStore

        return PostgresStore(address, here)
    if scheme == "sqlite":
        path = unquote(address.removeprefix("sqlite://"))
        if not path.startswith("/") or len(path) < 2:
            raise InvalidOption(
                f"{address!r} names no file: write sqlite:///service.db or sqlite:////data/service.db"
            )
        return SqliteStore(path[1:])
    if scheme or not address:
        raise InvalidOption(f"{address!r} is no store: use sqlite:///FILE or postgresql://USER@HOST/DATABASE")
    return SqliteStore(address)


@contextmanager
def reading(address: str) -> Iterator[Store]:
    """The store of an address to be read alone, also while a service runs on it."""
    store = make_store(address)
    try:
        store.open_to_read()
        try:
            yield store
        except StoreError:
            store.check_settled()  # which says more than what it has led to
            raise
        store.check_settled()
    finally:
        store.close()
