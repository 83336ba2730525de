"""The legality checker against a brute-force reading of the definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, Violation, legality_violations

STRANGE = [1.0, 0.5, "0", None, True, 2**70, -(2**70), float("nan")]


def naive_violations(A, blocks):
    """The definition, one quantifier at a time."""
    n = len(A)
    is_whole = lambda v: isinstance(v, int) and not isinstance(v, bool)  # noqa: E731
    is_arm = lambda v: is_whole(v) and 0 <= v < n  # noqa: E731
    found = []
    for k, block in enumerate(blocks):
        if not block:
            found.append(("empty", (k,), ()))
        odd = [v for v in block if not is_whole(v)]
        if odd:
            found.append(("not-an-arm", (k,), tuple(map(repr, odd))))
        for v in block:
            if is_whole(v) and not is_arm(v):
                found.append(("out-of-range", (k,), (repr(v),)))
        if block and all(map(is_arm, block)):
            arms = sorted(set(block))
            if len(arms) == 1:
                v = arms[0]
                others = [w for w in range(n) if w != v]
                if not (A[v][v] or (others and all(A[w][v] for w in others))):
                    found.append(("not-strong", (k,), (repr(v),)))
            else:
                blind = [u for u in arms if not any(A[w][u] for w in arms)]
                if blind:
                    found.append(("unobservable", (k,), tuple(map(repr, blind))))
    homes = {
        v: [k for k, block in enumerate(blocks) for w in block if is_arm(w) and w == v] for v in range(n)
    }
    found += [("repeated", tuple(ks), (repr(v),)) for v, ks in homes.items() if len(ks) > 1]
    missing = [v for v, ks in homes.items() if not ks]
    if missing:
        found.append(("missing", (), tuple(map(repr, missing))))
    return Counter(found)


def as_counter(violations):
    """Out-of-range entries one at a time: how they are grouped is not part of the law."""
    flat = []
    for v in violations:
        assert isinstance(v, Violation)
        arms = tuple(map(repr, v.arms))
        if v.kind == "out-of-range":
            flat += [(v.kind, v.blocks, (arm,)) for arm in arms]
        else:
            flat.append((v.kind, v.blocks, arms))
    return Counter(flat)


@st.composite
def graphs(draw):
    """Adjacency matrices of up to six arms, universal columns and loops more often than by chance."""
    n = draw(st.integers(1, 6))
    A = np.array(draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)))
    for v in draw(st.sets(st.integers(0, n - 1), max_size=n)):
        A[np.arange(n) != v, v] = True
    return A


@st.composite
def labelled(draw):
    A = draw(graphs())
    labels = draw(st.lists(st.integers(0, len(A) - 1), min_size=len(A), max_size=len(A)))
    return A, labels


@st.composite
def arbitrary_blocks(draw):
    A = draw(graphs())
    arm = st.integers(0, len(A) - 1)
    entry = st.one_of(arm, arm, arm, arm, st.integers(-2, len(A) + 1), st.sampled_from(STRANGE))
    return A, draw(st.lists(st.lists(entry, max_size=5), max_size=6))


def as_blocks(labels):
    return [[v for v, k in enumerate(labels) if k == name] for name in sorted(set(labels))]


@given(labelled())
@settings(deadline=None, derandomize=True, max_examples=300)
def test_partitions_are_judged_as_defined(case):
    A, labels = case
    graph, blocks = FeedbackGraph.from_adjacency(A), as_blocks(labels)
    assert as_counter(legality_violations(graph, blocks)) == naive_violations(A, blocks)


@given(arbitrary_blocks())
@settings(deadline=None, derandomize=True, max_examples=600)
def test_malformed_blocks_are_judged_as_defined(case):
    A, blocks = case
    graph = FeedbackGraph.from_adjacency(A)
    assert as_counter(legality_violations(graph, blocks)) == naive_violations(A, blocks)


@given(labelled(), st.randoms(use_true_random=False))
@settings(deadline=None, derandomize=True)
def test_verdict_depends_neither_on_container_nor_on_order_inside(case, random):
    A, labels = case
    graph, blocks = FeedbackGraph.from_adjacency(A), as_blocks(labels)
    expected = legality_violations(graph, blocks)
    shuffled = [random.sample(block, len(block)) for block in blocks]
    for given_as in (
        [set(block) for block in blocks],
        tuple(np.array(block, dtype=np.uint8) for block in blocks),
        [np.array(block, dtype=np.int32) for block in shuffled],
        (iter(block) for block in blocks),
    ):
        found = legality_violations(graph, given_as)
        assert [(v.kind, v.blocks, sorted(v.arms)) for v in found] == [
            (v.kind, v.blocks, sorted(v.arms)) for v in expected
        ]


EVERY_KIND = [
    ([5], "not-a-block", "block 0 is 5: give a sequence of arms, even for a single one"),
    (["01"], "not-a-block", "block 0 is '01': give a sequence of arms, even for a single one"),
    ([[0, 1], [], [2, 3]], "empty", "block 1 is empty"),
    ([[0, 1, 2.0], [2, 3]], "not-an-arm", "block 0 holds 2.0: arms are whole numbers"),
    ([[0, 1, -1], [2, 3]], "out-of-range", "block 0 holds -1: no such arm"),
    ([[0, 1, 4, 9], [2, 3]], "out-of-range", "block 0 holds 4, 9: no such arms"),
    ([[0, 1], [1, 2, 3, 0]], "repeated", "arm 0 is in blocks 0, 1: keep it in one"),
    ([[0, 1]], "missing", "arms 2, 3: in no block"),
    ([[0, 1, 2, 3], [3]], "not-strong", "block 1 is the single arm 3, which is not strongly observable"),
    ([[0, 3], [1, 2]], "unobservable", "block 0: nothing inside reveals arms 0, 3"),
]


@pytest.mark.parametrize(("blocks", "kind", "words"), EVERY_KIND)
def test_every_kind_says_block_and_arms(two_pairs, blocks, kind, words):
    found = [str(v) for v in legality_violations(two_pairs, blocks) if v.kind == kind]
    assert any(said.startswith(words) for said in found), found


def test_no_blocks_at_all(two_pairs):
    assert legality_violations(two_pairs, []) == (Violation("missing", (), (0, 1, 2, 3)),)


@pytest.mark.parametrize("blocks", [7, None])
def test_blocks_that_are_no_blocks(two_pairs, blocks):
    kinds = [v.kind for v in legality_violations(two_pairs, blocks)]
    assert kinds == ["not-a-block", "missing"]


def test_unsigned_arms_beyond_64_bit_signed_are_named_as_given(two_pairs):
    huge = np.array([0, 1, 2**64 - 1], dtype=np.uint64)
    found = legality_violations(two_pairs, [huge, [2, 3]])
    assert found == (Violation("out-of-range", (0,), (2**64 - 1,)),)


def test_legal_means_no_violation(two_pairs):
    assert legality_violations(two_pairs, [[3, 2], [1, 0]]) == ()
    assert Partition(two_pairs, [[3, 2], [1, 0]]).n_blocks == 2


def test_universal_arm_is_revealed_by_any_member_but_not_by_itself():
    clique = FeedbackGraph.from_adjacency(~np.eye(5, dtype=bool))
    assert clique.universal.size == 5
    assert legality_violations(clique, [[0, 1], [2], [3], [4]]) == ()
    lone = FeedbackGraph.from_edges(1, [])
    assert [v.kind for v in legality_violations(lone, [[0]])] == ["not-strong"]


def test_a_hundred_thousand_overlapping_blocks_are_judged_in_one_pass():
    n = 100_000
    arms = np.arange(n)
    cycle = FeedbackGraph.from_edges(n, np.column_stack([arms, (arms + 1) % n]))
    overlapping = np.column_stack([arms, (arms + 1) % n])
    kinds = Counter(v.kind for v in legality_violations(cycle, list(overlapping)))
    assert kinds == {"repeated": n, "unobservable": n}  # i reveals i+1 in {i, i+1}; nothing reveals i
