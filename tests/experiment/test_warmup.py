"""After a warm-up nothing is left to be compiled."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool

import numba
import pytest

import sidelight as sl
from sidelight.engine import fields
from sidelight.engine._numba.cache import PACKAGE
from sidelight.experiment import warmup
from sidelight.policy.names import make

compiles = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

MISSED = """
import gc
from numba.core.dispatcher import Dispatcher
import sidelight as sl
def played(plan, graph):
    policy = plan.policy(seed=1)
    arm = policy.ask()
    policy.tell({int(j): 0.5 for j in graph.out_neighbors(arm)})
    policy.probabilities
    for decision in reversed(policy.decide(count=3)):
        policy.observe(decision, {int(j): 0.5 for j in graph.out_neighbors(decision.arm)})
    means = [0.3] + [0.5] * (graph.n_arms - 1)
    for delay in (0, 7):
        sl.simulate(plan, sl.environments.bernoulli(means), seeds=[0], horizon=100, delay=delay)
for family in FAMILIES:
    graph = sl.families.parse(family)
    for plan in [sl.plan(graph, horizon=10**5), sl.plan(graph)]:
        played(plan, graph)
for rule in RULES:
    made = getattr(sl.baselines, rule)
    graph = sl.families.parse(made.example)
    played(made(graph, 10**5), graph)
kernels = [found for found in gc.get_objects() if isinstance(found, Dispatcher)]
print([kernel.__name__ for kernel in kernels if kernel.stats.cache_path and kernel.stats.cache_misses])
"""


def missed(families, rules, folder):
    """Kernels that had to be compiled in a process of its own."""
    code = f"FAMILIES, RULES = {families!r}, {rules!r}\n{MISSED}"
    environment = os.environ | {"SIDELIGHT_CACHE_DIR": str(folder), "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_kind_of_memory_has_its_game():
    kinds = []
    for family, player in warmup.PLANS.values():
        plan = make(player, sl.families.parse(family), warmup.HORIZON)
        kinds.append(type(plan.policy(seed=0)._game.memory))
    assert kinds == list(fields.KINDS)


@compiles
def test_a_rule_warmed_up_need_not_be_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE_DIR", str(tmp_path))
    (warmed,) = warmup.warm_up(jobs=1, only=lambda name: name == "ucb_n")
    assert warmed.name == "ucb_n"
    assert warmed.seconds > 0.0
    assert missed([], ["ucb_n"], tmp_path) == "[]"


@compiles
@pytest.mark.full
def test_nothing_is_left_to_be_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE_DIR", str(tmp_path))
    assert {warmed.name for warmed in warmup.warm_up()} == set(warmup.tasks())
    rules = [rule.name for rule in sl.baselines.RULES]
    families = [
        "teams:3,3,4",
        "mab:100",
        "cycle:1000",
        "hypercube:4",
        "loopless_clique:5",
        "revealing_action:5",
    ]
    assert missed(families, rules, tmp_path) == "[]"


def test_an_interrupt_ends_what_is_being_compiled(monkeypatch):
    def interrupted(futures):
        workers.extend(multiprocessing.active_children())
        raise KeyboardInterrupt

    workers = []
    monkeypatch.setattr(warmup, "as_completed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(warmup.warm_up(jobs=1, only=lambda name: name.startswith("decisions")))
    (worker,) = workers
    assert worker.exitcode == -signal.SIGKILL


def test_a_process_that_is_killed_is_reported(monkeypatch):
    def broken(self, *arguments):
        raise BrokenProcessPool

    monkeypatch.setattr(warmup.Workers, "submit", broken)
    monkeypatch.setattr(warmup.Workers, "__init__", lambda self, jobs: None)
    monkeypatch.setattr(warmup.Workers, "end", lambda self: None)
    monkeypatch.setattr(warmup.Workers, "close", lambda self: None)
    with pytest.raises(sl.errors.WorkerError, match="memory may be short"):
        list(warmup.warm_up())
