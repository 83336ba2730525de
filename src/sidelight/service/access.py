"""Who may do what, and how much of it. Tokens are random, shown once and stored as digests.

A token reads `sl_ID_SECRET`. The id finds its row; the secret, 256 random bits, is compared by its SHA-256 in
constant time. A slow hash is for passwords, which can be guessed: nobody guesses 256 bits, and every request pays for
the hash. Where SIDELIGHT_ADMIN_TOKEN is set its value opens all doors while the process runs; it is kept in no store.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from sidelight.errors import InvalidOption
from sidelight.service.logs import log
from sidelight.service.messages import NAME, SCOPES, Problem, too_large
from sidelight.service.store.base import TokenRow

MEBIBYTE = 1 << 20

FEW_CHARACTERS = 16
"""A token that is set by hand and shorter than this is worth a warning."""

_TOKEN = re.compile(r"sl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


class Caller(NamedTuple):
    """Who sends a request."""

    id: str
    scopes: tuple[str, ...]
    policy: str | None  # None: all

    def may(self, scope: str, policy: str | None) -> bool:
        """May it do this to this policy? None stands for all of them."""
        if self.policy is not None and self.policy != policy:
            return False
        return scope in self.scopes or "admin" in self.scopes


class Tokens:
    """All tokens of a store in memory."""

    def __init__(self, rows: list[TokenRow], environment: str | None = None) -> None:
        self.rows = {row.id: row for row in rows}
        self._environment = None
        if environment is not None:
            if not environment.isascii() or not environment.isprintable() or " " in environment:
                raise InvalidOption("SIDELIGHT_ADMIN_TOKEN must be printable ASCII characters without spaces")
            if len(environment) < FEW_CHARACTERS:
                log.warning(
                    "SIDELIGHT_ADMIN_TOKEN is short: it can be guessed; use 16 random characters or more"
                )
            self._environment = _digest(environment)

    def caller(self, header: str | None) -> Caller | None:
        """Who sends this `Authorization` header; None if it is nobody."""
        token = _bearer(header)
        if token is None:
            return None
        if self._environment is not None and hmac.compare_digest(_digest(token), self._environment):
            return Caller("environment", SCOPES, None)
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        row = self.rows.get(match[1])
        expected = row.digest if row is not None else bytes(32)
        if not hmac.compare_digest(_digest(match[2]), expected) or row is None:
            return None
        return Caller(row.id, row.scopes, row.policy)


def refused(header: str | None) -> Problem:
    """401 for a header that is nobody's. Whether the id, the secret or the shape is wrong is nobody's business."""
    if _bearer(header) is None:
        return Problem(401, "unauthorized", "a token is needed: `Authorization: Bearer …`")
    return Problem(401, "unauthorized", "this token is not known or was revoked; ask for a new one")


def new_token(scopes: list[str], policy: str | None, note: str, now: float) -> tuple[TokenRow, str]:
    """A row for the store, and the token, which is never to be seen again."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown:
        raise Problem(422, "invalid_token", f"scopes are {', '.join(SCOPES)}, got {unknown[0]!r:.40}")
    if policy is not None and not re.fullmatch(NAME, policy):
        raise Problem(422, "invalid_token", f"{policy!r:.80} is no name of a policy")
    name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    row = TokenRow(name, _digest(secret), tuple(sorted(set(scopes), key=SCOPES.index)), policy, note, now)
    return row, f"sl_{name}_{secret}"


def _bearer(header: str | None) -> str | None:
    """The token of an `Authorization` header, if there is one."""
    if header is None or header[:7].lower() != "bearer ":
        return None
    return header[7:].strip() or None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


# -- how much, and how often ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """Sizes and rates of one service; what exceeds them is refused before it costs anything."""

    body: int = MEBIBYTE  # bytes of a request
    graph_body: int = 32 * MEBIBYTE  # of one that makes a policy
    import_body: int = 1024 * MEBIBYTE  # of one that brings a policy from elsewhere
    arms: int = 100_000
    edges: int = 2_000_000
    policies: int = 10_000
    tokens: int = 10_000
    open: int = 200_000  # decisions of one policy that wait for an answer
    count: int = 1_000  # decisions, or observations, of one request
    streams: int = 64  # that are open at once, of all who watch
    waiting: int = 10_000  # requests that wait for the disk
    making: int = 4  # policies that are made or brought at once; what more is asked for waits, unread
    rate: float = 20_000.0  # requests a second, for each token
    failures: float = 10.0  # refused tokens a second, for each address


def check_size(what: str, arms: int, edges: int, limits: Limits) -> None:
    """Refuse a graph that is larger than the limits, before it is built."""
    if arms > limits.arms or edges > limits.edges:
        most = f"at most {limits.arms:,} and {limits.edges:,} are allowed"
        raise too_large(f"{what:.80} would have {arms:,} arms and {edges:,} edges; {most}")


@dataclass
class Rates:
    """`rate` requests a second for each name, and twice that, or one, at once; 0 is no limit.

    Of each name one time is kept: when all that it has taken will have been earned.
    """

    rate: float
    earned: dict[str, float] = field(default_factory=dict)

    def wait(self, name: str, now: float) -> float:
        """Take one: 0 if that is possible now, else the seconds until it is."""
        if name not in self.earned and len(self.earned) >= 10_000:
            self.earned = {key: then for key, then in self.earned.items() if then > now}
        then = max(self.earned.get(name, now), now)
        ahead = max(2.0 * self.rate, 1.0) - 1.0  # so many may be taken before they are earned
        wait = then - now - ahead / self.rate
        if wait > 1e-9:
            return wait
        self.earned[name] = then + 1.0 / self.rate
        return 0.0

    def check(self, name: str) -> None:
        """Take one, or refuse with 429."""
        if self.rate > 0.0 and (wait := self.wait(name, time.monotonic())):
            why = f"more than {self.rate:g} requests a second"
            raise Problem(429, "too_many_requests", why, retry_after=wait)
