"""Hard environments: where lower bounds hide the best arm, with gaps that just cannot be seen in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.analysis import observability, packing_independent_set
from sidelight.environment import Environment, bernoulli, gap, packing, switching
from sidelight.graph import FeedbackGraph

LARGEST_GAP = 0.45


def weak_environments(
    graph: FeedbackGraph, horizon: int, multiples: Sequence[float] = (1.0, 2.0, 4.0)
) -> dict[str, Environment]:
    """Instances for weakly observable graphs, by name; gaps are multiples of (rate/T)^{1/3}, and one is wide.

    A packing set hides the best arm and everything else costs 1 (Proposition packing-lb). Without a packing set
    of two arms, a weakly observable arm is better than the rest while all that reveals it costs 1. A wide gap is
    seen at once, but makes exploration as costly as it can be.
    """
    found = packing_independent_set(graph, exact=False)
    width = (max(found.rate, 1.0) / horizon) ** (1 / 3)
    hidden_arm = _weak_arm(graph)
    environments: dict[str, Environment] = {}
    gaps = {f"gap ×{multiple:g}": min(multiple * width, LARGEST_GAP) for multiple in multiples}
    for name, apart in (gaps | {"wide gap": LARGEST_GAP}).items():
        if len(found.arms) >= 2:
            hidden = len(found.arms) // 2
            environments[f"packing, {name}"] = packing(graph.n_arms, found, hidden=hidden, gap=apart)
        else:
            environments[f"weak arm, {name}"] = _costly_to_see(graph, hidden_arm, apart)
    return environments


def strong_environments(
    graph: FeedbackGraph, horizon: int, multiples: Sequence[float] = (1.0, 2.0, 4.0)
) -> dict[str, Environment]:
    """Instances for strongly observable graphs: gaps are multiples of √(N/T), and the best arm may switch."""
    n = graph.n_arms
    width = (n / horizon) ** 0.5
    environments: dict[str, Environment] = {
        f"gap ×{multiple:g}": gap(n, best=n // 2, gap=min(multiple * width, LARGEST_GAP))
        for multiple in multiples
    }
    environments["switching"] = switching(
        n, period=max(horizon // (2 * n), 1), arms=range(n), gap=min(4 * width, LARGEST_GAP)
    )
    return environments


def _weak_arm(graph: FeedbackGraph) -> int:
    """The weakly observable arm that fewest arms reveal; the last of them on ties."""
    weak = observability(graph).weak
    return int(weak[::-1][np.argmin(graph.in_degree[weak[::-1]])])


def _costly_to_see(graph: FeedbackGraph, arm: int, apart: float) -> Environment:
    means = np.full(graph.n_arms, 0.5)
    means[graph.in_neighbors(arm)] = 1.0
    means[arm] = 0.5 - apart
    return bernoulli(means)
