"""Every log that a logging policy can leave on a small graph, each with its probability: exact expectations."""

from __future__ import annotations

from itertools import product

import numpy as np

import sidelight as sl

GRAPHS = {
    "bandit": sl.families.mab(3),
    "full": sl.families.full(3),
    "loopless clique": sl.families.loopless_clique(3),
    "cycle, weak": sl.families.cycle(3, directed=True),
    "revealing action, weak": sl.families.revealing_action(3),
    "mixed": sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (1, 0), (1, 2), (2, 2)]),
    "an arm reveals nothing": sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (1, 2), (1, 1)]),
}


def fixed(_history):
    """A logging policy that does not learn."""
    return np.array([0.5, 0.3, 0.2])


def learning(history):
    """One that does: from what it saw, whatever that was."""
    scores = np.array([1.0, 0.8, 0.6])
    for shown in history:
        for arm, loss in shown.items():
            scores[arm] *= np.exp(-2 * loss)
    return 0.1 / 3 + 0.9 * scores / scores.sum()


def logs(graph, losses, logging):
    """(probability, log) of every sequence of draws; `losses` is (rounds, arms)."""
    adjacency = graph.to_sparse().toarray().astype(bool)
    for arms in product(range(graph.n_arms), repeat=len(losses)):
        chance, history = 1.0, []
        table = {name: [] for name in ("round", "arm", "probability", "revealed", "loss", "seen")}
        for t, arm in enumerate(arms):
            played = logging(history)
            seen = played @ adjacency
            shown = {j: float(losses[t, j]) for j in np.flatnonzero(adjacency[arm]).tolist()}
            for j, loss in shown.items() or [(None, None)]:
                row = (t, arm, played[arm], j, loss, None if j is None else seen[j])
                for column, entry in zip(table.values(), row, strict=True):
                    column.append(entry)
            chance *= played[arm]
            history.append(shown)
        yield chance, sl.Log.from_table(table, n_arms=graph.n_arms)
