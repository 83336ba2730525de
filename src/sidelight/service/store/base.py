"""What a store does, and which one an address means.

Both stores speak SQL, nearly the same (values are marked by ?): what differs is how they connect, lock and fail.

Threads: `open`, `close` and everything under "writing" is called by one thread at a time, which owns the writing
connection. What is under "reading" may be called by any thread.
"""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sidelight.errors import InvalidOption, StoreError
from sidelight.service.events import (
    ENDS,
    Damaged,
    Event,
    Kind,
    PolicyRow,
    Snapshot,
    Write,
    check_follows,
    read_decided,
    sealed,
    unsealed,
)

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
    failure: tuple[type[Exception], ...]  # what the database raises

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
                with suppress(*self.failure):
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

    def names(self, after: str = "", limit: int = 1 << 31) -> list[str]:
        """Names in order, from the one that follows `after`."""
        sql = "SELECT name FROM policies WHERE name > ? ORDER BY name LIMIT ?"
        return [str(name) for (name,) in self._read(sql, (after, limit))]

    def count(self) -> int:
        """How many policies there are."""
        return int(self._read("SELECT COUNT(*) FROM policies")[0][0])

    def row(self, name: str) -> PolicyRow | None:
        """One policy; raises `Damaged` if it is."""
        rows = self._read(f"{_POLICIES} WHERE name = ?", (name,))
        if not rows:
            return None
        row = self._sound(*rows[0])
        if row.name != name:
            raise Damaged(f"the list of policies is damaged: {name!r} leads to {row.name!r}")
        return row

    def _sound(self, number: int, name: str, about: str, epoch: int) -> PolicyRow:
        found = unsealed(about, f"policy {name!r}", str(name))
        if "created" not in found:
            raise Damaged(f"policy {name!r} is damaged: it does not say when it was made")
        return PolicyRow(number, name, found, epoch)

    def ruin(self, name: str) -> PolicyRow | None:
        """What it takes to remove a policy that may be damaged."""
        rows = self._read("SELECT id, epoch FROM policies WHERE name = ?", (name,))
        return PolicyRow(rows[0][0], name, {}, rows[0][1]) if rows else None

    def snapshots(self, policy: int) -> Iterator[Snapshot]:
        """The newest first; one that is damaged says so when it is used."""
        sql = "SELECT seq FROM snapshots WHERE policy = ? ORDER BY seq DESC"
        for (seq,) in self._read(sql, (policy,)):
            one = "SELECT chk, about, data FROM snapshots WHERE policy = ? AND seq = ?"
            for check, about, data in self._read(one, (policy, seq)):
                yield Snapshot(policy, seq, check, about, _bytes(data) or b"")

    def events(self, policy: int, after: int = 0, last: int | None = None) -> Iterator[Event]:
        """In order, page by page, up to `last`, or to the end: what is committed meanwhile is seen."""
        sql = f"SELECT {_columns('e')} FROM events e WHERE policy = ? AND seq > ? ORDER BY seq LIMIT {PAGE}"
        while page := self._read(sql, (policy, after)):
            for row in page:
                if after == last:
                    return
                event = _event(policy, row)
                check_follows(event, after + 1, row[-1] or 0)
                yield event
                after = event.seq
            if len(page) < PAGE:
                break
        if last is not None and after < last:
            raise Damaged(f"the log is damaged: it ends with event {after}, not {last}")

    def last(self, policy: int) -> int:
        """The number of the last event, 0 if there is none."""
        sql = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE policy = ?"
        return int(self._read(sql, (policy,))[0][0])

    def find_key(self, policy: int, key: bytes) -> list[tuple[int, bytes]]:
        """(decision, body) of the decisions that were made for a request with this key, none if there was none."""
        found = self._events(policy, "key = ?", key)
        if not found:
            return []
        seq, count = found[0].seq, read_decided(found[0].body).wanted
        made = self._events(policy, "seq >= ? AND seq < ? ORDER BY seq", seq, seq + count)
        if len(made) < count:
            raise Damaged(f"the log is damaged: {count} events that belong together are {len(made)}")
        return [(event.decision, event.body) for event in made]

    def find_ends(self, policy: int, decisions: Sequence[int]) -> dict[int, tuple[int, bytes]]:
        """(kind, body) of what closed each of these decisions, of those that are closed."""
        return {event.decision: (event.kind, event.body) for event in self._ends(policy, decisions)}

    def _ends(self, policy: int, decisions: Sequence[int]) -> list[Event]:
        marks = ", ".join("?" * len(decisions))
        return self._events(policy, f"decision IN ({marks}) AND {_ENDED}", *decisions) if decisions else []

    def _events(self, policy: int, where: str, *values: Any) -> list[Event]:
        """Some events, each as it was written."""
        sql = f"SELECT {_columns('e')} FROM events e WHERE policy = ? AND {where}"
        return [_intact(policy, row) for row in self._read(sql, (policy, *values))]

    def history(
        self, policy: int, last: int | None = None
    ) -> Iterator[list[tuple[int, bytes, bytes, float]]]:
        """Pages of (decision, its body, body and time of its answer), of answered ones in the order of rounds."""
        events = self.events(policy, last=last)
        while page := list(islice(events, PAGE)):
            made = {event.decision: event.body for event in page if event.kind == Kind.DECIDED}
            ends = {end.decision: end for end in self._ends(policy, list(made)) if end.kind == Kind.OBSERVED}
            answered = [(number, body, ends[number]) for number, body in made.items() if number in ends]
            if answered:  # a page of events may have no decision that was answered
                yield [(number, body, end.body, end.time) for number, body, end in answered]

    def tokens(self) -> list[TokenRow]:
        """All tokens, the oldest first."""
        sql = "SELECT id, digest, scopes, policy, note, created FROM tokens ORDER BY created, id"
        return [
            TokenRow(name, _bytes(digest) or b"", tuple(str(scopes).split()), policy, note, created)
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
            cursor.execute(sql, (name, sealed(about, name)))
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
            cursor.execute("DELETE FROM snapshots WHERE policy = ?", (row.id,))
            for seq in range(PAGE, self.last(row.id), PAGE) if self.remote else ():  # no statement takes long
                cursor.execute("DELETE FROM events WHERE policy = ? AND seq <= ?", (row.id, seq))
            cursor.execute("DELETE FROM events WHERE policy = ?", (row.id,))
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


def _columns(e: str) -> str:
    """Of an event, and the check of the one before it."""
    before = f"(SELECT b.chk FROM events b WHERE b.policy = {e}.policy AND b.seq = {e}.seq - 1)"
    return f"{e}.seq, {e}.kind, {e}.decision, {e}.time, {e}.key, {e}.body, {e}.chk, {before}"


def _event(policy: int, row: tuple[Any, ...]) -> Event:
    seq, kind, decision, time, key, body, check, _ = row
    return Event(policy, seq, kind, decision, time, _bytes(key) or None, _bytes(body) or b"", check)


def _intact(policy: int, row: tuple[Any, ...]) -> Event:
    event = _event(policy, row)
    check_follows(event, event.seq, row[-1] or 0)
    return event


def _bytes(value: Any) -> bytes | None:
    """What a column of bytes has; damage may have made something else of it."""
    return bytes(value) if isinstance(value, bytes | memoryview) else None


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
