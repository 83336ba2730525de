"""The ways to play a graph that the planner weighs: natural partitions with every realization, and flat plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sidelight.analysis import Observability, observability
from sidelight.errors import IllegalPartition, InfeasibleRequest, InvalidOption, UnobservableGraph, listing
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.candidate import Candidate, Way, WeakBlocks
from sidelight.planning.dominations import Dominations
from sidelight.planning.minimised.dominating_set import WatchedCandidate
from sidelight.planning.minimised.flat import FlatCandidate
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.strong import StrongCandidate
from sidelight.planning.minimised.two_level_candidate import TightCandidate
from sidelight.planning.minimised.uniform import UniformCandidate
from sidelight.planning.plan import Considered, Plan
from sidelight.planning.printed.adaptive import Adaptive
from sidelight.planning.printed.clustered import Clustered
from sidelight.planning.printed.hybrid import Hybrid
from sidelight.planning.printed.restriction import NoWeakBlocks, Restriction


def observable(g: FeedbackGraph) -> Observability:
    """How the arms can be observed, or an error that names those that cannot."""
    found = observability(g)
    if found.unobservable.size:
        raise UnobservableGraph(
            f"no arm reveals {listing(found.unobservable.tolist())}, so no plan can have sublinear regret;"
            " add an edge into each or leave them out",
            found.unobservable.tolist(),
        )
    return found


def natural_partitions(g: FeedbackGraph, found: Observability) -> Iterator[tuple[str, Partition]]:
    """Single, corrupted or singletons, components and hypercube, where they exist, each partition once."""
    makers = {"single": natural.single}
    # On strongly observable graphs nothing is corrupted and the corrupted partition is the singletons.
    makers |= (
        {"singletons": natural.singletons} if found.graph == "strong" else {"corrupted": natural.corrupted}
    )
    makers |= {"components": natural.components, "hypercube": natural.hypercube}
    seen: list[Partition] = []
    for name, make in makers.items():
        try:
            partition = make(g)
        except (IllegalPartition, InfeasibleRequest):
            continue
        if partition not in seen:
            seen.append(partition)
            yield name, partition


def natural_ways(
    g: FeedbackGraph, realization: str | Mapping[int, str], dominations: Dominations
) -> Iterator[Way]:
    """Every natural partition as `realization` asks; "auto" adds flat plans and uniform play."""
    found = observable(g)
    for name, partition in natural_partitions(g, found):
        yield from ways_of(dominations.solve(name, partition), realization)
    if realization == "auto":
        for way in flat_ways(g, found, dominations):
            if not isinstance(way, TightCandidate):  # those are interpolated plans of natural partitions
                yield way
        if g.n_arms > 1:
            yield UniformCandidate(natural.single(g))


def flat_ways(g: FeedbackGraph, found: Observability, dominations: Dominations) -> Iterator[Way]:
    """One simplex: all arms covered, or those without self-loop, or those that are not strongly observable."""
    if found.graph == "strong":
        yield _tight(dominations.solve("singletons", natural.singletons(g)), "flat")
    if g.n_arms == 1:
        return
    if found.graph == "strong":
        yield StrongCandidate(natural.singletons(g))
    single = natural.single(g)
    yield _tight(dominations.solve("single", single), "flat")
    loopless = np.flatnonzero(~g.has_loop)
    if 0 < loopless.size < g.n_arms:
        yield FlatCandidate("covered", single, dominations.cover(loopless))
        if found.graph == "weak":
            yield WatchedCandidate(single)
    if 0 < found.weak.size < loopless.size:
        yield FlatCandidate("shifted", single, dominations.cover(found.weak))


def ways_of(weak: WeakBlocks, realization: str | Mapping[int, str]) -> list[Way]:
    """The realizations asked for, as far as the partition admits them."""
    if not isinstance(realization, str):
        choices = _checked_choices(weak, realization)
        if "interpolated" in choices:
            return [TightCandidate(weak, Interpolated.chosen(weak.sizes, weak.deltas, choices))]
    ways: list[Way] = []
    if realization != "interpolated":
        ways += [Candidate.of(weak, restriction) for restriction in _restrictions(weak, realization)]
    if realization in ("auto", "interpolated"):
        ways.append(_tight(weak, "interpolated"))
    return ways


def _tight(weak: WeakBlocks, realization: str) -> TightCandidate:
    return TightCandidate(weak, Interpolated.best(weak.sizes, weak.deltas), realization)


def _restrictions(weak: WeakBlocks, realization: str | Mapping[int, str]) -> list[Restriction]:
    """The paper's realizations among those asked for."""
    sizes, deltas = weak.sizes, weak.deltas
    if not isinstance(realization, str):
        choices = _checked_choices(weak, realization)
        entropy = np.array([choice == "clustered" for choice in choices])
        return [Hybrid(sizes, deltas, entropy) if choices else NoWeakBlocks("hybrid")]
    if sizes.size == 0:
        return (
            []
            if realization == "adaptive"
            else [NoWeakBlocks("clustered" if realization == "auto" else realization)]
        )
    restrictions: dict[str, Restriction] = {
        "adaptive": Adaptive(sizes, deltas),
        "clustered": Clustered(sizes, deltas),
        "hybrid": Hybrid.best(sizes, deltas),
    }
    return list(restrictions.values()) if realization == "auto" else [restrictions[realization]]


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


def best_of(ways: list[Way], T: int) -> Plan:
    """The plan for T rounds with the smallest certified bound among `ways`."""
    scores = [way.score(T) for way in ways]
    best = min(range(len(ways)), key=lambda i: _preference(ways[i], *scores[i]))
    considered = tuple(
        Considered(way.name, way.realization, value, certified)
        for way, (value, certified) in zip(ways, scores, strict=True)
        if way.realization != "uniform" or way is ways[best]  # worth a line only where it is the answer
    )
    return _made(ways[best], T, considered)


def _made(way: Way, T: int, considered: tuple[Considered, ...]) -> Plan:
    tuning, parameters = way.tune(T)
    p = way.partition
    return Plan(p.graph, p, T, way.realization, way.choices, parameters, way.bound(T), tuning, considered)


def _preference(way: Way, value: float, certified: bool) -> tuple[bool, float, int, str, str]:
    """Certified first, then the smallest bound; equal up to rounding: fewer blocks, then names."""
    return not certified, float(f"{value:.12g}"), way.partition.n_blocks, way.realization, way.name
