"""Plans: potentials, realizations, bounds, and the planner that picks among them."""

from sidelight.planning.anytime.doubling import Doubling, DoublingPlan
from sidelight.planning.anytime.strong import StrongAnytimeBound
from sidelight.planning.anytime.weak import AnytimeBound
from sidelight.planning.bounds.bound import Bound, Condition
from sidelight.planning.bounds.checker import check_certificate
from sidelight.planning.bounds.comparison import Comparison, compare_bounds
from sidelight.planning.planner import REALIZATIONS, AnytimePlan, Considered, Plan, plan, register_policy
from sidelight.planning.potentials import NegativeEntropy, Potential, Tsallis
from sidelight.planning.schedule import Schedule
from sidelight.planning.tuning import LAZY_FACTOR, Tuning

__all__ = [
    "LAZY_FACTOR",
    "REALIZATIONS",
    "AnytimeBound",
    "AnytimePlan",
    "Bound",
    "Comparison",
    "Condition",
    "Considered",
    "Doubling",
    "DoublingPlan",
    "NegativeEntropy",
    "Plan",
    "Potential",
    "Schedule",
    "StrongAnytimeBound",
    "Tsallis",
    "Tuning",
    "check_certificate",
    "compare_bounds",
    "plan",
    "register_policy",
]
