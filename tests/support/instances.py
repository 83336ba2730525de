"""Small named instances: plain data (edges, blocks, horizon) shared by tests of plans and policies.

Between them: singletons with and without loops (U1S, U1N, also exactly one of the latter), blocks of size
two and more (U2), edges across blocks, one block only, and horizons below every threshold. A loop-less
singleton is strongly observable only if *every* other arm reveals it, arms inside larger blocks included.
"""

from __future__ import annotations

from typing import NamedTuple

Edge = tuple[int, int]

WEAK = ("clustered", "adaptive", "hybrid")  # what a partition with a block of size ≥ 2 can be played with
STRONG = ("clustered",)


class Named(NamedTuple):
    name: str
    n_arms: int
    edges: list[Edge]  # (i, j): playing i reveals j
    blocks: list[list[int]]
    horizon: int
    realizations: tuple[str, ...] = WEAK


def loops(arms) -> list[Edge]:
    return [(v, v) for v in arms]


def both(edges) -> list[Edge]:
    return [edge for u, v in edges for edge in ((u, v), (v, u))]


def clique(arms) -> list[Edge]:
    return [(u, v) for u in arms for v in arms if u != v]


def cycle(arms) -> list[Edge]:
    arms = list(arms)
    return [(v, arms[(i + 1) % len(arms)]) for i, v in enumerate(arms)]


def biclique(left, right) -> list[Edge]:
    return both((u, v) for u in left for v in right)


def universal(arms, n: int) -> list[Edge]:
    """Every other arm reveals each of `arms`."""
    return [(u, v) for v in arms for u in range(n) if u != v]


def singletons(arms) -> list[list[int]]:
    return [[v] for v in arms]


HYPERCUBE_3 = both((v, v ^ bit) for v in range(8) for bit in (1, 2, 4) if v < v ^ bit)

INSTANCES = [
    # -- strongly observable: singletons only ------------------------------------------------------------
    Named("one_arm", 1, loops([0]), [[0]], 1_000, STRONG),
    Named("mab", 5, loops(range(5)), singletons(range(5)), 1_000, STRONG),
    Named("full_feedback", 4, clique(range(4)) + loops(range(4)), singletons(range(4)), 1_000, STRONG),
    Named("loopless_clique", 6, clique(range(6)), singletons(range(6)), 1_000, STRONG),
    Named(
        "mab_and_one_loopless", 6, loops(range(5)) + universal([5], 6), singletons(range(6)), 1_500, STRONG
    ),
    Named(
        "mab_and_three_loopless",
        7,
        loops(range(4)) + universal([4, 5, 6], 7),
        singletons(range(7)),
        2_000,
        STRONG,
    ),
    # -- one block ---------------------------------------------------------------------------------------
    Named("revealing_action", 5, [(0, v) for v in range(5)], [list(range(5))], 2_000),
    Named("cycle", 6, both(cycle(range(6))), [list(range(6))], 2_000),
    Named("directed_cycle", 7, cycle(range(7)), [list(range(7))], 2_000),
    Named("weak_clique_of_two", 2, both([(0, 1)]), [[0, 1]], 1_000),
    # -- several blocks, no loop-less singleton ----------------------------------------------------------
    Named(
        "cliques",
        9,
        clique(range(3)) + clique(range(3, 7)) + clique([7, 8]),
        [[0, 1, 2], [3, 4, 5, 6], [7, 8]],
        4_000,
    ),
    Named(
        "bicliques",
        11,
        biclique([0, 1], [2, 3, 4]) + biclique([5, 6, 7], [8, 9, 10]),
        [[*range(5)], [*range(5, 11)]],
        4_000,
    ),
    Named("corrupted_mab", 7, [*loops(range(6)), (0, 6)], [*singletons(range(1, 6)), [0, 6]], 2_000),
    Named("hypercube", 8, HYPERCUBE_3, [[0, 1, 2, 4], [3, 5, 6, 7]], 3_000),
    Named(
        "interleaved_with_cross_edges",
        8,
        cycle([0, 2, 4])
        + both(cycle([1, 3, 5, 7]))
        + loops([6])
        + [(0, 1), (3, 2), (6, 4), (6, 7), (5, 6), (4, 6)],
        [[7, 5, 1, 3], [6], [4, 0, 2]],
        3_000,
    ),
    Named(
        "dense_and_sparse",
        12,
        clique(range(6)) + cycle(range(6, 11)) + loops([11]) + [(11, 0), (2, 8)],
        [[*range(6)], [*range(6, 11)], [11]],
        4_000,
    ),
    Named(  # long enough for the hybrid to prefer the adaptive realization on the cycle: δ log n > 4n
        "clique_and_long_directed_cycle",
        65,
        cycle(range(60)) + clique(range(60, 65)),
        [[*range(60)], [*range(60, 65)]],
        4_000,
    ),
    # -- every kind at once ------------------------------------------------------------------------------
    Named("cycle_and_one_loopless", 5, cycle(range(1, 5)) + universal([0], 5), [[0], [1, 2, 3, 4]], 3_000),
    Named(
        "every_kind",
        11,
        universal([0, 1], 11)
        + both(cycle(range(2, 6)))
        + loops([6, 7])
        + clique([8, 9, 10])
        + [(6, 3), (2, 8)],
        [[0], [1], [2, 3, 4, 5], [6], [7], [8, 9, 10]],
        20_000,
    ),
    Named(
        "loops_one_loopless_and_block",
        7,
        loops([0, 1]) + universal([6], 7) + both([(2, 3), (3, 4), (4, 5)]) + [(0, 5)],
        [[0], [1], [2, 3, 4, 5], [6]],
        6_000,
    ),
    Named(
        "loopless_pair_and_block",
        6,
        universal([0, 1], 6) + both([(2, 3), (4, 5)]),
        [[0], [2, 3], [1], [4, 5]],
        5_000,
    ),
    # -- horizons below the thresholds -------------------------------------------------------------------
    Named("long_cycle_below_threshold", 80, both(cycle(range(80))), [list(range(80))], 1_000),
    Named(
        "cliques_far_below_threshold", 7, clique(range(3)) + clique(range(3, 7)), [[0, 1, 2], [3, 4, 5, 6]], 8
    ),
    Named(
        "every_kind_below_threshold",
        8,
        universal([0, 1], 8) + cycle([2, 3, 4]) + loops([5]) + both([(6, 7)]),
        [[0], [1], [2, 3, 4], [5], [6, 7]],
        50,
    ),
    Named("loopless_clique_below_threshold", 5, clique(range(5)), singletons(range(5)), 4, STRONG),
]

CASES = [(instance, realization) for instance in INSTANCES for realization in instance.realizations]
CASE_IDS = [f"{instance.name}-{realization}" for instance, realization in CASES]
