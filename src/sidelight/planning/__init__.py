"""Plans: potentials, realizations, bounds, and the planner that picks among them."""

from sidelight.planning.bound import Bound, Condition
from sidelight.planning.planner import REALIZATIONS, Considered, Plan, plan, register_policy
from sidelight.planning.potentials import NegativeEntropy, Potential, Tsallis
from sidelight.planning.tuning import Tuning

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
