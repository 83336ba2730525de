"""The page of a sweep while it runs: a small server on this machine alone, with the standard library only."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.errors import ServiceError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCRIPT = "progress.js"
EVERY = 0.5
"""Seconds between two looks at the folder."""
PACE = 20
"""Cells, the last ones, that the pace is measured by."""


@dataclass(frozen=True)
class Progress:
    """How far a sweep is; pace and time left are unknown until two cells are finished."""

    done: int
    total: int
    share: float  # of the rounds
    rate: float | None  # rounds a second
    left: float | None  # seconds

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any]) -> Progress:
        """From the manifest of the folder and the times at which its cells were written."""
        seeds = len(manifest.get("seeds") or (0,))
        rounds = {entry["id"]: entry["horizon"] * seeds for entry in manifest["cells"]}
        files = (folder / "cells").glob("*.parquet")
        known = sorted((file.stat().st_mtime, rounds[file.stem]) for file in files if file.stem in rounds)
        whole, played = sum(rounds.values()), sum(count for _, count in known)
        last = known[-PACE - 1 :]
        rate = left = None
        if len(last) > 1 and last[-1][0] > last[0][0]:
            rate = sum(count for _, count in last[1:]) / (last[-1][0] - last[0][0])
            left = (whole - played) / rate
        return cls(len(known), len(rounds), played / max(whole, 1), rate, left)


class Watched(http.server.ThreadingHTTPServer):
    """Serves one folder of results; `address` is where."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder, self.ended = folder, threading.Event()
        self._lock, self._page = threading.Lock(), (-1, "")
        self.page()  # what is no folder of results is refused before anything is opened
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise ServiceError(f"cannot listen at 127.0.0.1:{port}: {error}; name another --port") from error
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def progress(self) -> Progress:
        """How far the sweep is."""
        return Progress.of(self.folder, json.loads((self.folder / "manifest.json").read_bytes()))

    def page(self) -> str:
        """The page of what is finished, made anew when more is."""
        import sidelight as sl
        from sidelight.report.page import report_html
        from sidelight.report.writing import sections

        with self._lock:
            results = sl.Results.read(self.folder)
            done = len(results.cells)
            if done != self._page[0]:
                text = report_html(results, sections(results), prefix="assets/")
                added = f'<script src="assets/{SCRIPT}"></script>\n</body>'
                self._page = (done, text.replace("</body>", added))
            return self._page[1]

    def close(self) -> None:
        """Let go of the port, and end the streams."""
        self.ended.set()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Watched

    def do_GET(self) -> None:
        from sidelight.errors import SidelightError
        from sidelight.report import assets

        name = self.path.removeprefix("/assets/")
        if self.headers.get("host", "").rsplit(":", 1)[0] not in ("127.0.0.1", "localhost"):
            self._answer(403, "text/plain", "asked for under another name than this machine's")
        elif self.path == "/":
            try:
                self._answer(200, "text/html; charset=utf-8", self.server.page())
            except SidelightError as error:
                self._answer(503, "text/plain; charset=utf-8", str(error))
        elif self.path == "/events":
            self._events()
        elif name in (*assets.STYLES, *assets.SCRIPTS, SCRIPT):
            self._answer(200, assets.TYPES[name.rsplit(".", 1)[1]], assets.text(name))
        else:
            self._answer(404, "text/plain", "there is nothing here")

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self._head(status, kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _head(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")

    def _events(self) -> None:
        """Progress whenever there is some, and a sign of life every few seconds."""
        self._head(200, "text/event-stream")
        self.end_headers()
        told: Progress | None = None
        found: Progress | None
        at = 0.0
        while not self.server.ended.is_set():
            try:
                found = self.server.progress()
            except (OSError, ValueError, KeyError):  # the folder is being written or has gone
                found = told
            try:
                if found is not None and found != told:
                    self.wfile.write(f"event: progress\ndata: {json.dumps(vars(found))}\n\n".encode())
                    told, at = found, time.monotonic()
                elif time.monotonic() - at > 5.0:
                    self.wfile.write(b": alive\n\n")
                    at = time.monotonic()
            except OSError:  # nobody reads any more
                return
            self.server.ended.wait(EVERY)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged."""
