"""Answers that come later, in compiled simulation: open decisions, by the round after which they are answered.

Decision t is answered after round t + delay has been decided: delay 0 is an answer before the next decision. Open
decisions are records, of which the free ones and those due after one round are linked lists; a record is a part of
`kept`, a slot or an arm, and a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined

FREE, OPEN, WIDTH, N_COUNTS = range(4)
"""Calendar.counts: the first free record, decisions that are open; and how many numbers are kept of a draw."""

NONE = -1


class Calendar(NamedTuple):
    """The open decisions of one game."""

    delays: np.ndarray  # (rounds,) int64 of each round, or (1,) of all
    first: np.ndarray  # (W,) int64 first record due after round t, at t mod W, W more than any delay
    last: np.ndarray  # (W,) int64 … and the last: answers come in the order of decisions
    link: np.ndarray  # (R,) int64 the next record of the same list
    round: np.ndarray  # (R,) int64
    drawn: np.ndarray  # (R,) int64 arm
    learnt: np.ndarray  # (R,) int64 rounds that were learnt from when it was drawn
    kept: np.ndarray  # (R·WIDTH,) what is kept of the draw, record after record
    counts: np.ndarray  # (N_COUNTS,) int64

    @property
    def unanswered(self) -> int:
        """Decisions from which nothing was learnt so far."""
        return int(self.counts[OPEN])


def make_calendar(delays: np.ndarray, rounds: int, width: int) -> Calendar:
    """For a game of `rounds` rounds; `width` numbers are kept of a draw at most."""
    delays = np.minimum(np.asarray(delays, dtype=np.int64), rounds)  # what comes after the end never comes
    window = int(delays.max(initial=0)) + 1
    records = min(window, rounds)
    # No more records than decisions that are ever open at once.
    if delays.size > 1:
        answered = np.bincount(np.minimum(np.arange(rounds) + delays[:rounds], rounds), minlength=rounds + 1)
        before = np.concatenate([[0], np.cumsum(answered[: rounds - 1])])
        records = int((np.arange(1, rounds + 1) - before).max(initial=1))
    link = np.arange(1, records + 1, dtype=np.int64)
    link[-1] = NONE
    counts = np.zeros(N_COUNTS, dtype=np.int64)
    counts[WIDTH] = width
    return Calendar(
        delays=delays,
        first=np.full(window, NONE, dtype=np.int64),
        last=np.full(window, NONE, dtype=np.int64),
        link=link,
        round=np.zeros(records, dtype=np.int64),
        drawn=np.zeros(records, dtype=np.int64),
        learnt=np.zeros(records, dtype=np.int64),
        kept=np.zeros(records * width),
        counts=counts,
    )


@inlined()
def enter(calendar, t, drawn):
    """A record for the decision of round t; its number."""
    record = calendar.counts[FREE]
    calendar.counts[FREE] = calendar.link[record]
    calendar.counts[OPEN] += 1
    calendar.round[record] = t
    calendar.drawn[record] = drawn
    calendar.link[record] = NONE
    delay = calendar.delays[t if calendar.delays.size > 1 else 0]
    # A ring of days: the window is longer than any delay, so no day has answers of two rounds of the ring.
    day = (t + delay) % calendar.first.size
    if calendar.first[day] == NONE:
        calendar.first[day] = record
    else:
        calendar.link[calendar.last[day]] = record
    calendar.last[day] = record
    return record


@inlined()
def take(calendar, t):
    """The next record that is due after round t, or NONE; it is free, and may be read until the next `enter`."""
    day = t % calendar.first.size
    record = calendar.first[day]
    if record != NONE:
        calendar.first[day] = calendar.link[record]
        # Back to the free list at once; nobody enters another before this one is read.
        calendar.link[record] = calendar.counts[FREE]
        calendar.counts[FREE] = record
        calendar.counts[OPEN] -= 1
    return record
