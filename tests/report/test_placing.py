"""Ten thousand arms on a page: apart from each other, blocks together."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import sidelight as sl
from sidelight.report.figures import layout as placing
from sidelight.report.figures.layout import packed_layout


@pytest.mark.parametrize("spec", ["cycle:500", "cliques:40x10", "full:300", "random:400,0.02,3", "mab:200"])
def test_arms_are_apart(spec):
    g = sl.families.parse(spec)
    at = packed_layout(g)
    assert at.shape == (g.n_arms, 2)
    nearest = cKDTree(at).query(at, k=2)[0][:, 1]
    assert nearest.min() > 0.5
    assert np.median(nearest) < 1.5


def test_blocks_are_together():
    g = sl.families.parse("cliques:20x15")
    partition = sl.partitions.components(g)
    at = packed_layout(g, partition)
    centres = np.array([at[block].mean(axis=0) for block in partition.blocks])
    owner = cKDTree(centres).query(at)[1]
    np.testing.assert_array_equal(owner, partition.block_of)


def test_too_many_blocks_share_one_disc(monkeypatch):
    g = sl.families.parse("cliques:20x15")
    monkeypatch.setattr(placing, "MOST_DISCS", 10)
    at = packed_layout(g, sl.partitions.components(g))
    assert np.ptp(at, axis=0).max() < 30
