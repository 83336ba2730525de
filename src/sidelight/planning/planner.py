"""From a graph and a horizon to the best plan that can be certified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from sidelight._check import checked_horizon
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.anytime.strong import StrongAnytimeBound, StrongAnytimeCandidate
from sidelight.planning.anytime.weak import AnytimeBound, AnytimeCandidate
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.candidate import Way
from sidelight.planning.candidates import flat_ways, natural_ways, observable, ways_of
from sidelight.planning.dominations import Dominations
from sidelight.planning.tuning import Tuning

REALIZATIONS = ("adaptive", "clustered", "flat", "hybrid", "interpolated")
"""Realizations that `plan` knows; "auto" is the best of them."""

DOUBLING = "doubling"
"""The realization of plans without a horizon that play plans with one, each twice as long as the one before."""


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
    choices: tuple[str, ...]  # (m2,) "clustered", "adaptive", "interpolated h=0.83" or "flat h=0.5"
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

    def bound_at(self, t: int) -> Bound:
        """The bound on the regret of t rounds, which here must be all of them; see `AnytimePlan`."""
        if checked_horizon(t) != self.horizon:
            raise InvalidOption(
                f"this plan's bound is for {self.horizon} rounds, not for {t}; plan with horizon=None for all t"
            )
        return self.bound

    def summary(self) -> str:
        """The plan for human readers."""
        p = self.partition
        kinds = f"U1S {p.strong_loop.size:,}, U1N {p.strong_loopless.size:,}, U2 {p.weak.size:,}"
        parameters = {k: v for k, v in self.parameters.items() if isinstance(v, float)}
        lines = [
            f"{self.realization} plan for {self.graph.n_arms:,} arms and {self._rounds}",
            f"{p.n_blocks:,} {'block' if p.n_blocks == 1 else 'blocks'} ({kinds})",
            ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items()),
            self.bound.summary(),
        ]
        if len(self.considered) > 1:
            lines.append("considered:")
            for c in self.considered:
                status = "certified" if c.certified else "not certified"
                lines.append(f"  {c.partition:<11} {c.realization:<12} {c.value:>14,.2f}  {status}")
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Plan(realization={self.realization!r}, n_arms={self.graph.n_arms}, "
            f"n_blocks={self.partition.n_blocks}, horizon={self.horizon}, bound={self.bound.value:.6g}, "
            f"certified={self.bound.certified})"
        )

    @property
    def _rounds(self) -> str:
        return f"{self.horizon:,} rounds"

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


@dataclass(frozen=True, eq=False, repr=False)
class AnytimePlan(Plan):
    """A plan for any number of rounds: `horizon` is None, and the bound is a function of the round."""

    horizon: None  # type: ignore[assignment]  # code that needs a horizon must ask which kind of plan it has
    bound: AnytimeBound | StrongAnytimeBound  # type: ignore[assignment]

    def bound_at(self, t: int) -> Bound:
        """The bound on the regret of the first t rounds."""
        return self.bound.at(checked_horizon(t))

    def __repr__(self) -> str:
        return f"AnytimePlan(n_arms={self.graph.n_arms}, bound={self.bound.summary()!r})"

    @property
    def _rounds(self) -> str:
        return "any number of rounds"


def register_policy(factory: Callable[[Plan, int | None], Any]) -> None:
    """Say how `Plan.policy` makes a policy; called by the policy layer when it is imported."""
    global _policy_factory
    _policy_factory = factory


@overload
def plan(
    g: FeedbackGraph,
    horizon: int,
    partition: Partition | None = None,
    realization: str | Mapping[int, str] = "auto",
    *,
    search: float | None = None,
) -> Plan: ...


@overload
def plan(
    g: FeedbackGraph,
    horizon: None,
    partition: Partition | None = None,
    realization: str | Mapping[int, str] = "auto",
    *,
    search: None = None,
) -> AnytimePlan: ...


def plan(
    g: FeedbackGraph,
    horizon: int | None,
    partition: Partition | None = None,
    realization: str | Mapping[int, str] = "auto",
    *,
    search: float | None = None,
) -> Plan:
    """The plan with the smallest certified bound, or the smallest bound if none is certified.

    Without a `partition` the natural ones are tried: single, components, corrupted, singletons and
    hypercube, where they exist. `realization` is one of

        "clustered"     Theorem realized-upper-bound
        "adaptive"      Theorem adapt-realized-upper-bound
        "hybrid"        each weak block plays the better of these two
        "interpolated"  each weak block its own Tsallis potential, constants minimised at this horizon
        "flat"          one simplex for all arms, no partition needed
        "auto"          the best of all these, or uniform play where every other bound exceeds (1 − 1/N)·T

    or, with a partition, a mapping from every weak block to "clustered", "adaptive" or "interpolated".
    With `search`, a number of seconds, the partition that `partitions.search` finds is tried as well, so the
    bound is never larger than without.
    `horizon=None` gives a flat plan for any number of rounds, whose bound is a function of the round: about √2
    times that of a known horizon on strongly observable graphs, 4/3 times that of a flat block or more on others.
    With realization="doubling", plans for 1, 2, 4, … rounds one after another, for comparison.

    >>> two_pairs = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> plan(two_pairs, horizon=100_000, realization="clustered")
    Plan(realization='clustered', n_arms=4, n_blocks=1, horizon=100000, bound=9079.94, certified=True)
    """
    if not isinstance(g, FeedbackGraph):
        raise InvalidGraph(f"plan needs a FeedbackGraph, got {type(g).__name__}")
    T = None if horizon is None else checked_horizon(horizon)
    if T is not None or realization != DOUBLING:
        _check_realization(realization, partition)
    if partition is not None:
        _check_partition(g, partition)
    if search is not None and (T is None or partition is not None or realization == "flat"):
        raise InvalidOption(
            f"search={search!r} looks for a partition at a given horizon; it goes with neither a partition,"
            ' nor horizon=None, nor realization="flat"'
        )
    if T is None:
        return _anytime(g, partition, realization)
    dominations = Dominations(g)
    if realization == "flat":
        _check_one_block(partition)
        ways = list(flat_ways(g, observable(g), dominations))
    elif partition is None:
        ways = list(natural_ways(g, realization, dominations))
        ways += [] if search is None else _searched_ways(g, T, realization, search, ways, dominations)
        if not ways:
            raise InfeasibleRequest(
                f"no natural partition of this graph can be played as {realization!r};"
                ' use realization="clustered" or pass a partition with a block of two arms or more'
            )
    else:
        ways = ways_of(dominations.solve("given", partition), realization)
        if not ways:
            raise InfeasibleRequest(
                "the adaptive realization needs a block of two arms or more, and this partition has none;"
                ' use realization="clustered" or merge arms into a block'
            )
    return best_of(ways, T)


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


# -- candidates -------------------------------------------------------------------------------------------


def _searched_ways(
    g: FeedbackGraph,
    T: int,
    realization: str | Mapping[int, str],
    seconds: float,
    ways: list[Way],
    dominations: Dominations,
) -> list[Way]:
    """Ways to play the partition that a search of so many seconds finds, unless it is a natural one."""
    from sidelight.planning.search.local_search import search as find

    found = find(g, T, budget=seconds)
    if any(way.partition == found for way in ways):
        return []
    return ways_of(dominations.solve("searched", found), realization)


def _anytime(
    g: FeedbackGraph, partition: Partition | None, realization: str | Mapping[int, str]
) -> AnytimePlan:
    """The flat plan without a horizon, or the doubling one."""
    if realization == DOUBLING:
        from sidelight.planning.anytime.doubling import doubling

        if partition is not None:
            raise InvalidOption(
                "a doubling plan chooses a partition for every horizon; leave the partition out"
            )
        return doubling(g)
    if realization not in ("auto", "flat"):
        raise InfeasibleRequest(
            'without a horizon only flat plans are proved, and doubling; use realization="flat" or "doubling"'
            f" instead of {realization!r}, or give a horizon"
        )
    _check_one_block(partition)
    best = _without_horizon(g)
    tuning, parameters = best.tune()
    p = best.partition
    return AnytimePlan(g, p, None, best.realization, best.choices, parameters, best.bound, tuning)


def _without_horizon(g: FeedbackGraph) -> AnytimeCandidate | StrongAnytimeCandidate:
    """√t where every arm is strongly observable; else the smallest coefficient of t^{2/3}."""
    single, loopless = natural.single(g), np.flatnonzero(~g.has_loop)
    if observable(g).graph == "strong":
        return StrongAnytimeCandidate(single)
    dominations = Dominations(g)
    ways = [AnytimeCandidate("single", single, dominations.cover(np.arange(g.n_arms)))]
    if loopless.size < g.n_arms:
        ways.append(AnytimeCandidate("covered", single, dominations.cover(loopless)))
    return min(ways, key=lambda way: (float(f"{way.bound.weak:.12g}"), way.name))


# -- input ------------------------------------------------------------------------------------------------


def _check_realization(realization: object, partition: Partition | None) -> None:
    if isinstance(realization, Mapping):
        if partition is None:
            raise InvalidOption(
                "a realization for each block needs the partition it speaks of: pass partition="
            )
    elif realization == DOUBLING:
        raise InvalidOption(
            "a doubling plan is for any number of rounds; leave the horizon out (horizon=None)"
        )
    elif not isinstance(realization, str) or realization not in ("auto", *REALIZATIONS):
        raise InvalidOption(
            f"unknown realization {realization!r}; choose from auto, {', '.join(REALIZATIONS)},"
            " or map every weak block to 'clustered', 'adaptive' or 'interpolated'"
        )


def _check_one_block(partition: Partition | None) -> None:
    if partition is not None and partition.n_blocks != 1:
        raise InvalidOption(
            f"a flat plan plays one block, but the partition has {partition.n_blocks}; leave the partition out or"
            ' use realization="interpolated"'
        )


def _check_partition(g: FeedbackGraph, partition: object) -> None:
    if not isinstance(partition, Partition):
        raise InvalidOption(f"partition must be a Partition of the graph, got {type(partition).__name__}")
    if partition.graph is not g and partition.graph != g:
        raise InvalidOption(f"the partition belongs to another graph: {partition.graph!r}, not {g!r}")
