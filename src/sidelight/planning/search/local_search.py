"""The partition with the smallest certified bound: exact for small graphs, local search with many starts else."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from sidelight._check import MOST_ROUNDS, checked_count, checked_horizon, checked_number, checked_seed
from sidelight._progress import Progress
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.candidates import candidates_of
from sidelight.planning.exploration import Solved
from sidelight.planning.search.exact import MOST_ARMS, by_floor
from sidelight.planning.search.moves import neighbours
from sidelight.planning.search.starts import hubs, natural_starts
from sidelight.planning.search.state import State

EXACT_ARMS = 7
"""Up to so many arms the search is exact without being asked."""

BATCH = 64
"""Neighbours weighed at a time, at most; 4n if that is less."""

PATIENCE, SHAKEN = 4, 3
"""Batches without anything better that end a descent, and random changes between the best and a restart, at most."""

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
    moves: int  # changes that were drawn, not all of which lead anywhere, or partitions that were enumerated
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
    is likely to end in time. Ends after `moves` changes were drawn; if the budget cuts nothing short, the
    result depends on `seed` alone. An interrupt returns the best so far. `exact=True` goes through all legal
    partitions (up to 9 arms), None does so up to 7. `progress` shows a bar; None does at a terminal. `searched`
    tells what was tried. Plans without a partition may have smaller bounds: `plan(g, horizon, search=seconds)`
    takes the best of all.

    >>> from sidelight.graph import families
    >>> search(families.corrupted_mab(60, 2), 10**6, moves=50)
    Partition(n_arms=60, n_blocks=59, U1S=58, U1N=0, U2=1)
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
    if not g.certain:
        raise InfeasibleRequest(
            "partitions are played where reveals never fail; search g.at_least(1), the graph of the certain edges, or"
            " use sl.plan(g, horizon), which needs no partition"
        )
    T = checked_horizon(horizon)
    seconds = checked_number("budget", budget, above=0.0)
    limit = checked_count("moves", moves, most=MOST_ROUNDS)
    checked_seed(seed)
    if exact not in (None, True, False):
        raise InvalidOption(f"exact must be True, False or None, got {exact!r}")
    if exact and g.n_arms > MOST_ARMS:
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
            if not run.history:
                raise
            return run.result("interrupted", False)
    return run.result(stopped, exact)


class _Run:
    """One search: what it has scored so far, and how much time and how many moves are left."""

    best: Partition  # from the first score on, with its bound
    bound: float
    rank: tuple[bool, float, int]  # certified first, then small bounds, up to rounding, then few blocks

    def __init__(
        self, graph: FeedbackGraph, horizon: int, budget: float, limit: int, seed: int, bar: Progress
    ) -> None:
        self.graph, self.horizon, self.budget, self.limit, self.bar = graph, horizon, budget, limit, bar
        self.started = time.monotonic()
        self.pace = 0.0  # seconds per unit of work, the slowest so far
        self.moves, self.batch = 0, min(BATCH, 4 * graph.n_arms)
        self.solved = Solved(graph)
        self.solved.observability  # noqa: B018 - refuses graphs with unobservable arms
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.history: list[Tried] = []
        self.known: dict[bytes, float] = {}  # partitions scored so far

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def score(self, name: str, partition: Partition, *, only_in_time: bool = False) -> float:
        """The bound that `plan` gives the partition; ∞ if it is not certified, or if there is no time to find out."""
        key = partition._canonical.tobytes()
        if key in self.known:
            return self.known[key]
        before, work = self.elapsed, self.solved.unsolved(partition) + 0.1 * self.graph.n_arms
        if only_in_time and before + self.pace * work > self.budget:
            return inf
        candidates = candidates_of(self.solved.blocks(name, partition), "auto")
        scores = [candidate.score(self.horizon) for candidate in candidates]
        value, certified = min(scores, key=lambda score: (not score[1], score[0]))
        rank = (not certified, float(f"{value:.12g}"), partition.n_blocks)
        if not self.history or rank < self.rank:
            self.rank, self.best, self.bound = rank, partition, value
        self.history.append(Tried(name, partition.n_blocks, value, certified, self.elapsed))
        self.pace = max(self.pace, (self.elapsed - before) / work)
        self.known[key] = value if certified else inf
        return self.known[key]

    def result(self, stopped: str, exact: bool) -> Search:
        certified = not self.rank[0]
        return Search(self.best, self.bound, certified, exact, stopped, self.moves, tuple(self.history))

    # -- the three phases -----------------------------------------------------------------------------

    def score_natural(self) -> None:
        """Whatever the budget: nothing found later may be worse."""
        found = natural_starts(self.graph, self.seed)
        self.starts = [(self.score(name, partition), name, partition) for name, partition in found]

    def enumerate_all(self) -> str:
        """Score partitions by their floors, until the next floor is above the best bound."""
        found, self.moves = by_floor(self.graph, self.horizon)
        for least, blocks in found:
            if not self.rank[0] and least > self.bound:
                break
            self.score("enumerated", Partition(self.graph, blocks))
        return "finished"

    def descend(self) -> str:
        """Local optima from every start, best first, and from shaken copies of the best, until a limit is reached."""
        for made in [] if self._stop() else hubs(self.graph, self.horizon):
            self.starts.append((self.score("hubs", made, only_in_time=True), "hubs", made))
        waiting = sorted((start for start in self.starts if start[0] < inf), key=lambda start: -start[0])
        while not self._stop():
            name, start = waiting.pop()[1:] if waiting else ("restart", self.best)
            state = State(self.solved.blocks(name, start), self.horizon)
            if name == "restart":
                self._shake(state)
            self._improve(state)
            found = Partition.from_labels(self.graph, state.labels)
            self.score("local search", found, only_in_time=True)
        return "moves" if self.moves >= self.limit else "budget"

    def _stop(self) -> bool:
        done = max(self.elapsed / self.budget, self.moves / self.limit)
        self.bar.update(min(done, 1.0), f"bound {self.bound:,.0f}, {self.moves:,} moves")
        return done >= 1.0

    def _shake(self, state: State) -> None:
        """A few random legal changes."""
        for _ in range(1 + int(self.rng.integers(SHAKEN))):
            changes = neighbours(state, self.rng, self.batch // 4)
            legal = np.flatnonzero(np.isfinite(state.weigh(changes)))
            self.moves += self.batch // 4
            if legal.size:
                state.apply(changes[int(self.rng.choice(legal))])

    def _improve(self, state: State) -> None:
        """Take the best of each batch of neighbours until a few batches in a row have none that is better.

        At most half of what is left is spent on one descent.
        """
        most_moves, most_time = (self.moves + self.limit) / 2, (self.elapsed + self.budget) / 2
        failed = 0
        while failed < PATIENCE and self.moves < most_moves and self.elapsed < most_time and not self._stop():
            changes = neighbours(state, self.rng, self.batch)
            values = state.weigh(changes)
            self.moves += self.batch
            best = int(np.argmin(values)) if changes else 0
            if changes and values[best] < state.value * (1 - 1e-9):
                state.apply(changes[best])
                failed = 0
            else:
                failed += 1
