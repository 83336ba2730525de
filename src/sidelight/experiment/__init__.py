"""Runs, comparisons and sweeps: policies against environments."""

from sidelight.experiment.results import Absent, Cell, Results
from sidelight.experiment.run import Run
from sidelight.experiment.simulation import logarithmic_checkpoints, simulate
from sidelight.experiment.spec import Spec
from sidelight.experiment.study import compare
from sidelight.experiment.sweep import sweep

__all__ = [
    "Absent",
    "Cell",
    "Results",
    "Run",
    "Spec",
    "compare",
    "logarithmic_checkpoints",
    "simulate",
    "sweep",
]
