"""A real browser for tests and benchmarks: Chromium from the path, driven by Playwright."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import shutil
import threading
from dataclasses import dataclass, field
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def chromium():
    """Where the browser is, None if there is none; SIDELIGHT_CHROMIUM names one that is not on the path."""
    return os.environ.get("SIDELIGHT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def launched():
    """The browser, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS), headless=True)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that was opened, what went wrong in it, and how often someone clicked."""

    page: Any
    errors: list[str] = field(default_factory=list)
    clicks: int = 0

    def click(self, selector, **options):
        """One click, counted."""
        self.clicks += 1
        self.page.click(selector, **options)

    def choose(self, selector, label):
        """Choose from a list: two clicks for a person, one to open it and one to take an entry."""
        self.clicks += 2
        self.page.select_option(selector, label=label)

    def settle(self):
        """Wait until what was asked for is drawn."""
        frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(f"async () => {{ do await {frames}; while (globalThis.Sidelight?.pending); }}")


@contextlib.contextmanager
def visiting(browser, address, viewport=None, scheme="light", ready=True, **options):
    """A page in a fresh context; console errors, exceptions and failed requests end up in `errors`."""
    phone = {"has_touch": True, "is_mobile": True} if viewport == PHONE else {}
    context = browser.new_context(
        viewport=viewport or DESKTOP, color_scheme=scheme, reduced_motion="reduce", **phone, **options
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(15_000)
    visit = Visit(page)
    page.on(
        "console", lambda message: message.type in ("error", "warning") and visit.errors.append(message.text)
    )
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.route("**/favicon.ico", lambda route: route.fulfill(status=204))  # browsers ask servers for one
    page.on("requestfailed", lambda request: visit.errors.append(f"{request.url}: {request.failure}"))
    try:
        page.goto(address)
        if ready:
            page.wait_for_selector("html[data-ready]", state="attached")
            visit.settle()
        yield visit
    finally:
        context.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    policy = ""

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serving(folder, policy):
    """The address of a folder behind a server on this machine that sends a content security policy."""
    handler = functools.partial(type("_Handler", (_Quiet,), {"policy": policy}), directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
