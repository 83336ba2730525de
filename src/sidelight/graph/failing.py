"""Edges that may fail, as theorems ask for them: levels of probability, powers of it, those of self-loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight._types import Floats, frozen
from sidelight.graph.feedback_graph import FeedbackGraph


def levels(g: FeedbackGraph, most: int = 12) -> list[float]:
    """Probabilities that edges have, from the largest; where there are more than `most`, evenly chosen ones."""
    if g.out_probability is None:
        return [1.0]
    probabilities = np.unique(g.out_probability)[::-1]
    if g.universal.size and probabilities[0] < 1:
        probabilities = np.append(1.0, probabilities)
    if probabilities.size > most:
        spread = np.linspace(0, probabilities.size - 1, most).round().astype(np.int64)
        probabilities = probabilities[np.unique(spread)]
    return [float(r) for r in probabilities]


def loop_probability(g: FeedbackGraph) -> Floats:
    """(n,) how likely playing each arm reveals its own loss, 0 for arms without self-loop."""
    chances = g.has_loop.astype(np.float64)
    if g.in_probability is not None:
        loops = np.flatnonzero(g.in_indices == g.in_targets)
        chances[g.in_indices[loops]] = g.in_probability[loops]
    return chances


def sharpened(g: FeedbackGraph, power: float) -> FeedbackGraph:
    """The same graph with r^power in the place of every probability r."""
    if g.out_probability is None or g.in_probability is None or power == 1:
        return g
    powers = [
        frozen(np.maximum(r**power, np.finfo(float).tiny), np.float64)
        for r in (g.out_probability, g.in_probability)
    ]
    return replace(g, out_probability=powers[0], in_probability=powers[1])
