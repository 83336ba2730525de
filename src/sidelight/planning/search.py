"""The partition with the smallest certified bound: exact for small graphs, local search with many starts else."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from sidelight._check import MOST_ROUNDS, checked_count, checked_horizon, checked_number, checked_seed
from sidelight._progress import Progress
from sidelight._types import Bools, Floats, Indices, Longs
from sidelight.analysis import fractional_domination, observability
from sidelight.analysis.domination.covering import listed_program
from sidelight.analysis.domination.first_order import Certificates
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import gather_rows
from sidelight.partition import Partition, natural
from sidelight.planning.candidates import candidates_of, natural_partitions
from sidelight.planning.exploration import Solved, WeakBlocks
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.round_cost import one_block
from sidelight.planning.potentials import height

# -- floors ----------------------------------------------------------------------------------------------
# What a search compares partitions by: sums over their blocks, and a floor under the bound that these allow.


COLUMNS = 5
"""A block's row: is it in U1S, U1N, U2; δ; its share of M. Rows add up over the blocks of a partition."""

LOOP, LOOPLESS = np.eye(COLUMNS)[0], np.eye(COLUMNS)[1]

MOST_KNOWN = 100_000
"""Pairs (n, δ) whose share of M is remembered, whatever the graph: finding the best h is most of the work."""

_known: dict[tuple[float, float], float] = {}


def weak_rows(sizes: Floats, deltas: Floats) -> Floats:
    """(m2, 5) rows of blocks with n_k ≥ 2 arms and domination numbers δ_k, each with its best h."""
    pairs = list(zip(sizes.tolist(), deltas.round(12).tolist(), strict=True))
    if len(_known) > MOST_KNOWN:
        _known.clear()
    new = sorted(set(pairs) - _known.keys())
    if new:
        _known.update(zip(new, Interpolated.best(*np.array(new).T).demands.tolist(), strict=True))
    none, ones = np.zeros_like(sizes), np.ones_like(sizes)
    return np.column_stack([none, none, ones, deltas, [_known[pair] for pair in pairs]])


def floors(rows: Floats, T: float) -> Floats:
    """(B,) no parameters bring the bound of partitions with these sums of rows (B, 5) below this; ∞ if illegal.

    √(2T/b) + bMT at its least, plus min_α αT + 2√(2T·(n_S + δ̄/α)·κ) with κ = 1 − 1/√m, or 1 beside loop-less
    singletons, plus √(2T·H) for those; of one block alone its bound. Usually less than 10 % below the bound. Proof:
    docs/theory/search.md.
    """
    legal = np.isfinite(rows[:, 2])
    n_loop, n_loopless, n_weak, total, demand = np.where(legal[:, None], rows, 1.0).T
    m, weak, loopless = n_loop + n_loopless + n_weak, n_weak > 0, n_loopless > 0
    safe = np.where(weak, demand, 1.0)
    b = np.minimum(1 / np.cbrt(2 * T * safe**2), 0.5 / safe)
    inner = np.where(m > 1, np.sqrt(2 * T / b) + b * safe * T, one_block(T, safe).value)
    inner = np.where(weak, inner, 0.0)
    kappa = np.where(loopless, 1.0, 1 - 1 / np.sqrt(m))
    # The best α is r·(2κδ̄/T)^{1/3} with r = (1 + s·r)^{−1/3}: iterates lie above and below it in turn.
    without = np.cbrt(2 * kappa * total / T)
    s = n_loop * without / np.where(weak, total, 1.0)
    above = below = np.ones_like(s)
    for _ in range(8):
        below = np.cbrt(1 / (1 + s * above))
        above = np.cbrt(1 / (1 + s * below))
    seen_by = np.where(weak & (m > 1), above * without, 1.0)
    top = below * without * T + 2 * np.sqrt(2 * T * (n_loop + total / seen_by) * kappa)
    entropy = np.where(loopless, height(1.0, np.maximum(n_loopless, 1.0)), 0.0)
    value = (inner + np.where(m > 1, top, 0.0) + np.sqrt(2 * T * entropy)) * (1 - 1e-9)
    return np.where(legal, value, np.inf)


# -- few arms --------------------------------------------------------------------------------------------
# Every legal partition of a small graph, those that can have the smallest bound first.


MOST_ARMS = 9
"""Bell(9) = 21 147 partitions, of 511 blocks."""


def set_partitions(legal: Sequence[bool], n: int) -> Iterator[tuple[int, ...]]:
    """Partitions of {0, …, n−1} into blocks, as bit masks, that are all `legal`; each once.

    >>> list(set_partitions([True] * 8, 3))
    [(4, 2, 1), (4, 3), (5, 2), (6, 1), (7,)]
    """

    def parts(rest: int) -> Iterator[tuple[int, ...]]:
        if rest == 0:
            yield ()
            return
        top = 1 << (rest.bit_length() - 1)
        for block in range(top, 2 * top):  # the block of the highest arm, then the others
            if legal[block] and block | rest == rest:
                yield from ((block, *others) for others in parts(rest ^ block))

    return parts((1 << n) - 1)


def by_floor(graph: FeedbackGraph, horizon: int) -> tuple[list[tuple[float, list[Longs]]], int]:
    """(floor, blocks) of partitions, least floor first, and how many are legal.

    Of partitions with the same sizes and domination numbers, hence the same bound, there is one.
    """
    n = graph.n_arms
    arms = [np.flatnonzero((mask >> np.arange(n)) & 1) for mask in range(1 << n)]
    sizes = np.array([float(block.size) for block in arms])
    rows = _rows(graph, arms, sizes)
    _, shape = np.unique(np.column_stack([rows, sizes]).round(9), axis=0, return_inverse=True)
    shapes = shape.ravel().tolist()
    distinct: dict[tuple[int, ...], tuple[int, ...]] = {}
    count = 0
    for masks in set_partitions(np.isfinite(rows[:, 2]).tolist(), n):
        count += 1
        distinct.setdefault(tuple(sorted(shapes[mask] for mask in masks)), masks)
    partitions = list(distinct.values())
    values = floors(np.array([rows[list(masks)].sum(axis=0) for masks in partitions]), float(horizon))
    order = np.argsort(values, kind="stable").tolist()
    return [(float(values[i]), [arms[mask] for mask in partitions[i]]) for i in order], count


def _rows(graph: FeedbackGraph, blocks: list[Longs], sizes: Floats) -> Floats:
    """(B, 5) infinite for blocks that no legal partition has."""
    rows = np.full((len(blocks), COLUMNS), np.inf)
    reveals, strong = graph.to_sparse().toarray().astype(bool), set(observability(graph).strong.tolist())
    for row, block in zip(rows, blocks, strict=True):
        if block.size == 1 and block[0] in strong:
            row[:] = LOOP if graph.has_loop[block[0]] else LOOPLESS
        elif block.size > 1 and reveals[np.ix_(block, block)].any(axis=0).all():
            row[:] = 0.0, 0.0, 1.0, fractional_domination(graph, block).value, 0.0
    weak = rows[:, 2] == 1
    rows[weak] = weak_rows(sizes[weak], rows[weak, 3])
    return rows


# -- states ----------------------------------------------------------------------------------------------
# A partition in motion: what many changes of it would cost, weighed together.


class Change(NamedTuple):
    """Arms that get new labels, each once."""

    arms: Indices
    labels: Longs | int


class State:
    """Labels of a partition, a cover of every weak block, and the row of every block."""

    def __init__(self, blocks: WeakBlocks, horizon: int) -> None:
        self.graph, self.T = blocks.partition.graph, float(horizon)
        self.labels, self.cover = blocks.partition.block_of.copy(), blocks.cover.copy()
        self.rows = np.zeros((self.graph.n_arms, COLUMNS))  # by label
        self._settle(np.arange(self.graph.n_arms), self.labels, self.cover)

    @cached_property
    def strong(self) -> Bools:
        """(n,) which arms may be on their own."""
        strong = np.zeros(self.graph.n_arms, dtype=bool)
        strong[observability(self.graph).strong] = True
        return strong

    def _settle(self, arms: Longs, labels: Longs, cover: Floats) -> None:
        """Give the arms, whole blocks before and after, their labels and cover."""
        self.rows[self.labels[arms]] = 0.0
        self.labels[arms] = labels
        groups, rows, self.cover[arms] = self._blocks(np.zeros_like(arms), arms, labels, cover)
        self.rows[groups] = rows
        self.total = self.rows.sum(axis=0)
        self.value = float(floors(self.total[None], self.T)[0])
        self.sizes = np.bincount(self.labels, minlength=self.graph.n_arms)
        self.used, self.free = np.flatnonzero(self.sizes), np.flatnonzero(self.sizes == 0)  # labels
        self.busy = np.flatnonzero(self.sizes[self.labels] > 1)  # arms that can leave their block

    def block(self, arm: int) -> Longs:
        """The arms in the block of this one."""
        return np.flatnonzero(self.labels == self.labels[arm])

    def _after(self, change: Change) -> tuple[Longs, Longs, Longs]:
        """Labels of the blocks that are touched, all arms in them, and the labels of these after the change."""
        labels = self.labels.copy()
        labels[change.arms] = change.labels
        touched = np.zeros(self.graph.n_arms, dtype=bool)
        touched[self.labels[change.arms]] = touched[change.labels] = True
        arms = np.flatnonzero(touched[self.labels])
        return np.flatnonzero(touched), arms, labels[arms]

    def weigh(self, changes: Sequence[Change]) -> Floats:
        """(len(changes),) floor after each change, with covers that are mended; ∞ for illegal ones."""
        if not changes:
            return np.empty(0)
        touched, arms, labels = zip(*map(self._after, changes), strict=True)
        copy = np.repeat(np.arange(len(changes)), [len(some) for some in arms])
        flat = np.concatenate(arms)
        groups, rows, _ = self._blocks(copy, flat, np.concatenate(labels), self.cover[flat])
        totals = np.array([self.total - self.rows[gone].sum(axis=0) for gone in touched])
        np.add.at(totals, groups // self.graph.n_arms, rows)
        return floors(totals, self.T)

    def apply(self, change: Change) -> None:
        """Make the change, which must be legal."""
        _, arms, labels = self._after(change)
        self._settle(arms, labels, self.cover[arms])

    def _blocks(self, copy: Longs, arms: Longs, labels: Longs, cover: Floats) -> tuple[Longs, Floats, Floats]:
        """Blocks of several copies of the graph at once, as copy·n + label, their rows, and a cover of them.

        `arms` ascend in each copy. The cover is the one given, mended, so δ is an upper bound; illegal blocks have
        infinite rows.
        """
        g, n = self.graph, self.graph.n_arms
        groups, first, of, sizes = np.unique(
            copy * n + labels, return_index=True, return_inverse=True, return_counts=True
        )
        inside, universal = sizes[of] > 1, g.is_universal[arms]
        listed = np.flatnonzero(inside & ~universal)
        counts, sources = gather_rows(g.in_indptr, g.in_indices, arms[listed])
        target = np.repeat(listed, counts)
        keys, wanted = copy * n + arms, copy[target] * n + sources
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        inside_too = (keys[at] == wanted) & (of[at] == of[target])
        program = listed_program(len(arms), counts, np.where(inside_too, at, -1))
        seen = program.in_degree > 0
        illegal = np.bincount(of[listed[~seen]], minlength=len(groups)) > 0
        if not seen.all():
            program = program.restricted(np.arange(len(arms)), np.flatnonzero(seen))
        mended = cover * inside
        if program.n_targets:
            mended = Certificates(program).repaired_cover(mended)
        # Universal arms have no list of sources: what they lack is shared by all of their block.
        own = np.where(g.has_loop[arms], 0.0, mended)
        lacks = 1 - (np.bincount(of, mended, len(groups))[of] - own)
        share = np.maximum(lacks, 0.0) / np.maximum(sizes[of] - ~g.has_loop[arms], 1)
        more = np.zeros(len(groups))
        np.maximum.at(more, of[universal & inside], share[universal & inside])
        mended += more[of]

        single, arm = sizes == 1, arms[first]
        rows = np.where(g.has_loop[arm][:, None], LOOP, LOOPLESS)
        deltas = np.bincount(of, mended, len(groups))
        rows[~single] = weak_rows(sizes[~single].astype(np.float64), np.maximum(deltas[~single], 1.0))
        rows[illegal | (single & ~self.strong[arm])] = np.inf
        return groups, rows, mended


# -- moves -----------------------------------------------------------------------------------------------
# The neighbours of a partition: blocks merged, split or dissolved, arms moved or gathered around their watcher.


VOLUME = 200_000
"""Arms in the blocks of one batch of neighbours, at most: what a batch may cost."""

HALVED = 16
"""Blocks of up to so many arms are also split at random."""


MOVES = ("merge", "move", "free", "gather", "split", "dissolve")


def neighbours(state: State, rng: np.random.Generator, most: int) -> list[Change]:
    """At most `most` random changes, legal or not; half of them begin in a weak block, if there is one."""
    changes: list[Change] = []
    volume = 0
    for _ in range(most):
        arm = _drawn(state, rng)
        arms, labels = _moved(state, MOVES[rng.integers(len(MOVES))], arm, rng)
        if arms.size and volume < VOLUME:
            changes.append(Change(arms, labels))
            volume += arms.size + int(state.sizes[state.labels[arm]])
    return changes


def _drawn(state: State, rng: np.random.Generator) -> int:
    """An arm in a weak block, one at the beginning of an edge (those that reveal many come up often), or any."""
    g, chance = state.graph, rng.random()
    if state.busy.size and chance < 0.5:
        return int(rng.choice(state.busy))
    if g.out_indices.size and chance < 0.85:
        return int(np.searchsorted(g.out_indptr, rng.integers(g.out_indices.size), side="right")) - 1
    return int(rng.integers(g.n_arms))


def _moved(state: State, move: str, arm: int, rng: np.random.Generator) -> tuple[Indices, Longs | int]:
    """Arms that get new labels, none if the move is impossible, and these labels."""
    home, none = int(state.labels[arm]), np.empty(0, dtype=np.int64)
    if move in ("merge", "move"):  # the arm's block and another become one, or the arm goes there
        other = _other(state, arm, rng)
        arms = none if other == home else state.block(arm) if move == "merge" else np.array([arm])
        return arms, other
    if (
        move == "gather"
    ):  # the block takes in all that the arm reveals, or those of them that are on their own
        row = _revealed(state.graph, arm)
        return (row if rng.random() >= 0.5 else row[state.sizes[state.labels[row]] == 1]), home
    if move == "free":  # the arm is on its own
        return (np.array([arm]), int(state.free[0])) if state.sizes[home] > 1 else (none, home)
    part, rest = _parts(state, arm, rng)
    if move == "split":  # part of the block is a block of its own
        return (part, int(state.free[0])) if part.size and rest.size else (none, home)
    # What is left of a split block, as far as it is strongly observable, is on its own.
    few = rest[state.strong[rest]][: state.free.size]  # all of them, unless the whole block goes
    return few, state.free[: few.size]


def _revealed(graph: FeedbackGraph, arm: int) -> Indices:
    return graph.out_indices[graph.out_indptr[arm] : graph.out_indptr[arm + 1]]


def _seers(graph: FeedbackGraph, arm: int) -> Indices:
    return graph.in_indices[graph.in_indptr[arm] : graph.in_indptr[arm + 1]]


def _other(state: State, arm: int, rng: np.random.Generator) -> int:
    """Label of another block, that of an arm which this one reveals or is revealed by, or any; perhaps its own."""
    home = int(state.labels[arm])
    row = (_revealed if rng.random() < 0.5 else _seers)(state.graph, arm)
    near = int(state.labels[rng.choice(row)]) if row.size and rng.random() < 0.8 else home
    return near if near != home else int(rng.choice(state.used))


def _parts(state: State, arm: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """What the arm reveals in its block and itself, with one that reveals it or not; a random half if small."""
    block = state.block(arm)
    if block.size <= HALVED and rng.random() < 0.5:
        chosen = rng.random(block.size) < 0.5
    else:
        seers = _seers(state.graph, arm)
        some = [rng.choice(seers)] if seers.size and rng.random() < 0.5 else []
        chosen = np.isin(block, np.concatenate([_revealed(state.graph, arm), [arm], some]))
    return block[chosen], block[~chosen]


# -- starts ----------------------------------------------------------------------------------------------
# Where a search starts: the partitions that come with the graph, and blocks around the arms that reveal most.


def natural_starts(graph: FeedbackGraph, seed: int = 0) -> Iterator[tuple[str, Partition]]:
    """Every natural partition that is legal, by name, each once."""
    more = {
        "strongly connected": natural.strongly_connected,
        "communities": lambda g: natural.communities(g, seed),
    }
    return natural_partitions(graph, observability(graph).graph == "strong", **more)


def hubs(graph: FeedbackGraph, horizon: int, most: int = 3) -> list[Partition]:
    """Blocks of what each of the k most revealing self-loop arms reveals, others on their own: the best k by floor.

    Arms that are not strongly observable are in a block with greedy watchers, and with what these reveal if they are
    hubs. A hub reveals its own block, so δ is 1.
    """
    n, corrupted = graph.n_arms, natural.corrupted(graph)
    base = np.isin(corrupted.block_of, corrupted.weak)
    rank = np.where(base, 0, n)  # of the hub that takes the arm in
    cover = natural.greedy_cover(graph, ~base & ~graph.is_universal, least=2)
    chosen = [arm for arm in cover if graph.has_loop[arm]]
    for k, arm in enumerate(chosen, start=1):
        row = _revealed(graph, arm)
        rank[row[rank[row] == n]] = rank[arm] = 0 if base[arm] else k
    tried = np.unique(np.geomspace(1, max(len(chosen), 1), 24).astype(np.int64))[: len(chosen)]
    inside = rank <= tried[:, None]  # (k tried, n)
    sizes = np.bincount(rank, minlength=n + 1)[: len(chosen) + 1].astype(np.float64)
    deltas = np.where(np.arange(sizes.size) > 0, 1.0, np.maximum(sizes, 1.0))
    rows = np.where(sizes[:, None] > 0, weak_rows(np.maximum(sizes, 2.0), deltas), 0.0)
    sums = np.cumsum(rows, axis=0)[tried]
    sums[:, 0], sums[:, 1] = (~inside & graph.has_loop).sum(axis=1), (~inside & ~graph.has_loop).sum(axis=1)
    best = np.argsort(floors(sums, float(horizon)), kind="stable")[:most]
    return [Partition.from_labels(graph, np.where(inside[i], rank, n + np.arange(n))) for i in best]


# -- the search ------------------------------------------------------------------------------------------
# The partition with the smallest certified bound: exact for small graphs, local search with many starts else.


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


def search(g: FeedbackGraph, horizon: int, **options: Any) -> Partition:
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
    return searched(g, horizon, **options).partition


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
        self.scores: dict[bytes, float] = {}  # partitions scored so far

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def score(self, name: str, partition: Partition, *, only_in_time: bool = False) -> float:
        """The bound that `plan` gives the partition; ∞ if it is not certified, or if there is no time to find out."""
        key = partition._canonical.tobytes()
        if key in self.scores:
            return self.scores[key]
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
        self.scores[key] = value if certified else inf
        return self.scores[key]

    def result(self, stopped: str, exact: bool) -> Search:
        certified = not self.rank[0]
        return Search(self.best, self.bound, certified, exact, stopped, self.moves, tuple(self.history))

    # -- the three phases -----------------------------------------------------------------------------

    def score_natural(self) -> None:
        """Whatever the budget: nothing found later may be worse."""
        named = natural_starts(self.graph, self.seed)
        self.starts = [(self.score(name, partition), name, partition) for name, partition in named]

    def enumerate_all(self) -> str:
        """Score partitions by their floors, until the next floor is above the best bound."""
        ordered, self.moves = by_floor(self.graph, self.horizon)
        for least, blocks in ordered:
            if not self.rank[0] and least > self.bound:
                break
            self.score("enumerated", Partition(self.graph, blocks))
        return "finished"

    def descend(self) -> str:
        """Local optima from every start, best first, and from shaken copies of the best, until a limit is reached."""
        for partition in [] if self._stop() else hubs(self.graph, self.horizon):
            self.starts.append((self.score("hubs", partition, only_in_time=True), "hubs", partition))
        waiting = sorted((start for start in self.starts if start[0] < inf), key=lambda start: -start[0])
        while not self._stop():
            name, start = waiting.pop()[1:] if waiting else ("restart", self.best)
            state = State(self.solved.blocks(name, start), self.horizon)
            if name == "restart":
                self._shake(state)
            self._improve(state)
            reached = Partition.from_labels(self.graph, state.labels)
            self.score("local search", reached, only_in_time=True)
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
