"""Where arms are drawn."""

import numpy as np
import pytest

import sidelight as sl
from sidelight.report.figures.layout import block_layout, layout


def nearest(at):
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return apart.min()


@pytest.mark.parametrize(
    "spec",
    ["cycle:12", "cliques:5x20", "hypercube:5", "mab:7", "full:9", "corrupted_full:9,3", "loopy_star:20"],
)
def test_no_arm_hides_another(spec):
    at = layout(sl.families.parse(spec))
    assert np.isfinite(at).all()
    assert nearest(at) > 0.15


def test_a_cycle_is_drawn_as_one():
    at = layout(sl.families.cycle(12))
    radius = np.linalg.norm(at - at.mean(axis=0), axis=1)
    assert np.ptp(radius) < 0.05 * radius.mean()
    steps = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    assert np.ptp(steps) < 0.1 * steps.mean()


def test_layouts_are_the_same_every_time():
    g = sl.families.parse("random:30,0.2,1")
    assert np.array_equal(layout(g), layout(g))


def test_arms_of_a_block_sit_together():
    p = sl.partitions.components(sl.families.cliques([4, 4, 4, 4]))
    at = block_layout(p)
    centres = np.array([at[block].mean(axis=0) for block in p.blocks])
    for k, block in enumerate(p.blocks):
        own = np.linalg.norm(at[block] - centres[k], axis=1).max()
        assert own < np.delete(np.linalg.norm(at[block][:, None] - centres[None], axis=2), k, axis=1).min()
