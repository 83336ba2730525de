"""Plans: potentials, realizations, bounds, and the planner that picks among them."""

from sidelight._realizations import REALIZATIONS
from sidelight.planning.bounds.bound import Bound, BoundCurve, Condition
from sidelight.planning.bounds.checker import check_certificate
from sidelight.planning.bounds.comparison import Comparison, compare_bounds
from sidelight.planning.plan import Considered, Details, Plan
from sidelight.planning.planner import plan
from sidelight.planning.potentials import Potential
from sidelight.planning.self_tuning.curve import SelfTuningBound, curve_from_dict
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import LAZY_FACTOR, Tuning

__all__ = [
    "LAZY_FACTOR",
    "REALIZATIONS",
    "Bound",
    "BoundCurve",
    "Comparison",
    "Condition",
    "Considered",
    "Details",
    "Plan",
    "Potential",
    "SelfTuning",
    "SelfTuningBound",
    "Tuning",
    "check_certificate",
    "compare_bounds",
    "curve_from_dict",
    "plan",
]
