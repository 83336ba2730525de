"""The embedded store: one SQLite file in WAL mode, one writing connection, every commit flushed to the disk.

One process serves one file; a lock beside it says so, which the system lets go of however that process ends. Only the
writing connection checkpoints, since nobody else commits.

Whoever only reads leaves no trace. Beside a service, or after one that was killed, there is a write-ahead log to read
with; where there is none, the file is read as one that nobody changes, since SQLite would else make a log.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sidelight.errors import StoreError
from sidelight.service.events import Event
from sidelight.service.store.base import Store

TYPES = {
    "number": "INTEGER",
    "real": "REAL",
    "data": "BLOB",
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "clustered": " WITHOUT ROWID",
}

ROWS = 64
"""Events of one statement: after each, the writer waits until the other threads let it go on."""

CHECKED_BYTES = 1 << 26
"""Files up to this size are checked page by page at every start; of larger ones, what is read is."""


class SqliteStore(Store):
    """Everything in one file, and beside it the write-ahead log and the lock."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.where = f"sqlite:///{self.path.as_posix()}"
        self._writing: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._local = threading.local()
        self._closed = False
        self._lock: Any = None
        self._reads_only = False
        self._settled: os.stat_result | None = None  # of a file that nobody was writing when it was opened

    # -- connections -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Lock the file, make the tables, and look whether it is in order."""
        from filelock import FileLock, Timeout

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                os.close(
                    os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
                )  # what is in there is nobody else's
            if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
                raise StoreError(
                    f"{self.path} is read-only: the service must be able to write it and its folder"
                )
            lock = FileLock(f"{self.path}.lock", thread_local=False)
            lock.acquire(timeout=0)
            self._lock = lock
        except Timeout:
            raise StoreError(
                f"{self.path} is in use by another service: stop that one, or name another --store"
            ) from None
        except OSError as error:
            raise StoreError(f"{self.path} cannot be used as a store: {error.strerror or error}") from error
        try:
            self._writing = self._connected()
            with self._transaction() as cursor:
                self._migrate(cursor, TYPES)
            if self.path.stat().st_size <= CHECKED_BYTES:
                self.check()
        except BaseException:
            self.close()
            raise

    def _connect_to_read(self) -> None:
        if not self.path.is_file():
            what = "is a folder" if self.path.is_dir() else "does not exist"
            raise StoreError(f"{self.path} {what}: name the file of a store, as `sidelight serve` prints it")
        self._reads_only = True
        if not self._log.exists():
            self._settled = self.path.stat()

    @property
    def _log(self) -> Path:
        return Path(f"{self.path}-wal")

    def _is_foreign(self, error: StoreError) -> bool:
        code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
        return code == sqlite3.SQLITE_NOTADB or "no such table" in str(error)

    def check_settled(self) -> None:
        """Raise if a service has begun to write a file that was taken for one that nobody changes."""
        if self._settled is None:
            return
        now, before = self.path.stat(), self._settled
        if self._log.exists() or (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            raise StoreError(f"a service was started on {self.path} while it was read: look again")

    def _connected(self) -> sqlite3.Connection:
        with self._understood():
            if self._reads_only:
                how = "mode=ro" if self._settled is None else "mode=ro&immutable=1"
                found = sqlite3.connect(
                    f"{self.path.as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False
                )
                found.execute("PRAGMA trusted_schema = OFF")
                return found
            made = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5.0)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "trusted_schema = OFF"):
                made.execute(f"PRAGMA {pragma}")
            return made

    def close(self) -> None:
        """Close every connection, which also moves the write-ahead log into the file, and let go of the lock."""
        self._closed = True
        for connection in (*self._readers, self._writing):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()
        self._readers, self._writing = [], None
        if self._lock is not None:
            self._lock.release()

    def check(self) -> None:
        """Look at every page; raises where one is damaged."""
        found = self._read("PRAGMA quick_check(3)")
        if found != [("ok",)]:
            raise self._damaged("; ".join(str(row[0]) for row in found))

    def _damaged(self, why: object) -> StoreError:
        return StoreError(
            f"{self.path} is damaged: {why}. Nothing was changed. Restore it from a backup, or keep this file and"
            " recover what can be read with `sqlite3 FILE .recover`"
        )

    # -- statements ------------------------------------------------------------------------------------

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self._closed:
                raise StoreError(f"{self.path} is closed")
            connection = self._local.connection = self._connected()
            connection.execute("PRAGMA query_only = ON")
            self._readers.append(connection)
        with self._understood():
            return connection.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        if self._writing is None:
            raise StoreError(f"{self.path} is closed")
        cursor = self._writing.cursor()
        with self._understood():
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self._writing.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        cursor.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _understood(self) -> Iterator[None]:
        """Errors of SQLite as ours, with what to do about them."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged(error) from error
            reasons = {
                sqlite3.SQLITE_FULL: "the disk is full",
                sqlite3.SQLITE_READONLY: "it is read-only",
                sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
                sqlite3.SQLITE_BUSY: "another program holds it locked",
                sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
            }
            raise StoreError(f"{self.path}: {reasons.get(code, 'the store failed')} ({error})") from error

    def _insert(self, cursor: Any, events: Sequence[Event]) -> None:
        for at in range(0, len(events), ROWS):
            rows = events[at : at + ROWS]
            cursor.execute(_inserting(len(rows)), [value for row in rows for value in row])

    # -- looking ---------------------------------------------------------------------------------------

    def free_bytes(self) -> int | None:
        """Room on the disk."""
        return shutil.disk_usage(self.path.parent).free

    @property
    def details(self) -> dict[str, str]:
        """The file and the library."""
        return {"where": self.where, "sqlite": sqlite3.sqlite_version}


@cache
def _inserting(rows: int) -> str:
    values = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO events (policy, seq, kind, decision, time, key, body, chk) VALUES {values}"
