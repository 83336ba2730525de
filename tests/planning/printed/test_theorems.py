"""Bounds of the paper's theorems at concrete numbers, typed in again from the paper as corrected."""

from itertools import pairwise
from math import ceil, log, sqrt

import pytest
from instances import biclique, both, clique, cycle, loops, universal

from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning import plan

T = 10**9


def planned(n, edges, blocks, realization, horizon=T):
    graph = FeedbackGraph.from_edges(n, edges)
    return plan(graph, horizon, Partition(graph, blocks), realization)


# -- Theorem realized-upper-bound -------------------------------------------------------------------------


def test_realized_case_1():
    made = planned(9, loops(range(9)), [[v] for v in range(9)], "clustered")
    assert made.bound.value == pytest.approx(2 * sqrt(2 * 9 * T))
    assert made.bound.theorem == "Theorem realized-upper-bound, case 1"
    assert (made.bound.valid_from, made.bound.informative_from) == (1, 73)  # 2√(18T) < T ⇔ T > 72
    assert made.parameters["eta_loop"] == pytest.approx(1 / sqrt(2 * T))
    assert made.tuning.global_exploration.sum() == 0


def test_realized_case_2():
    made = planned(7, loops(range(4)) + universal([4, 5, 6], 7), [[v] for v in range(7)], "clustered")
    expected = 4 * sqrt(6 * 4 * T) + 2 * sqrt(10 * log(4) * T) + sqrt(T)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.theorem == "Theorem realized-upper-bound, case 2"
    assert made.bound.certified
    assert made.parameters["eta_loop"] == pytest.approx(1 / sqrt(24 * T))
    assert made.parameters["eta_loopless"] == pytest.approx(sqrt(log(4) / (10 * T)))
    gamma = made.tuning.global_exploration
    assert gamma[:4].tolist() == pytest.approx([4 / sqrt(24 * T) / 4] * 4)
    assert gamma[4:].tolist() == pytest.approx([4 * sqrt(log(4) / (10 * T)) / 2] * 3)


def test_realized_case_2_without_loops():
    made = planned(6, clique(range(6)), [[v] for v in range(6)], "clustered")
    assert made.bound.value == pytest.approx(2 * sqrt(10 * log(7) * T))
    root = 8 * sqrt(log(7) / 10) * 6 / 5
    assert made.bound.valid_from == ceil(root**2)


def test_realized_case_2_with_one_loopless_arm():
    made = planned(6, loops(range(5)) + universal([5], 6), [[v] for v in range(6)], "clustered")
    assert made.bound.value == pytest.approx(4 * sqrt(6 * 5 * T) + 2 * sqrt(10 * log(2) * T) + sqrt(T))
    assert made.bound.valid_from == 92
    assert made.parameters["eta_loopless"] == made.parameters["eta_loop"] == pytest.approx(1 / sqrt(24 * T))
    assert made.tuning.global_exploration[5] == 0


def test_realized_case_3():
    """Loop-less cliques of 3 and 5 (δ = 3/2 and 5/4) beside two arms with loops."""
    edges = clique(range(3)) + clique(range(3, 8)) + loops([8, 9])
    made = planned(10, edges, [[0, 1, 2], [3, 4, 5, 6, 7], [8], [9]], "clustered")
    Q = 1.5**2 + 1.25**2
    entropy = 1.5 * log(3) + 1.25 * log(5)
    expected = 3 * 2 ** (2 / 3) * (2 * Q) ** (1 / 6) * T ** (2 / 3)
    expected += 3 / 2 ** (1 / 3) * entropy ** (1 / 3) * T ** (2 / 3) + 4 * sqrt(2 * T)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.theorem == "Theorem realized-upper-bound, case 3"
    assert made.bound.valid_from == ceil(max(4 * sqrt(2 * Q), 4 * entropy))
    alpha = 2 ** (2 / 3) * (2 * Q) ** (1 / 6) / T ** (1 / 3)
    beta = 2.75 / ((2 * T) ** (1 / 3) * entropy ** (2 / 3))
    assert made.parameters["alpha"] == pytest.approx(alpha)
    assert made.parameters["eta"] == pytest.approx(0.5 * (2 / Q) ** 0.25 * sqrt(alpha / T))
    assert made.parameters["eta_loop"] == pytest.approx(1 / sqrt(4 * T))
    assert made.parameters["beta"] == pytest.approx(beta)
    steps = [sqrt(2 * beta) * log(n) / sqrt(2.75 * T) for n in (3, 5)]
    assert made.parameters["eta_blocks"] == pytest.approx(steps)
    # The one optimal cover of a loop-less clique is uniform: x* = 1/(n−1).
    assert made.tuning.global_exploration[0] == pytest.approx(beta / 2 * log(3) / 2.75)
    assert made.tuning.local_exploration[3] == pytest.approx(alpha / 5)
    assert made.tuning.top_rate.tolist() == pytest.approx(
        [2 * made.parameters["eta"]] * 2 + [1 / sqrt(T)] * 2
    )


def mixed():
    """A cycle of 4 (δ = 2), a clique of 3 (δ = 3/2), two loops and two loop-less strong arms."""
    edges = universal([0, 1], 11) + both(cycle(range(2, 6))) + loops([6, 7]) + clique([8, 9, 10])
    return 11, edges, [[0], [1], [2, 3, 4, 5], [6], [7], [8, 9, 10]]


def case_4_rest(n_S, n_N, m2, Q):
    rest = 6 * 2 ** (1 / 3) * (m2 * Q) ** (1 / 6) * T ** (2 / 3)
    rest += 4 * sqrt(6 * n_S * T) + 2 * sqrt(10 * log(n_N + 1) * T)
    rest += 4 * T ** (1 / 3) * m2 ** (5 / 6) / (2 ** (1 / 3) * Q ** (1 / 6))
    return rest + sqrt(6) / 3 * sqrt(T) * (n_S > 0)


def test_realized_case_4():
    made = planned(*mixed(), "clustered")
    entropy = 2 * log(4) + 1.5 * log(3)
    expected = case_4_rest(2, 2, 2, 4 + 2.25) + 3 / 2 ** (1 / 3) * entropy ** (1 / 3) * T ** (2 / 3)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.theorem == "Theorem realized-upper-bound, case 4"
    assert made.bound.certified
    alpha = 2 ** (4 / 3) * (2 * 6.25) ** (1 / 6) / T ** (1 / 3)
    assert made.parameters["alpha"] == pytest.approx(alpha)
    assert made.parameters["eta"] == pytest.approx(0.25 * (2 / 6.25) ** 0.25 * sqrt(alpha / T))
    assert made.parameters["eta_loop"] == pytest.approx(1 / (2 * sqrt(6 * T)))
    assert made.parameters["eta_loopless"] == pytest.approx(sqrt(log(3) / (10 * T)))
    gamma = made.tuning.global_exploration
    assert gamma[0] == pytest.approx(4 * sqrt(log(3) / (10 * T)))
    assert gamma[6] == pytest.approx(4 / (2 * sqrt(6 * T)) / 2)


def test_realized_case_4_without_loops_and_one_loopless_arm():
    made = planned(5, cycle(range(1, 5)) + universal([0], 5), [[0], [1, 2, 3, 4]], "clustered")
    expected = case_4_rest(0, 1, 1, 16) + 3 / 2 ** (1 / 3) * (4 * log(4)) ** (1 / 3) * T ** (2 / 3)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.certified
    assert "eta_loop" not in made.parameters


# -- Theorem adapt-realized-upper-bound -------------------------------------------------------------------


def test_adapt_case_1():
    """Directed cycles of 4 and 9 (δ = n) and one arm with a loop."""
    edges = cycle(range(4)) + cycle(range(4, 13)) + loops([13])
    made = planned(14, edges, [[*range(4)], [*range(4, 13)], [13]], "adaptive")
    Q = 16 + 81
    expected = 3 * (2 * (2 + 3)) ** (1 / 3) * 9 ** (1 / 6) * T ** (2 / 3)
    expected += 3 * 2 ** (2 / 3) * (2 * Q) ** (1 / 6) * T ** (2 / 3) + 4 * sqrt(T)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.theorem == "Theorem adapt-realized-upper-bound, case 1"
    assert made.bound.valid_from == max(ceil(4 * sqrt(2 * Q)), 16 * 3 * 5)
    beta = 2 ** (1 / 3) * 13 * 9 ** (1 / 6) / (T ** (1 / 3) * 5 ** (2 / 3))
    assert made.parameters["beta"] == pytest.approx(beta)
    assert made.parameters["eta_blocks"] == pytest.approx([sqrt(beta * r / (2 * T * 13)) for r in (2, 3)])
    assert made.tuning.adaptive.tolist() == pytest.approx([beta / 13, beta / 13, 0])
    assert made.tuning.parent[:4].tolist() == [3, 0, 1, 2]
    assert made.tuning.local_exploration[0] == pytest.approx(made.parameters["alpha"] / 4)


def test_adapt_case_2():
    made = planned(*mixed(), "adaptive")
    expected = case_4_rest(2, 2, 2, 6.25) + 3 * (2 * (2 + sqrt(3))) ** (1 / 3) * 4 ** (1 / 6) * T ** (2 / 3)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.theorem == "Theorem adapt-realized-upper-bound, case 2"
    assert made.bound.certified


def test_undirected_cycle_of_20():
    graph = FeedbackGraph.from_edges(20, both(cycle(range(20))))
    made = plan(graph, 10**6, natural.single(graph), "adaptive")
    assert (made.bound.valid_from, made.bound.informative_from) == (320, 1081)
    assert made.bound.value == pytest.approx(3 * 40 ** (1 / 3) * 10**4)
    assert made.parameters["alpha"] == 0
    assert made.tuning.local_exploration.sum() == 0
    assert set(made.bound.terms) == {"restriction", "global exploration"}
    for horizon, certified, informative in [(319, False, False), (320, True, False), (1080, True, False),
                                            (1081, True, True)]:  # fmt: skip
        bound = plan(graph, horizon, natural.single(graph), "adaptive").bound
        assert (bound.certified, bound.informative) == (certified, informative)


# -- section Remark on Realization ------------------------------------------------------------------------


def test_hybrid():
    """A clique of 6 plays clustered, a directed cycle of 80 adaptive: 80·log 80 > 4·80."""
    edges = clique(range(6)) + cycle(range(6, 86))
    made = planned(86, edges, [[*range(6)], [*range(6, 86)]], "hybrid")
    assert made.details.choices == ("clustered", "adaptive")
    Q = 1.2**2 + 80**2
    M = 1.2 * log(6) + 4 * 80
    expected = 3 * 2 ** (2 / 3) * (2 * Q) ** (1 / 6) * T ** (2 / 3)
    expected += 3 / 2 ** (1 / 3) * M ** (1 / 3) * T ** (2 / 3)
    assert made.bound.value == pytest.approx(expected)
    assert made.bound.valid_from == ceil(max(4 * sqrt(2 * Q), 4 * M))
    b = (2 * T) ** (-1 / 3) * M ** (-2 / 3)
    assert made.parameters["b"] == pytest.approx(b)
    assert made.tuning.adaptive.tolist() == pytest.approx([0, 4 * b * sqrt(80)])
    assert made.tuning.global_exploration[:6].tolist() == pytest.approx([b * log(6) / 5] * 6)
    assert made.tuning.inner_power.tolist() == [0] * 6 + [2] * 80
    for name in ("clustered", "adaptive"):
        other = planned(86, edges, [[*range(6)], [*range(6, 86)]], name)
        assert made.bound.value < other.bound.value


# -- applications -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1, 2, 5])
@pytest.mark.parametrize("loopless", [0, 1, 3])
def test_c_corrupted(C, loopless):
    """R ≤ 9(4C)^{1/3}T^{2/3} and lower-order terms: C arms revealed by one loop arm each, 20 loops."""
    n = C + 20 + loopless
    weak, strong = range(C), range(C, C + 20)
    edges = loops(strong) + [(C + v, v) for v in weak] + universal(range(C + 20, n), n)
    graph = FeedbackGraph.from_edges(n, edges)
    partition = natural.corrupted(graph)
    assert partition.weak.size == 1
    assert partition.sizes[partition.weak[0]] == 2 * C
    bound = plan(graph, T, partition, "adaptive").bound
    n_S = 20 - C
    lower_order = 4 * sqrt(n_S * T)
    if loopless:
        lower_order = 4 * sqrt(6 * n_S * T) + 2 * sqrt(10 * log(loopless + 1) * T) + sqrt(6 * T) / 3
        lower_order += 4 / 2 ** (1 / 3) * T ** (1 / 3)  # m2 = 1 and Q ≥ 1
    assert bound.certified
    assert bound.value <= 9 * (4 * C) ** (1 / 3) * T ** (2 / 3) + lower_order


def test_union_of_cliques():
    sizes = [2, 7, 3, 12]
    starts = [0, 2, 9, 12, 24]
    blocks = [list(range(a, b)) for a, b in pairwise(starts)]
    made = planned(24, [edge for block in blocks for edge in clique(block)], blocks, "clustered")
    deltas = [2, 7 / 6, 3 / 2, 12 / 11]
    assert made.parameters["delta_blocks"] == pytest.approx(deltas)
    Q = sum(d * d for d in deltas)
    entropy = 2 * log(2) + 7 / 6 * log(7) + 3 / 2 * log(3) + 12 / 11 * log(12)
    expected = (3 * 2 ** (2 / 3) * (4 * Q) ** (1 / 6) + 3 / 2 ** (1 / 3) * entropy ** (1 / 3)) * T ** (2 / 3)
    assert made.bound.value == pytest.approx(expected)
    # The O(·) of the theorem with its constant: δ_k ≤ 2 and m ≤ Σ log n_k/log 2.
    logs = sum(log(n) for n in sizes)
    assert made.bound.value <= (3 * (8 / log(2)) ** (1 / 3) + 3) * logs ** (1 / 3) * T ** (2 / 3)


def test_union_of_bicliques():
    blocks = [[*range(5)], [*range(5, 11)]]
    edges = biclique([0, 1], [2, 3, 4]) + biclique([5, 6, 7], [8, 9, 10])
    made = planned(11, edges, blocks, "clustered")
    assert made.parameters["delta_blocks"] == pytest.approx([2, 2])
    expected = 3 * 2 ** (2 / 3) * 16 ** (1 / 6) + 3 / 2 ** (1 / 3) * (2 * log(5) + 2 * log(6)) ** (1 / 3)
    assert made.bound.value == pytest.approx(expected * T ** (2 / 3))


@pytest.mark.parametrize("d", range(2, 9))
def test_hypercube(d):
    """2^{d−k} blocks of 2^k arms, each a star with δ = 2."""
    graph = FeedbackGraph.from_edges(2**d, [(v, v ^ 1 << bit) for v in range(2**d) for bit in range(d)])
    made = plan(graph, T, natural.hypercube(graph), "clustered")
    k = (d + 1).bit_length() - 1
    m2 = 2 ** (d - k)
    assert made.partition.n_blocks == m2
    assert made.parameters["delta_blocks"] == pytest.approx([2.0] * m2)
    entropy = m2 * 2 * k * log(2)
    expected = 3 * 2 ** (2 / 3) * (m2 * 4 * m2) ** (1 / 6) + 3 / 2 ** (1 / 3) * entropy ** (1 / 3)
    assert made.bound.value == pytest.approx(expected * T ** (2 / 3))
    assert made.bound.valid_from == ceil(max(4 * sqrt(m2 * 4 * m2), 4 * entropy) - 1e-9)
    # O((N/d·log d)^{1/3}T^{2/3}) with a constant: 2^k > (d+1)/2 and k·log 2 ≤ log(d+1).
    shape = 2**d / d * log(d + 1)
    assert made.bound.value <= 11 * shape ** (1 / 3) * T ** (2 / 3)
