"""The partition with the smallest certified bound: exact for small graphs, local search with many starts else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from sidelight._check import MOST_ROUNDS, checked_count, checked_horizon, checked_number, checked_seed
from sidelight._progress import Progress
from sidelight._types import Longs
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.candidates import candidates_of
from sidelight.planning.exploration import Solved
from sidelight.planning.search.blocks import BlockBook
from sidelight.planning.search.exact import MOST_ARMS, exact_possible, exhaustive
from sidelight.planning.search.moves import neighbours
from sidelight.planning.search.starts import hubs, natural_starts, watched
from sidelight.planning.search.state import State

EXACT_ARMS = 7
"""Up to so many arms the search is exact without being asked."""

BATCH = 256
"""Neighbours weighed at a time."""

SHAKEN = 3
"""Random legal changes that separate a restart from the best partition."""

FINALISTS = 6
"""Local optima whose bound is minimised, and neighbours of the best of them."""

SILENT_SECONDS = 0.5
"""A search that is over sooner shows no progress."""


class Tried(NamedTuple):
    """One partition whose bound a search computed."""

    name: str  # where it came from
    n_blocks: int
    value: float
    certified: bool
    seconds: float  # since the search began


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found: the partition, its bound as `plan` certifies it, and everything that was scored."""

    partition: Partition
    bound: float
    certified: bool
    exact: bool  # are all legal partitions accounted for?
    stopped: str  # "finished", "moves", "budget" or "interrupted"
    moves: int  # changes that were weighed, or partitions that were enumerated
    history: tuple[Tried, ...]


def search(
    g: FeedbackGraph,
    horizon: int,
    *,
    budget: float = 10.0,
    moves: int = 20_000,
    seed: int = 0,
    exact: bool | None = None,
    progress: bool | None = None,
) -> Partition:
    """The legal partition with the smallest certified bound at `horizon` that is found within the limits.

    Never worse than any natural partition (single, components, corrupted, hypercube, strongly connected components,
    communities), which are all scored first whatever the `budget` in seconds; a later step begins only if it
    is likely to end in time. Ends after `moves` changes were weighed; if the budget cuts nothing short, the
    result depends on `seed` alone. An interrupt returns the best so far. `exact=True` goes through all legal
    partitions (up to 9 arms), None does so up to 7. `progress` shows a bar; None does at a terminal. `searched`
    tells what was tried. Plans without a partition may have smaller bounds: `plan(g, horizon, search=seconds)`
    takes the best of all.

    >>> from sidelight.graph import families
    >>> search(families.corrupted_mab(20, 2), 10**6, moves=50)
    Partition(n_arms=20, n_blocks=19, U1S=18, U1N=0, U2=1)
    """
    return searched(
        g, horizon, budget=budget, moves=moves, seed=seed, exact=exact, progress=progress
    ).partition


def searched(
    g: FeedbackGraph,
    horizon: int,
    *,
    budget: float = 10.0,
    moves: int = 20_000,
    seed: int = 0,
    exact: bool | None = None,
    progress: bool | None = None,
) -> Search:
    """`search` with everything it has to tell: bound, history, and why it stopped."""
    if not isinstance(g, FeedbackGraph):
        raise InvalidGraph(f"search needs a FeedbackGraph, got {type(g).__name__}")
    T = checked_horizon(horizon)
    seconds = checked_number("budget", budget, above=0.0)
    limit = checked_count("moves", moves, most=MOST_ROUNDS)
    checked_seed(seed)
    if exact not in (None, True, False):
        raise InvalidOption(f"exact must be True, False or None, got {exact!r}")
    if exact and not exact_possible(g):
        raise InfeasibleRequest(
            f"all partitions of {g.n_arms} arms are too many to enumerate; up to {MOST_ARMS} arms can be exact,"
            " leave exact=None to search"
        )
    if exact is None:
        exact = g.n_arms <= EXACT_ARMS
    with Progress("searching", 1.0, progress, after=SILENT_SECONDS) as bar:
        run = _Run(g, T, seconds, limit, seed, bar)
        try:
            run.score_natural()
            stopped = run.enumerate_all() if exact else run.descend()
        except KeyboardInterrupt:
            if run.best is None:
                raise
            return run.result("interrupted", False)
    return run.result(stopped, exact)


@dataclass(eq=False)
class _Run:
    graph: FeedbackGraph
    horizon: int
    budget: float
    limit: int
    seed: int
    bar: Progress
    moves: int = 0
    history: list[Tried] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self.pace = 0.0  # seconds per unit of work, the slowest so far
        self.book = BlockBook(self.graph)
        self.solved = Solved(self.graph)
        self.solved.observability  # noqa: B018 - refuses graphs with unobservable arms
        self.rng = np.random.default_rng(self.seed)
        self.best: tuple[tuple[bool, float, int], Partition, float, bool] | None = None
        self.known: dict[bytes, float] = {}  # partitions scored so far

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def late(self) -> bool:
        return self.elapsed > self.budget

    def fits(self, unsolved: int) -> bool:
        """Is there time to solve blocks of so many arms, at the slowest pace so far?"""
        return self.elapsed + self.pace * self._work(unsolved) <= self.budget

    def _work(self, unsolved: int) -> float:
        return unsolved + 0.1 * self.graph.n_arms

    def score(self, name: str, partition: Partition) -> float:
        """The bound that `plan` gives the partition; ∞ if it is not certified and others are."""
        key = partition._canonical.tobytes()
        if key in self.known:
            return self.known[key]
        before, unsolved = self.elapsed, self.solved.unsolved(partition)
        weak = self.solved.blocks(name, partition)
        self.book.learn(weak.dominations)
        scores = [candidate.score(self.horizon) for candidate in candidates_of(weak, "auto")]
        value, certified = min(scores, key=lambda score: (not score[1], score[0]))
        rank = (not certified, float(f"{value:.12g}"), partition.n_blocks)
        self.history.append(Tried(name, partition.n_blocks, value, certified, self.elapsed))
        self.pace = max(self.pace, (self.elapsed - before) / self._work(unsolved))
        if self.best is None or rank < self.best[0]:
            self.best = (rank, partition, value, certified)
        self.known[key] = value if certified else inf
        return self.known[key]

    def _score_in_time(self, name: str, partition: Partition) -> bool:
        """Score the partition unless that would take too long."""
        if partition._canonical.tobytes() in self.known:
            return True
        fits = self.fits(self.solved.unsolved(partition))
        if fits:
            self.score(name, partition)
        return fits

    def result(self, stopped: str, exact: bool) -> Search:
        assert self.best is not None
        _, partition, value, certified = self.best
        return Search(partition, value, certified, exact, stopped, self.moves, tuple(self.history))

    # -- the three phases -----------------------------------------------------------------------------

    def score_natural(self) -> None:
        """Whatever the budget: nothing found later may be worse."""
        self.starts: list[tuple[float, str, Partition]] = []
        for name, partition in natural_starts(self.graph, self.seed):
            self.starts.append((self.score(name, partition), name, partition))

    def enumerate_all(self) -> str:
        found, self.moves = exhaustive(self.book, self.horizon)
        for blocks in found:
            self.score("enumerated", Partition(self.graph, blocks))
        return "finished"

    def descend(self) -> str:
        """Local optima from every start and from shaken copies of the best, until a limit is reached."""
        self._make_starts()
        optima: dict[bytes, tuple[float, Longs]] = {}  # estimate and labels
        for name, state in self._states(optima):
            self._improve(state)
            labels = state.labels()
            optima[labels.tobytes()] = (state.value, labels)
            if len(optima) > 4 * FINALISTS:
                del optima[max(optima, key=lambda known: optima[known][0])]
            if self.graph.n_arms > 2_000:  # such a run may see few optima: score each while there is time
                self._score_in_time(name, Partition.from_labels(self.graph, labels))
        for _, labels in sorted(optima.values(), key=lambda pair: pair[0])[:FINALISTS]:
            self._score_in_time("local search", Partition.from_labels(self.graph, labels))
        self._polish()
        return "budget" if self.late else "moves" if self.moves >= self.limit else "finished"

    def _make_starts(self) -> None:
        """Partitions made from the graph, scored as they come."""
        g, weak = self.graph, self.solved.observability.weak
        found = [("hubs", made) for made in (hubs(g, self.horizon) if self.fits(0) else [])]
        if 0 < weak.size < g.n_arms and self.fits(g.n_arms):
            found += [("watched", made) for made in watched(g, self.solved.cover(weak))]
        for name, partition in found:
            if self._score_in_time(name, partition):
                self.starts.append((self.score(name, partition), name, partition))

    def _stop(self) -> bool:
        done = max(self.elapsed / self.budget, self.moves / self.limit)
        self.bar.update(
            min(done, 1.0), f"bound {self.best[2]:,.0f}, {self.moves:,} moves" if self.best else ""
        )
        return self.late or self.moves >= self.limit

    def _states(self, optima: dict[bytes, tuple[float, Longs]]) -> Iterator[tuple[str, State]]:
        """Every start, best first, then shaken copies of the best optimum."""
        for _, name, partition in sorted(self.starts, key=lambda start: start[0]):
            if self._stop():
                return
            yield name, State(self.book, partition, self.horizon)
        while not self._stop():
            _, labels = min(optima.values(), key=lambda pair: pair[0])
            state = State(self.book, Partition.from_labels(self.graph, labels), self.horizon)
            for _ in range(1 + int(self.rng.integers(SHAKEN))):
                changes, _ = neighbours(state, self.rng, BATCH // 8)
                legal = np.flatnonzero(np.isfinite(state.weigh(changes)))
                self.moves += max(len(changes), 1)
                if legal.size:
                    state.apply(changes[int(self.rng.choice(legal))])
            yield "restart", state

    def _improve(self, state: State) -> None:
        """Take the best of each batch of neighbours while it improves; stop after 2·BATCH that do not.

        At most half of what is left is spent on one descent.
        """
        most_moves, most_time = (self.moves + self.limit) / 2, (self.elapsed + self.budget) / 2
        failed = 0
        while (
            failed < 2 * BATCH and not self._stop() and self.moves < most_moves and self.elapsed < most_time
        ):
            changes, all_of_them = neighbours(state, self.rng, BATCH)
            if not changes:
                return
            values = state.weigh(changes)
            self.moves += len(changes)
            best = int(np.argmin(values))
            if values[best] < state.value * (1 - 1e-9):
                state.apply(changes[best])
                failed = 0
            elif all_of_them:
                return
            else:
                failed += len(changes)

    def _polish(self) -> None:
        """Minimised bounds of the most promising neighbours of the best partition, while that helps."""
        improved = True
        while improved and not self.late:
            assert self.best is not None
            before = self.best[0]
            state = State(self.book, self.best[1], self.horizon)
            changes, _ = neighbours(state, self.rng, BATCH)
            values = state.weigh(changes)
            for i in np.argsort(values, kind="stable")[:FINALISTS].tolist():
                if not isfinite(values[i]) or values[i] > 1.1 * state.value or self.late:
                    break
                labels = state.labels()
                for block in changes[i].added:
                    labels[block] = block[0]
                self._score_in_time("neighbour", Partition.from_labels(self.graph, labels))
            improved = self.best[0] < before
