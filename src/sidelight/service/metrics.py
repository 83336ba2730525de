"""Figures for Prometheus, in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sidelight._version import __version__

if TYPE_CHECKING:
    from sidelight.service.policies import Policies
    from sidelight.service.served import Served
    from sidelight.service.tokens import Caller

EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds: upper ends of the classes of latency."""

MOST_POLICIES = 200
"""Of which figures of their own are shown; a thousand would be too much for a database of figures."""


class Metrics:
    """What is counted as requests are answered."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], int] = {}  # by method, route and status
        self.seconds: dict[str, list[int]] = {}  # by route, for each class of latency
        self.total: dict[str, float] = {}

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        key = (method, route, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        classes = self.seconds.get(route)
        if classes is None:
            classes = self.seconds[route] = [0] * (len(EDGES) + 1)
        at = 0
        while at < len(EDGES) and seconds > EDGES[at]:
            at += 1
        classes[at] += 1
        self.total[route] = self.total.get(route, 0.0) + seconds

    def text(self, policies: Policies, caller: Caller | None, streams: int) -> str:
        """Everything; figures of policies only for those who may read them."""
        return "\n".join(self._lines(policies, caller, streams)) + "\n"

    def _lines(self, policies: Policies, caller: Caller | None, streams: int) -> Iterator[str]:
        yield from _head("sidelight_info", "gauge", "Version that is running.")
        yield f'sidelight_info{{version="{__version__}"}} 1'
        yield from _head("sidelight_requests_total", "counter", "Requests by method, route and status.")
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{_safe(method)}",route="{_safe(route)}",status="{status}"'
            yield f"sidelight_requests_total{{{labels}}} {count}"
        name = "sidelight_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for route, classes in sorted(self.seconds.items()):
            below = 0
            for edge, count in zip((*EDGES, "+Inf"), classes, strict=True):
                below += count
                yield f'{name}_bucket{{route="{_safe(route)}",le="{edge}"}} {below}'
            yield f'{name}_sum{{route="{_safe(route)}"}} {self.total[route]!r}'
            yield f'{name}_count{{route="{_safe(route)}"}} {below}'
        writer = policies.writer
        yield from _gauge("sidelight_queue_depth", "Writes that wait for the disk.", writer.depth)
        yield from _counter("sidelight_commits_total", "Transactions.", writer.commits)
        yield from _counter("sidelight_events_total", "Events on the disk since the start.", writer.written)
        yield from _counter("sidelight_commit_failures_total", "Transactions that failed.", writer.failures)
        yield from _gauge("sidelight_streams", "Streams that are open: how many watch.", streams)
        served = list(policies.served.values())
        yield from _gauge("sidelight_policies_loaded", "Policies in memory.", len(served))
        yield from _gauge(
            "sidelight_open_decisions",
            "Decisions that wait for an answer.",
            sum(len(each.open) for each in served),
        )
        readable = [each for each in served if caller is not None and caller.may("read", each.row.name)]
        yield from self._of_policies(sorted(readable, key=lambda each: each.row.name)[:MOST_POLICIES])

    def _of_policies(self, shown: list[Served]) -> Iterator[str]:
        answers = [each.answer(probabilities=False) for each in shown]
        figures: tuple[tuple[str, str, str, Iterable[float | None]], ...] = (
            ("decided_total", "counter", "Decisions made.", [a.decided for a in answers]),
            ("open", "gauge", "Decisions that wait for an answer.", [a.open for a in answers]),
            ("cancelled_total", "counter", "Decisions that were given up.", [a.cancelled for a in answers]),
            ("expired_total", "counter", "Decisions that nobody answered in time.", [a.expired for a in answers]),
            ("certificate", "gauge", "What the rounds so far certify about the regret.",
             [a.certificate.value for a in answers]),
            ("bound", "gauge", "Bound of theory on the regret.", [a.bound.value for a in answers]),
            ("entropy", "gauge", "Of the next play, in nats.", [a.entropy for a in answers]),
        )  # fmt: skip
        for name, kind, about, values in figures:
            yield from _head(f"sidelight_policy_{name}", kind, about)
            for answer, value in zip(answers, values, strict=True):
                if value is not None:
                    yield f'sidelight_policy_{name}{{policy="{_safe(answer.name)}"}} {value!r}'


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _gauge(name: str, about: str, value: float) -> Iterator[str]:
    yield from _head(name, "gauge", about)
    yield f"{name} {value}"


def _counter(name: str, about: str, value: float) -> Iterator[str]:
    yield from _head(name, "counter", about)
    yield f"{name} {value}"


def _safe(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
