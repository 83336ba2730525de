"""Which store an address means."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidelight.errors import InvalidOption, StoreError
from sidelight.service.store.base import Store

FILE = "service.sqlite"
"""What the file of an embedded store is called unless told otherwise."""


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
