"""Sweeps: policies × graphs × environments × horizons, resumable, on all cores or a cluster."""

from sidelight.experiment.sweep.runner import sweep

__all__ = ["sweep"]
