"""The page of policies: the files it consists of, what it is told of a policy, and all policies of a store.

Nothing in the files is made from data. What is told of a running policy goes through streams (`live.py`); of a store
without its service, `stored_policies` reads everything at once, and nothing is written, locked or taken over. There a
policy is restored as the service would restore it. Where its events are few all of them are replayed, from the first,
which leads to the same bits and tells how the certificate has grown; else those since its last snapshot.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from sidelight._check import suggestion
from sidelight.errors import InvalidOption, PastHorizon, SidelightError
from sidelight.report import policies_page, template
from sidelight.report.encoding import MOST_GRAPH_NUMBERS, Budget, graph_data, packed
from sidelight.report.policies_page import StoredPolicies
from sidelight.service.access import Limits
from sidelight.service.events import Damaged, Event, Kind, PolicyRow, read_decided, read_observed
from sidelight.service.served import Served, restored
from sidelight.service.store.base import Store, reading

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}

OWN = ("live.js",)
SHARED = {*policies_page.STYLES, *policies_page.SCRIPTS}

MOST_LISTED = 200
MOST_BARS = 40
MOST_RECENT = 20
MOST_WAITING = 20
MOST_VALUES = 6
MOST_ARMS = 20_000
"""More arms than these are told by the most probable ones only."""
MOST_BOUNDS = 40

MOST_EVENTS = 500_000
"""Of all policies together that are replayed from the first: some seconds."""

MOST_NAMED = 20

CLOSE = 1.03
"""Certificates are kept at rounds that are further apart than by this factor."""


# -- files --------------------------------------------------------------------------------------------------


@cache
def html() -> str:
    """All policies and one of them, as they run."""
    return policies_page.served_html("assets/", OWN)


def asset(name: str) -> tuple[str, str] | None:
    """A script or style sheet and its type; None if there is none of this name."""
    if name not in OWN and name not in SHARED:
        return None
    kind = template.TYPES[name.rsplit(".", 1)[1]]
    if name in OWN:
        return files("sidelight.service").joinpath("static", name).read_text(encoding="utf-8"), kind
    return template.asset(name), kind


# -- what is told --------------------------------------------------------------------------------------------


def graph(served: Served, takes: Callable[[int], bool] = lambda numbers: True) -> dict[str, Any]:
    """The graph as pages draw it, and what the plan has promised so far."""
    policy, plan = served.policy, served.policy.plan
    drawn = graph_data(policy.graph, plan.partition, plan, takes)
    if plan.horizon is None and policy.bound_at(max(served.decided, 1)) is not None:
        last = max(served.decided, 1)
        rounds = sorted({round(last ** (k / MOST_BOUNDS)) for k in range(MOST_BOUNDS + 1)})
        bounds = [[t, plan.bound_at(t).value * policy.unit.width] for t in rounds]
        drawn["promised"] = [[t, value] for t, value in bounds if np.isfinite(value)]
    return drawn


def state(served: Served, recent: list[dict[str, Any]]) -> dict[str, Any]:
    """A policy as it stands, what has happened to it last, and what it waits for."""
    policy, chances = served.policy, served.policy.probabilities
    most = np.argsort(-chances, kind="stable")[:MOST_BARS].tolist()
    oldest = islice(served.open.items(), MOST_WAITING)
    waiting = [{"decision": each, "arm": policy.decision(each).arm, "time": time} for each, time in oldest]
    mentioned = {*most, *(each["arm"] for each in (*recent, *waiting) if "arm" in each)}
    labels = policy.graph.labels
    return {
        "policy": served.answer(probabilities=False),
        "likely": [[arm, float(chances[arm])] for arm in most],
        "probabilities": packed(chances) if chances.size <= MOST_ARMS else None,
        "names": {} if labels is None else {str(arm): labels[arm] for arm in sorted(mentioned)},
        "recent": recent,
        "waiting": waiting,
    }


def recent(store: Store, served: Served) -> list[dict[str, Any]]:
    """The last events that it has taken in, the newest first; none where the log is damaged."""
    after = max(served.seq - MOST_RECENT, 0)
    try:
        events = list(islice(store.events(served.row.id, after), served.seq - after))
    except Damaged:
        return []
    return [_described(event) for event in reversed(events) if event.kind != Kind.SAVED]


def _described(event: Event) -> dict[str, Any]:
    description: dict[str, Any] = {"seq": event.seq, "what": Kind(event.kind).name.lower()}
    description |= {"time": event.time, "decision": event.decision or None}
    if event.kind == Kind.DECIDED:
        description["arm"] = read_decided(event.body).arm
    elif event.kind == Kind.OBSERVED:
        description["arm"], values = read_observed(event.body)
        description["values"] = [
            None if np.isnan(value) else value for value in values[:MOST_VALUES].tolist()
        ]
        description["revealed"] = values.size
    return description


# -- a store without its service -----------------------------------------------------------------------------


def stored_policies(address: str, name: str | None = None) -> StoredPolicies:
    """All policies of the store at `address`, or the one of this name; a policy that is damaged costs no other."""
    with reading(address) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore", PastHorizon)  # the page says the horizon and the round
        names = store.names() if name is None else [_known(store, name)]
        numbers, events = Budget(MOST_GRAPH_NUMBERS), Budget(MOST_EVENTS)
        told: list[dict[str, Any]] = []
        failed: list[tuple[str, str]] = []
        for each in names[:MOST_LISTED]:
            try:
                if (row := store.row(each)) is not None:  # else it was removed meanwhile
                    told.append(_stored(store, row, numbers, events))
            except SidelightError as error:
                if name is not None:
                    raise
                failed.append((each, str(error)))
        more = len(names) > MOST_LISTED
        return StoredPolicies(store.where, time.time(), tuple(told), more, tuple(failed))


def _known(store: Store, name: str) -> str:
    names = store.names()
    if name not in names:
        some = names if len(names) <= MOST_NAMED else [*names[:MOST_NAMED], "…"]
        hint = suggestion(name, names, "policies", some) if names else "it has none at all"
        raise InvalidOption(f"{store.where} has no policy {name!r}; {hint}")
    return name


def _stored(store: Store, row: PolicyRow, numbers: Budget, events: Budget) -> dict[str, Any]:
    served, certificates = _replayed(store, row, events.takes(store.last(row.id)))
    drawn = graph(served, numbers.takes)
    stands = state(served, recent(store, served))
    if "x" not in drawn:  # where arms are not placed their probabilities are not drawn
        stands["probabilities"] = None
    return {"graph": drawn, "state": msgspec.to_builtins(stands), "certificates": certificates.points}


def _replayed(store: Store, row: PolicyRow, whole: bool) -> tuple[Served, _Certificates]:
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
        closed, decided, waiting = served.policy.round, served.decided, len(served.open)
        if closed == self._closed:
            return
        self._closed = closed
        again = bool(self.points) and decided == self.points[-1][0]
        if waiting > 0.9 * self._open if again else decided < self._next:
            return
        self._open, self._next = waiting, math.floor(CLOSE * decided) + 1
        value = served.policy.certificate().value
        if math.isfinite(value):
            self.points[-1 if again else len(self.points) :] = [(decided, value)]
