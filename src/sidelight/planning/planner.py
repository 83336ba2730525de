"""From a graph and a horizon to the best plan that can be certified."""

from __future__ import annotations

from collections.abc import Mapping

from sidelight._check import checked_horizon, checked_number
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning.anytime.doubling import DOUBLING, doubling
from sidelight.planning.anytime.strong import strong_anytime
from sidelight.planning.anytime.weak import weak_anytime
from sidelight.planning.candidates import (
    Realization,
    best_of,
    candidates_of,
    flat_candidates,
    natural_candidates,
)
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.uniform import UNIFORM, UniformCandidate
from sidelight.planning.plan import Candidate, Plan
from sidelight.planning.search.local_search import search as searched_partition

REALIZATIONS = ("adaptive", "clustered", "flat", "hybrid", "interpolated", UNIFORM)
"""Realizations that `plan` knows; "auto" is the best of those that learn."""


def plan(
    g: FeedbackGraph,
    horizon: int | None = None,
    partition: Partition | None = None,
    realization: Realization = "auto",
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
        "auto"          the best of all these; where no bound is below T it learns anyway, and calls its bound vacuous
        "uniform"       every arm alike, whatever is seen: R ≤ (1 − 1/N)·T

    or, with a partition, a mapping from every weak block to "clustered", "adaptive" or "interpolated".
    With `search`, a number of seconds, the partition that `partitions.search` finds is tried as well, so the
    bound is never larger than without.
    Without a horizon it gives a flat plan for any number of rounds, whose bound is a function of the round: about √2
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
    seconds = None if search is None else checked_number("search", search, above=0.0)
    if seconds is not None and (T is None or partition is not None or realization in ("flat", UNIFORM)):
        raise InvalidOption(
            f"search={search!r} looks for a partition at a given horizon; it goes with neither a partition,"
            ' nor horizon=None, nor realization="flat" or "uniform"'
        )
    if T is None:
        return _anytime(g, partition, realization)
    solved = Solved(g)
    candidates: list[Candidate]
    if realization == UNIFORM:
        _check_one_block(partition)
        candidates = [UniformCandidate(natural.single(g))]
    elif realization == "flat":
        _check_one_block(partition)
        candidates = list(flat_candidates(solved))
    elif partition is None:
        candidates = list(natural_candidates(solved, realization))
        if seconds is not None:
            found = searched_partition(g, T, budget=seconds)
            if all(candidate.partition != found for candidate in candidates):
                candidates += candidates_of(solved.blocks("searched", found), realization)
        if not candidates:
            raise InfeasibleRequest(
                f"no natural partition of this graph can be played as {realization!r};"
                ' use realization="clustered" or pass a partition with a block of two arms or more'
            )
    else:
        candidates = candidates_of(solved.blocks("given", partition), realization)
        if not candidates:
            raise InfeasibleRequest(
                "the adaptive realization needs a block of two arms or more, and this partition has none;"
                ' use realization="clustered" or merge arms into a block'
            )
    return best_of(candidates, T)


def _anytime(g: FeedbackGraph, partition: Partition | None, realization: Realization) -> Plan:
    """The flat plan without a horizon, or the doubling one."""
    if realization == DOUBLING:
        if partition is not None:
            raise InvalidOption(
                "a doubling plan chooses a partition for every horizon; leave the partition out"
            )
        return doubling(g)
    if realization == UNIFORM:
        raise InvalidOption(
            "uniform play learns nothing at any number of rounds: sl.baselines.uniform(g) is it without a horizon,"
            ' and realization="uniform" with one'
        )
    if realization not in ("auto", "flat"):
        raise InfeasibleRequest(
            'without a horizon only flat plans are proved, and doubling; use realization="flat" or "doubling"'
            f" instead of {realization!r}, or give a horizon"
        )
    _check_one_block(partition)
    solved = Solved(g)
    return (strong_anytime if solved.observability.graph == "strong" else weak_anytime)(solved)


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
