"""Self-tuning tunings by hand: any cover, any order, with or without a budget."""

import numpy as np

from sidelight import families
from sidelight.engine.self_tuning import prices
from sidelight.planning.covers import loads
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning, lazy_factor


def adjacency(graph):
    """(N, N) how likely playing the row reveals the column."""
    A = np.zeros((graph.n_arms, graph.n_arms))
    for arm in range(graph.n_arms):
        A[arm, graph.out_neighbors(arm)] = graph.reveal_probabilities(arm)
    return A


def tuned(graph, cover, order=0.5, share=0.5, play_share=0.25, patience=0.01, horizon=0, slack=0.0, **more):
    """The tuning that explores through `cover`; with a horizon, in (1 + slack) times the least budget."""
    n = graph.n_arms
    weak = (float(lazy_factor(n)) if order < 1 else 1.0) * cover.sum() ** order
    d = float(diameter(order, n))
    rest = {
        "order": order,
        "share": share,
        "play_share": play_share,
        "diameter": d,
        "weak": weak,
        "patience": patience,
    } | more
    rest["first"] = max(weak / 2, share / d)
    if horizon:
        costs = SelfTuning(**rest).costs
        value, _ = prices.cost_to_go(rest["first"], horizon, d, *costs, rest["first"])
        rest |= {"horizon": horizon, "budget": (1 + slack) * (rest["first"] * d + value)}
    rule = SelfTuning(**rest)
    load = loads(graph, np.zeros(n, dtype=np.int64), cover, 1 / order)
    potential = Potential(order, 1 / rule.first)
    if order < 1:
        return Tuning.flat(n, potential, spread=rule.first_strength, cover=cover, load=load, self_tuning=rule)
    owed = (adjacency(graph) > 0) / np.where(load > 0, load, np.inf)
    return Tuning.flat(
        n, potential, constant=rule.first_strength * cover * owed.max(axis=1), self_tuning=rule
    )


def covered(name):
    """(graph, cover) of a graph with a well-known cover."""
    return _COVERED[name]()


def _first(n):
    cover = np.zeros(n)
    cover[0] = 1.0
    return cover


def _corrupted(n, c):
    graph = families.corrupted_mab(n, c)
    cover = np.ones(n)  # more than needed: everyone is seen by somebody else or by itself
    return graph, cover


_COVERED = {
    "cycle": lambda: (families.cycle(20), np.full(20, 0.5)),
    "cycle, buckets": lambda: (families.cycle(40), np.full(40, 0.5)),
    "bandit": lambda: (families.mab(10), np.ones(10)),
    "bandit, buckets": lambda: (families.mab(60), np.ones(60)),
    "teams": lambda: (families.cliques([4] * 5), np.full(20, 1 / 3)),
    "hypercube": lambda: (families.hypercube(4), np.full(16, 0.25)),
    "revealing action": lambda: (families.revealing_action(12), _first(12)),
    "corrupted": lambda: _corrupted(12, 3),
    "full": lambda: (families.full(8), _first(8)),
    "loop-less clique": lambda: (families.loopless_clique(8), np.full(8, 1 / 7)),
    "loop-less clique, buckets": lambda: (families.loopless_clique(30), np.full(30, 1 / 29)),
}
NAMES = tuple(_COVERED)
