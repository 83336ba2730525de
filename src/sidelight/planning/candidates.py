"""The candidates that the planner weighs: natural partitions with every realization, and flat plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sidelight._types import Longs
from sidelight.errors import IllegalPartition, InfeasibleRequest, InvalidOption, listing
from sidelight.graph import FeedbackGraph
from sidelight.graph.colours import colours
from sidelight.partition import Partition, natural
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.exploration import EXACT_CURVE, Cover, Solved, WeakBlocks
from sidelight.planning.minimised.flat import FlatCandidate
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.strong import StrongCandidate
from sidelight.planning.minimised.two_level import TwoLevelCandidate
from sidelight.planning.minimised.watched import WatchedCandidate
from sidelight.planning.plan import Candidate, Considered, Offer, Plan
from sidelight.planning.printed import (
    Adaptive,
    Clustered,
    Hybrid,
    NoWeakBlocks,
    PrintedCandidate,
    Restriction,
)
from sidelight.planning.self_tuning.potential import potential_candidates

Realization = str | Mapping[int, str]
"""One for the whole partition, or one for each weak block."""


def natural_partitions(
    g: FeedbackGraph, strong: bool, **more: Callable[[FeedbackGraph], Partition]
) -> Iterator[tuple[str, Partition]]:
    """Single, corrupted or singletons, components, hypercube and `more`, where legal, each partition once."""
    # On strongly observable graphs nothing is corrupted and the corrupted partition is the singletons.
    alone = {"singletons": natural.singletons} if strong else {"corrupted": natural.corrupted}
    makers = {
        "single": natural.single,
        **alone,
        "components": natural.components,
        "hypercube": natural.hypercube,
        **more,
    }
    seen: list[Partition] = []
    for name, make in makers.items():
        try:
            partition = make(g)
        except (IllegalPartition, InfeasibleRequest):
            continue
        if partition not in seen:
            seen.append(partition)
            yield name, partition


def natural_candidates(solved: Solved, realization: Realization) -> Iterator[Candidate]:
    """Every natural partition as `realization` asks; "auto" adds flat plans. All of them learn.

    Where reveals may fail there are flat plans alone.
    """
    g, strong = solved.graph, solved.observability.graph == "strong"
    if not g.certain and g.n_arms > 1:
        yield from flat_candidates(solved)
        return
    for name, partition in natural_partitions(g, strong):
        yield from candidates_of(solved.blocks(name, partition), realization)
    if realization == "auto":
        yield from _flat_only(solved)


def flat_candidates(solved: Solved) -> Iterator[Candidate]:
    """One simplex: natural partitions with one block or none of two arms, and those that have no partition.

    Where reveals may fail potentials and entropy with a constant cover are proved: docs/theory/failing-reveals.md.
    """
    g = solved.graph
    if not g.certain and g.n_arms > 1:
        solved.observability  # noqa: B018 - an error if some arm cannot be observed
        yield WatchedCandidate(natural.single(g), solved.partial_covers)
        yield from potential_candidates(solved)
        return
    if solved.observability.graph == "strong":
        yield _interpolated(solved.blocks("singletons", natural.singletons(g)), "flat")
    if g.n_arms > 1:
        yield _interpolated(solved.blocks("single", natural.single(g)), "flat")
    yield from _flat_only(solved)


def _flat_only(solved: Solved) -> Iterator[Candidate]:
    """Potentials; strong arms by cliques; arms covered, left to their self-loops or to all others; Exp3.G."""
    g = solved.graph
    if g.n_arms == 1:
        return
    yield from potential_candidates(solved)
    single = natural.single(g)
    if solved.observability.graph == "strong":
        yield StrongCandidate(natural.singletons(g), solved.cliques)
    if len(solved.partial_covers) > 1:
        yield WatchedCandidate(single, solved.partial_covers)
    weak = solved.observability.graph == "weak"  # few arms that cliques see all need no cover beside them
    split = roles(solved) if weak or g.n_arms > EVERY_SPLIT else []
    splits = [FlatCandidate(single, cover, shifted) for cover, shifted in split]
    for name in ("covered", "shifted"):
        alike = [split for split in splits if split.name == name]
        if alike:
            yield Best(alike)


def candidates_of(weak: WeakBlocks, realization: Realization) -> list[Candidate]:
    """The realizations asked for, as far as the partition admits them."""
    sizes, deltas = weak.sizes, weak.deltas
    if not isinstance(realization, str):
        choices = _checked_choices(weak, realization)
        if "interpolated" in choices:
            return [TwoLevelCandidate(weak, Interpolated.chosen(sizes, deltas, choices))]
        entropy = np.array([choice == "clustered" for choice in choices])
        inner = Hybrid(sizes, deltas, entropy) if choices else NoWeakBlocks()
        return [PrintedCandidate(weak, inner, "hybrid")]
    candidates: list[Candidate] = []
    if sizes.size:
        printed: tuple[Restriction, ...] = (
            Adaptive(sizes, deltas),
            Clustered(sizes, deltas),
            Hybrid.best(sizes, deltas),
        )
        candidates += [PrintedCandidate(weak, r, r.name) for r in printed if realization in ("auto", r.name)]
    elif realization not in ("adaptive", "interpolated"):
        name = "clustered" if realization == "auto" else realization
        candidates.append(PrintedCandidate(weak, NoWeakBlocks(), name))
    if realization in ("auto", "interpolated"):
        candidates.append(_interpolated(weak, "interpolated"))
    return candidates


def _interpolated(weak: WeakBlocks, realization: str) -> TwoLevelCandidate:
    return TwoLevelCandidate(weak, Interpolated.best(weak.sizes, weak.deltas), realization)


def _checked_choices(weak: WeakBlocks, choices: Mapping[int, str]) -> list[str]:
    """A realization for every weak block, by hand, in the order of the blocks."""
    wanted = weak.partition.weak.tolist()
    unknown = [block for block in choices if isinstance(block, bool) or block not in set(wanted)]
    missing = [block for block in wanted if block not in choices]
    if unknown or missing:
        what = f"{listing(unknown)} are not" if unknown else f"{listing(missing)} are missing from"
        raise InvalidOption(
            f"realization must name every weak block of the partition ({listing(wanted)}): {what} "
            f"{'among them' if unknown else 'it'}"
        )
    wrong = [choice for choice in choices.values() if choice not in ("clustered", "adaptive", "interpolated")]
    if wrong:
        raise InvalidOption(f"a block plays 'clustered', 'adaptive' or 'interpolated', got {listing(wrong)}")
    return [choices[block] for block in wanted]


class Best(Candidate):
    """Candidates that differ in detail only, under one name: at every T the one with the smallest bound."""

    def __init__(self, ways: Sequence[Candidate]) -> None:
        first = ways[0]
        super().__init__(first.name, first.realization, first.partition, first.theorem)
        self.ways, self._cache = ways, dict[float, Candidate]()

    def best(self, T: float) -> Candidate:
        """The one for T rounds; those that cannot be the best are not worked out."""
        if T not in self._cache:
            best, least = self.ways[0], inf
            for floor, _, way in sorted((way.floor(T), i, way) for i, way in enumerate(self.ways)):
                if floor < least and (value := way.offer(T).value) < least:
                    best, least = way, value
            self._cache[T] = best
        return self._cache[T]

    def offer(self, T: float) -> Offer:
        """Of the best one."""
        return self.best(T).offer(T)

    def bound(self, horizon: int) -> Bound:
        """Of the best one at `horizon`, its thresholds included."""
        return self.best(float(horizon)).bound(horizon)

    def plan(self, horizon: int, considered: tuple[Considered, ...] = ()) -> Plan:
        """Of the best one."""
        return self.best(float(horizon)).plan(horizon, considered)


class Weighed(NamedTuple):
    """A candidate and what it promises for some number of rounds."""

    candidate: Candidate
    value: float
    certified: bool

    @property
    def preference(self) -> tuple[bool, float, int, str, str]:
        """Certified first, then the smallest bound; equal up to rounding: fewer blocks, then names."""
        each = self.candidate
        names = (each.partition.n_blocks, each.realization, each.name)
        return not self.certified, float(f"{self.value:.12g}"), *names


def weighed(candidates: Iterable[Candidate], T: int) -> list[Weighed]:
    """What all of them promise for T rounds."""
    return [Weighed(candidate, *candidate.score(T)) for candidate in candidates]


def smallest(scores: Sequence[Weighed]) -> tuple[Candidate, tuple[Considered, ...]]:
    """The one with the smallest certified bound, and all of them as a plan tells it."""
    tried = (Considered(each.name, each.realization, value, sure) for each, value, sure in scores)
    return min(scores, key=lambda each: each.preference).candidate, tuple(tried)


def best_of(candidates: Sequence[Candidate], T: int) -> Plan:
    """The plan for T rounds with the smallest certified bound among the candidates."""
    best, tried = smallest(weighed(candidates, T))
    return best.plan(T, tried)


# -- which arms in which group ---------------------------------------------------------------------------
# Which arms a flat plan covers, which it leaves to their self-loops, and which to all others.


EVERY_SPLIT = 8
"""Up to so many arms every number of arms is tried in every role; beyond, a few."""

FULLY = 1 - 1e-9
"""Arms with this coverage are covered, but for rounding."""


class Roles(NamedTuple):
    """Arms that are neither covered nor shifted have self-loops, and see themselves."""

    cover: Cover  # of some arms, from any
    shifted: Longs  # universal arms, with a potential of their own


def roles(solved: Solved) -> Iterator[Roles]:
    """The splits to be weighed; at least one arm is covered, and at least one is not.

    A bound depends on how many arms have which role, and on the mass of the cover. A split of a graph is also one
    of every graph with an edge or a loop more: no such edge raises the smallest bound over all splits. Which arms are
    shifted matters little to the mass, so only their number is varied, and covers are those of `partial_covers`.
    """
    g = solved.graph
    alike = (colours(g)[g.universal], g.has_loop[g.universal])
    order = g.universal[np.lexsort(alike)].astype(np.int64)  # loop-less ones first, then by colour
    small, exact = g.n_arms <= EVERY_SPLIT, g.n_arms <= EXACT_CURVE
    for n_shifted in range(order.size + 1) if small else sorted({0, int((~g.has_loop)[order].sum())}):
        shifted = order[:n_shifted]
        needed = np.ones(g.n_arms, dtype=bool)
        needed[shifted] = False
        loopless, most = np.flatnonzero(needed & ~g.has_loop), 0
        for cover in solved.covers_of(needed):
            fully = solved.coverage(cover.weights) >= FULLY
            able = np.flatnonzero(needed & g.has_loop & fully)
            numbers = range(most, able.size + 1) if small else _few(most, able.size, exact)
            for n_more in numbers:
                covered = np.sort(np.concatenate([loopless, able[:n_more]]))
                if 0 < covered.size < g.n_arms:
                    yield Roles(Cover(cover.weights, cover.mass, covered), shifted)
            most = max(most, able.size + 1)


def _few(least: int, most: int, between: bool) -> list[int]:
    """Both ends, and powers of two between them if asked for; nothing if there is nothing between."""
    powers = [2**j for j in range(most.bit_length())] if between else []
    return sorted({k for k in (least, *powers, most) if least <= k <= most})
