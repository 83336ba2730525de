"""A proxy before a database, which loses what it is told to lose."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict


class Proxy:
    """`address` leads to the database at `base`.

    With `lose` "commit" or "answer" the connection that sends the next COMMIT ends before that has reached the
    database, or once it has answered. While `open` is not set nothing is passed on.
    """

    def __init__(self, base: str) -> None:
        found: dict[str, Any] = conninfo_to_dict(base)
        self.target = f"{found['host']}/.s.PGSQL.{found.get('port', 5432)}"
        self.lose = ""
        self.open = threading.Event()
        self.open.set()
        self.listening = socket.create_server(("127.0.0.1", 0))
        where = f"127.0.0.1:{self.listening.getsockname()[1]}/{found['dbname']}"
        options = f"options={quote(found['options'])}&sslmode=disable&gssencmode=disable"
        self.address = f"postgresql://{found['user']}@{where}?{options}"
        self.sockets: list[socket.socket] = [self.listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.open.set()
        for each in self.sockets:
            _end(each)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.target)
                self.sockets += [client, server]
                losing = threading.Event()
                for pair in ((client, server, losing, True), (server, client, losing, False)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, losing: threading.Event, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self.open.wait()
                if asks and self.lose and b"COMMIT" in data:
                    kind, self.lose = self.lose, ""
                    if kind == "commit":
                        break
                    losing.set()
                elif not asks and losing.is_set():
                    break
                sink.sendall(data)
        _end(source)
        _end(sink)


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
