"""Plans: potentials, realizations, bounds, and the planner that picks among them."""

from sidelight.plan.bound import Bound, Condition
from sidelight.plan.planner import REALIZATIONS, Considered, Plan, plan, register_policy
from sidelight.plan.potentials import NegativeEntropy, Potential, Tsallis
from sidelight.plan.tuning import Tuning

__all__ = [
    "REALIZATIONS",
    "Bound",
    "Condition",
    "Considered",
    "NegativeEntropy",
    "Plan",
    "Potential",
    "Tsallis",
    "Tuning",
    "plan",
    "register_policy",
]
