"""How much one may ask for, and how often."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from sidelight.service.problems import Problem

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Sizes and rates of one service; what exceeds them is refused before it costs anything."""

    body: int = MEBIBYTE  # bytes of a request …
    graph_body: int = 32 * MEBIBYTE  # … that makes a policy …
    import_body: int = 1024 * MEBIBYTE  # … that brings one from elsewhere
    arms: int = 100_000
    edges: int = 2_000_000
    label: int = 200  # characters
    policies: int = 10_000
    tokens: int = 10_000
    open: int = 200_000  # decisions of one policy that wait for an answer
    count: int = 1_000  # decisions, or observations, of one request
    streams: int = 64  # that are open at once, of all who watch
    waiting: int = 10_000  # requests that wait for the disk
    rate: float = 20_000.0  # requests a second, for each token
    failures: float = 10.0  # refused tokens a second, for each address


@dataclass
class Bucket:
    """A token bucket: `rate` a second, and twice that, or one, at once."""

    rate: float
    left: float = 0.0
    filled: float = 0.0

    def take(self, now: float) -> float:
        """0 if there was one left, else the seconds until there is."""
        most = max(2.0 * self.rate, 1.0)
        self.left = min(most, self.left + (now - self.filled) * self.rate) if self.filled else most
        self.filled = now
        if self.left >= 1.0:
            self.left -= 1.0
            return 0.0
        return (1.0 - self.left) / self.rate


@dataclass
class Rates:
    """Buckets by name, of which those that are full again are forgotten."""

    rate: float
    buckets: dict[str, Bucket] = field(default_factory=dict)

    def check(self, name: str) -> None:
        """Take one, or refuse with 429."""
        if self.rate <= 0.0:
            return
        now = time.monotonic()
        bucket = self.buckets.get(name)
        if bucket is None:
            if len(self.buckets) >= 10_000:
                self.buckets = {key: old for key, old in self.buckets.items() if now - old.filled < 2.0}
            bucket = self.buckets[name] = Bucket(self.rate)
        wait = bucket.take(now)
        if wait:
            raise Problem(
                429, "too_many_requests", f"more than {self.rate:g} requests a second", retry_after=wait
            )
