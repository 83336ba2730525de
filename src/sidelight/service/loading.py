"""A policy from the store: its newest snapshot that is in order, and the events since."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sidelight.errors import SavedStateError, StoreError
from sidelight.service.events import PolicyRow
from sidelight.service.limits import Limits
from sidelight.service.problems import unknown_policy
from sidelight.service.served import SNAPSHOT_EVERY, Served
from sidelight.service.store.base import Store

log = logging.getLogger("sidelight.service")


def restored(
    store: Store,
    row: PolicyRow,
    limits: Limits,
    snapshot_every: int = SNAPSHOT_EVERY,
    watch: Callable[[Served], None] | None = None,
) -> Served:
    """The policy as it stands in the store; `watch` sees it after every event that is replayed."""
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
