"""Before the port opens everything is compiled that any policy needs."""

import json
import subprocess
import sys

import pytest

GRAPHS = (
    ("cycle:4", 1000), ("cycle:6:works=0.5", None), ("cycle:100", None), ("mab:60", 1000), ("full:20", None),
    ("newsvendor:5", None), ("hypercube:7", 1000), ("cliques:5x20", None), ("label_efficient:5", None),
    ("random:100,0.2,1:loops", 10_000), ("mab:600:works=0.5", 1000), ("bicliques:20+3,2x8", None),
    ("corrupted_mab:90,5", 100_000), ("apple_tasting", None), ("mab:1", None), ("corrupted_full:40,10", 10**6),
)  # fmt: skip

PROGRAM = """
import json, sys
from sidelight.engine._numba.cache import KernelCache
from sidelight.service import server
from sidelight.service.access import Limits
from sidelight.service.messages import NewPolicy
from sidelight.service.policies import make_policy

server.warm_kernels()
asked, load = [], KernelCache.load_overload

def noted(self, sig, target):
    asked.append(self._function.__name__)
    return load(self, sig, target)

KernelCache.load_overload = noted
for graph, horizon in json.loads(sys.argv[1]):
    policy = make_policy(NewPolicy("p", graph, horizon, seed=1), Limits())
    for decision in reversed(policy.decide(count=3)):
        policy.observe(decision, [0.5] * len(decision.reveals))
    policy.certificate(), policy.to_bytes()
    if asked:
        sys.exit(f"{graph}, {horizon}: {asked}")
"""


@pytest.mark.slow
def test_no_policy_waits_for_the_compiler():
    """Neither for the compiler nor for the disk: what is asked of the cache afterwards was not there before."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(GRAPHS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
