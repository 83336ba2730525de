"""Runs, comparisons and sweeps: policies against environments."""

from sidelight.experiment.compare import compare
from sidelight.experiment.results import Absent, Cell, Results
from sidelight.experiment.run import Run
from sidelight.experiment.simulation import logarithmic_checkpoints, simulate
from sidelight.experiment.spec import Spec

__all__ = ["Absent", "Cell", "Results", "Run", "Spec", "compare", "logarithmic_checkpoints", "simulate"]
