"""Code without the features that a memory lacks plays exactly as code with all of them."""

import copy
import pickle

import numpy as np
import pytest
from dense_engine import hand_tuning
from kernel_entries import INTERPRETED
from numpy.testing import assert_array_equal
from tuned_plans import tuned

import sidelight as sl
from sidelight.engine import fields
from sidelight.engine._numba.features import Missing
from sidelight.engine.build import build_memory
from sidelight.engine.play import play
from sidelight.engine.random import seeded_words
from sidelight.engine.round.round import start
from sidelight.environment.base import environment_key

ROUNDS = 200 if INTERPRETED else 3000

GRAPHS = {
    frozenset(): sl.families.cycle(12),
    frozenset({"buckets"}): sl.families.mab(60),
    frozenset({"spread"}): sl.families.cycle(12),
    frozenset({"buckets", "spread"}): sl.families.cycle(60),
    frozenset({"spread", "tuned"}): sl.families.cycle(12),
    frozenset({"buckets", "spread", "tuned"}): sl.families.cycle(60),
    frozenset({"spread", "tuned", "failing"}): sl.families.lossy_probe(12, 0.5),
}


def memory_of(features):
    """A memory with exactly these features: one block of Tsallis-½, large enough for buckets or not."""
    graph = GRAPHS[features]
    n = graph.n_arms
    if "tuned" in features:
        return build_memory(graph, tuned(graph, np.full(n, 0.5 if graph.certain else 2.0)), seed=3)
    spread = {"spread": [0.3 / n], "cover": np.ones(n), "load": np.ones(n)} if "spread" in features else {}
    tuning = hand_tuning([np.arange(n)], inner=(2.0, 0.05), **spread)
    return build_memory(graph, tuning, seed=3)


def played(memory):
    """Costs and everything that changes, after some rounds and a fresh start in between."""
    n = fields.switch(memory, "n_arms")
    coins = sl.environments.bernoulli(np.linspace(0.2, 0.8, n))
    plays = np.zeros(n, dtype=np.int64)
    cost = 0.0
    for first in (0, ROUNDS):
        cost = play(
            memory,
            coins.world,
            coins.function,
            environment_key(5),
            first,
            first + ROUNDS,
            cost,
            np.zeros(n + 1),
            plays,
        )
        start(memory)
    return cost, plays, memory.floats, memory.ints, memory.words


@pytest.mark.parametrize("features", GRAPHS, ids=lambda features: "+".join(sorted(features)) or "lists")
def test_every_kind_plays_as_all_features_together(features):
    memory = memory_of(features)
    assert fields.features_of(memory) == features
    assert type(memory).features >= features
    full = fields.Memory(*fields.duplicate(memory, seeded_words(8)))
    some = fields.duplicate(memory, seeded_words(8))
    assert type(some) is type(memory)
    for of_some, of_all in zip(played(some), played(full), strict=True):
        assert_array_equal(of_some, of_all)


def test_kinds_leave_out_what_they_can():
    kinds = [type(memory_of(features)) for features in GRAPHS]
    assert kinds == [
        fields.Lists,
        fields.Buckets,
        fields.Spread,
        fields.Spread,
        fields.TunedLists,
        fields.Certain,
        fields.Memory,
    ]
    assert set(kinds) == set(fields.KINDS)


@pytest.mark.skipif(INTERPRETED, reason="interpreted, nothing is left out")
def test_a_feature_that_is_missing_is_missed_loudly():
    memory = memory_of(frozenset({"buckets"}))
    with pytest.raises(Missing, match="has no buckets"):
        played(fields.Lists(*memory))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda memory: pickle.loads(pickle.dumps(memory))]
)
def test_copies_are_of_the_same_kind(copied):
    memory = memory_of(frozenset({"buckets"}))
    again = copied(memory)
    assert type(again) is type(memory) is not fields.Memory
    assert_array_equal(again.floats, memory.floats)
    assert type(memory._replace(words=memory.words)) is type(memory)
