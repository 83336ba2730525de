"""Plans that know no horizon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight.errors import InvalidOption
from sidelight.planning.anytime.strong import StrongAnytimeBound, strong_anytime
from sidelight.planning.anytime.weak import AnytimeBound, covering_plans
from sidelight.planning.bounds.bound import Bound, BoundCurve
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Plan
from sidelight.planning.self_tuning.curve import SelfTuningBound

ROUNDS = tuple(10**k for k in range(2, 9))
"""Where the bounds to choose from are compared."""


def anytime(solved: Solved) -> Plan:
    """The plan whose bound is never far above the others': by cliques where these see all, or by a cover.

    A cover of all arms has nothing beside its t^{2/3}, one of the arms without self-loop has the smaller t^{2/3}, and
    cliques have √t: one wins early, another late. So their bounds are compared where the ratio to the smallest is
    largest, over 10², 10³, …, 10⁸ rounds; no bound counts for more than t.

    >>> from sidelight.graph import families
    >>> [anytime(Solved(g)).details.choices for g in (families.loopy_star(2000), families.mab(9))]
    [('flat h=1',), ('flat h=0.9331',)]
    """
    ways = [strong_anytime(solved)] if solved.observability.graph == "strong" else []
    ways += covering_plans(solved) if solved.graph.n_arms > 1 else []
    values = np.array([[min(way.curve.value_at(t), float(t)) for t in ROUNDS] for way in ways])
    worst = (values / np.maximum(values.min(axis=0), 1e-300)).max(axis=1)
    return ways[min(range(len(ways)), key=lambda i: float(f"{worst[i]:.9g}"))]


# -- saved bounds ----------------------------------------------------------------------------------------
# Plans that know no horizon.


def curve_from_dict(saved: Mapping[str, Any], horizon: int | None) -> BoundCurve:
    """The bound of a plan that `to_dict` wrote, at its horizon or as a function of the round."""
    if not isinstance(saved, Mapping):
        raise InvalidOption(f"not a saved bound: {saved!r}")
    if horizon is not None:
        return Bound.from_dict(
            {"horizon": horizon, **saved}
        )  # files of format 4 and older leave it to the plan
    if SelfTuningBound.KIND in saved:
        return SelfTuningBound.from_dict(saved)
    if StrongAnytimeBound.KIND in saved:
        return StrongAnytimeBound.from_dict(saved)
    return AnytimeBound.from_dict(saved)
