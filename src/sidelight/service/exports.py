"""What leaves the service, and comes back: the log of a policy, and the whole of it as a file.

The log is for off-policy evaluation: the long format of `sl.Log`, of all decisions that were answered. Those that are
open, cancelled or expired revealed nothing that is known; they are left out, which is right as long as what is
answered does not depend on what was drawn.

An export is everything that is known about a policy, one JSON object a line:

    {"format": "sidelight-export", "version": 1, "sidelight": …, "name": …, "about": …}
    {"snapshot": seq, "check": …, "about": …, "data": base64 of `Policy.to_bytes`}                 the oldest first
    {"event": [seq, kind, decision, time, key, body, check]}                                      in order, from 1
    {"end": number of events, "check": …}

A file that was cut off has no end; one that was altered does not fit its checksums. Both are refused.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Annotated, Any, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct

from sidelight._archive import ArchiveError, unpack_arrays
from sidelight._version import __version__
from sidelight.errors import SidelightError
from sidelight.log.files import PARQUET, long_schema, long_table
from sidelight.policy import Policy
from sidelight.service.access import Limits, check_size
from sidelight.service.events import (
    Count,
    Damaged,
    Event,
    PolicyRow,
    Snapshot,
    Time,
    is_intact,
    read_decided,
    read_observed,
    seal,
)
from sidelight.service.messages import Expires, Problem, encode
from sidelight.service.served import unsealed_snapshot
from sidelight.service.store.base import KEPT_SNAPSHOTS, Store

COLUMNS = ("decision_id", "round", "arm", "probability", "revealed", "value", "seen", "rows", "told_at")
IN_MEMORY = 1 << 24


def json_lines(store: Store, number: int, policy: Policy, last: int) -> Iterator[bytes]:
    """One JSON object for each revealed arm, page by page."""
    names = _names(policy)
    encoder = msgspec.json.Encoder()
    for page in store.history(number, last):
        yield b"".join(
            encoder.encode(dict(zip(names, row, strict=True))) + b"\n" for row in _rows(page, policy)
        )


def parquet(store: Store, number: int, policy: Policy, last: int) -> IO[bytes]:
    """A parquet file that `sl.Log.read` understands, in memory or, if it is large, in a temporary file."""
    import pyarrow.parquet as pq

    graph = policy.graph
    schema = long_schema(_names(policy), policy.unit, graph.n_arms, graph.labels, ids="int64")
    spool = cast(IO[bytes], tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115 - the reader closes it
    with pq.ParquetWriter(spool, schema, **PARQUET) as writer:
        for page in store.history(number, last):
            writer.write_table(long_table(_rows(page, policy), schema))
    spool.seek(0)
    return spool


def _names(policy: Policy) -> list[str]:
    return [policy.unit.column if name == "value" else name for name in COLUMNS]


def _rows(page: list[tuple[int, bytes, bytes, float]], policy: Policy) -> Iterator[tuple[Any, ...]]:
    graph = policy.graph
    names: Any = graph.labels or range(graph.n_arms)
    for number, decided, observed, time in page:
        decision, (_, values) = read_decided(decided), read_observed(observed)
        reveals = zip(
            graph.out_neighbors(decision.arm).tolist(), values.tolist(), decision.seen.tolist(), strict=True
        )
        shown = [row for row in reveals if row[1] == row[1]]  # NaN: the reveal failed
        head = (number, number, names[decision.arm], decision.probability)
        if not shown:
            yield (*head, None, None, None, 0, time)
        for arm, value, seen in shown:
            yield (*head, names[arm], value, seen, len(shown), time)


# -- whole policies -----------------------------------------------------------------------------------------

FORMAT, VERSION = "sidelight-export", 1
LONGEST_LINE = 1 << 28
MANY = 1_000
"""Lines that are handed over at once."""

MOST_SNAPSHOTS = KEPT_SNAPSHOTS + 1
"""The first, and those that a store keeps."""

WRONG = (SidelightError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError, struct.error)
"""What a file that does not hang together may lead to."""

Byte = Annotated[int, Meta(ge=0, le=255)]
Key = Annotated[bytes, Meta(max_length=64)]


class Made(Struct):
    """What the first line says of how the policy was made: nothing else of it is kept."""

    created: Time
    expires: Expires | None = None
    arms: Count | None = None
    horizon: Count | None = None
    realization: str | None = None
    key: Annotated[str, Meta(max_length=64)] | None = None


class Line(Struct, omit_defaults=True):
    """One line of an export; which fields it has says of which kind it is."""

    format: str | None = None
    version: int | None = None
    sidelight: str | None = None
    name: str | None = None
    about: dict[str, Any] | str | None = None
    snapshot: Count | None = None
    data: bytes = b""
    event: tuple[Count, Byte, Count, Time, Key | None, bytes, Count] | None = None
    end: Count | None = None
    check: Count | None = None


_read_line = msgspec.json.Decoder(Line).decode


def exported(store: Store, row: PolicyRow, last: int) -> Iterator[bytes]:
    """The lines of a policy up to event `last`, while it may go on."""
    made = dict(row.about)
    yield _written(Line(FORMAT, VERSION, __version__, row.name, made, check=seal(made, row.name)))
    for snapshot in sorted(store.snapshots(row.id), key=lambda each: each.seq):
        if snapshot.seq <= last:
            _, seq, check, about, data = snapshot
            yield _written(Line(snapshot=seq, check=check, about=about, data=data))
    count = check = 0
    lines: list[bytes] = []
    for event in store.events(row.id, last=last):
        lines.append(_written(Line(event=event[1:])))
        count, check = event.seq, event.check
        if len(lines) >= MANY:
            yield b"".join(lines)
            lines.clear()
    yield b"".join([*lines, _written(Line(end=count, check=check))])


def _written(line: Line) -> bytes:
    return encode(line) + b"\n"


class Import(NamedTuple):
    """An exported policy, checked; its events are read from the file whenever they are asked for."""

    about: dict[str, Any]
    snapshots: list[Snapshot]
    file: IO[bytes]

    def events(self, after: int = 0) -> Iterator[Event]:
        """In order."""
        for line in _lines(self.file):
            if line.event is not None and line.event[0] > after:
                yield Event(0, *line.event)


def read_export(file: IO[bytes], limits: Limits) -> Import:
    """Check an export from the first line to the last; 422 says what is wrong."""
    try:
        return _read_export(file, limits)
    except (Damaged, RecursionError) as error:
        raise _refused(str(error)) from None


def _read_export(file: IO[bytes], limits: Limits) -> Import:
    about: dict[str, Any] | None = None
    snapshots: list[Snapshot] = []
    seq = check = 0
    checks = {0: 0}
    ended = False
    for line in _lines(file):
        if ended:
            raise _refused("there is something after its end")
        if about is None:
            about = _checked_head(line)
        elif line.snapshot is not None:
            if len(snapshots) == MOST_SNAPSHOTS:
                raise _refused(f"it has more than {MOST_SNAPSHOTS} snapshots")
            _check_size(line.data, limits)
            snapshots.append(Snapshot(0, line.snapshot, line.check or 0, str(line.about), line.data))
        elif line.event is not None:
            event = Event(0, *line.event)
            if event.seq != seq + 1 or not is_intact(event, check):
                raise _refused(f"event {seq + 1} is missing or altered")
            seq, check = event.seq, event.check
            if any(snapshot.seq == seq for snapshot in snapshots):
                checks[seq] = check
        else:
            ended = True
            if (line.end, line.check) != (seq, check):
                raise _refused(f"it says that it has {line.end} events, {seq} are there")
    if about is None or not ended:
        raise _refused("it is cut off: its last line is missing")
    for snapshot in snapshots:
        unsealed_snapshot(snapshot, f"the snapshot {snapshot.seq}")
    if not snapshots or any(checks.get(each.seq) != each.check for each in snapshots):
        raise _refused("its snapshots do not fit its events")
    return Import(about, snapshots, file)


def _check_size(data: bytes, limits: Limits) -> None:
    """Refuse a snapshot of a policy that this service would not make, before it is built."""
    try:
        arrays = unpack_arrays(BytesIO(data), LONGEST_LINE)
        sizes = int(arrays["graph.n_arms"]), arrays["graph.out_indices"].size
    except (ArchiveError, KeyError, TypeError, ValueError) as error:
        raise _refused(f"a snapshot cannot be read: {error!s:.200}") from None
    check_size("its graph", *sizes, limits)


def _checked_head(head: Line) -> dict[str, Any]:
    if head.format != FORMAT:
        raise _refused("its first line does not say that it is one")
    if head.version != VERSION:
        raise _refused(f"it has version {head.version!r:.20}, this Sidelight reads {VERSION}")
    try:
        made = msgspec.convert(head.about, Made)
    except msgspec.ValidationError as error:
        raise _refused(f"its first line does not say how it was made: {error}") from None
    known: Any = head.about
    if head.check is not None and head.check != seal(known, str(head.name)):  # early versions wrote none
        raise _refused("its first line was altered")
    return msgspec.structs.asdict(made)


def _lines(file: IO[bytes]) -> Iterator[Line]:
    file.seek(0)
    while line := file.readline(LONGEST_LINE):
        if len(line) >= LONGEST_LINE:
            raise _refused("a line is too long")
        try:
            yield _read_line(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise _refused(f"{type(error).__name__}: {error!s:.200}") from None


def _refused(why: str) -> Problem:
    return Problem(422, "invalid_export", f"this is not an exported policy in order: {why}")
