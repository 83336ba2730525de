"""Plans that know no horizon."""

from collections.abc import Mapping
from typing import Any

from sidelight.errors import InvalidOption
from sidelight.planning.anytime.strong import StrongAnytimeBound
from sidelight.planning.anytime.weak import AnytimeBound
from sidelight.planning.bounds.bound import Bound, BoundCurve
from sidelight.planning.self_tuning.curve import SelfTuningBound


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
