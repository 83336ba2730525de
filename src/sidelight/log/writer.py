"""Logs written while decisions are taken: appended, never rewritten, and readable after any crash."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Self

from sidelight._check import checked_count, is_whole
from sidelight._files import replacing
from sidelight.errors import InvalidOption, LogError
from sidelight.log.files import CSV, MARK, described, long_schema, long_table, parquet_about, parquet_bytes
from sidelight.log.unit import Unit

PART = 10_000
"""Decisions of one parquet part, unless told otherwise."""
SLACK = 1e-9
"""By how much rounding may take a sum of probabilities above one."""


class LogWriter:
    """Appends decisions to a log; `Log.read` reads it at any time.

    A path that ends in .csv is one file: every decision is appended at once, in one write. Any other path is a
    folder of parquet parts: decisions are kept until there are `part` of them, or `flush()`, or `close()`, and then
    written as one more file, whole or not at all. What a crash may cost is thus the decision that was being written
    to a csv file, which `Log.read` notices and leaves out, or the decisions since the last flush.

    Everything is checked before it is kept: a refused decision leaves the log as it was. One writer may be used by
    several threads, and parts of several processes may share a folder.

    >>> import tempfile
    >>> from sidelight.log import Log
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(f"{folder}/log", n_arms=3, rewards=(0, 25)) as writer:
    ...         writer.add(1, round=0, arm=0, seen={0: 0.5, 1: 0.7}, values={0: 20.0, 1: 5.0}, probability=0.5)
    ...         writer.add(2, round=1, arm=2, seen={}, values={})
    ...     print(Log.read(f"{folder}/log"))
    Log(2 decisions, 2 rows, 3 arms, rewards in [0, 25])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        n_arms: int,
        *,
        labels: Sequence[str] | None = None,
        losses: Sequence[float] | None = None,
        rewards: Sequence[float] | None = None,
        version: str = "",
        part: int = PART,
    ) -> None:
        self.path, self.unit = Path(path), Unit.of(losses, rewards)
        self.n_arms, self.version = checked_count("n_arms", n_arms), version
        self.labels = None if labels is None else tuple(map(str, labels))
        self._index = {label: arm for arm, label in enumerate(self.labels or ())}
        if self.labels is not None and len(self._index) != self.n_arms:
            raise InvalidOption(f"{self.n_arms} arms need as many different labels, got {len(self._index)}")
        if any("\n" in label or "\r" in label for label in self._index):
            raise InvalidOption("labels of a log must be one line each")
        self._header = described(self.unit, self.n_arms, self.labels)
        self._part, self._busy = checked_count("part", part), threading.Lock()
        self._waiting: list[tuple[Any, ...]] = []
        self._decisions = 0  # of those kept
        self._file: int | None = None
        self._closed = False
        name = self.path.name.lower()
        if name.endswith(".csv.gz"):
            raise LogError(
                f"{self.path} cannot be appended to; name a .csv file, or a folder of parquet parts"
            )
        try:
            if name.endswith(CSV):
                self._file = self._opened()
            else:
                self.path.mkdir(parents=True, exist_ok=True)
                self._check_parts()
        except OSError as error:
            raise self._failed(error) from error

    def write(
        self,
        decision: Any,
        values: Mapping[Any, float | None] | Iterable[float | None],
        *,
        probability: float = float("nan"),
        told_at: float | None = None,
    ) -> None:
        """Append a `Decision` of a policy with what it revealed, by arm or label, or in the order of `reveals`.

        An arm that is left out or None was not revealed, where reveals may fail.
        """
        reveals = [int(arm) for arm in decision.reveals]
        if not isinstance(values, Mapping):
            listed = list(values)
            if len(listed) != len(reveals):
                raise LogError(
                    f"decision {decision.id!r} reveals {len(reveals)} arms, got {len(listed)} values; "
                    "nothing was logged"
                )
            values = dict(zip(reveals, listed, strict=True))
        seen = dict(zip(reveals, (float(p) for p in decision.seen), strict=True))
        self.add(
            decision.id,
            round=decision.round,
            arm=decision.arm,
            seen=seen,
            values={arm: value for arm, value in values.items() if value is not None},
            probability=probability,
            told_at=told_at,
        )

    def add(
        self,
        decision_id: int | str,
        *,
        round: int,
        arm: int,
        seen: Mapping[int, float],
        values: Mapping[Any, float],
        probability: float = float("nan"),
        told_at: float | None = None,
    ) -> None:
        """Append one decision: P of every arm that could be seen by it, and the values of those that were seen.

        An arm of `seen` without a value was not revealed this time, which its P must account for.
        """
        unit, said = self.unit, f"decision {decision_id!r}"

        def need(fine: bool, what: str, wanted: str, value: object) -> None:
            if not fine:
                raise LogError(f"{said}: {what} must be {wanted}, got {value!r}; nothing was logged")

        need(not {"\n", "\r"} & set(str(decision_id)), "its id", "one line", decision_id)
        need(is_whole(round), "its round", "a whole number", round)
        played = self._arm(arm)
        need(played is not None, "its arm", f"in 0..{self.n_arms - 1}", arm)
        unknown = probability != probability
        need(unknown or 0.0 < probability <= 1 + SLACK, "its probability", "in (0, 1]", probability)
        chances = {self._arm(name): chance for name, chance in seen.items()}
        shown: dict[int, tuple[float, float]] = {}
        for name, value in values.items():
            at = self._arm(name)
            if at is None or at not in chances:
                what = f"does not reveal arm {name!r}; it reveals {list(seen) or 'nothing'}"
                raise LogError(f"{said} {what}; nothing was logged")
            inside = isinstance(value, Real) and unit.low <= value <= unit.high
            need(inside, f"the {unit.column} of arm {name!r}", f"in [{unit.low:g}, {unit.high:g}]", value)
            chance = chances[at]
            inside = isinstance(chance, Real) and 0 < chance <= 1 + SLACK
            need(inside, f"the probability of seeing arm {name!r}", "in (0, 1]", chance)
            shown[at] = (float(value), min(float(chance), 1.0))
        names: Any = self.labels or range(self.n_arms)
        head = (str(decision_id), int(round), names[played], None if unknown else float(probability))
        tail = (len(shown), self.version, time.time() if told_at is None else float(told_at))
        rows: list[Any] = [(*head, names[at], *shown[at], *tail) for at in sorted(shown)]
        self._put(rows or [(*head, None, None, None, *tail)])

    def _put(self, rows: list[tuple[Any, ...]]) -> None:
        """Append the rows of one decision, or keep them for the next part."""
        with self._busy:
            if self._closed:
                raise LogError(f"the log {self.path} is closed")
            if self._file is not None:
                self._append(self._file, _lines(rows))
                return
            self._waiting += rows
            self._decisions += 1
            if self._decisions >= self._part:
                try:
                    self._write_part()
                except LogError:
                    del self._waiting[-len(rows) :]
                    self._decisions -= 1
                    raise

    def flush(self) -> None:
        """Bring everything that was added to the disk."""
        with self._busy:
            if self._file is not None:
                try:
                    os.fsync(self._file)
                except OSError as error:
                    raise self._failed(error) from error
            elif self._waiting:
                self._write_part()

    def close(self) -> None:
        """Flush, and end."""
        self.flush()
        with self._busy:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- details ----------------------------------------------------------------------------------------

    def _arm(self, name: object) -> int | None:
        """The number of an arm that is given by number or label; None if there is none."""
        if isinstance(name, str):
            return self._index.get(name)
        return int(name) if is_whole(name) and 0 <= name < self.n_arms else None

    @property
    def _names(self) -> tuple[str, ...]:
        return ("decision_id", "round", "arm", "probability", "revealed", self.unit.column, "seen", "rows", "version",
                "told_at")  # fmt: skip

    def _opened(self) -> int:
        """The csv file, open for appending; what a crash cut off is cut off for good."""
        header = f"{MARK}{self._header}\n".encode()
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            size = os.fstat(file).st_size
            if size == 0:
                os.write(file, header + _lines([self._names]))
                return file
            with open(self.path, "rb") as stream:
                if stream.readline() != header:
                    raise LogError(
                        f"{self.path} is another log, or none: its first line is not {header.decode().strip()!r}; "
                        "name another file"
                    )
            os.ftruncate(file, self._whole(size))
        except BaseException:
            os.close(file)
            raise
        return file

    def _check_parts(self) -> None:
        """Parts that are there already must be of the same log."""
        parts = sorted(self.path.glob("part-*.parquet"))
        if parts and (said := parquet_about(parts[-1])) != json.loads(self._header):
            raise LogError(f"{self.path} is another log: {said}, and not {self._header}; name another folder")

    def _failed(self, error: OSError) -> LogError:
        return LogError(f"cannot write the log {self.path}: {error.strerror or error}")

    def _append(self, file: int, data: bytes) -> None:
        """All of `data` or nothing of it, also on a disk that is full."""
        size = os.fstat(file).st_size
        try:
            if os.write(file, data) == len(data):
                return
            reason = "the disk is full"
        except OSError as error:
            reason = error.strerror or str(error)
        os.ftruncate(file, size)
        raise LogError(f"cannot write the log {self.path}: {reason}; nothing was logged")

    def _whole(self, size: int) -> int:
        """The size of the file without a line, or a decision, that a crash cut off: rows of one lie together."""
        tail = 2**16
        while True:
            with open(self.path, "rb") as stream:
                stream.seek(max(size - tail, 0))
                data = stream.read()
            data = data[: data.rfind(b"\n") + 1]
            end = max(size - tail, 0) + len(data)
            rows = list(csv.reader(io.StringIO(data.decode(errors="replace"))))
            if not rows or rows[-1] == list(self._names):
                return end
            last, stated = rows[-1][0], max(int(rows[-1][self._names.index("rows")]), 1)
            if len(rows) > stated or tail >= size:
                present = sum(row[0] == last for row in rows[-stated:])
                if present == stated:
                    return end
                lines = data.splitlines(keepends=True)
                return end - sum(map(len, lines[len(lines) - present :]))
            tail *= 4

    def _write_part(self) -> None:
        number = sum(1 for _ in self.path.glob("part-*.parquet"))
        file = self.path / f"part-{number:06d}-{secrets.token_hex(4)}.parquet"
        schema = long_schema(self._names, self.unit, self.n_arms, self.labels, ids="string")
        try:
            with replacing(file) as stream:
                stream.write(parquet_bytes(long_table(self._waiting, schema)))
        except OSError as error:
            raise self._failed(error) from error
        self._waiting.clear()
        self._decisions = 0


def _lines(rows: Iterable[tuple[Any, ...]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
