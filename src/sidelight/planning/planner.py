"""From a graph and a horizon to the best plan that can be certified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from sidelight._check import checked_horizon, checked_number
from sidelight._realizations import (
    FAILING,
    REALIZATIONS,
    SELF_TUNING,
    UNIFORM,
    WITHOUT_HORIZON,
)
from sidelight._renamed import renamed
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.partition import Partition, natural
from sidelight.planning.baselines.algorithms import UniformCandidate
from sidelight.planning.bounds.constant import checked_confidence
from sidelight.planning.candidates import (
    Realization,
    best_of,
    candidates_of,
    flat_candidates,
    natural_candidates,
)
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.confident import Confident
from sidelight.planning.plan import Candidate, Plan
from sidelight.planning.search import search as searched_partition
from sidelight.planning.self_tuning.plans import (
    SHARE,
    SLACK,
    checked_order,
    checked_share,
    self_tuning,
    tuned_plan,
)


@renamed(g="graph", s="order", c="share", premium="slack")
def plan(
    graph: GivenGraph,
    horizon: int | None = None,
    partition: Partition | None = None,
    realization: Realization = "auto",
    *,
    search: float | None = None,
    order: float | str | None = None,
    share: float | None = None,
    slack: float = SLACK,
    confidence: float | None = None,
) -> Plan:
    """Find how to play a graph, with a certified bound on the regret.

    `graph` is a graph, a family such as "cycle:10", or a graph file. Without a `horizon` the plan is for any number
    of rounds, and tunes itself to the losses it meets. With one, every plan below is considered. The smallest
    certified bound among them, `slack` and a room of 3 beside, is the budget of a self-tuning plan, whose certificate
    stays below it on every run: it plays freely while the budget allows for that, and changes at most once to a
    potential at fixed rates, mostly that of the smallest bound. Where neither keeps to the budget, as with `slack=0`,
    the plan with the smallest bound is played as it is, and its summary says so.

    Without a `partition` the natural ones are tried: single, components, corrupted, singletons and hypercube, where
    they exist. A partition that is given is played at fixed rates.

    `realization` is one of

        "clustered"     Theorem realized-upper-bound
        "adaptive"      Theorem adapt-realized-upper-bound
        "hybrid"        each weak block plays the better of these two
        "interpolated"  each weak block its own Tsallis potential, constants minimised at this horizon
        "flat"          one simplex for all arms, no partition needed
        "fixed"         the best of all these; where no bound is below T it learns anyway, and calls its bound vacuous
        "self-tuning"   one simplex that raises its temperature and explores as cheaply as it can, inside the smallest
                        bound of all and its slack or, where it cannot keep to that, inside its own
        "auto"          "self-tuning" where it keeps to that budget, else "fixed"
        "uniform"       every arm alike, whatever is seen: R ≤ (1 − 1/N)·T

    or, with a partition, a mapping from every weak block to "clustered", "adaptive" or "interpolated".
    With `search`, a number of seconds, the partition that `partitions.search` finds is tried as well, so the
    bound is never larger than without.
    Without a horizon "auto" is "self-tuning", whose bound is a function of the round: about 1.35 times that of a
    known horizon and the same order on weakly observable graphs, 1.55 times on others.

    Self-tuning plans take `order`, that of their entropy (a number, or "bound" for the smallest bound; by default ½
    or near it), `share`, how much of all costs raises the temperature (½), and, with a horizon, `slack` (0.05), the
    fraction by which the budget exceeds the smallest bound. With more the plan is freer; with 0 nothing is left to
    play freely with, and rates are fixed.

    With a `confidence` such as 0.99 the plan is the one whose bound is smallest *with that probability*,
    `plan.bound_at(horizon, confidence)`: entropy and a constant cover of all arms. Its bound on the expected regret
    is larger than that of other plans.

    Where reveals may fail (`FeedbackGraph.from_edges(…, probabilities=…)`) the realizations are "auto",
    "self-tuning", "fixed", "flat" and "uniform", without a horizon the first two; docs/theory/failing-reveals.md.

    >>> two_pairs = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> plan(two_pairs, horizon=100_000, realization="clustered")
    Plan(realization='clustered', n_arms=4, n_blocks=1, horizon=100000, bound=9079.94, certified=True)
    >>> plan(two_pairs, order=0.5).bound_at(100_000).informative
    True
    """
    graph = graph_of(graph, "plan")
    T = None if horizon is None else checked_horizon(horizon)
    if realization == "self_tuning":  # as policies are spelled
        realization = SELF_TUNING
    order, share, slack = checked_order(order), checked_share(share), checked_number("slack", slack, 0.0)
    seconds = None if search is None else checked_number("search", search, above=0.0)
    given = [
        f"{name}={value!r}"
        for name, value, usual in (("order", order, None), ("share", share, SHARE), ("slack", slack, SLACK))
        if value != usual
    ]
    if given and realization not in ("auto", SELF_TUNING):
        _refuse("options", option=given[0])
    if T is None and given and given[-1].startswith("slack"):
        _refuse("slack", option=given[-1])
    if confidence is not None:
        level = checked_confidence(confidence)
        if given or partition is not None or search is not None or realization != "auto":
            _refuse("confidence", confidence=confidence)
        if T is None:
            _refuse("no horizon", confidence=confidence)
        return Confident(Solved(graph), level).plan(T)
    if not isinstance(partition, Partition | None):
        _refuse("type", partition=partition)
    if partition is not None and partition.graph is not graph and partition.graph != graph:
        _refuse("graph", partition=partition, graph=graph)
    _check_realization(graph, T, partition, realization, search)
    solved = Solved(graph)
    if T is None:
        return self_tuning(solved, order, share)
    candidates = _candidates(solved, partition, realization)
    if seconds is not None:
        better = searched_partition(graph, T, budget=seconds)
        if all(candidate.partition != better for candidate in candidates):
            candidates += candidates_of(solved.blocks("searched", better), _weighed_as(realization))
    if realization == SELF_TUNING or (realization == "auto" and partition is None):
        forced = realization == SELF_TUNING or order is not None
        return tuned_plan(solved, candidates, T, order, share, slack, forced=forced)
    return best_of(candidates, T)


def _weighed_as(realization: Realization) -> Realization:
    """What the candidates are for: plans that are the best of all weigh all."""
    return "auto" if realization in ("fixed", SELF_TUNING) else realization


def _candidates(solved: Solved, partition: Partition | None, realization: Realization) -> list[Candidate]:
    """What `realization` leaves to choose from at a horizon."""
    if realization == UNIFORM:
        return [UniformCandidate(natural.single(solved.graph))]
    if realization == "flat":
        return list(flat_candidates(solved))
    if partition is None or realization == SELF_TUNING:
        candidates = list(natural_candidates(solved, _weighed_as(realization)))
        lacking = f"no natural partition of this graph can be played as {realization!r}"
    else:
        candidates = candidates_of(solved.blocks("given", partition), _weighed_as(realization))
        lacking = f"{realization!r} needs a block of two arms or more, and this partition has none"
    if not candidates:
        raise InfeasibleRequest(
            f'{lacking}; use realization="clustered" or pass a partition with a block of two arms or more'
        )
    return candidates


# -- what does not go together ------------------------------------------------------------------------------

UNPLAYED = {
    "options": "{option} is for self-tuning plans: realization='self-tuning'",
    "slack": "{option} raises the budget of a horizon, and there is none",
    "confidence": "confidence={confidence!r} chooses how to play: leave out all options but the horizon, or ask"
    " another plan for its bound_at(t, confidence)",
    "no horizon": "confidence={confidence!r} tunes a plan for one horizon: give horizon=",
    "type": "partition must be a Partition of the graph, got {partition.__class__.__name__}; make one of lists of"
    " arms: sl.Partition(graph, [[0, 1], [2, 3], …])",
    "graph": "the partition belongs to another graph: {partition.graph!r}, not {graph!r}",
    "search": "search={search!r} looks for a partition at a given horizon; it goes with neither a partition, nor"
    ' horizon=None, nor realization="flat" or "uniform"',
    UNIFORM: "uniform play learns nothing at any number of rounds: sl.baselines.uniform(graph) is it without a"
    ' horizon, and realization="uniform" with one',
    "unknown": "unknown realization {realization!r}; choose from {allowed}{blocks}",
    "blocks": "a realization for each block needs the partition it speaks of: pass partition=",
    "one block": "a flat plan plays one block, but the partition has {partition.n_blocks}; leave the partition out or"
    ' use realization="interpolated"',
}
"""Options that do not go together: why, and the way out."""

INFEASIBLE = {
    "without horizon": "without a horizon plans tune themselves, realization='self-tuning'; for {realization!r} give"
    " a horizon",
    "may fail": "{what} and the theorems behind it need reveals that never fail, and {failing:,} of {graph.n_edges:,}"
    " edges of this graph may; choose from {allowed}, or plan on graph.at_least(1), the graph of the certain edges",
}
"""What this graph or horizon does not allow."""


def _refuse(what: str, /, **facts: Any) -> NoReturn:
    if what in INFEASIBLE:
        raise InfeasibleRequest(INFEASIBLE[what].format(**facts))
    raise InvalidOption(UNPLAYED[what].format(**facts))


def _check_realization(
    graph: FeedbackGraph,
    T: int | None,
    partition: Partition | None,
    realization: object,
    search: float | None,
) -> None:
    """Refuse names that are none, and those that this graph, horizon, partition or search does not go with."""
    mapping = isinstance(realization, Mapping)
    named = isinstance(realization, str) and realization in REALIZATIONS
    several = partition is not None and partition.n_blocks > 1
    allowed = WITHOUT_HORIZON if T is None else tuple(REALIZATIONS)
    facts = {"realization": realization, "partition": partition, "search": search, "graph": graph}
    if search is not None and (T is None or partition is not None or realization in ("flat", UNIFORM)):
        _refuse("search", **facts)
    if realization == UNIFORM and T is None:
        _refuse(UNIFORM)
    if not (named or mapping):
        blocks = "" if T is None else ", or map every weak block to 'clustered', 'adaptive' or 'interpolated'"
        _refuse("unknown", **facts, allowed=", ".join(allowed), blocks=blocks)
    if T is None and realization not in allowed:
        _refuse("without horizon", **facts)
    if mapping and partition is None:
        _refuse("blocks")
    if not graph.certain and graph.n_arms > 1:
        allowed = (*FAILING, "fixed", "flat", UNIFORM) if T is not None else FAILING
        if realization not in allowed or several or search is not None:
            what = (
                "search"
                if search is not None
                else "partitions"
                if several
                else f"realization {realization!r}"
            )
            failing = 0 if graph.out_probability is None else int((graph.out_probability < 1).sum())
            _refuse("may fail", **facts, what=what, failing=failing, allowed=", ".join(allowed))
    if several and (T is None or realization in (UNIFORM, "flat", SELF_TUNING)):
        _refuse("one block", **facts)
