"""The regret that no algorithm avoids on a weakly observable graph."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight._check import checked_horizon
from sidelight.analysis.observability import observability
from sidelight.analysis.packing import PackingSet, packing_independent_set
from sidelight.errors import InfeasibleRequest
from sidelight.graph import GivenGraph, graph_of
from sidelight.graph.names import names

PACKING_SOURCE = "Proposition packing-lb (Chen, Huang, Li & Zhang 2021)"


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound on the minimax regret, up to a universal constant unless `constant` gives it.

    The regret of any algorithm on some losses is at least c·value; `constant` is None where the source states
    Ω(value) without naming c, so that `value` compares graphs and horizons but not algorithms.
    """

    value: float
    certificate: PackingSet
    source: str
    constant: float | None = None


def packing_lower_bound(
    g: GivenGraph, horizon: int, *, exact: bool | None = None, seed: int = 0, time_limit: float = 10.0
) -> LowerBound:
    """rate^{1/3}·T^{2/3} for the best packing found, rate = max{log|S|, |S|/t}.

    Holds for weakly observable graphs, as Ω(·): the universal constant is not stated, so `constant` is None
    and the value is a rate, not an amount of loss. The other options go to `packing_independent_set`.

    >>> from sidelight.graph import FeedbackGraph
    >>> bound = packing_lower_bound(FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)]), horizon=1000)
    >>> round(bound.value, 6), bound.certificate
    (100.0, PackingSet(1 arms, t=1, rate=1, exact))
    """
    g, horizon = graph_of(g, "packing_lower_bound"), checked_horizon(horizon)
    classes = observability(g)
    if classes.graph == "unobservable":
        raise InfeasibleRequest(
            "the lower bound is for weakly observable graphs, but nothing reveals "
            f"arms {names(g, classes.unobservable.tolist())}: regret there is linear in T"
        )
    if classes.graph == "strong":
        raise InfeasibleRequest(
            "the lower bound is for weakly observable graphs, but every arm is strongly observable: "
            "regret there is of order √T"
        )
    certificate = packing_independent_set(g, exact=exact, seed=seed, time_limit=time_limit)
    value = certificate.rate ** (1 / 3) * float(horizon) ** (2 / 3)
    return LowerBound(value, certificate, PACKING_SOURCE)
