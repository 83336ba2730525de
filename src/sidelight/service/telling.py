"""What is told about a policy: its graph, how it stands, what happened to it last, what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from sidelight.service.events import Event, Kind, read_decided, read_observed
from sidelight.service.served import Served
from sidelight.service.store.base import Store

MOST_LISTED = 200
MOST_BARS = 40
MOST_RECENT = 20
MOST_WAITING = 20
MOST_VALUES = 6
MOST_ARMS = 20_000
"""More arms than these are told by the most probable ones only."""
MOST_BOUNDS = 40


def graph(served: Served, takes: Callable[[int], bool] = lambda numbers: True) -> dict[str, Any]:
    """The graph as pages draw it, and what the plan has promised so far."""
    from sidelight.report.encoding import graph_data

    policy, plan = served.policy, served.policy.plan
    found = graph_data(policy.graph, plan.partition, plan, takes)
    if plan.horizon is None:
        last = max(served.made, 1)
        rounds = sorted({round(last ** (k / MOST_BOUNDS)) for k in range(MOST_BOUNDS + 1)})
        bounds = [[t, plan.bound_at(t).value * policy.unit.width] for t in rounds]
        found["promised"] = [[t, value] for t, value in bounds if np.isfinite(value)]
    return found


def state(served: Served, recent: list[dict[str, Any]]) -> dict[str, Any]:
    """A policy as it stands, what has happened to it last, and what it waits for."""
    chances = served.policy.probabilities
    most = np.argsort(-chances, kind="stable")[:MOST_BARS]
    waiting: list[dict[str, Any]] = []
    for number, (arm, since) in served.open.items():  # from the oldest
        if len(waiting) == MOST_WAITING:
            break
        waiting.append({"decision": number, "arm": arm, "time": since})
    return {
        "policy": served.answer(probabilities=False),
        "likely": [[int(arm), float(chances[arm])] for arm in most],
        "probabilities": _packed(chances) if chances.size <= MOST_ARMS else None,
        "names": _names(served, [int(arm) for arm in most], recent, waiting),
        "recent": recent,
        "waiting": waiting,
    }


def _packed(values: Any) -> str:
    from sidelight.report.encoding import packed

    return packed(values)


def recent(store: Store, served: Served) -> list[dict[str, Any]]:
    """The last events that it has taken in, the newest first."""
    after = max(served.seq - MOST_RECENT, 0)
    found = list(islice(store.events(served.row.id, after), served.seq - after))
    return [_told(event) for event in reversed(found)]


def _told(event: Event) -> dict[str, Any]:
    about: dict[str, Any] = {
        "seq": event.seq,
        "what": Kind(event.kind).name.lower(),
        "time": event.time,
        "decision": event.decision or None,
    }
    if event.kind == Kind.DECIDED:
        about["arm"] = read_decided(event.body).arm
    elif event.kind == Kind.OBSERVED:
        about["arm"], values = read_observed(event.body)
        about["values"] = [None if np.isnan(value) else value for value in values[:MOST_VALUES].tolist()]
        about["revealed"] = values.size
    return about


def _names(
    served: Served, arms: list[int], recent: list[dict[str, Any]], waiting: list[dict[str, Any]]
) -> dict[str, str]:
    """Labels of the arms that are mentioned."""
    labels = served.policy.graph.labels
    if labels is None:
        return {}
    mentioned = {*arms, *(each["arm"] for each in (*recent, *waiting) if "arm" in each)}
    return {str(arm): labels[arm] for arm in sorted(mentioned)}
