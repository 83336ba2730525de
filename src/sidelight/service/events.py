"""What happens to a policy, as the store keeps it: one event per decision made, answered or given up.

The state of a policy is its last snapshot and the events since, applied in order by the same engine.

Every event carries a checksum of itself and of all before it; what a snapshot and a policy say about themselves is
sealed by one. What was altered, lost or put elsewhere is noticed when it is read, and costs one policy: the store
below need not be able to do that.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from sidelight._types import Floats
from sidelight.errors import StoreError


class Damaged(StoreError):
    """What was read of a policy is not what was written."""


class OutcomeUnknown(StoreError):
    """The answer to a commit was lost: all of it is stored, or nothing."""


class Kind(IntEnum):
    """What happened. Numbers are part of the stored format."""

    DECIDED = 1
    OBSERVED = 2
    CANCELLED = 3
    EXPIRED = 4
    SAVED = 5  # by versions whose snapshots changed the policy: not written any more, and skipped


ENDS = (Kind.OBSERVED, Kind.CANCELLED, Kind.EXPIRED)
"""What closes a decision, once."""


class Event(NamedTuple):
    """One row of the log of a policy; `decision` is 0 where it is about none."""

    policy: int
    seq: int  # 1, 2, … without a gap, for each policy
    kind: int
    decision: int
    time: float  # seconds since 1970; never falls within a policy, whatever the clock does
    key: bytes | None  # digest of the Idempotency-Key, on the first decision of a request that had one
    body: bytes
    check: int  # CRC-32 of this event, begun with that of the event before


Time = Annotated[float, Meta(ge=0, le=1e12)]
Count = Annotated[int, Meta(ge=0, le=2**62)]


class About(Struct):
    """What the service knows of a policy at a snapshot, besides its own state."""

    clock: Time
    times: list[Time]  # of open decisions
    counts: tuple[Count, Count, Count]  # of decisions by their `ENDS`
    sidelight: str = ""  # which version wrote it


class Snapshot(NamedTuple):
    """A policy as it was after event `seq`."""

    policy: int
    seq: int
    check: int  # of that event
    about: str  # `About` as JSON, sealed
    data: bytes  # `Policy.to_bytes`


class PolicyRow(NamedTuple):
    """A policy as the store lists it."""

    id: int
    name: str
    about: Mapping[str, Any]  # what it was made of and when; never changes
    epoch: int = 0  # grows whenever another process takes over


_FIXED = struct.Struct("<qBqdH")
_DECIDED = struct.Struct("<iid")
_ARM = struct.Struct("<i")


def checksum(
    before: int, seq: int, kind: int, decision: int, time: float, key: bytes | None, body: bytes
) -> int:
    """The check of an event that follows one with the check `before`."""
    digest = key or b""
    return zlib.crc32(_FIXED.pack(seq, kind, decision, time, len(digest)) + digest + body, before)


def is_intact(event: Event, before: int) -> bool:
    """Is this the event that was written after one with the check `before`?"""
    _, seq, kind, decision, time, key, body, check = event
    try:
        return check == checksum(before, seq, kind, decision, time, key, body)
    except (struct.error, TypeError):  # no number where one belongs, or one that is far too large
        return False


def check_follows(event: Event, seq: int, before: int) -> None:
    """Raise unless this is event `seq`, as it was written after one with the check `before`."""
    if event.seq != seq or not is_intact(event, before):
        what = "was altered" if event.seq == seq else f"is missing, the next one is {event.seq}"
        raise Damaged(f"the log is damaged: event {seq} {what}; restore the store from a backup")


def seal(about: Mapping[str, Any], *rest: str | bytes) -> int:
    """The check of a JSON object and of what it belongs to."""
    check = zlib.crc32(json.dumps(about).encode())
    for each in rest:
        check = zlib.crc32(each.encode() if isinstance(each, str) else each, check)
    return check


def sealed(about: Mapping[str, Any], *rest: str | bytes) -> str:
    """As JSON with its check."""
    return json.dumps({**about, "check": seal(about, *rest)})


def unsealed(text: str, what: str, *rest: str | bytes) -> dict[str, Any]:
    """The inverse of `sealed`, or `Damaged`. Early versions wrote no check."""
    try:
        about: dict[str, Any] = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise Damaged(f"{what} is damaged: what it says about itself cannot be read") from None
    if (check := about.pop("check", None)) is not None and check != seal(about, *rest):
        raise Damaged(f"{what} is damaged: what it says about itself was altered")
    return about


# -- bodies -------------------------------------------------------------------------------------------------


class Decided(NamedTuple):
    """The body of a decision."""

    arm: int
    wanted: int  # decisions of the request, on its first one; 0 on the others
    probability: float  # with which the arm was played
    seen: Floats  # the probability of each revealed arm to be seen


def decided_body(arm: int, wanted: int, probability: float, seen: Floats) -> bytes:
    """`Decided` as bytes."""
    return _DECIDED.pack(arm, wanted, probability) + seen.astype("<f8", copy=False).tobytes()


def read_decided(body: bytes) -> Decided:
    """The inverse of `decided_body`."""
    arm, wanted, probability = _DECIDED.unpack_from(body)
    return Decided(arm, wanted, probability, np.frombuffer(body, dtype="<f8", offset=_DECIDED.size))


def observed_body(arm: int, values: Floats) -> bytes:
    """The arm, and what it revealed, in the user's unit and the order of the revealed arms, as bytes."""
    return _ARM.pack(arm) + values.astype("<f8", copy=False).tobytes()


def read_observed(body: bytes) -> tuple[int, Floats]:
    """The inverse of `observed_body`."""
    return _ARM.unpack_from(body)[0], np.frombuffer(body, dtype="<f8", offset=_ARM.size).astype(np.float64)


class Write(NamedTuple):
    """What belongs together in the store: all of it is committed, or nothing."""

    policy: int
    epoch: int
    events: Sequence[Event]
    snapshot: Snapshot | None = None
