from dataclasses import replace

import numpy as np
import pytest
from kernel_entries import door
from numpy.testing import assert_allclose

from sidelight.engine.simplex.buckets import reach
from sidelight.engine.simplex.store import POWER_BUCKETS, POWER_LIST, Group
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning.tuning import EXACT_SPREAD, LAZY_FACTOR, Tuning, lazy_factor

LOOPS = FeedbackGraph.from_edges(4, [(v, v) for v in range(4)])
EXAMPLE = Tuning(
    block_start=np.array([0, 1, 4]),
    block_arms=np.array([2, 0, 1, 3]),
    top_power=np.array([0.0, 2.0]),
    top_rate=np.array([0.1, 0.2]),
    inner_power=np.array([2.0, 2.0, 0.0, 2.0]),
    inner_rate=np.array([0.3, 0.3, 0.0, 0.3]),
    global_exploration=np.array([0.0, 0.0, 0.05, 0.0]),
    local_exploration=np.array([0.1, 0.1, 0.0, 0.0]),
    adaptive=np.array([0.0, 0.2]),
    parent=np.array([1, 0, -1, 0]),
    spread=np.zeros(2),
    cover=np.zeros(4),
    load=np.zeros(4),
)


def test_exploration_by_hand():
    inner = np.array([0.25, 0.64, 1.0, 0.11])
    gamma = EXAMPLE.exploration(LOOPS, inner)
    assert_allclose(gamma, [0.2 * (0.8 + np.sqrt(0.11)), 0.2 * 0.5, 0.05, 0.0])


def test_most_exploration_is_reached_at_uniform():
    assert EXAMPLE.most_exploration == pytest.approx(0.05 + 0.2 * np.sqrt(3))
    uniform = np.array([1 / 3, 1 / 3, 1.0, 1 / 3])
    assert EXAMPLE.exploration(LOOPS, uniform).sum() == pytest.approx(EXAMPLE.most_exploration)


def test_sizes_and_repr():
    assert (EXAMPLE.n_arms, EXAMPLE.n_blocks, EXAMPLE.sizes.tolist()) == (4, 2, [1, 3])
    assert repr(EXAMPLE).startswith("Tuning(n_arms=4, n_blocks=2")


@pytest.mark.parametrize("field", [name for name in EXAMPLE.to_arrays() if name != "estimates"])
def test_arrays_are_copies_and_read_only(field):
    array = getattr(EXAMPLE, field)
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


@pytest.mark.parametrize(
    "change",
    [
        {"adaptive": np.array([0.0, 0.5])},  # γ̄ could reach 0.92
        {"adaptive": np.array([0.0, -0.1])},
        {"top_rate": np.array([0.0, 0.2])},
        {"local_exploration": np.array([np.nan, 0.0, 0.0, 0.0])},
        {"parent": np.array([0, 1])},
    ],
)
def test_refuses_what_cannot_be_played(change):
    with pytest.raises(InvalidOption):
        replace(EXAMPLE, **change)


# -- spread -------------------------------------------------------------------------------------------------

PATH = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (1, 3), (3, 3), (2, 2)])  # block {0, 1, 3}, singleton 2
SPREAD = replace(
    EXAMPLE,
    inner_power=np.array([4.0, 4.0, 0.0, 4.0]),  # h = 3/4
    adaptive=np.zeros(2),
    parent=np.full(4, -1),
    spread=np.array([0.0, 0.1]),
    cover=np.array([1.0, 1.0, 0.0, 0.5]),
    load=np.array([1.0, 1.0, 0.0, 1.5]),
)


def test_spread_by_hand():
    """γ(j) = 0.1·cover(j)·max X_i^{1/4}/load_i over what j reveals: 0 → 1, 1 → 0 and 3, 3 → 3."""
    inner = np.array([0.0625, 0.0016, 1.0, 0.9359])
    gamma = SPREAD.exploration(PATH, inner)
    fourth = 0.9359**0.25 / 1.5
    assert_allclose(gamma, [0.1 * 0.2, 0.1 * max(0.5, fourth), 0.05, 0.1 * 0.5 * fourth])
    assert SPREAD.most_exploration == pytest.approx(0.05 + 0.1 * 2.5**0.75)
    assert SPREAD.most_spread.tolist() == pytest.approx([0.0, 0.1 * 2.5**0.75])


def test_kernels_and_proofs_agree_on_their_constants():
    """The spread is refreshed before X^{1−h} has moved by 1/(1 − reach), twice over; short lists are exact."""
    for q in (64 / 63, 1.5, 2.0, 2.1, 10.0, 64.0):
        assert (1 - door(reach)(q)) ** -2 <= LAZY_FACTOR
    assert Group(0, EXACT_SPREAD, 2.0, 1.0).form == POWER_LIST
    assert Group(0, EXACT_SPREAD + 1, 2.0, 1.0).form == POWER_BUCKETS


def test_large_blocks_pay_for_lazy_play():
    assert pytest.approx((64 / 63) ** 2, rel=1e-15) == LAZY_FACTOR
    assert lazy_factor([1, 24, 25, 1000]).tolist() == [1, 1, LAZY_FACTOR, LAZY_FACTOR]


def test_universal_arms_are_not_written_out():
    """Arms 0 and 1 are revealed by all others, arm 1 by itself too; the leader does not count for itself."""
    n = 5
    A = np.eye(n, dtype=bool)
    A[:, :2] = True
    A[0, 0] = False
    graph = FeedbackGraph.from_adjacency(A)
    assert graph.universal.tolist() == [0, 1]
    tuning = Tuning(
        block_start=np.array([0, n]), block_arms=np.arange(n), top_power=np.array([2.0]), top_rate=np.ones(1),
        inner_power=np.full(n, 2.0), inner_rate=np.ones(n), global_exploration=np.zeros(n),
        local_exploration=np.zeros(n), adaptive=np.zeros(1), parent=np.full(n, -1), spread=np.array([0.1]),
        cover=np.full(n, 0.25), load=np.array([1.0, 1.25, 0, 0, 0]),
    )  # fmt: skip
    inner = np.array([0.64, 0.16, 0.1, 0.05, 0.05])
    assert_allclose(tuning.exploration(graph, inner), 0.025 * np.array([0.4 / 1.25, 0.8, 0.8, 0.8, 0.8]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inner_power": np.array([4.0, 2.0, 0.0, 4.0])}, "share one power"),
        ({"inner_power": np.array([4.0, 0.0, 0.0, 4.0])}, "Tsallis"),
        ({"load": np.zeros(4)}, "no arm of it has a load"),
        ({"spread": np.array([0.0, 0.3])}, "more than ½"),
        ({"spread": np.array([0.0, -0.1])}, "not negative"),
        ({"block_arms": np.array([2, 0, 1, 1])}, "once"),
    ],
)
def test_refuses_spreads_that_cannot_be_played(change, message):
    with pytest.raises(InvalidOption, match=message):
        replace(SPREAD, **change)


def test_arrays_there_and_back():
    arrays = SPREAD.to_arrays()
    again = Tuning.from_arrays(arrays)
    for name, array in arrays.items():
        assert again.to_arrays()[name].tolist() == array.tolist()
    with pytest.raises(KeyError, match="spread"):
        Tuning.from_arrays({name: array for name, array in arrays.items() if name != "spread"})


def test_rates_that_fall_with_the_rounds_are_refused():
    falling = SPREAD.to_arrays() | {"schedule_inner_rate": np.full(4, -0.5)}
    with pytest.raises(InvalidOption, match=r"plan again, sl\.plan\(graph\)"):
        Tuning.from_arrays(falling)
