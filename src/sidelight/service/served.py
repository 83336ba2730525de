"""One policy being served: what is asked of it is checked, applied in order and turned into events.

Nothing here waits or writes. Each request leaves events in `outgoing`, for the writer; `restored` applies stored
events in the same order through the same engine, and arrives at the same bits.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight._version import __version__
from sidelight.errors import InvalidFeedback, StoreError
from sidelight.log.unit import Unit
from sidelight.policy import Policy
from sidelight.policy.feedback import aligned, as_losses, heard, in_range, out_of_range
from sidelight.service import messages
from sidelight.service.events import (
    Event,
    Kind,
    PolicyRow,
    Snapshot,
    Write,
    checksum,
    decided_body,
    is_intact,
    observed_body,
    read_decided,
    read_observed,
)
from sidelight.service.limits import Limits
from sidelight.service.problems import Problem

SNAPSHOT_EVERY = 10_000
"""Events. A start replays at most so many for a policy, which takes a fraction of a second."""


@dataclass(slots=True)
class Counts:
    """Decisions by how they ended."""

    answered: int = 0
    cancelled: int = 0
    expired: int = 0


@dataclass(eq=False)
class Served:
    """A policy in memory, and where it stands in its log."""

    row: PolicyRow
    policy: Policy
    limits: Limits
    snapshot_every: int = SNAPSHOT_EVERY
    seq: int = 0
    check: int = 0
    clock: float = 0.0  # the time of the last event: it never goes back
    snapshot_seq: int = 0
    open: dict[int, tuple[int, float]] = field(default_factory=dict)  # decision: its arm, when it was made
    counts: Counts = field(default_factory=Counts)
    ended: dict[int, tuple[int, bytes, int]] = field(
        default_factory=dict
    )  # kind, body, seq: not on the disk yet
    durable: int = 0  # events up to this one are on the disk
    requests: dict[bytes, asyncio.Future[Any]] = field(default_factory=dict)  # keys that are being worked on
    outgoing: list[Event] = field(default_factory=list)
    snapshot: Snapshot | None = None  # outgoing
    stored: asyncio.Future[None] | None = None  # the last that was handed to the writer
    stored_seq: int = 0  # … and its last event
    failed: bool = False  # it is ahead of the disk: to be loaded again
    removed: bool = False  # … or gone, as far as those are concerned who still hold it

    def __post_init__(self) -> None:
        self.expires: float | None = self.row.about.get("expires")
        self._due = 0.0  # nothing expires before this time
        labels = self.policy.graph.labels
        self._arms = None if labels is None else {label: arm for arm, label in enumerate(labels)}

    @property
    def made(self) -> int:
        """Decisions so far."""
        return self.policy.round + len(self.open)

    # -- what is asked of it ---------------------------------------------------------------------------

    def decide(self, count: int, key: bytes | None, now: float) -> list[messages.Decision]:
        """Make decisions."""
        self.expire(now)
        if len(self.open) + count > self.limits.open:
            raise Problem(
                429,
                "too_many_open",
                f"{len(self.open):,} decisions of {self.row.name!r} are open, at most {self.limits.open:,} may be:"
                " answer or cancel some, or make the policy with `expires`",
                retry_after=1.0,
            )
        made = []
        for index in range(count):
            decision = self.policy.decide()
            probability = float(self.policy.probabilities[decision.arm])
            body = decided_body(decision.arm, 0 if index else count, probability, decision.seen)
            self._note(Kind.DECIDED, decision.id, body, None if index else key)
            self.open[decision.id] = (decision.arm, self.clock)
            made.append(
                messages.Decision(
                    decision.id,
                    decision.round,
                    decision.arm,
                    decision.label,
                    decision.reveals.tolist(),
                    decision.seen.tolist(),
                )
            )
        return made

    def decided_before(self, found: Sequence[tuple[int, bytes]]) -> list[messages.Decision]:
        """The answer to a request that was answered before, from its events."""
        return [
            self._shown(number, read_decided(body).arm, read_decided(body).seen) for number, body in found
        ]

    def closed(self, decisions: Iterable[int]) -> list[int]:
        """Those that have ended, and how is not known here."""
        made = self.made
        return [
            number
            for number in decisions
            if 1 <= number <= made and number not in self.open and number not in self.ended
        ]

    def observe(
        self, items: Sequence[messages.Observation], ends: Mapping[int, tuple[int, bytes]], now: float
    ) -> messages.Observed:
        """Learn from answers, all or none; `ends` tells how closed decisions have ended."""
        self.expire(now)
        new: dict[int, Floats] = {}
        repeated = 0
        for at, item in enumerate(items):
            number = item.decision
            held = self.open.get(number)
            arm, before = (held[0], new.get(number)) if held else self._answered(at, number, ends)
            values = self._values(at, number, arm, item.losses)
            if before is None:
                new[number] = values
            elif before.tobytes() == values.tobytes():
                repeated += 1
            else:
                raise Problem(
                    409,
                    "answered_differently",
                    f"observation {at}: decision {number} was answered before, by other values",
                    item=at,
                    decision=number,
                )
        for number, values in new.items():
            self.policy.observe(number, values)
            arm, _ = self.open.pop(number)
            self.counts.answered += 1
            body = observed_body(arm, values)
            self._note(Kind.OBSERVED, number, body)
            self.ended[number] = (Kind.OBSERVED, body, self.seq)
        return messages.Observed(len(new), repeated)

    def cancel(self, number: int, ends: Mapping[int, tuple[int, bytes]], now: float) -> messages.Cancelled:
        """Give a decision up; again is no mistake."""
        self.expire(now)
        if number in self.open:
            self._end(number, Kind.CANCELLED)
            self.counts.cancelled += 1
            return messages.Cancelled(number, False)
        if not 1 <= number <= self.made:
            raise Problem(
                404, "unknown_decision", f"decision {number} does not exist: this policy has made {self.made:,}",
                decision=number,
            )  # fmt: skip
        kind = (self.ended.get(number) or ends[number])[0]
        if kind == Kind.OBSERVED:
            raise Problem(409, "answered", f"decision {number} was answered before", decision=number)
        return messages.Cancelled(number, True)

    def expire(self, now: float) -> int:
        """Cancel what has waited for longer than the policy allows; how many decisions that were."""
        self.clock = max(self.clock, now)
        if self.expires is None or self.clock < self._due:
            return 0
        due = []
        self._due = self.clock + self.expires
        for number, (_, time) in self.open.items():  # in the order of their times
            if time + self.expires > self.clock:
                self._due = time + self.expires
                break
            due.append(number)
        for number in due:
            self._end(number, Kind.EXPIRED)
            self.counts.expired += 1
        return len(due)

    def _end(self, number: int, kind: Kind) -> None:
        self.policy.cancel(number)
        del self.open[number]
        self._note(kind, number, b"")
        self.ended[number] = (kind, b"", self.seq)

    # -- events ----------------------------------------------------------------------------------------

    def _note(self, kind: int, decision: int, body: bytes, key: bytes | None = None) -> None:
        self.seq += 1
        self.check = checksum(self.check, self.seq, kind, decision, self.clock, key, body)
        self.outgoing.append(Event(self.row.id, self.seq, kind, decision, self.clock, key, body, self.check))

    def taken(self) -> Write | None:
        """What is to be written, with a snapshot where one is due."""
        if not self.outgoing:
            return None
        if self.seq - self.snapshot_seq >= self.snapshot_every and self.snapshot is None:
            self.save()
        events, self.outgoing = self.outgoing, []
        snapshot, self.snapshot = self.snapshot, None
        return Write(self.row.id, self.row.epoch, events, snapshot)

    def committed(self, seq: int) -> None:
        """Events up to `seq` are on the disk, and found there."""
        self.durable = max(self.durable, seq)
        while self.ended:
            number = next(iter(self.ended))
            if self.ended[number][2] > self.durable:
                return
            del self.ended[number]

    def save(self) -> None:
        """Make a snapshot, which is an event: the policy goes on as one that is loaded from it."""
        data = self.policy.to_bytes()
        self._note(Kind.SAVED, 0, b"")
        self.snapshot_seq = self.seq
        self.snapshot = Snapshot(self.row.id, self.seq, self.check, self._about(), data)

    def _about(self) -> str:
        times = [time for _, time in self.open.values()]
        counts = [self.counts.answered, self.counts.cancelled, self.counts.expired]
        return json.dumps({"clock": self.clock, "times": times, "counts": counts, "sidelight": __version__})

    def first_snapshot(self) -> Snapshot:
        """Of a policy that has just been made."""
        return Snapshot(self.row.id, 0, 0, self._about(), self.policy.to_bytes())

    # -- from the store --------------------------------------------------------------------------------

    @classmethod
    def restored(
        cls,
        row: PolicyRow,
        snapshot: Snapshot,
        events: Iterable[Event],
        limits: Limits,
        snapshot_every: int = SNAPSHOT_EVERY,
        watch: Callable[[Served], None] | None = None,
    ) -> Served:
        """The policy as it stands after `events`, which follow the snapshot; `watch` sees it after each of them."""
        about = json.loads(snapshot.about)
        policy = Policy.from_bytes(snapshot.data, f"the snapshot {snapshot.seq} of policy {row.name!r}")
        made = cls(row, policy, limits, snapshot_every, snapshot.seq, snapshot.check, about["clock"])
        made.snapshot_seq = snapshot.seq
        made.counts = Counts(*about["counts"])
        open_now = policy.open
        if len(open_now) != len(about["times"]):
            raise StoreError(
                f"the snapshot {snapshot.seq} of policy {row.name!r} is damaged: open decisions differ"
            )
        made.open = {
            decision.id: (decision.arm, time) for decision, time in zip(open_now, about["times"], strict=True)
        }
        for event in events:
            made._replay(event)
            if watch is not None:
                watch(made)
        return made

    def _replay(self, event: Event) -> None:
        if event.seq != self.seq + 1 or not is_intact(event, self.check):
            what = "was altered" if event.seq == self.seq + 1 else f"is missing, the next one is {event.seq}"
            raise StoreError(
                f"the log of policy {self.row.name!r} is damaged: event {self.seq + 1} {what};"
                " restore the store from a backup"
            )
        number = event.decision
        if event.kind == Kind.DECIDED:
            decision, known = self.policy.decide(), read_decided(event.body)
            if (decision.id, decision.arm) != (number, known.arm):
                raise StoreError(
                    f"policy {self.row.name!r} cannot be continued: replaying event {event.seq} decides arm"
                    f" {decision.arm}, the log says {known.arm}. Another version of Sidelight wrote it, or another"
                    " kind of processor: start that one once and stop it gracefully, which saves a snapshot"
                )
            self.open[number] = (decision.arm, event.time)
        elif event.kind == Kind.OBSERVED:
            self.policy.observe(number, read_observed(event.body)[1])
            del self.open[number]
            self.counts.answered += 1
        elif event.kind in (Kind.CANCELLED, Kind.EXPIRED):
            self.policy.cancel(number)
            del self.open[number]
            self.counts.cancelled += event.kind == Kind.CANCELLED
            self.counts.expired += event.kind == Kind.EXPIRED
        elif event.kind == Kind.SAVED:
            self.policy.to_bytes()
            self.snapshot_seq = event.seq
        else:
            raise StoreError(
                f"event {event.seq} of policy {self.row.name!r} is of an unknown kind {event.kind}"
            )
        self.seq, self.check, self.clock = event.seq, event.check, max(self.clock, event.time)

    # -- what is told ----------------------------------------------------------------------------------

    def _values(
        self, at: int, number: int, arm: int, losses: dict[str, float | None] | list[float | None]
    ) -> Floats:
        """The values of what a decision revealed, or why they are none."""
        graph, unit = self.policy.graph, self.policy.unit
        try:
            told = aligned(graph, int(graph.out_degree[arm]), arm, self._by_arm(losses))
            values = told if unit == _PLAIN else as_losses(unit, told)
            if not in_range(values if graph.certain else heard(values)):
                raise out_of_range(graph, arm, unit, told)
        except InvalidFeedback as error:
            raise Problem(
                422, "invalid_observation", f"observation {at}, of decision {number}: {error}",
                item=at, decision=number,
            ) from None  # fmt: skip
        return told

    def _by_arm(self, losses: dict[str, float | None] | list[float | None]) -> Any:
        """Keys as arms: by label where arms have labels, else by number; what is neither stays as it is."""
        if isinstance(losses, list):
            return losses if None in losses else np.array(losses, dtype=np.float64)
        found: dict[int | str, float | None] = {}
        for key, value in losses.items():
            arm = self._arm(key)
            if arm in found:
                raise InvalidFeedback(f"the loss of arm {arm} was told twice")
            found[arm] = value
        return found

    def _arm(self, key: str) -> int | str:
        if self._arms is not None and key in self._arms:
            return self._arms[key]
        return int(key) if key.isascii() and key.isdigit() and len(key) < 10 else key

    def _answered(self, at: int, number: int, ends: Mapping[int, tuple[int, bytes]]) -> tuple[int, Floats]:
        """The arm of a closed decision and what it revealed, or why there is none."""
        if not 1 <= number <= self.made:
            raise Problem(
                422, "unknown_decision",
                f"observation {at}: decision {number} does not exist: this policy has made {self.made:,}",
                item=at, decision=number,
            )  # fmt: skip
        kind, body = (self.ended.get(number) or ends[number])[:2]
        if kind == Kind.OBSERVED:
            return read_observed(body)
        how = "expired" if kind == Kind.EXPIRED else "cancelled"
        raise Problem(
            409, how, f"observation {at}: decision {number} was {how} before; nothing is learnt from it any more",
            item=at, decision=number,
        )  # fmt: skip

    # -- looking ---------------------------------------------------------------------------------------

    def _shown(self, number: int, arm: int, seen: Floats) -> messages.Decision:
        graph = self.policy.graph
        label = str(arm) if graph.labels is None else graph.labels[arm]
        return messages.Decision(number, number, arm, label, graph.out_neighbors(arm).tolist(), seen.tolist())

    def answer(self, probabilities: bool = True) -> messages.PolicyAnswer:
        """The policy as it stands."""
        policy, about = self.policy, self.row.about
        plan, graph = policy.plan, policy.graph
        rounds = plan.horizon or max(self.made, 1)
        bound = plan.bound_at(rounds)
        certificate = policy.certificate()
        chances = policy.probabilities
        return messages.PolicyAnswer(
            name=self.row.name,
            arms=graph.n_arms,
            edges=graph.n_edges,
            horizon=plan.horizon,
            unit=policy.unit._asdict(),
            realization=plan.realization,
            expires=self.expires,
            created=about["created"],
            decided=self.made,
            round=policy.round,
            open=len(self.open),
            cancelled=self.counts.cancelled,
            expired=self.counts.expired,
            certificate=messages.Certificate(
                _finite(certificate.value),
                certificate.round,
                {name: _finite(value) for name, value in certificate.terms.items()},
            ),
            bound=messages.Bound(_finite(bound.value * policy.unit.width), rounds, bound.certified),
            entropy=entropy(chances),
            probabilities=chances.tolist() if probabilities else None,
            labels=list(graph.labels) if probabilities and graph.labels is not None else None,
        )

    def open_decisions(self, after: int, limit: int) -> messages.OpenList:
        """A page of what waits for an answer."""
        numbers = [number for number in self.open if number > after][: limit + 1]
        more = len(numbers) > limit
        found = [self.policy.decision(number) for number in numbers[:limit]]
        shown = [self._shown(each.id, each.arm, each.seen) for each in found]
        return messages.OpenList(shown, shown[-1].id if more else None)


def entropy(probabilities: Floats) -> float:
    """−Σ p ln p."""
    positive = probabilities[probabilities > 0.0]
    return float(-(positive * np.log(positive)).sum()) + 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


_PLAIN = Unit()
