"""Runs: policies against environments."""

from sidelight.experiment.run import Run
from sidelight.experiment.simulation import logarithmic_checkpoints, simulate

__all__ = ["Run", "logarithmic_checkpoints", "simulate"]
