"""A policy as a file that another service takes in: everything that is known about it, one JSON object a line.

    {"format": "sidelight-export", "version": 1, "sidelight": …, "name": …, "about": …}
    {"snapshot": seq, "check": …, "about": …, "data": base64 of `Policy.to_bytes`}                 the oldest first
    {"event": [seq, kind, decision, time, key, body, check]}                                      in order, from 1
    {"end": number of events, "check": …}

A file that was cut off has no end; one that was altered does not fit its checksums. Both are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from sidelight._version import __version__
from sidelight.service.events import Event, PolicyRow, Snapshot, is_intact
from sidelight.service.problems import Problem
from sidelight.service.store.base import Store

FORMAT, VERSION = "sidelight-export", 1
LONGEST_LINE = 1 << 28


def exported(store: Store, row: PolicyRow, last: int) -> Iterator[bytes]:
    """The lines of a policy up to event `last`, while it may go on."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "sidelight": __version__,
        "name": row.name,
        "about": row.about,
    }
    yield _line(head)
    for snapshot in sorted(
        (each for each in store.snapshots(row.id) if each.seq <= last), key=lambda each: each.seq
    ):
        data = base64.b64encode(snapshot.data).decode()
        yield _line(
            {"snapshot": snapshot.seq, "check": snapshot.check, "about": snapshot.about, "data": data}
        )
    count = check = 0
    lines: list[bytes] = []
    for event in store.events(row.id):
        if event.seq > last:
            break
        key = None if event.key is None else base64.b64encode(event.key).decode()
        body = base64.b64encode(event.body).decode()
        lines.append(_line({"event": [*event[1:5], key, body, event.check]}))
        count, check = event.seq, event.check
        if len(lines) >= 1_000:
            yield b"".join(lines)
            lines.clear()
    yield b"".join([*lines, _line({"end": count, "check": check})])


class Import(NamedTuple):
    """An exported policy, checked; its events are read from the file whenever they are asked for."""

    about: dict[str, Any]
    snapshots: list[Snapshot]
    file: IO[bytes]

    def events(self, after: int = 0) -> Iterator[Event]:
        """In order."""
        self.file.seek(0)
        for line in self.file:
            found = json.loads(line)
            if "event" in found and found["event"][0] > after:
                yield _event(found["event"])


def read_export(file: IO[bytes]) -> Import:
    """Check an export from the first line to the last; 422 says what is wrong."""
    try:
        return _read(file)
    except Problem:
        raise
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error) as error:
        raise _refused(f"{type(error).__name__}: {error!s:.200}") from None


def _read(file: IO[bytes]) -> Import:
    file.seek(0)
    head: dict[str, Any] | None = None
    snapshots: list[Snapshot] = []
    seq = check = 0
    ended = False
    checks = {0: 0}
    for line in _lines(file):
        found = json.loads(line)
        if not isinstance(found, dict) or ended:
            raise _refused("there is something after its end" if ended else "a line is no object")
        if head is None:
            head = found
            if head.get("format") != FORMAT:
                raise _refused("its first line does not say that it is one")
            if head.get("version") != VERSION:
                raise _refused(f"it has version {head.get('version')!r:.20}, this Sidelight reads {VERSION}")
        elif "snapshot" in found:
            data = base64.b64decode(found["data"], validate=True)
            snapshots.append(
                Snapshot(0, int(found["snapshot"]), int(found["check"]), str(found["about"]), data)
            )
        elif "event" in found:
            event = _event(found["event"])
            if event.seq != seq + 1 or not is_intact(event, check):
                raise _refused(f"event {seq + 1} is missing or altered")
            seq, check = event.seq, event.check
            if any(snapshot.seq == seq for snapshot in snapshots):
                checks[seq] = check
        else:
            ended = True
            if (found["end"], found["check"]) != (seq, check):
                raise _refused(f"it says that it has {found['end']!r:.20} events, {seq} are there")
    if head is None or not ended:
        raise _refused("it is cut off: its last line is missing")
    if not snapshots or any(checks.get(each.seq) != each.check for each in snapshots):
        raise _refused("its snapshots do not fit its events")
    about = head["about"]
    if not isinstance(about, dict) or not isinstance(about.get("created"), int | float):
        raise _refused("its first line does not say how it was made")
    expires = about.get("expires")
    if expires is not None and not (isinstance(expires, int | float) and 0 < expires <= 1e10):
        raise _refused(f"it expires after {expires!r:.20}")
    return Import(about, snapshots, file)


def _lines(file: IO[bytes]) -> Iterable[bytes]:
    while line := file.readline(LONGEST_LINE):
        if len(line) >= LONGEST_LINE:
            raise _refused("a line is too long")
        yield line


def _event(fields: list[Any]) -> Event:
    seq, kind, decision, time, key, body, check = fields
    known = None if key is None else base64.b64decode(key, validate=True)
    return Event(
        0,
        int(seq),
        int(kind),
        int(decision),
        float(time),
        known,
        base64.b64decode(body, validate=True),
        int(check),
    )


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _refused(why: str) -> Problem:
    return Problem(422, "invalid_export", f"this is not an exported policy in order: {why}")
