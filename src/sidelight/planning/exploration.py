"""What exploration rests on: covers of one graph, each solved once, and the arrays in which they are played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.analysis import (
    Domination,
    Observability,
    PartialCover,
    block_dominations,
    fractional_domination,
    lower_hull,
    observability,
    partial_cover,
    partial_covers,
)
from sidelight.errors import UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.altered import levels, sharpened
from sidelight.graph.names import names
from sidelight.partition import Partition
from sidelight.partition.natural import greedy_cover
from sidelight.planning.cliques import CliqueCover, clique_cover
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.potentials import Potential

HUB = 16
"""An arm is worth a cover of its own if it reveals so many arms with self-loops that nothing else covers."""

LEAST_SEEN = 1e-6
"""Where an arm is revealed less often than that, covers, which grow like 1/r², are beyond what doubles can add up."""

EXACT_CURVE = 64
"""Up to so many arms partial covers are found by linear programs, beyond they are mixed of those known anyway."""


@dataclass(frozen=True, eq=False)
class WeakBlocks:
    """A partition with the dominations of its weak blocks, in the order of `partition.weak`."""

    name: str  # of the partition
    partition: Partition
    dominations: Sequence[Domination]

    @cached_property
    def sizes(self) -> Floats:
        """(m2,) n_k."""
        return self.partition.sizes[self.partition.weak].astype(np.float64)

    @cached_property
    def deltas(self) -> Floats:
        """(m2,) δ_k: the mass of the covers in use, optimal or not."""
        return np.array([domination.value for domination in self.dominations])

    @cached_property
    def cover(self) -> Floats:
        """(n,) x* of the weak blocks, 0 on singletons."""
        weights = np.zeros(self.partition.graph.n_arms)
        for domination in self.dominations:
            weights[domination.arms] = domination.weights
        return weights

    @cached_property
    def arms(self) -> Bools:
        """(n,) which arms are in weak blocks."""
        return self.per_arm(np.ones(len(self.dominations))) > 0

    def per_block(self, values: Floats) -> Floats:
        """Values of the weak blocks, spread over all blocks; 0 for singletons."""
        spread = np.zeros(self.partition.n_blocks)
        spread[self.partition.weak] = values
        return spread

    def per_arm(self, values: Floats) -> Floats:
        """Values of the weak blocks, for each arm; 0 for singletons."""
        return self.per_block(values)[self.partition.block_of]

    def inside(self, potential: Potential) -> tuple[Bools, Potential]:
        """The arms in weak blocks, and the potential of each, from that of each block."""
        h, eta = (np.full(len(self.dominations), number) for number in (potential.h, potential.eta))
        return self.arms, Potential(self.per_arm(h)[self.arms], self.per_arm(eta)[self.arms])

    @property
    def layout(self) -> tuple[Longs, Longs]:
        """(m+1,) where blocks begin, and (n,) their arms one after another."""
        p = self.partition
        return np.concatenate([[0], np.cumsum(p.sizes)]), np.concatenate(p.blocks)


class Solved:
    """What has been solved about one observable graph so far, each thing once whoever asks."""

    def __init__(self, g: FeedbackGraph) -> None:
        self.graph = g
        self._blocks: dict[bytes, Domination] = {}
        self._covers: dict[tuple[bytes, float], Domination] = {}

    @cached_property
    def observability(self) -> Observability:
        """How the arms can be observed, or an error that names those that cannot."""
        found = observability(self.graph)
        if found.unobservable.size:
            raise UnobservableGraph(
                f"no arm reveals {names(self.graph, found.unobservable.tolist())}, so no plan can have sublinear "
                "regret; add an edge into each or leave them out",
                found.unobservable.tolist(),
            )
        chances = self.graph.in_probability
        if chances is not None:
            best = np.ones(self.graph.n_arms)
            listed = np.flatnonzero(np.diff(self.graph.in_indptr))
            best[listed] = np.maximum.reduceat(chances, self.graph.in_indptr[listed])
            best[self.graph.universal] = 1.0
            rare = np.flatnonzero(best < LEAST_SEEN)
            if rare.size:
                raise UnobservableGraph(
                    f"{names(self.graph, rare.tolist())} is revealed with probability {best[rare[0]]:g} at most:"
                    f" below {LEAST_SEEN:g} nothing is planned; leave such arms out, or treat them as never seen",
                    rare.tolist(),
                )
        return found

    @cached_property
    def cliques(self) -> CliqueCover:
        """How well arms with self-loops see each other."""
        return clique_cover(self.graph)

    @cached_property
    def dominating_set(self) -> Longs:
        """A few arms that reveal every arm without self-loop."""
        return dominating_set(self.graph, ~self.graph.has_loop)

    @cached_property
    def partial_covers(self) -> list[PartialCover]:
        """Covers that may miss arms with self-loops, from the least mass to a full cover; one if that is all."""
        return self.covers_of(np.ones(self.graph.n_arms, dtype=bool))

    def covers_of(self, needed: Bools) -> list[PartialCover]:
        """The same where only some arms (n,) are to be covered at all."""
        g = self.graph
        if not needed.any():
            return []
        full = Cover.of(self.cover(np.flatnonzero(needed)), g.n_arms).weights
        loops = needed & g.has_loop
        if g.n_arms <= EXACT_CURVE and loops.any():
            return partial_covers(g, needed, full)
        tried = [full]
        if loops.any():
            loopless = np.flatnonzero(needed & ~g.has_loop)
            least = Cover.of(self.cover(loopless), g.n_arms).weights if loopless.size else np.zeros(g.n_arms)
            missed = loops & (self.coverage(least) < 1) & ~g.is_universal
            hubs = greedy_cover(g, missed, HUB)
            tried.append(least)
            for k in sorted({min(2**j, len(hubs)) for j in range(len(hubs).bit_length() + 1)} - {0}):
                tried.append(least.copy())
                tried[-1][hubs[:k]] = np.maximum(least[hubs[:k]], 1.0)
        if loops.any() and not g.has_loop.all() and needed.all() and g.certain:
            tried.append(np.bincount(self.dominating_set, minlength=g.n_arms).astype(np.float64))
        return lower_hull([partial_cover(g, needed, x, self.coverage(x)) for x in tried])

    def coverage(self, weights: Floats) -> Floats:
        """(n,) Σ of the weights over the in-neighbours of each arm."""
        return loads(self.graph, np.zeros(self.graph.n_arms, dtype=np.int64), weights)

    def blocks(self, name: str, partition: Partition) -> WeakBlocks:
        """The partition with the dominations of its weak blocks; partitions share the blocks they have in common."""
        blocks = [partition.blocks[k] for k in partition.weak]
        keys = [block.tobytes() for block in blocks]
        new = [i for i, key in enumerate(keys) if key not in self._blocks]
        solved = block_dominations(self.graph, [blocks[i] for i in new]) if new else []
        self._blocks |= {keys[i]: domination for i, domination in zip(new, solved, strict=True)}
        return WeakBlocks(name, partition, [self._blocks[key] for key in keys])

    def cover(self, targets: Longs, h: float = 1.0) -> Domination:
        """The cheapest cover of `targets` from any arm, through which Tsallis-h explores.

        Where reveals may fail, a source counts with r^{1/h}, r its probability: docs/theory/failing-reveals.md.
        """
        if self.graph.certain and targets.size == self.graph.n_arms > 1:
            return self.blocks("single", Partition(self.graph, [targets])).dominations[0]
        key = targets.tobytes(), 1.0 if self.graph.certain else h
        if key not in self._covers:
            self._covers[key] = fractional_domination(sharpened(self.graph, 1 / key[1]), cover=targets)
        return self._covers[key]

    @cached_property
    def levels(self) -> list[tuple[float, Solved]]:
        """(r, edges that reveal with probability r or more, taken as certain); the whole if all are certain.

        An arm is seen at least r times as often as in that graph.
        """
        if self.graph.certain:
            return [(1.0, self)]
        return [(r, Solved(self.graph.at_least(r))) for r in levels(self.graph)]

    def unsolved(self, partition: Partition) -> int:
        """Arms in the weak blocks that `blocks` would have to work on."""
        blocks = (partition.blocks[k] for k in partition.weak)
        return sum(block.size for block in blocks if block.tobytes() not in self._blocks)


class Cover(NamedTuple):
    """Weights under which some arms have coverage of at least 1."""

    weights: Floats  # (n,)
    mass: float  # Σ weights
    covered: Longs  # sorted

    @classmethod
    def of(cls, domination: Domination, n: int) -> Cover:
        """A domination, spread over all n arms."""
        weights = np.zeros(n)
        weights[domination.arms] = domination.weights
        return cls(weights, float(domination.value), np.asarray(domination.cover, dtype=np.int64))


class Shared(NamedTuple):
    """Exploration on behalf of covered arms, as `Tuning` has it; arrays (n,)."""

    constant: Floats
    cover: Floats
    load: Floats


def shared(
    graph: FeedbackGraph,
    block_of: Longs,
    weights: Floats,
    targets: Bools,
    beta: Floats,
    constant: Bools,
    h: Floats | float = 1.0,
) -> Shared:
    """γ(j) = β·x_j·max r_{ji}^{(1−h)/h}·X_i^{1−h}/c_i over the targets i that j reveals in its block.

    r is the probability of the reveal. At h = 1 that does not depend on X: where `constant`, it is written out,
    elsewhere left to the engine.
    """
    covered = loads(graph, block_of, weights, 1 / np.asarray(h))
    need = np.zeros(len(weights))
    fixed = targets & constant
    need[fixed] = 1 / covered[fixed]
    return Shared(
        constant=np.where(constant, beta * weights * largest_revealed(graph, block_of, need), 0.0),
        cover=np.where(constant, 0.0, weights),
        load=np.where(targets & ~constant, covered, 0.0),
    )


def dominating_set(g: FeedbackGraph, targets: Bools | None = None) -> Longs:
    """Arms that together reveal all arms, or all `targets` (n,), of which there must be some.

    Greedily: the arm that reveals most of the missing ones first.

    >>> from sidelight.graph import families
    >>> dominating_set(families.cycle(6)).size
    4
    """
    wanted = np.ones(g.n_arms, dtype=bool) if targets is None else targets
    chosen = list(greedy_cover(g, wanted & ~g.is_universal))
    if g.universal.size and not chosen:
        chosen.append(int(g.universal[0]))
    first = chosen[0]
    if len(chosen) == 1 and wanted[first] and g.is_universal[first] and not g.has_loop[first]:
        chosen.append(int((first + 1) % g.n_arms))  # the only arm that it does not reveal is itself
    return np.sort(np.array(chosen, dtype=np.int64))


def revealed_by(g: FeedbackGraph, arms: Longs) -> Bools:
    """(n,) which arms these reveal together."""
    seen = np.zeros(g.n_arms, dtype=bool)
    for arm in arms.tolist():
        seen[g.out_neighbors(arm)] = True
    return seen


# -- parents ---------------------------------------------------------------------------------------------
# Pruning blocks to in-degree one: through which arm the adaptive exploration watches each arm.


MOST_VOTES = 64
"""After so many rounds the arms still waiting all take the in-neighbour they like best."""

SCATTER = 2654435761
"""Odd multiplier (2³²/golden ratio) that scatters equal candidates, so that many win in one round."""


def parents(partition: Partition, blocks: Longs) -> Longs:
    """(n,) one in-neighbour inside its block for every arm of `blocks`, −1 elsewhere; O(n + edges) a round.

    Few parents are better: what one explores on behalf of all its arms, each of them sees. This is greedy
    set cover in rounds: every waiting arm votes for the in-neighbour with the most waiting arms,
    and those whose waiting arms all voted for them become their parent. A self-loop counts.
    """
    g = partition.graph
    n, owner = g.n_arms, partition.block_of
    chosen = np.zeros(partition.n_blocks, dtype=bool)
    chosen[blocks] = True
    target = g.in_targets
    source = g.in_indices.astype(np.int64)
    inside = (owner[source] == owner[target]) & chosen[owner[target]]
    source, target = source[inside], target[inside]

    parent = np.full(n, -1, dtype=np.int64)
    tie_break = np.argsort(np.argsort(np.arange(n) * SCATTER % 2**32, kind="stable"), kind="stable")
    rounds = 0
    while source.size:
        gain = np.bincount(source, minlength=n)
        score = (gain * n + tie_break)[source]  # distinct for distinct sources
        starts = np.flatnonzero(np.diff(target, prepend=-1))  # edges stay sorted by target
        best = np.repeat(np.maximum.reduceat(score, starts), np.diff(starts, append=target.size))
        votes = score == best
        rounds += 1
        elected = np.bincount(source[votes], minlength=n) == gain
        settled = votes & elected[source] if rounds < MOST_VOTES else votes
        parent[target[settled]] = source[settled]
        waiting = parent[target] < 0
        source, target = source[waiting], target[waiting]
    _add_universal(partition, chosen, parent)
    return parent


def _add_universal(partition: Partition, chosen: Bools, parent: Longs) -> None:
    """Arms that everyone reveals join the busiest parent of their block, which may not be themselves."""
    g, owner = partition.graph, partition.block_of
    loads = np.bincount(parent[parent >= 0], minlength=g.n_arms)
    universal = g.universal[chosen[owner[g.universal]]]
    for k in np.unique(owner[universal]):
        arms = partition.blocks[k]
        busiest = arms[np.argsort(-loads[arms], kind="stable")[:2]]  # blocks here have two arms or more
        mine = universal[owner[universal] == k]
        parent[mine] = np.where((mine == busiest[0]) & ~g.has_loop[mine], busiest[1], busiest[0])
