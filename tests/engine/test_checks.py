"""With SIDELIGHT_CHECKED=1 no kernel reads or writes outside of its fields, and every number is the same."""

import ast
import os
import subprocess
import sys

import pytest
from kernel_entries import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, arrays check themselves")

OUTSIDE = """
import numpy as np
from numba import njit
from sidelight.engine._numba.pointers import offset, pointer

@njit
def read(array, start, stop, by, index):
    return offset(pointer(array, start, stop), by)[index]

@njit
def write(array, start, stop, by, index):
    offset(pointer(array, start, stop), by)[index] = 7

def fails(access, *where):
    try:
        access(np.arange(10), *where)
    except IndexError:
        return True
    return False

inside, outside = [(2, 5, 0, 2), (2, 5, 1, 1), (0, 10, 0, 0)], [(2, 5, 0, 3), (2, 5, 1, 2), (2, 5, 0, -1)]
print([[fails(access, *where) for where in inside + outside] for access in (read, write)])
"""

PLAYED = """
import numpy as np
import sidelight as sl
GAMES = {
    10**5: (
        "teams:3,3,4 mab:20 cliques:10x10 mab:1000 cycle:1000 hypercube:6 full:30 loopless_clique:30 loopy_star:30 "
        "revealing_action:30 random:60,0.1,1:loops random:80,0.1,2 newsvendor:20 apple_tasting"
    ),
    10**9: "mab:30000 cycle:30000 cliques:3000x10",  # large enough to ask for memory ahead
}
costs = []
for horizon, families in GAMES.items():
    for family in families.split():
        graph = sl.families.parse(family)
        coins = sl.environments.bernoulli(np.linspace(0.2, 0.8, graph.n_arms))
        plans = [sl.plan(graph, horizon)]
        if horizon == 10**5:
            plans += [sl.plan(graph, horizon, realization="flat"), sl.plan(graph)]
        for plan in plans:
            policy = plan.policy(seed=3)
            for _ in range(20):
                policy.tell([0.5] * int(graph.out_degree[policy.ask()]))
            costs.append(policy.probabilities.max())
            costs.append(sl.simulate(plan, coins, seeds=[1], horizon=2000).cost[0, -1])
print([float(cost) for cost in costs])
"""


def printed(code, checked):
    """What the code prints in a process of its own."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"SIDELIGHT_CHECKED": "1" if checked else "0", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def test_what_is_outside_is_refused():
    read, write = printed(OUTSIDE, checked=True)
    assert read == write == [False] * 3 + [True] * 3


@pytest.mark.full
def test_kernels_stay_in_their_fields():
    assert printed(PLAYED, checked=True) == pytest.approx(printed(PLAYED, checked=False), rel=1e-9)
