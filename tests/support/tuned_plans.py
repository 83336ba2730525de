"""Self-tuning tunings by hand: any cover, any order, with or without a budget."""

from dataclasses import replace

import numpy as np

from sidelight import families
from sidelight.engine.constants import ROOM
from sidelight.graph.altered import loop_probability
from sidelight.planning.covers import loads
from sidelight.planning.exploration import dominating_set
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning, lazy_factor


def adjacency(graph):
    """(N, N) how likely playing the row reveals the column."""
    A = np.zeros((graph.n_arms, graph.n_arms))
    for arm in range(graph.n_arms):
        A[arm, graph.out_neighbors(arm)] = graph.reveal_probabilities(arm)
    return A


def tuned(
    graph,
    cover,
    order=0.5,
    owed=None,
    share=0.5,
    play_share=0.25,
    patience=0.01,
    horizon=0,
    slack=0.0,
    **more,
):
    """The tuning that explores through `cover` for the arms that are `owed` (all unless given) and lifts all others.

    With a horizon, in (1 + slack) times the least budget.
    """
    n = graph.n_arms
    owed = np.ones(n, dtype=bool) if owed is None else owed
    shown = loop_probability(graph) == 1
    either = bool(shown.all() and owed.all())
    looped = np.ones(n, dtype=bool) if either else ~owed
    weak = (float(lazy_factor(n)) if order < 1 else 1.0) * cover.sum() ** order
    d = float(diameter(order, n))
    rule = SelfTuning(
        **{
            "order": order,
            "share": share,
            "play_share": play_share,
            "diameter": d,
            "first": max(weak / 2, looped.sum() ** order / 2, share / d),
            "weak": weak,
            "patience": patience,
            "covered": owed.sum(),
            "looped": looped.sum(),
            "loops": float(looped.sum()),
            "either": either,
            "signed": shown[looped].all() and (order < 1 or owed.all()),
        }
        | more
    )
    if horizon:
        rule = replace(rule, horizon=horizon, budget=1e9)
        rule = replace(rule, budget=(1 + slack) * (rule.needed - ROOM))
    load = np.where(owed, loads(graph, np.zeros(n, dtype=np.int64), cover, 1 / order), 0.0)
    potential = Potential(order, 1 / rule.first)
    lifted = np.where(looped & bool(rule.signed), 1.0, 0.0)
    if order < 1:
        more = {"cover": cover, "load": load, "lifted": lifted, "self_tuning": rule}
        return Tuning.flat(n, potential, spread=rule.first_strength, **more)
    due = np.divide(1.0, load, out=np.zeros(n), where=load > 0)
    constant = rule.first_strength * cover * ((adjacency(graph) > 0) * due).max(axis=1)
    return Tuning.flat(n, potential, constant=constant, self_tuning=rule)


def covered(name, **options):
    """(graph, tuning) of a graph with a well-known cover of all arms, or of those without self-loop."""
    graph, cover, *owed = _COVERED[name]()
    return graph, tuned(graph, cover, owed=owed[0] if owed else None, **options)


def _first(n):
    return np.eye(1, n)[0]


def _corrupted(n, c):
    return families.corrupted_mab(n, c), np.ones(n)  # everyone is seen by somebody else or by itself


def _beside(graph):
    """Arms without self-loop are covered by the least set of arms, all others are lifted."""
    owed = ~graph.has_loop
    cover = np.zeros(graph.n_arms)
    cover[dominating_set(graph, owed)] = 1.0
    return graph, cover, owed


_COVERED = {
    "cycle": lambda: (families.cycle(20), np.full(20, 0.5)),
    "cycle, buckets": lambda: (families.cycle(40), np.full(40, 0.5)),
    "bandit": lambda: (families.mab(10), np.ones(10)),
    "bandit, buckets": lambda: (families.mab(60), np.ones(60)),
    "teams": lambda: (families.cliques([4] * 5), np.full(20, 1 / 3)),
    "hypercube": lambda: (families.hypercube(4), np.full(16, 0.25)),
    "revealing action": lambda: (families.revealing_action(12), _first(12)),
    "corrupted": lambda: _corrupted(12, 3),
    "beside": lambda: _beside(families.corrupted_mab(12, 3)),
    "beside, buckets": lambda: _beside(families.corrupted_mab(40, 4)),
    "loopy star": lambda: (families.loopy_star(9), np.ones(9)),
    "full": lambda: (families.full(8), _first(8)),
    "loop-less clique": lambda: (families.loopless_clique(8), np.full(8, 1 / 7)),
    "loop-less clique, buckets": lambda: (families.loopless_clique(30), np.full(30, 1 / 29)),
}
NAMES = tuple(_COVERED)
