"""The embedded store: one SQLite file in WAL mode, one writing connection, every commit flushed to the disk.

One process serves one file; a lock beside it says so, which the system lets go of however that process ends. Only the
writing connection checkpoints, since nobody else commits.

Whoever only reads leaves no trace. Beside a service, or after one that was killed, there is a write-ahead log to read
with; where there is none, the file is read as one that nobody changes, since SQLite would else make a log.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from sidelight.errors import StoreError
from sidelight.service.events import Damaged, Event, PolicyRow
from sidelight.service.store.base import INSERT, ROW, Store

TYPES = {
    "number": "INTEGER",
    "real": "REAL",
    "data": "BLOB",
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "clustered": " WITHOUT ROWID",
}

ROWS = 64
"""Events of one statement: after each, the writer waits until the other threads let it go on."""

REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_BUSY: "another program holds it locked",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}

CHECKED_BYTES = 1 << 26
"""Files up to this size are checked page by page at every start; of larger ones, what is read is."""

ROW_LEVEL = re.compile(r"row |wrong # of entries|non-unique entry|\S+ value in ")
"""How problems of rows and indexes begin, unlike those of pages."""


class SqliteStore(Store):
    """Everything in one file, and beside it the write-ahead log and the lock."""

    failure = (sqlite3.DatabaseError, UnicodeDecodeError)  # a message may quote what is damaged

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()  # one lock for one file, whatever links lead to it
        super().__init__(f"sqlite:///{self.path.as_posix()}")
        self._lock: Any = None
        self._unsound: dict[int, str] = {}  # policies that were found damaged when it was opened, and why
        self._held: dict[Path, tuple[int, int]] = {}  # the file and its lock, when they became ours
        self._settled: os.stat_result | None = None  # of a file that nobody was writing when it was opened

    # -- connections -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Lock the file, make the tables, and look whether it is in order."""
        from filelock import FileLock, Timeout

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # it is nobody else's to read
            if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
                raise StoreError(
                    f"{self.path} is read-only: the service must be able to write it and its folder"
                )
            if self.path.stat().st_nlink > 1:
                raise StoreError(
                    f"{self.path} has another name, a hard link, under which its lock and its log are not seen:"
                    " remove that, or copy the file"
                )
            lock = FileLock(f"{self.path}.lock", thread_local=False)
            lock.acquire(timeout=0)
            self._lock = lock
            self._held = {path: _identity(path) for path in (self.path, Path(lock.lock_file))}
        except Timeout:
            why = "is in use by another service: stop that one, or name another --store"
            raise StoreError(f"{self.path} {why}") from None
        except OSError as error:
            raise StoreError(f"{self.path} cannot be used as a store: {error.strerror or error}") from error
        try:
            self._writing = self._connected(to_write=True)
            with self._transaction() as cursor:
                self._migrate(cursor, TYPES)
            if self.path.stat().st_size <= CHECKED_BYTES:
                self.check()
        except BaseException:
            self.close()
            raise

    def open_to_read(self) -> None:
        """As every store; a file without a log beside it is read as one that nobody changes."""
        if not self.path.is_file():
            what = "is a folder" if self.path.is_dir() else "does not exist"
            raise StoreError(f"{self.path} {what}: name the file of a store, as `sidelight serve` prints it")
        if not self._log.exists():
            self._settled = self.path.stat()
        super().open_to_read()

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

    def _connected(self, to_write: bool) -> sqlite3.Connection:
        how = "rwc" if not self._reads_only else "ro" if self._settled is None else "ro&immutable=1"
        pragmas = ["trusted_schema = OFF"]
        if not self._reads_only:
            pragmas += ["journal_mode = WAL", "synchronous = FULL"]
        if not to_write:
            pragmas += ["query_only = ON"]
        with self._understood():
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode={how}", uri=True, isolation_level=None, check_same_thread=False
            )
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # it may be damaged
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
            return connection

    def close(self) -> None:
        """Close every connection, which also moves the write-ahead log into the file, and let go of the lock."""
        super().close()
        if self._lock is not None:
            self._lock.release()

    def _check_held(self) -> None:
        """Raise where another service may have begun on a file that is ours: the lock was deleted, or the file."""
        for path, before in self._held.items():
            with contextlib.suppress(OSError):
                if _identity(path) == before:
                    continue
            raise StoreError(
                f"{path} was deleted or replaced while the service ran on {self.path}, so that another may have begun"
                " there: nothing more is written; stop all services on it, see which file is the right one, start one"
            )

    def check(self) -> None:
        """Look at every page and every index; raises where a page is damaged.

        Where a row does not fit an index, the policies tell which of the two is wrong: those that are damaged are not
        served, and an index is made anew if none is.
        """
        if not (problems := self.problems()):
            return
        if all(ROW_LEVEL.match(problem) for problem in problems):
            for number, *rest in self._read("SELECT id, name, about, epoch FROM policies NOT INDEXED"):
                try:
                    super()._sound(number, *rest)
                    for _ in self.events(number):
                        pass
                except Damaged as error:
                    self._unsound[number] = str(error)
            if not self._unsound:
                with self._understood():
                    self._writing.execute("REINDEX")
            return  # what else is wrong with a row is noticed where it is read
        raise self._damaged("; ".join(problems[:3]))

    def problems(self) -> list[str]:
        """What SQLite finds wrong with pages and indexes."""
        found = [str(row[0]) for row in self._read("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def _sound(self, number: int, name: str, about: str, epoch: int) -> PolicyRow:
        if number in self._unsound:
            raise Damaged(self._unsound[number])
        return super()._sound(number, name, about, epoch)

    def _damaged(self, why: object) -> StoreError:
        return StoreError(
            f"{self.path} is damaged: {why}. Nothing was changed. Restore it from a backup, or keep this file and"
            " recover what can be read with `sqlite3 FILE .recover`"
        )

    # -- statements ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        if self._writing is None:
            raise StoreError(f"{self.path} is closed")
        cursor = self._writing.cursor()
        with self._understood():
            cursor.execute("BEGIN IMMEDIATE")
            try:
                self._check_held()
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self._writing.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        cursor.execute("ROLLBACK")
                raise

    def _explained(self, error: Any) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(error, UnicodeDecodeError):
            return self._damaged(error)
        return StoreError(f"{self.path}: {REASONS.get(code, 'the store failed')} ({error})")

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


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


@cache
def _inserting(rows: int) -> str:
    return f"{INSERT} {', '.join([ROW] * rows)}"
