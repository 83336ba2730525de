"""One policy being served: what is asked of it is checked, applied in order and turned into events.

Nothing here waits or writes. Each request leaves events in `outgoing`, for the writer; `restored` applies stored
events in the same order through the same engine, and arrives at the same bits.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from sidelight._types import Floats
from sidelight._version import __version__
from sidelight.errors import InvalidFeedback, SavedStateError, StoreError
from sidelight.policy import Policy
from sidelight.policy.feedback import told_of
from sidelight.service import messages
from sidelight.service.access import Limits
from sidelight.service.events import (
    ENDS,
    About,
    Damaged,
    Event,
    Kind,
    PolicyRow,
    Snapshot,
    Write,
    check_follows,
    checksum,
    decided_body,
    observed_body,
    read_decided,
    read_observed,
    sealed,
    unsealed,
)
from sidelight.service.logs import failed
from sidelight.service.messages import Problem, unknown_policy
from sidelight.service.store.base import Store

SNAPSHOT_EVERY = 10_000
"""Events. A start replays at most so many for a policy, which takes a fraction of a second."""


Ends = Mapping[int, tuple[int, bytes]]
"""How decisions have ended: kind and body of the event that closed each."""


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
    open: dict[int, float] = field(default_factory=dict)  # decision: when it was made
    counts: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(ENDS, 0))  # decisions by their end
    requests: dict[bytes, asyncio.Future[Any]] = field(default_factory=dict)  # keys that are being worked on
    outgoing: list[Event] = field(default_factory=list)
    snapshot: Snapshot | None = None  # outgoing
    stored: asyncio.Future[None] | None = None  # the last that was handed to the writer
    failed: bool = False  # it is ahead of the disk: to be loaded again
    removed: bool = False  # it is gone, as far as those are concerned who still hold it

    def __post_init__(self) -> None:
        self.expires: float | None = self.row.about.get("expires")
        self._due = 0.0  # nothing expires before this time
        labels = self.policy.graph.labels
        self._arms = None if labels is None else {label: arm for arm, label in enumerate(labels)}

    @property
    def decided(self) -> int:
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
        decisions = []
        for index in range(count):
            decision = self.policy.decide()
            body = decided_body(decision.arm, 0 if index else count, decision.probability, decision.seen)
            self._note(Kind.DECIDED, decision.id, body, None if index else key)
            self.open[decision.id] = self.clock
            decisions.append(self._shown(decision.id, decision.arm, decision.seen))
        return decisions

    def decided_before(self, events: Sequence[tuple[int, bytes]]) -> list[messages.Decision]:
        """The answer to a request that was answered before, from its events."""
        decided = [(number, read_decided(body)) for number, body in events]
        return [self._shown(number, known.arm, known.seen) for number, known in decided]

    def closed(self, decisions: Iterable[int]) -> list[int]:
        """Those of them that have ended; how, only the store knows."""
        decided = self.decided
        return [number for number in decisions if 1 <= number <= decided and number not in self.open]

    def observe(self, items: Sequence[messages.Observation], ends: Ends, now: float) -> messages.Observed:
        """Learn from answers, all or none; `ends` tells how closed decisions have ended."""
        self.expire(now)
        new: dict[int, tuple[int, Floats]] = {}  # by decision: its arm, what it revealed
        repeated = 0
        for at, item in enumerate(items):
            number = item.decision
            try:
                if number in self.open:
                    arm, before = self.policy.decision(number).arm, new.get(number, (0, None))[1]
                else:
                    arm, before = read_observed(self._answer_of(number, ends))
                values = told_of(self.policy.graph, self.policy.unit, arm, self._told(item))
                if before is None:
                    new[number] = (arm, values)
                elif before.tobytes() == values.tobytes():
                    repeated += 1
                else:
                    why = f"decision {number} was answered before, by other values"
                    raise Problem(409, "answered_differently", why)
            except (Problem, InvalidFeedback) as error:
                raise _about_item(at, number, error) from None
        for number, (arm, values) in new.items():
            self.policy.observe(number, values)
            self._end(number, Kind.OBSERVED, observed_body(arm, values))
        return messages.Observed(len(new), repeated)

    def _answer_of(self, number: int, ends: Ends) -> bytes:
        """What was told of a closed decision, or why nothing is."""
        kind, body = self._end_of(number, ends, status=422)
        if kind == Kind.OBSERVED:
            return body
        how = "expired" if kind == Kind.EXPIRED else "cancelled"
        raise Problem(409, how, f"decision {number} was {how} before; nothing is learnt from it any more")

    def _end_of(self, number: int, ends: Ends, status: int) -> tuple[int, bytes]:
        """The kind and body of what closed a decision; refused with `status` where there is no such decision."""
        if not 1 <= number <= self.decided:
            why = f"decision {number} does not exist: this policy has made {self.decided:,}"
            raise Problem(status, "unknown_decision", why, decision=number)
        return ends[number]

    def cancel(self, number: int, ends: Ends, now: float) -> messages.Cancelled:
        """Give a decision up; again is no mistake."""
        self.expire(now)
        if number in self.open:
            self.policy.cancel(number)
            self._end(number, Kind.CANCELLED)
            return messages.Cancelled(number, False)
        kind, _ = self._end_of(number, ends, status=404)
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
        for number, time in self.open.items():  # in the order of their times
            if time + self.expires > self.clock:
                self._due = time + self.expires
                break
            due.append(number)
        for number in due:
            self.policy.cancel(number)
            self._end(number, Kind.EXPIRED)
        return len(due)

    # -- events ----------------------------------------------------------------------------------------

    def _note(self, kind: Kind, decision: int, body: bytes, key: bytes | None = None) -> None:
        self.seq += 1
        self.check = checksum(self.check, self.seq, kind, decision, self.clock, key, body)
        self.outgoing.append(Event(self.row.id, self.seq, kind, decision, self.clock, key, body, self.check))

    def _end(self, number: int, kind: Kind, body: bytes = b"") -> None:
        """A decision is closed."""
        del self.open[number]
        self.counts[kind] += 1
        self._note(kind, number, body)

    def taken(self) -> Write | None:
        """What is to be written, with a snapshot where one is due."""
        if self.outgoing and self.seq - self.snapshot_seq >= self.snapshot_every:
            self.save()
        if not self.outgoing and self.snapshot is None:
            return None
        events, self.outgoing = self.outgoing, []
        snapshot, self.snapshot = self.snapshot, None
        return Write(self.row.id, self.row.epoch, events, snapshot)

    def save(self) -> None:
        """Make a snapshot, to be written with the events so far."""
        self.snapshot, self.snapshot_seq = self.snapshot_now(), self.seq

    def snapshot_now(self) -> Snapshot:
        """The policy as it stands, and what the service knows besides."""
        header = {
            "clock": self.clock,
            "times": list(self.open.values()),
            "counts": [self.counts[kind] for kind in ENDS],
            "sidelight": __version__,
        }
        data = self.policy.to_bytes()
        about = sealed(header, f"{self.seq} {self.check}", data)
        return Snapshot(self.row.id, self.seq, self.check, about, data)

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
        what = f"the snapshot {snapshot.seq} of policy {row.name!r}"
        header = unsealed_snapshot(snapshot, what)
        policy = Policy.from_bytes(snapshot.data, what)
        served = cls(row, policy, limits, snapshot_every, snapshot.seq, snapshot.check)
        served.snapshot_seq = snapshot.seq
        try:
            about = msgspec.convert(header, About)
            served.clock = about.clock
            served.counts = dict(zip(ENDS, about.counts, strict=True))
            served.open = dict(zip((each.id for each in policy.open), about.times, strict=True))
        except (msgspec.ValidationError, ValueError) as error:
            raise Damaged(f"{what} is damaged: open decisions differ ({error!s:.100})") from None
        for event in events:
            served._replay(event)
            if watch is not None:
                watch(served)
        return served

    def _replay(self, event: Event) -> None:
        check_follows(event, self.seq + 1, self.check)
        number = event.decision
        if event.kind == Kind.DECIDED:
            decision, decided = self.policy.decide(), read_decided(event.body)
            if (decision.id, decision.arm) != (number, decided.arm):
                raise StoreError(
                    f"policy {self.row.name!r} cannot be continued: replaying event {event.seq} decides arm"
                    f" {decision.arm}, the log says {decided.arm}. Another version of Sidelight wrote it, or another"
                    " kind of processor: start that one once and stop it gracefully, which saves a snapshot"
                )
            self.open[number] = event.time
        elif event.kind in ENDS:
            if event.kind == Kind.OBSERVED:
                self.policy.observe(number, read_observed(event.body)[1])
            else:
                self.policy.cancel(number)
            del self.open[number]
            self.counts[Kind(event.kind)] += 1
        elif event.kind != Kind.SAVED:
            raise StoreError(
                f"event {event.seq} of policy {self.row.name!r} is of an unknown kind {event.kind}"
            )
        self.seq, self.check, self.clock = event.seq, event.check, max(self.clock, event.time)

    # -- what is told ----------------------------------------------------------------------------------

    def _told(self, item: messages.Observation) -> Any:
        """What was told, by the numbers of arms or in the order of what is revealed."""
        losses = item.losses
        if isinstance(losses, dict):
            arms = [self._arm(key) for key in losses]
            losses = list(losses.values())
            if item.arms is not None:
                raise InvalidFeedback("`arms` say what a list of losses is about, and these have keys")
        elif item.arms is None:
            return losses if None in losses else np.array(losses, dtype=np.float64)
        else:
            arms = [*item.arms]
            if len(arms) != len(losses):
                raise InvalidFeedback(f"{len(arms)} arms and {len(losses)} losses: each arm has one")
        by_arm = dict(zip(arms, losses, strict=True))
        if len(by_arm) < len(losses):
            raise InvalidFeedback(f"an arm was told twice: {', '.join(map(str, arms))[:80]}")
        return by_arm

    def _arm(self, key: str) -> int | str:
        """The arm of a key: its label where arms have labels, or else its number; what is neither stays as it is."""
        if self._arms is None:
            return int(key) if key.isascii() and key.isdigit() and len(key) < 10 else key
        if key not in self._arms:
            raise InvalidFeedback(
                f"{key!r:.80} is no label, and keys are labels where arms have labels; arms by number are a list"
                " `arms` beside a list of losses"
            )
        return self._arms[key]

    # -- looking ---------------------------------------------------------------------------------------

    def _shown(self, number: int, arm: int, seen: Floats) -> messages.Decision:
        graph = self.policy.graph
        label = str(arm) if graph.labels is None else graph.labels[arm]
        reveals, horizon = graph.out_neighbors(arm).tolist(), self.policy.plan.horizon
        late = horizon is not None and number > horizon
        return messages.Decision(number, number, arm, label, reveals, seen.tolist(), late)

    def answer(self, probabilities: bool = True) -> messages.PolicyAnswer:
        """The policy as it stands."""
        policy, about = self.policy, self.row.about
        plan, graph = policy.plan, policy.graph
        rounds = plan.horizon or max(self.decided, 1)
        bound = policy._bound_at(rounds)
        assert bound is not None  # the service plays plans, which have one
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
            decided=self.decided,
            round=policy.round,
            open=len(self.open),
            cancelled=self.counts[Kind.CANCELLED],
            expired=self.counts[Kind.EXPIRED],
            certificate=messages.Certificate(
                _finite(certificate.value),
                certificate.round,
                {name: _finite(value) for name, value in certificate.terms.items()},
            ),
            bound=messages.Bound(
                _finite(bound.value * policy.unit.width),
                rounds,
                bound.certified,
                "; ".join(str(each) for each in bound.failing),
            ),
            entropy=entropy(chances),
            probabilities=chances.tolist() if probabilities else None,
            labels=list(graph.labels) if probabilities and graph.labels is not None else None,
        )

    def open_decisions(self, after: int, limit: int) -> messages.OpenList:
        """A page of what waits for an answer."""
        numbers = [number for number in self.open if number > after][: limit + 1]
        more = len(numbers) > limit
        decisions = [self.policy.decision(number) for number in numbers[:limit]]
        shown = [self._shown(each.id, each.arm, each.seen) for each in decisions]
        return messages.OpenList(shown, shown[-1].id if more else None)


def entropy(probabilities: Floats) -> float:
    """−Σ p ln p."""
    positive = probabilities[probabilities > 0.0]
    return float(-(positive * np.log(positive)).sum()) + 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _about_item(at: int, number: int, error: Problem | InvalidFeedback) -> Problem:
    """What is wrong with one of many observations."""
    if isinstance(error, InvalidFeedback):
        why = f"observation {at}, of decision {number}: {error}"
        return Problem(422, "invalid_observation", why, item=at, decision=number)
    return Problem(error.status, error.code, f"observation {at}: {error}", item=at, decision=number)


# -- from the store -----------------------------------------------------------------------------------------


def unsealed_snapshot(snapshot: Snapshot, what: str) -> dict[str, Any]:
    """What the service knew besides; raises `Damaged` where the snapshot is not as it was written."""
    return unsealed(snapshot.about, what, f"{snapshot.seq} {snapshot.check}", snapshot.data)


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
    why: Exception = Damaged(f"policy {row.name!r} has no snapshot: the store is damaged")
    for snapshot in store.snapshots(row.id):
        try:
            events = store.events(row.id, snapshot.seq)
            return Served.restored(row, snapshot, events, limits, snapshot_every, watch)
        except (SavedStateError, Damaged) as error:  # an older one, and more events, lead to the same state
            failed("a snapshot is damaged", error, policy=row.name)
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
