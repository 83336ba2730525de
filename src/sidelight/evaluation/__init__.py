"""Looking back: what another policy would have cost, from logged decisions."""

from sidelight.evaluation.evaluate import evaluate
from sidelight.evaluation.result import Difference, Estimate, Evaluation, Evaluations

__all__ = ["Difference", "Estimate", "Evaluation", "Evaluations", "evaluate"]
