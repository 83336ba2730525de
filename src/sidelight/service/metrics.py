"""Figures for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric

from sidelight._version import __version__
from sidelight.service.messages import PolicyAnswer

if TYPE_CHECKING:
    from sidelight.service.access import Caller
    from sidelight.service.served import Served
    from sidelight.service.service import Service

EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds: upper ends of the classes of latency."""

MOST_POLICIES = 200
"""Of which figures of their own are shown; a thousand would be too much for a database of figures."""

FIGURES: tuple[tuple[Any, str, str, Callable[[PolicyAnswer], float | None]], ...] = (
    (CounterMetricFamily, "decided", "Decisions made.", lambda a: a.decided),
    (CounterMetricFamily, "cancelled", "Decisions that were given up.", lambda a: a.cancelled),
    (CounterMetricFamily, "expired", "Decisions that nobody answered in time.", lambda a: a.expired),
    (GaugeMetricFamily, "open", "Decisions that wait for an answer.", lambda a: a.open),
    (GaugeMetricFamily, "certificate", "What the rounds so far certify.", lambda a: a.certificate.value),
    (GaugeMetricFamily, "bound", "Bound of theory on the regret.", lambda a: a.bound.value),
    (GaugeMetricFamily, "entropy", "Of the next play, in nats.", lambda a: a.entropy),
)
"""Of each policy: kind of figure, name, meaning, and where an answer has it."""

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """What is counted as requests are answered."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counted, timed = "Requests by method, route and status.", "How long requests took."
        labels, own = ("method", "route", "status"), self.registry
        self.requests = Counter("sidelight_requests", counted, labels, registry=own)
        self.seconds = Histogram("sidelight_request_seconds", timed, ("route",), buckets=EDGES, registry=own)
        self._figures: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        key = (method, route, status)
        figures = self._figures.get(key)
        if figures is None:  # finding it by its labels takes longer than counting
            figures = self._figures[key] = (self.requests.labels(*key), self.seconds.labels(route))
        figures[0].inc()
        figures[1].observe(seconds)

    def text(self, service: Service, caller: Caller | None) -> bytes:
        """Everything; figures of policies only for those who may read them."""
        return generate_latest(_Collected([*self.registry.collect(), *_figures(service, caller)]))


class _Collected(CollectorRegistry):
    """What was collected already, from a registry and from elsewhere."""

    def __init__(self, figures: list[Metric]) -> None:
        super().__init__()
        self.figures = figures

    def collect(self) -> Iterable[Metric]:
        """All of it."""
        return self.figures


def _figures(service: Service, caller: Caller | None) -> Iterator[Metric]:
    writer, served = service.writer, list(service.policies.served.values())
    waiting = sum(len(each.open) for each in served)
    yield InfoMetricFamily("sidelight", "Version that is running.", {"version": __version__})
    yield GaugeMetricFamily("sidelight_queue_depth", "Writes that wait for the disk.", writer.depth)
    yield CounterMetricFamily("sidelight_commits", "Transactions.", writer.commits)
    yield CounterMetricFamily("sidelight_events", "Events on the disk since the start.", writer.written)
    yield CounterMetricFamily("sidelight_commit_failures", "Transactions that failed.", writer.failures)
    yield GaugeMetricFamily("sidelight_streams", "Streams that are open: how many watch.", service.streams)
    yield GaugeMetricFamily("sidelight_policies_loaded", "Policies in memory.", len(served))
    yield GaugeMetricFamily("sidelight_open_decisions", "Decisions that wait for an answer.", waiting)
    readable = [each for each in served if caller is not None and caller.may("read", each.row.name)]
    yield from _of_policies(sorted(readable, key=lambda each: each.row.name)[:MOST_POLICIES])


def _of_policies(shown: list[Served]) -> Iterator[Metric]:
    """The figures of each policy, of what it would answer to `GET /v1/policies/{name}`."""
    answers = [each.answer(probabilities=False) for each in shown]
    for family, name, about, read in FIGURES:
        figure = family(f"sidelight_policy_{name}", about, labels=["policy"])
        for answer in answers:
            if (value := read(answer)) is not None:
                figure.add_metric([answer.name], value)
        yield figure
