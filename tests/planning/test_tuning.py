from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sidelight.errors import InvalidOption
from sidelight.planning.tuning import Tuning

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
    gamma = EXAMPLE.exploration(inner)
    assert_allclose(gamma, [0.2 * (0.8 + np.sqrt(0.11)), 0.2 * 0.5, 0.05, 0.0])


def test_most_exploration_is_reached_at_uniform():
    assert EXAMPLE.most_exploration == pytest.approx(0.05 + 0.2 * np.sqrt(3))
    uniform = np.array([1 / 3, 1 / 3, 1.0, 1 / 3])
    assert EXAMPLE.exploration(uniform).sum() == pytest.approx(EXAMPLE.most_exploration)


def test_sizes_and_repr():
    assert (EXAMPLE.n_arms, EXAMPLE.n_blocks, EXAMPLE.sizes.tolist()) == (4, 2, [1, 3])
    assert repr(EXAMPLE).startswith("Tuning(n_arms=4, n_blocks=2")


@pytest.mark.parametrize("field", [field.name for field in fields(Tuning)])
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
