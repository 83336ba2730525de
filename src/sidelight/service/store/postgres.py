"""PostgreSQL: several processes share one store, and each policy has one owner.

A process proves that it lives by an advisory lock that its writing session holds; the server lets go of it when
that session ends, however the process does. Each policy names its owner, and counts the owners it had (its epoch).
Whoever is asked for a policy whose owner is dead takes it over: one transaction that raises the epoch. Every append
first checks the epochs of its policies under a row lock, so that an owner that was thought dead, and was not, can
write nothing any more. One lock for each process, not for each policy: ten thousand would fill the table of locks.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sidelight.errors import InvalidOption, StoreError
from sidelight.service.events import OutcomeUnknown, PolicyRow, Write
from sidelight.service.store.base import OwnedElsewhere, Store

TYPES = {
    "number": "BIGINT",
    "real": "DOUBLE PRECISION",
    "data": "BYTEA",
    "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "clustered": "",
}

LOCKS = 0x51DE
"""The class of our advisory locks."""

KEEPALIVE = (
    "tcp_keepalives_idle = 1",
    "tcp_keepalives_interval = 1",
    "tcp_keepalives_count = 3",
    "tcp_user_timeout = 4000",
)
"""So that the server notices within five seconds that a machine is gone without a word."""


SILENCE = 5.0
"""Seconds for which the server may say nothing before the connection is given up: no statement takes so long."""

PAUSE = 1.0
"""Seconds until a server that was silent is asked again; who comes meanwhile is refused at once."""


class PostgresStore(Store):
    """A database that other processes may share; `here` is where they reach this one."""

    remote = True

    def __init__(self, url: str, here: str = "") -> None:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise InvalidOption(
                "a PostgreSQL store needs psycopg, which is not installed: pip install 'sidelight[postgres]'"
            ) from error
        super().__init__(_without_password(url))
        self._psycopg, self.failure = psycopg, (psycopg.Error,)
        self.url, self.here = url, here
        self.instance = 0  # what this process is known as, from its first connection on
        self._session = 0  # the server's number of the connection that holds our lock
        self._silent = ("", 0.0)  # why nobody is asked, and until when

    # -- connections -----------------------------------------------------------------------------------

    def _is_foreign(self, error: StoreError) -> bool:
        return isinstance(error.__cause__, self._psycopg.errors.UndefinedTable)

    def _is_lost(self, connection: Any) -> bool:
        return bool(connection.closed)

    def open(self) -> None:
        """Connect, make the tables, and say that this process lives.

        Where a connection was lost the server may not know yet. It is told: nothing of what was sent there is under
        way any more once the lock can be had again.
        """
        self._writing = self._connected(to_write=True)
        try:
            self._join()
        except BaseException:
            self._writing.close()  # without its lock it must not be used
            raise

    def _join(self) -> None:
        if self.instance:
            held = "locktype = 'advisory' AND classid::bigint = ? AND objid::bigint = ? AND objsubid = 2 AND pid = ?"
            sql = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE {held}"
            with self._understood():
                self._writing.execute(sql, (LOCKS, self.instance, self._session))
        with self._transaction() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(?, 0)", (LOCKS,)
            )  # two that start at once make one set
            self._migrate(cursor, TYPES)
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS owners (id BIGINT PRIMARY KEY, address TEXT NOT NULL,"
                " began TIMESTAMPTZ NOT NULL DEFAULT now())"
            )
        with self._understood():
            self.instance = self.instance or secrets.randbelow(2**31 - 1) + 1
            self._writing.execute("SELECT pg_advisory_lock(?, ?)", (LOCKS, self.instance))
            self._writing.execute(
                "INSERT INTO owners (id, address) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
                (self.instance, self.here),
            )
        self._session = self._writing.info.backend_pid

    def _connected(self, to_write: bool) -> Any:
        why, until = self._silent
        if time.monotonic() < until:
            raise StoreError(why)
        connecting, cursors = _classes()
        with self._understood():
            connection = connecting.connect(
                self.url,
                autocommit=True,
                connect_timeout=int(SILENCE),
                tcp_user_timeout=4000,
                keepalives=1,
                keepalives_idle=1,
                keepalives_interval=1,
                keepalives_count=3,
                application_name="sidelight",
                cursor_factory=cursors,
            )
            if self._reads_only:
                connection.execute("SET default_transaction_read_only = on")
            for setting in ("synchronous_commit = on", "statement_timeout = 0", *KEEPALIVE):
                with contextlib.suppress(self._psycopg.Error):  # a socket of this machine has no keepalive
                    connection.execute(f"SET {setting}")
            return connection

    def close(self) -> None:
        """Give up all policies and close every connection."""
        if self._writing is not None and not self._writing.closed:
            with contextlib.suppress(self._psycopg.Error):
                mine = (str(self.instance),)
                self._writing.execute("UPDATE policies SET owner = NULL WHERE owner = ?", mine)
                self._writing.execute("DELETE FROM owners WHERE id = ?", (self.instance,))
        super().close()

    # -- statements ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        if self._closed:
            raise StoreError(f"{self.where} is closed")
        if self._writing is None or self._writing.closed or self._writing.broken:
            self.open()
        committing = False
        try:
            with self._writing.transaction(), self._writing.cursor() as cursor:
                yield cursor
                committing = True
        except self.failure as error:
            explained = self._explained(error)
            if committing and self._writing.closed:
                raise OutcomeUnknown(str(explained)) from error
            raise explained from error

    def _explained(self, error: Any) -> StoreError:
        why = f"{self.where}: {' '.join(str(error).split()) or type(error).__name__}"
        if isinstance(error, (_silent_class(), self._psycopg.errors.ConnectionTimeout)):
            self._silent = (why, time.monotonic() + PAUSE)
        return StoreError(why)

    # -- owners ----------------------------------------------------------------------------------------

    def own(self, row: PolicyRow) -> PolicyRow:
        """Take a policy that nobody alive owns, or that is ours already."""
        with self._transaction() as cursor:
            cursor.execute("SELECT epoch, owner FROM policies WHERE id = ? FOR UPDATE", (row.id,))
            row_found = cursor.fetchone()
            if row_found is None:
                raise StoreError(f"policy {row.name!r} was removed")
            epoch, owner = row_found
            if owner is not None and owner != str(self.instance):
                address = self._living(cursor, int(owner))
                if address is not None:
                    raise OwnedElsewhere(row.name, address)
            if owner != str(self.instance):
                epoch += 1
                cursor.execute(
                    "UPDATE policies SET owner = ?, epoch = ? WHERE id = ?",
                    (str(self.instance), epoch, row.id),
                )
        return row._replace(epoch=epoch)

    def _living(self, cursor: Any, owner: int) -> str | None:
        """Where a process that holds its lock is reached; None if it does not hold it any more."""
        cursor.execute("SELECT pg_try_advisory_xact_lock(?, ?)", (LOCKS, owner))
        if cursor.fetchone()[0]:
            cursor.execute("DELETE FROM owners WHERE id = ?", (owner,))
            return None
        cursor.execute("SELECT address FROM owners WHERE id = ?", (owner,))
        address = cursor.fetchone()
        return "" if address is None else str(address[0])

    def _fence(self, cursor: Any, writes: Sequence[Write]) -> None:
        wanted = {write.policy: write.epoch for write in writes}
        cursor.execute(
            "SELECT id, epoch, owner FROM policies WHERE id = ANY(?) ORDER BY id FOR SHARE", (list(wanted),)
        )
        owners = {number: (epoch, owner) for number, epoch, owner in cursor.fetchall()}
        for number, epoch in wanted.items():
            if owners.get(number) != (epoch, str(self.instance)):
                raise StoreError("another process has taken this policy over")

    @property
    def details(self) -> dict[str, str]:
        """The database and the server."""
        details = {"where": self.where}
        if self._writing is not None:
            details["postgresql"] = str(self._writing.info.server_version)
        return details


@cache
def _silent_class() -> type[Exception]:
    import psycopg

    class Silent(psycopg.OperationalError):
        """The server says nothing."""

    return Silent


@cache
def _classes() -> tuple[Any, Any]:
    """Connections that wait for `SILENCE` at most, and cursors that take SQL as the embedded store does.

    libpq knows no such limit, and psycopg marks values by %s.
    """
    import psycopg

    def limited(waiting: Any, pgconn: Any) -> Any:
        until = time.monotonic() + SILENCE
        try:
            wanted = next(waiting)
            while True:
                ready = yield wanted  # every tenth of a second, or when there is something
                if not ready and time.monotonic() > until:
                    pgconn.finish()
                    raise _silent_class()(f"the server has said nothing for {SILENCE:g} s")
                wanted = waiting.send(ready)
        except StopIteration as over:
            return over.value

    class Connection(psycopg.Connection[Any]):
        def wait(self, gen: Any, *rest: Any, **named: Any) -> Any:
            return super().wait(limited(gen, self.pgconn), *rest, **named)

    class Cursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *rest: Any, **named: Any) -> Any:
            return super().execute(query.replace("?", "%s"), *rest, **named)

        def executemany(self, query: Any, *rest: Any, **named: Any) -> Any:
            return super().executemany(query.replace("?", "%s"), *rest, **named)

    return Connection, Cursor


def _without_password(url: str) -> str:
    """An address as it may be shown."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    query = "&".join(part for part in parts.query.split("&") if not part.startswith("password="))
    return urlunsplit((parts.scheme, f"{name}{at}{host}", parts.path, query, ""))
