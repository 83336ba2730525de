"""Compiling everything in advance, on all cores: for images, clusters, and the impatient.

Kernels are compiled for the kinds of arguments they are called with, so each task below plays a game of one kind.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import NamedTuple

from numpy.random import default_rng

from sidelight import environment as environments
from sidelight._check import checked_jobs
from sidelight.analysis import fractional_domination, packing_independent_set
from sidelight.errors import WorkerError
from sidelight.experiment.simulation import simulate
from sidelight.experiment.sweep.local import Workers
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph
from sidelight.partition.natural import louvain
from sidelight.planning import plan
from sidelight.policy.names import make
from sidelight.policy.policy import Policy
from sidelight.policy.rules import RULES

PLANS = {
    "lists": ("cycle:6", "clustered"),
    "buckets": ("mab:60", "clustered"),
    "spread": ("cycle:100", "interpolated"),
    "self-tuning": ("cycle:6", "self_tuning"),
    "self-tuning, buckets": ("cycle:100", "self_tuning"),
    "reveals that may fail": ("cycle:6:works=0.5", "self_tuning"),
}
HORIZON = 10_000
"""Graphs and plans, for so many rounds, that need kernels of each kind (`engine.fields.KINDS`)."""


class Warmed(NamedTuple):
    """What was compiled, or loaded because it had been compiled before."""

    name: str
    seconds: float  # of the clock


def tasks() -> dict[str, Callable[[], None]]:
    """By name, the longest first."""
    named: dict[str, Callable[[], None]] = {}
    for kind, (family, player) in reversed(PLANS.items()):
        named[f"decisions, {kind}"] = partial(_decide, family, player)
        named[f"simulation, {kind}"] = partial(_simulate, family, player)
        named[f"late answers, {kind}"] = partial(_hear_late, family, player)
        named[f"late simulation, {kind}"] = partial(_simulate, family, player, delay=2)
    named["graphs that change"] = _change
    for rule in RULES:
        named[rule.name] = partial(_play, rule.example, rule.name)
    return named | {"graphs": _read}


def warm_up(jobs: int | None = None, only: Callable[[str], bool] = lambda name: True) -> Iterator[Warmed]:
    """Compile what plans, rules and graphs need, on `jobs` processes; what is done, as it is done."""
    return _compiled([name for name in tasks() if only(name)], checked_jobs(jobs))


def _compiled(names: list[str], jobs: int) -> Iterator[Warmed]:
    try:
        # Interrupted, what is being compiled, for minutes perhaps, is wanted no more.
        with contextlib.closing(Workers(min(jobs, len(names)))) as workers:
            for done in as_completed([workers.submit(_run, name) for name in names]):
                yield done.result()
    except BrokenProcessPool as error:
        raise WorkerError(
            "a process that compiles kernels was ended from outside; memory may be short"
        ) from error


def _run(name: str) -> Warmed:
    began = time.perf_counter()
    tasks()[name]()
    return Warmed(name, time.perf_counter() - began)


def _decide(family: str, player: str) -> None:
    policy = make(player, families.parse(family), HORIZON).policy(seed=0)
    assert isinstance(policy, Policy)
    policy.tell([0.5] * int(policy.graph.out_degree[policy.ask()]))
    assert len(policy.probabilities) == policy.graph.n_arms


def _hear_late(family: str, player: str) -> None:
    policy = make(player, families.parse(family), HORIZON).policy(seed=0)
    assert isinstance(policy, Policy)
    for decision in reversed(policy.decide(count=2)):  # while a later one is open, a draw has to be noted
        policy.observe(decision, [0.5] * int(policy.graph.out_degree[decision.arm]))


def _simulate(family: str, player: str, delay: int = 0) -> None:
    graph = families.parse(family)
    coins = environments.bernoulli([0.5] * graph.n_arms)
    simulate(make(player, graph, HORIZON), coins, seeds=[0], horizon=10, delay=delay)


def _change() -> None:
    ring, full = families.cycle(6), families.full(6)
    coins, ring_plan = environments.bernoulli([0.5] * 6), plan(ring)
    simulate(ring_plan, environments.changing(coins, [ring, full]), seeds=[0], horizon=10)
    policy = ring_plan.policy(seed=0)
    policy.observe(policy.decide(graph=full), [0.5] * 6)
    policy.observe(policy.decide(), [0.5] * 6, graph=full)
    assert len(policy.probabilities) == 6


def _play(family: str, player: str) -> None:
    _decide(family, player)
    _hear_late(family, player)
    _simulate(family, player)
    _simulate(family, player, delay=2)


def _read() -> None:
    graph = families.parse("random:30,0.2,1:loops")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("graph.csv", "graph.mtx"):
            write_graph(graph, Path(folder) / name)
            read_graph(Path(folder) / name)
    analyze(graph)


def analyze(graph: FeedbackGraph) -> None:
    """What planning asks of a graph."""
    fractional_domination(graph)
    packing_independent_set(graph)
    louvain(graph, default_rng(0))
