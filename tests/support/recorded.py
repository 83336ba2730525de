"""Logs of `ask`/`tell` loops as they can be written down by hand: what `Policy.log` is compared with."""

import numpy as np

from sidelight.log.table import log_of


def seen_probabilities(graph, probabilities, arms):
    """P_i = Σ of the probabilities of the arms that reveal i, times how likely they do, for each of `arms`."""
    return (
        graph.seen(probabilities)[arms]
        if not graph.certain
        else np.array([probabilities[graph.in_neighbors(int(arm))].sum() for arm in arms], dtype=float)
    )


def record(policy, losses, rounds, version=""):
    """Play `rounds` rounds and keep them; `losses(t, arms)` gives the losses of `arms` in round t, in [0, 1].

    Where reveals may fail, NaN among them says which have.
    """
    graph = policy.graph
    parts = {name: [] for name in ("round", "arm", "probability", "revealed", "loss", "seen")}
    for t in range(rounds):
        arm = policy.ask()
        distribution = policy.probabilities
        reveals = graph.out_neighbors(arm)
        values = np.asarray(losses(t, reveals), dtype=np.float64)
        policy.tell(values)
        if not graph.certain:  # a reveal that failed is not in the log
            heard = ~np.isnan(values)
            reveals, values = reveals[heard], values[heard]
        count = max(reveals.size, 1)
        parts["round"] += [t] * count
        parts["arm"] += [arm] * count
        parts["probability"] += [float(distribution[arm])] * count
        parts["revealed"] += reveals.tolist() or [None]
        parts["loss"] += values.tolist() or [None]
        parts["seen"] += seen_probabilities(graph, distribution, reveals).tolist() or [None]
    columns = {name: np.asarray(values) for name, values in parts.items()}
    if version:
        columns["version"] = np.array([version] * len(columns["round"]))
    return log_of(columns, n_arms=graph.n_arms, labels=graph.labels)
