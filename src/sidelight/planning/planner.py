"""From a graph and a horizon to the best plan that can be certified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sidelight._check import checked_horizon, checked_number
from sidelight._realizations import (
    ANYTIME,
    FAILING,
    REALIZATIONS,
    SELF_TUNING,
    UNIFORM,
    WITH_HORIZON,
    WITHOUT_HORIZON,
)
from sidelight._renamed import renamed
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.partition import Partition, natural
from sidelight.planning.anytime import anytime
from sidelight.planning.bounds.high_probability import checked_confidence
from sidelight.planning.candidates import (
    Realization,
    best_of,
    candidates_of,
    flat_candidates,
    natural_candidates,
)
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.confident import Confident
from sidelight.planning.minimised.uniform import UniformCandidate
from sidelight.planning.plan import Candidate, Plan
from sidelight.planning.search.local_search import search as searched_partition
from sidelight.planning.self_tuning.budget import SLACK, tuned_plan
from sidelight.planning.self_tuning.plans import Order, checked_order, checked_share, self_tuning


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
    certified bound among them, and `slack` beside, is the budget of a self-tuning plan, which stays below it on every
    run. Where no self-tuning plan can keep to the budget, the plan with the smallest bound is played as it is, and
    its summary says so.

    Without a `partition` the natural ones are tried: single, components, corrupted, singletons and hypercube, where
    they exist. A partition that is given is played at fixed rates.

    `realization` is one of

        "clustered"     Theorem realized-upper-bound
        "adaptive"      Theorem adapt-realized-upper-bound
        "hybrid"        each weak block plays the better of these two
        "interpolated"  each weak block its own Tsallis potential, constants minimised at this horizon
        "flat"          one simplex for all arms, no partition needed
        "fixed"         the best of all these; where no bound is below T it learns anyway, and calls its bound vacuous
        "self-tuning"   one simplex that buys its temperature and explores as cheaply as it can, inside the smallest
                        bound of all and its slack or, where it cannot keep to that, inside its own
        "auto"          "self-tuning" where it keeps to that budget, else "fixed"
        "uniform"       every arm alike, whatever is seen: R ≤ (1 − 1/N)·T

    or, with a partition, a mapping from every weak block to "clustered", "adaptive" or "interpolated".
    With `search`, a number of seconds, the partition that `partitions.search` finds is tried as well, so the
    bound is never larger than without.
    Without a horizon "auto" is "self-tuning", whose bound is a function of the round: about 1.35 times that of a
    known horizon and the same order on weakly observable graphs, 1.55 times on others. "anytime", a flat plan with
    rates that fall, is for comparison.

    Self-tuning plans take `order`, that of their entropy (a number, or "bound" for the smallest bound; by default ½
    or near it), `share`, how much of all costs buys temperature (½), and, with a horizon, `slack`: by that fraction
    the budget exceeds the smallest bound. With more the plan is freer, with 0 its bound is the smallest, and it may
    have to play at fixed rates.

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
    options = _checked_options(T, realization, order, share, slack)
    seconds = None if search is None else checked_number("search", search, above=0.0)
    if confidence is not None:
        alone = realization == "auto" and not options.given and partition is None and search is None
        return _confident(graph, T, confidence, alone)
    if partition is not None:
        _check_partition(graph, partition)
    if seconds is not None and (T is None or partition is not None or realization in ("flat", UNIFORM)):
        raise InvalidOption(
            f"search={search!r} looks for a partition at a given horizon; it goes with neither a partition,"
            ' nor horizon=None, nor realization="flat" or "uniform"'
        )
    _check_realization(T, realization, partition)
    _check_failing(graph, T, partition, realization, seconds)
    if realization in (UNIFORM, "flat", SELF_TUNING) or T is None:
        _check_one_block(partition)
    solved = Solved(graph)
    if T is None:
        if realization in ("auto", SELF_TUNING) and graph.n_arms > 1:
            return self_tuning(solved, options.order, options.share)
        return anytime(solved)
    candidates = _candidates(solved, partition, realization)
    if seconds is not None:
        found = searched_partition(graph, T, budget=seconds)
        if all(candidate.partition != found for candidate in candidates):
            candidates += candidates_of(solved.blocks("searched", found), _weighed_as(realization))
    if realization == SELF_TUNING or (realization == "auto" and partition is None):
        forced = realization == SELF_TUNING or options.order is not None
        return tuned_plan(solved, candidates, T, options.order, options.share, options.slack, forced=forced)
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
    kind = _weighed_as(realization)
    if partition is None or realization == SELF_TUNING:
        found = list(natural_candidates(solved, kind))
        if not found:
            raise InfeasibleRequest(
                f"no natural partition of this graph can be played as {realization!r};"
                ' use realization="clustered" or pass a partition with a block of two arms or more'
            )
        return found
    found = candidates_of(solved.blocks("given", partition), kind)
    if not found:
        raise InfeasibleRequest(
            "the adaptive realization needs a block of two arms or more, and this partition has none;"
            ' use realization="clustered" or merge arms into a block'
        )
    return found


def _confident(graph: FeedbackGraph, T: int | None, confidence: float, alone: bool) -> Plan:
    """The plan for high probability, which is one way to play."""
    level = checked_confidence(confidence)
    if not alone:
        raise InvalidOption(
            f"confidence={confidence!r} chooses how to play: leave out all options but the horizon, or ask another"
            " plan for its bound_at(t, confidence)"
        )
    if T is None:
        raise InvalidOption(f"confidence={confidence!r} tunes a plan for one horizon: give horizon=")
    return Confident(Solved(graph), level).plan(T)


# -- input ------------------------------------------------------------------------------------------------


class _Options(NamedTuple):
    """What self-tuning plans can be told."""

    order: Order
    share: float
    slack: float
    given: list[str]  # those that are not the usual ones, as they were written


def _checked_options(
    T: int | None, realization: Realization, order: object, share: object, slack: object
) -> _Options:
    usual = {"order": None, "share": None, "slack": SLACK}
    values = {"order": order, "share": share, "slack": slack}
    given = [f"{name}={value!r}" for name, value in values.items() if value != usual[name]]
    found = _Options(checked_order(order), checked_share(share), checked_number("slack", slack, 0.0), given)
    if given and realization not in ("auto", SELF_TUNING):
        raise InvalidOption(f"{given[0]} is for self-tuning plans: realization={SELF_TUNING!r}")
    if found.slack != SLACK and T is None:
        raise InvalidOption(f"slack={slack!r} raises the budget of a horizon, and there is none")
    return found


def _check_realization(T: int | None, realization: object, partition: Partition | None) -> None:
    """Refuse names that are none, and those that need a horizon, or none, or a partition."""
    if isinstance(realization, Mapping):
        if T is None:
            raise _without_horizon(realization)
        if partition is None:
            raise InvalidOption(
                "a realization for each block needs the partition it speaks of: pass partition="
            )
        return
    known = WITHOUT_HORIZON if T is None else WITH_HORIZON
    if isinstance(realization, str) and realization in known:
        return
    if realization == ANYTIME:
        raise InvalidOption(
            f"{ANYTIME!r} is for plans for any number of rounds; leave the horizon out (horizon=None)"
        )
    if realization == UNIFORM:
        raise InvalidOption(
            "uniform play learns nothing at any number of rounds: sl.baselines.uniform(graph) is it without a"
            ' horizon, and realization="uniform" with one'
        )
    if isinstance(realization, str) and realization in REALIZATIONS:
        raise _without_horizon(realization)
    where = "without a horizon choose" if T is None else "choose"
    blocks = "" if T is None else ", or map every weak block to 'clustered', 'adaptive' or 'interpolated'"
    raise InvalidOption(f"unknown realization {realization!r}; {where} from {', '.join(known)}{blocks}")


def _without_horizon(realization: object) -> InfeasibleRequest:
    return InfeasibleRequest(
        f"without a horizon there are the realizations {', '.join(WITHOUT_HORIZON[1:])}, but not {realization!r};"
        " give a horizon"
    )


def _check_failing(
    graph: FeedbackGraph,
    T: int | None,
    partition: Partition | None,
    realization: object,
    search: float | None,
) -> None:
    """Where reveals may fail, refuse what is proved for certain ones only."""
    if graph.certain or graph.n_arms == 1:
        return
    known = (*FAILING, "fixed", "flat", UNIFORM) if T is not None else FAILING
    several = partition is not None and partition.n_blocks > 1
    if realization in known and not several and search is None:
        return
    asked = "search" if search is not None else "partitions" if several else f"realization {realization!r}"
    r = graph.out_probability
    failing = "none" if r is None else f"{int((r < 1).sum()):,} of {graph.n_edges:,} edges"
    raise InfeasibleRequest(
        f"{asked} and the theorems behind it need reveals that never fail, and {failing} of this graph may;"
        f" choose from {', '.join(known)}, or plan on graph.at_least(1), the graph of the certain edges"
    )


def _check_one_block(partition: Partition | None) -> None:
    if partition is not None and partition.n_blocks != 1:
        raise InvalidOption(
            f"a flat plan plays one block, but the partition has {partition.n_blocks}; leave the partition out or"
            ' use realization="interpolated"'
        )


def _check_partition(graph: FeedbackGraph, partition: object) -> None:
    if not isinstance(partition, Partition):
        raise InvalidOption(
            f"partition must be a Partition of the graph, got {type(partition).__name__}; make one of lists of arms:"
            " sl.Partition(graph, [[0, 1], [2, 3], …])"
        )
    if partition.graph is not graph and partition.graph != graph:
        raise InvalidOption(f"the partition belongs to another graph: {partition.graph!r}, not {graph!r}")
