"""The policies of a store as they stand, for a page that needs no service: nothing is written, locked or taken over.

A policy is restored as the service would restore it. Where its events are few all of them are replayed, from the
first, which leads to the same bits and tells how the certificate has grown; else those since its last snapshot.
"""

from __future__ import annotations

import math
import time
import warnings
from contextlib import suppress
from typing import Any

import msgspec

from sidelight._check import suggestion
from sidelight.errors import InvalidOption, PastHorizon, SidelightError
from sidelight.report.encoding import MOST_GRAPH_NUMBERS, Budget
from sidelight.report.policies_page import StoredPolicies
from sidelight.service import telling
from sidelight.service.events import PolicyRow
from sidelight.service.limits import Limits
from sidelight.service.loading import restored
from sidelight.service.served import Served
from sidelight.service.store.base import Store
from sidelight.service.store.opening import reading

MOST_EVENTS = 500_000
"""Of all policies together that are replayed from the first: some seconds."""

MOST_NAMED = 20

CLOSE = 1.03
"""Certificates are kept at rounds that are further apart than by this factor."""


def stored_policies(address: str, name: str | None = None) -> StoredPolicies:
    """All policies of the store at `address`, or the one of this name; a policy that is damaged costs no other."""
    with reading(address) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore", PastHorizon)  # the page says the horizon and the round
        if name is not None:
            return StoredPolicies(store.where, time.time(), (_told(store, _row(store, name), *_budgets()),))
        told: list[dict[str, Any]] = []
        failed: list[tuple[str, str]] = []
        rows, budgets = store.rows(), _budgets()
        for row in rows[: telling.MOST_LISTED]:
            try:
                told.append(_told(store, row, *budgets))
            except SidelightError as error:
                failed.append((row.name, str(error)))
        more = len(rows) > telling.MOST_LISTED
        return StoredPolicies(store.where, time.time(), tuple(told), more, tuple(failed))


def _budgets() -> tuple[Budget, Budget]:
    """Of numbers for the graphs on a page, and of events."""
    return Budget(MOST_GRAPH_NUMBERS), Budget(MOST_EVENTS)


def _row(store: Store, name: str) -> PolicyRow:
    found = store.row(name)
    if found is None:
        names = [row.name for row in store.rows()]
        some = names if len(names) <= MOST_NAMED else [*names[:MOST_NAMED], "…"]
        hint = suggestion(name, names, "policies", some) if names else "it has none at all"
        raise InvalidOption(f"{store.where} has no policy {name!r}; {hint}")
    return found


def _told(store: Store, row: PolicyRow, numbers: Budget, events: Budget) -> dict[str, Any]:
    served, certificates = _restored(store, row, events.takes(store.last(row.id)))
    graph = telling.graph(served, numbers.takes)
    state = telling.state(served, telling.recent(store, served))
    if "x" not in graph:  # where arms are not placed their probabilities are not drawn
        state["probabilities"] = None
    return {"graph": graph, "state": msgspec.to_builtins(state), "certificates": certificates.points}


def _restored(store: Store, row: PolicyRow, whole: bool) -> tuple[Served, _Certificates]:
    first = min(store.snapshots(row.id), key=lambda each: each.seq, default=None) if whole else None
    if first is not None:
        with suppress(SidelightError):  # its beginning may be of another version, or lost
            certificates = _Certificates()
            events = store.events(row.id, first.seq)
            return Served.restored(row, first, events, Limits(), watch=certificates), certificates
    certificates = _Certificates()
    return restored(store, row, Limits(), watch=certificates), certificates


class _Certificates:
    """Watches a policy while it is replayed: (rounds decided, certificate) when answers have come.

    A certificate counts each open decision as lost, so of decisions that were made together the value counts that
    follows most of their answers: it is taken again whenever a tenth of those that were open is not any more.
    """

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []
        self._closed = 0
        self._next = 1
        self._open = 0.0

    def __call__(self, served: Served) -> None:
        closed, made, waiting = served.policy.round, served.made, len(served.open)
        if closed == self._closed:
            return
        self._closed = closed
        again = bool(self.points) and made == self.points[-1][0]
        if waiting > 0.9 * self._open if again else made < self._next:
            return
        self._open, self._next = waiting, math.floor(CLOSE * made) + 1
        value = served.policy.certificate().value
        if math.isfinite(value):
            self.points[-1 if again else len(self.points) :] = [(made, value)]
