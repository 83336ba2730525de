"""Policies of every kind, made when they are asked for: realizations, baselines, rules."""

from collections.abc import Callable
from functools import cache

import numpy as np

import sidelight as sl
from sidelight import families
from sidelight.graph.altered import with_loops


def _labelled(graph):
    return sl.FeedbackGraph.from_edges(
        graph.n_arms, graph.edges(), labels=[f"arm {i}" for i in range(graph.n_arms)]
    )


KINDS: dict[str, Callable[[], object]] = {
    "auto cycle": lambda: sl.plan(families.cycle(8), 2000),
    "auto cliques": lambda: sl.plan(families.cliques([5, 5, 5]), 5000),
    "auto bandit buckets": lambda: sl.plan(families.mab(40), 5000),
    "fixed hypercube": lambda: sl.plan(families.hypercube(5), 20_000, realization="fixed"),
    "fixed bandit buckets": lambda: sl.plan(families.mab(40), 5000, realization="fixed"),
    "clustered": lambda: sl.plan(families.bicliques([4, 6]), 5000, realization="clustered"),
    "adaptive": lambda: sl.plan(families.bicliques([4, 6]), 5000, realization="adaptive"),
    "hybrid": lambda: sl.plan(families.hypercube(4), 50_000, realization="hybrid"),
    "interpolated": lambda: sl.plan(families.bicliques([4, 4]), 5000, realization="interpolated"),
    "interpolated buckets": lambda: sl.plan(families.cycle(40), 5000, realization="interpolated"),
    "flat": lambda: sl.plan(families.cycle(30), 5000, realization="flat"),
    "universal arms": lambda: sl.plan(families.revealing_action(9), 5000, realization="fixed"),
    "corrupted": lambda: sl.plan(families.corrupted_mab(12, 3), 5000, realization="fixed"),
    "labels": lambda: sl.plan(_labelled(families.cliques([3, 4])), 3000),
    "loopless": lambda: sl.plan(families.loopless_clique(6), 3000, realization="fixed"),
    "one arm": lambda: sl.plan(families.full(1), 100),
    "flat mixed": lambda: sl.plan(families.corrupted_mab(40, 4), 5000, realization="flat"),
    "one arm, any number of rounds": lambda: sl.plan(families.full(1)),
    "self-tuning": lambda: sl.plan(families.cycle(8), realization="self-tuning"),
    "self-tuning buckets": lambda: sl.plan(families.cycle(30), realization="self-tuning"),
    "self-tuning entropy": lambda: sl.plan(families.loopless_clique(7), realization="self-tuning", order=1.0),
    "self-tuning budget": lambda: sl.plan(families.cliques([3, 4]), 3000, realization="self-tuning"),
    "fallen": lambda: sl.plan(families.corrupted_mab(10, 2), 300, slack=0.01),  # in the third round
    "hedge": lambda: sl.baselines.hedge(families.full(7), 1000),
    "exp3": lambda: sl.baselines.exp3(families.mab(6), 1000),
    "exp3g weak": lambda: sl.baselines.exp3g(families.revealing_action(6), 1000),
    "chlz21": lambda: sl.baselines.chlz21(families.cycle(7), 5000),
    "q_ftrl": lambda: sl.baselines.q_ftrl(with_loops(families.cliques([4, 4])), 1000),
    "uniform": lambda: sl.baselines.uniform(families.cycle(5)),
    "ftl": lambda: sl.baselines.ftl(families.cycle(5)),
    "ucb_n": lambda: sl.baselines.ucb_n(with_loops(families.cliques([2, 3])), 500),
    "ts_n": lambda: sl.baselines.ts_n(families.mab(4)),
    "track_n": lambda: sl.baselines.track_n(families.cycle(5)),
    "exp3_ix": lambda: sl.baselines.exp3_ix(with_loops(families.cliques([3, 2]))),
    "tsallis_inf": lambda: sl.baselines.tsallis_inf(families.full(5), 300),
    "tsallis_inf_rv": lambda: sl.baselines.tsallis_inf_rv(families.mab(5), 300),
    "tsallis_inf_shifted": lambda: sl.baselines.tsallis_inf_shifted(families.mab(5), 300),
    "spm_ftrl": lambda: sl.baselines.spm_ftrl(with_loops(families.cliques([3, 2]))),
    "spb_ftrl": lambda: sl.baselines.spb_ftrl(families.cycle(6)),
    "exp3gpp": lambda: sl.baselines.exp3gpp(families.loopless_clique(5)),
}


@cache
def playable(kind: str):
    """The plan or rule of this kind, made once."""
    return KINDS[kind]()


def losses_of(t: int, n: int, seed: int = 0):
    """(n,) losses of round t, some of them 0 and 1."""
    return np.clip(1.4 * np.random.default_rng([seed, t]).random(n) - 0.2, 0.0, 1.0)


def turn(policy, t: int | None = None) -> int:
    """One round, or the rest of one; the arm that was played."""
    at = policy.round if t is None else t
    arm = policy.ask() if policy.pending is None else policy.pending
    policy.tell(losses_of(at, policy.graph.n_arms)[policy.graph.out_neighbors(arm)])
    return arm


def played(kind: str, rounds: int, seed: int = 3, pending: bool = False):
    """A policy of this kind after some rounds, with an arm pending or not."""
    policy = playable(kind).policy(seed)
    for _ in range(rounds):
        turn(policy)
    if pending:
        policy.ask()
    return policy
