"""Files of the embedded store, altered: what a service may then say, and must never say."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from serving import running

from sidelight.errors import SavedStateError, StoreError
from sidelight.service.access import Limits
from sidelight.service.served import restored
from sidelight.service.store.base import Store
from sidelight.service.store.sqlite import SqliteStore

NAMES = ("first", "second", "third")
ROWS = {"policies": "id", "events": "1000 * policy + seq", "snapshots": "rowid"}
VALUES = (None, 0, 1, -1, 2**40, 0.5, 1e300, "", "x", "{}", "[1]", b"", b"\0" * 40)


def made(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """The file of a service that was killed, and what is known of each of its policies."""
    path = folder / "made.db"
    rng = random.Random(5)
    with running(path, snapshot_every=15) as service:
        for at, name in enumerate(NAMES):
            service.create(name, graph=f"cycle:{4 + at}", seed=at, expires=1000.0 if at else None)
            for turn in range(9):
                decisions = service.decide(name, key=f"{name}-{turn}", count=2)
                for decision in decisions[: 1 + turn % 2]:
                    losses = [rng.random() for _ in decision["reveals"]]
                    assert service.tell((decision["id"], losses), name=name).status_code == 200
        service.service.store._writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        data = path.read_bytes()
    whole = folder / "whole.db"
    whole.write_bytes(data)
    return data, looked(whole)


def looked(path: Path) -> dict[str, Any]:
    """What a service says of each policy: its state, its log and its answers; or which of them it refuses."""
    store = SqliteStore(path)
    try:
        store.open()
    except StoreError as error:
        return {name: {"all": f"refused: {error}"} for name in NAMES}
    try:
        return {name: _said(store, name) for name in NAMES}
    finally:
        store.close()


def _said(store: Store, name: str) -> dict[str, Any]:
    said: dict[str, Any] = {}
    try:
        store.tokens()
        row = store.row(name)
        if row is None:
            return {"all": "there is no such policy"}
        served = restored(store, row, Limits())
        numbers = list(range(1, served.decided + 1))
        said["state"] = (served.policy.to_bytes(), served.open, served.counts, served.clock, row.about)
        said["log"] = [row for page in store.history(row.id, served.seq) for row in page]
        said["ends"] = sorted(store.find_ends(row.id, numbers).items())
        said["events"] = list(store.events(row.id, last=served.seq))
    except (StoreError, SavedStateError) as error:
        said["rest"] = f"refused: {error}"
    return said


def wrong(said: dict[str, Any], known: dict[str, Any]) -> list[str]:
    """What is said of a policy and is not true. An end that is missing is refused by whoever looks for it."""
    return [
        f"{name}: {what}: {value!r:.200}"
        for name in NAMES
        for what, value in said[name].items()
        if value != known[name].get(what)
        and not (isinstance(value, str) and value.startswith("refused"))
        and not (what == "ends" and set(value) < set(known[name]["ends"]))
    ]


def altered(data: bytes, path: Path, seed: int) -> str:
    """Write the file with one thing altered; what that was."""
    rng = random.Random(seed)
    kind = rng.choice(("bit", "byte", "zeros", "text", "cell"))
    changed = bytearray(data)
    at = rng.randrange(100, len(data) - 64)
    if kind == "bit":
        changed[at] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        changed[at] = rng.randrange(256)
    elif kind == "zeros":
        changed[at : at + 16] = bytes(16)
    elif kind == "text":  # a digit, where there are many: in what a policy says of itself
        digits = [each for each in range(100, len(data)) if data[each] in b"0123456789"]
        at = rng.choice(digits)
        changed[at] = rng.choice(b"0123456789")
    path.write_bytes(changed)
    if kind != "cell":
        return f"{kind} at {at}"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        table = rng.choice(("policies", "events", "events", "snapshots"))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "name"]
        column, value = rng.choice(columns), rng.choice(VALUES)
        if column == "about":
            text = connection.execute("SELECT about FROM snapshots").fetchone()[0]
            value = rng.choice([value, text, text[: rng.randrange(len(text))]])
        (row,) = rng.choice(connection.execute(f"SELECT {ROWS[table]} FROM {table}").fetchall())
        where = f"{ROWS[table]} = ?"
        with suppress(sqlite3.Error):  # not every value may stand everywhere
            if table == "events" and rng.random() < 0.1:  # but for the last, which leaves no trace
                where += " AND seq < (SELECT MAX(seq) FROM events AS e WHERE e.policy = events.policy)"
                column = "deleted"
                connection.execute(f"DELETE FROM events WHERE {where}", (row,))
            else:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value, row))
    return f"{table}.{column} = {value!r:.60} where {where} ({row})"
