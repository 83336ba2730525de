"""Where a policy comes from: planned for a request, or restored from the store; and compiled before it is asked."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from sidelight.errors import SavedStateError, SidelightError, StoreError
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.policy import Policy
from sidelight.service.access import Limits
from sidelight.service.events import PolicyRow
from sidelight.service.messages import Graph, NewPolicy, Problem, unknown_policy
from sidelight.service.served import SNAPSHOT_EVERY, Served
from sidelight.service.store.base import Store

log = logging.getLogger("sidelight.service")


def make_policy(request: NewPolicy, limits: Limits) -> Policy:
    """The policy that is asked for, or a `Problem` that says why there is none. May take seconds."""
    if request.rewards is not None and request.losses is not None:
        raise Problem(
            422, "invalid_policy", "`rewards` and `losses` are both given; a policy is told one of them"
        )
    try:
        graph = _graph(request.graph, limits)
        made = plan(graph, horizon=request.horizon).policy(
            request.seed, losses=request.losses, rewards=request.rewards
        )
    except SidelightError as error:
        raise error if isinstance(error, Problem) else Problem(422, "invalid_policy", str(error)) from None
    warm(made)
    return made


def _graph(wanted: Graph | str, limits: Limits) -> FeedbackGraph:
    if isinstance(wanted, str):
        _check_family(wanted, limits)
        graph = families.parse(wanted)
        _check_size(graph.n_arms, graph.n_edges, limits)
        return graph
    _check_size(wanted.n, len(wanted.edges), limits)
    for label in wanted.labels or ():
        if len(label) > limits.label or not label.isprintable():
            raise Problem(
                422,
                "invalid_policy",
                f"labels have at most {limits.label} printable characters, got {label!r:.60}",
            )
    edges = np.array(wanted.edges, dtype=object).reshape(-1, 2)
    bad = [edge for edge in wanted.edges if not (0 <= edge[0] < wanted.n and 0 <= edge[1] < wanted.n)]
    if bad:
        raise Problem(
            422,
            "invalid_policy",
            f"edges join arms 0..{wanted.n - 1}, got {list(bad[0])!r:.80} ({len(bad)} such edges)",
        )
    return FeedbackGraph.from_edges(
        wanted.n, edges.astype(np.int64), labels=wanted.labels, probabilities=wanted.probabilities
    )


def _check_family(text: str, limits: Limits) -> None:
    """Refuse before it is built what is far too large: no number in it may exceed the arms that are allowed."""
    digits = "".join(letter if letter.isdigit() else " " for letter in text[:200])
    if len(text) > 200 or any(len(word) > 6 or int(word) > limits.arms for word in digits.split()):
        raise Problem(
            422, "too_large", f"{text!r:.60} is too large: at most {limits.arms:,} arms are allowed"
        )


def _check_size(arms: int, edges: int, limits: Limits) -> None:
    if arms > limits.arms or edges > limits.edges:
        raise Problem(
            422,
            "too_large",
            f"the graph has {arms:,} arms and {edges:,} edges;"
            f" at most {limits.arms:,} and {limits.edges:,} are allowed",
        )


def restored(
    store: Store,
    row: PolicyRow,
    limits: Limits,
    snapshot_every: int = SNAPSHOT_EVERY,
    watch: Callable[[Served], None] | None = None,
) -> Served:
    """The policy as it stands in the store: its newest snapshot that is in order, and the events since.

    `watch` sees it after every event that is replayed.
    """
    why: Exception = StoreError(f"policy {row.name!r} has no snapshot: the store is damaged")
    for snapshot in store.snapshots(row.id):
        try:
            events = store.events(row.id, snapshot.seq)
            return Served.restored(row, snapshot, events, limits, snapshot_every, watch)
        except SavedStateError as error:  # an older one, and more events, lead to the same state
            log.error("a snapshot is damaged", extra={"data": {"policy": row.name, "error": str(error)}})
            why = error
    left = store.row(row.name)
    if left is None or left.id != row.id:  # removed meanwhile
        raise unknown_policy(row.name)
    raise why


def warm(policy: Policy) -> None:
    """Compile what a policy will need, on a copy: no request waits for the compiler afterwards."""
    twin = policy.copy(seed=0)
    first, second, third = twin.decide(count=3)
    for decision in (third, first):  # at once, and late
        low = np.full(decision.reveals.size, twin.unit.low)
        twin.observe(decision, low)
    twin.cancel(second)
    _ = twin.probabilities, twin.certificate(), twin.open, twin.to_bytes()
