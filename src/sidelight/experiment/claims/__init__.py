"""The theory as experiments: every theorem a named claim that is measured and judged."""

from sidelight.experiment.claims.catalogue import CLAIMS, find, names
from sidelight.experiment.claims.claim import (
    BEATEN,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    VERDICTS,
    Claim,
    Curve,
    Estimate,
    Evidence,
    Outcome,
    Prediction,
)
from sidelight.experiment.claims.runner import Reproduction, reproduce

__all__ = [
    "BEATEN",
    "CLAIMS",
    "FAILS",
    "HOLDS",
    "INCONCLUSIVE",
    "VERDICTS",
    "Claim",
    "Curve",
    "Estimate",
    "Evidence",
    "Outcome",
    "Prediction",
    "Reproduction",
    "find",
    "names",
    "reproduce",
]
