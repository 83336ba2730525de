"""Runs: policies against environments."""

from sidelight.experiment.play import Played, play

__all__ = ["Played", "play"]
