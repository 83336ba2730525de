"""From a graph and a horizon to the best plan that can be certified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sidelight.analysis import Domination, block_dominations, observability
from sidelight.errors import (
    IllegalPartition,
    InfeasibleRequest,
    InvalidGraph,
    InvalidOption,
    UnobservableGraph,
    listing,
)
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.adaptive import Adaptive
from sidelight.planning.bound import Bound
from sidelight.planning.candidate import Candidate, WeakBlocks
from sidelight.planning.clustered import Clustered
from sidelight.planning.hybrid import Hybrid
from sidelight.planning.restriction import NoWeakBlocks, Restriction
from sidelight.planning.tuning import Tuning

REALIZATIONS = ("adaptive", "clustered", "hybrid")
"""Realizations that `plan` knows; "auto" is the best of them."""

MOST_ROUNDS = 2**63 - 1
"""Longest horizon: rounds are counted in 64 bits."""

_policy_factory: Callable[[Plan, int | None], Any] | None = None


class Considered(NamedTuple):
    """One candidate that `plan` weighed."""

    partition: str
    realization: str
    value: float
    certified: bool


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """How to play `graph` for `horizon` rounds, and what regret that is certain to keep below.

    Made by `plan`. `choices` says how each weak block plays, in the order of `partition.weak`.
    """

    graph: FeedbackGraph
    partition: Partition
    horizon: int
    realization: str
    choices: tuple[str, ...]  # (m2,) "clustered" or "adaptive"
    parameters: dict[str, Any]  # the paper's names: alpha, beta or b, eta, eta_loop, …
    bound: Bound
    tuning: Tuning
    considered: tuple[Considered, ...] = ()

    def policy(self, seed: int | None = None) -> Any:
        """A policy that plays this plan, with its own random stream."""
        if _policy_factory is None:
            raise InfeasibleRequest(
                "no policy engine is loaded: import sidelight.policy before plan.policy()"
            )
        return _policy_factory(self, seed)

    def summary(self) -> str:
        """The plan for human readers."""
        p = self.partition
        kinds = f"U1S {p.strong_loop.size:,}, U1N {p.strong_loopless.size:,}, U2 {p.weak.size:,}"
        parameters = {k: v for k, v in self.parameters.items() if isinstance(v, float)}
        lines = [
            f"{self.realization} plan for {self.graph.n_arms:,} arms and {self.horizon:,} rounds",
            f"{p.n_blocks:,} {'block' if p.n_blocks == 1 else 'blocks'} ({kinds})",
            ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items()),
            self.bound.summary(),
        ]
        if len(self.considered) > 1:
            lines.append("considered:")
            for c in self.considered:
                status = "certified" if c.certified else "not certified"
                lines.append(f"  {c.partition:<11} {c.realization:<10} {c.value:>14,.2f}  {status}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Plan(realization={self.realization!r}, n_arms={self.graph.n_arms}, "
            f"n_blocks={self.partition.n_blocks}, horizon={self.horizon}, bound={self.bound.value:.6g}, "
            f"certified={self.bound.certified})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph in plain numbers, strings, lists and dicts, ready for JSON."""
        return {
            "horizon": self.horizon,
            "realization": self.realization,
            "blocks": [block.tolist() for block in self.partition.blocks],
            "choices": list(self.choices),
            "parameters": self.parameters,
            "bound": self.bound.to_dict(),
            "considered": [candidate._asdict() for candidate in self.considered],
        }


def register_policy(factory: Callable[[Plan, int | None], Any]) -> None:
    """Say how `Plan.policy` makes a policy; called by the policy layer when it is imported."""
    global _policy_factory
    _policy_factory = factory


def plan(
    g: FeedbackGraph,
    horizon: int,
    partition: Partition | None = None,
    realization: str | Mapping[int, str] = "auto",
) -> Plan:
    """The plan with the smallest certified bound, or the smallest bound if none is certified.

    Without a `partition` the natural ones are tried: single, components, corrupted, singletons and
    hypercube, where they exist. `realization` is "clustered" (Theorem realized-upper-bound), "adaptive"
    (Theorem adapt-realized-upper-bound), "hybrid" (each weak block its own), "auto" (the best of these) or,
    with a partition, a mapping from every weak block to "clustered" or "adaptive".

    >>> two_pairs = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> plan(two_pairs, horizon=100_000, realization="clustered")
    Plan(realization='clustered', n_arms=4, n_blocks=1, horizon=100000, bound=9079.94, certified=True)
    """
    if not isinstance(g, FeedbackGraph):
        raise InvalidGraph(f"plan needs a FeedbackGraph, got {type(g).__name__}")
    T = checked_horizon(horizon)
    _check_realization(realization, partition)
    if partition is None:
        candidates = list(_natural_candidates(g, realization))
        if not candidates:
            raise InfeasibleRequest(
                f"no natural partition of this graph can be played as {realization!r};"
                ' use realization="clustered" or pass a partition with a block of two arms or more'
            )
    else:
        _check_partition(g, partition)
        candidates = _candidates(_Dominations(g).solve("given", partition), realization)
        if not candidates:
            raise InfeasibleRequest(
                "the adaptive realization needs a block of two arms or more, and this partition has none;"
                ' use realization="clustered" or merge arms into a block'
            )
    bounds = [candidate.bound(T) for candidate in candidates]
    best = min(range(len(candidates)), key=lambda i: _preference(candidates[i], bounds[i]))
    considered = tuple(
        Considered(c.weak.name, c.restriction.name, b.value, b.certified)
        for c, b in zip(candidates, bounds, strict=True)
    )
    return _made(candidates[best], bounds[best], T, considered)


def _made(candidate: Candidate, bound: Bound, T: int, considered: tuple[Considered, ...]) -> Plan:
    tuning, parameters = candidate.tune(T)
    p = candidate.weak.partition
    choices = tuple("adaptive" if coefficient > 0 else "clustered" for coefficient in tuning.adaptive[p.weak])
    return Plan(p.graph, p, T, candidate.restriction.name, choices, parameters, bound, tuning, considered)


def _preference(candidate: Candidate, bound: Bound) -> tuple[bool, float, int, str, str]:
    """Certified first, then the smallest bound; equal up to rounding: fewer blocks, then names."""
    value = float(f"{bound.value:.12g}")
    name = candidate.restriction.name
    return not bound.certified, value, candidate.weak.partition.n_blocks, name, candidate.weak.name


# -- candidates -------------------------------------------------------------------------------------------


def _natural_candidates(g: FeedbackGraph, realization: str | Mapping[int, str]) -> Iterator[Candidate]:
    found = observability(g)
    if found.unobservable.size:
        raise UnobservableGraph(
            f"no arm reveals {listing(found.unobservable.tolist())}, so no plan can have sublinear regret;"
            " add an edge into each or leave them out",
            found.unobservable.tolist(),
        )
    makers = {"single": natural.single}
    # On strongly observable graphs nothing is corrupted and the corrupted partition is the singletons.
    makers |= (
        {"singletons": natural.singletons} if found.graph == "strong" else {"corrupted": natural.corrupted}
    )
    makers |= {"components": natural.components, "hypercube": natural.hypercube}
    dominations = _Dominations(g)
    seen: list[Partition] = []
    for name, make in makers.items():
        try:
            partition = make(g)
        except (IllegalPartition, InfeasibleRequest):
            continue
        if partition not in seen:
            seen.append(partition)
            yield from _candidates(dominations.solve(name, partition), realization)


def _candidates(weak: WeakBlocks, realization: str | Mapping[int, str]) -> list[Candidate]:
    return [Candidate.of(weak, restriction) for restriction in _restrictions(weak, realization)]


def _restrictions(weak: WeakBlocks, realization: str | Mapping[int, str]) -> list[Restriction]:
    """The realizations asked for, as far as the partition admits them."""
    sizes, deltas = weak.sizes, weak.deltas
    if not isinstance(realization, str):
        return [_chosen(weak, realization)]
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


def _chosen(weak: WeakBlocks, choices: Mapping[int, str]) -> Restriction:
    """A realization for every weak block, by hand."""
    wanted = weak.partition.weak.tolist()
    unknown = [block for block in choices if isinstance(block, bool) or block not in set(wanted)]
    missing = [block for block in wanted if block not in choices]
    if unknown or missing:
        what = f"{listing(unknown)} are not" if unknown else f"{listing(missing)} are missing from"
        raise InvalidOption(
            f"realization must name every weak block of the partition ({listing(wanted)}): {what} "
            f"{'among them' if unknown else 'it'}"
        )
    wrong = [choice for choice in choices.values() if choice not in ("clustered", "adaptive")]
    if wrong:
        raise InvalidOption(f"a block plays 'clustered' or 'adaptive', got {listing(wrong)}")
    if not wanted:
        return NoWeakBlocks("hybrid")
    entropy = np.array([choices[block] == "clustered" for block in wanted])
    return Hybrid(weak.sizes, weak.deltas, entropy)


class _Dominations:
    """Dominations of blocks, each block solved once however many partitions share it."""

    def __init__(self, g: FeedbackGraph) -> None:
        self._graph = g
        self._known: dict[bytes, Domination] = {}

    def solve(self, name: str, partition: Partition) -> WeakBlocks:
        blocks = [partition.blocks[k] for k in partition.weak]
        keys = [block.tobytes() for block in blocks]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        solved = block_dominations(self._graph, [blocks[i] for i in new]) if new else []
        self._known |= {keys[i]: found for i, found in zip(new, solved, strict=True)}
        return WeakBlocks(name, partition, [self._known[key] for key in keys])


# -- input ------------------------------------------------------------------------------------------------


def checked_horizon(horizon: object) -> int:
    """`horizon` as a number of rounds, or an error that shows it."""
    if isinstance(horizon, bool) or not isinstance(horizon, int | float | np.integer | np.floating):
        raise InvalidOption(f"horizon must be a whole number of rounds, got {horizon!r}")
    if isinstance(horizon, float | np.floating) and not horizon.is_integer():
        raise InvalidOption(f"horizon must be a whole number of rounds, got {horizon!r}")
    T = int(horizon)
    if not 1 <= T <= MOST_ROUNDS:
        raise InvalidOption(f"horizon must be between 1 and 2⁶³−1 rounds, got {horizon!r}")
    return T


def _check_realization(realization: object, partition: Partition | None) -> None:
    if isinstance(realization, Mapping):
        if partition is None:
            raise InvalidOption(
                "a realization for each block needs the partition it speaks of: pass partition="
            )
    elif not isinstance(realization, str) or realization not in ("auto", *REALIZATIONS):
        raise InvalidOption(
            f"unknown realization {realization!r}; choose from auto, {', '.join(REALIZATIONS)},"
            " or map every weak block to 'clustered' or 'adaptive'"
        )


def _check_partition(g: FeedbackGraph, partition: object) -> None:
    if not isinstance(partition, Partition):
        raise InvalidOption(f"partition must be a Partition of the graph, got {type(partition).__name__}")
    if partition.graph is not g and partition.graph != g:
        raise InvalidOption(f"the partition belongs to another graph: {partition.graph!r}, not {g!r}")
