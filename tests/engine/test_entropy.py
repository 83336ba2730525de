"""Entropy groups: weights relative to a base that moves only when it must, listed or under a tree."""

import math

import numpy as np
import pytest
from kernel_entries import INTERPRETED
from numpy.testing import assert_allclose, assert_array_equal
from simplex_twin import SignedBench, assert_weights_in_order, each_way, exact_point

from sidelight.engine.simplex import store as layout
from sidelight.engine.simplex.point import LEAST_TOTAL, MOST_TOTAL
from sidelight.engine.simplex.store import ENTROPY_LIST, ENTROPY_TREE

FORMS = {"list": (10**9, ENTROPY_LIST), "tree": (0, ENTROPY_TREE)}
ALONE = {"one": [(0.0, 1.0, 1)], "few": [(0.0, 0.3, 7)], "many": [(0.0, 1.0, 300)]}
MIXED = {
    "with powers": [(0.0, 0.5, 40), (2.0, 0.2, 30)],
    "two rates": [(0.0, 0.5, 20), (0.0, 0.05, 30)],
}
AMOUNTS = {  # of one round, by what they make cross
    "nothing": lambda rng: 10.0 ** rng.uniform(-12, -1),
    "LEAST_TOTAL and MOST_TOTAL": lambda rng: rng.uniform(0.0, 60.0),
    "REBASE": lambda rng: rng.uniform(0.0, 3000.0),
    "everything": lambda rng: 10.0 ** rng.uniform(-12, 12),
}


def bench_in(form, potentials, monkeypatch):
    largest, kind = FORMS[form]
    monkeypatch.setattr(layout, "LARGEST_SUM", largest)
    bench = SignedBench.of(*potentials)
    assert all(bench.store.form[g] == kind for g, (q, _, _) in enumerate(potentials) if q == 0.0)
    return bench


def point(bench):
    return np.concatenate([bench.values(g) for g in bench.groups()])


def rounds(potentials, amount, signs, count, seed):
    """(group, coordinates, amounts): a few coordinates, the largest, or everyone."""
    rng = np.random.default_rng(seed)
    sizes = [size for _, _, size in potentials]
    ends = np.cumsum(sizes)
    for _ in range(count):
        g = int(rng.integers(len(sizes)))
        members = np.arange(ends[g] - sizes[g], ends[g])
        if rng.random() < 0.6:
            members = rng.choice(members, size=min(members.size, 3))
        yield g, members, np.array([rng.choice(signs) * amount(rng) for _ in members])


@pytest.mark.parametrize("amount", AMOUNTS.values(), ids=AMOUNTS.keys())
@pytest.mark.parametrize("potentials", (ALONE | MIXED).values(), ids=(ALONE | MIXED).keys())
@each_way
def test_lists_and_trees_are_the_definition(potentials, amount, signs, monkeypatch, scale):
    """By additions and a solution; where the group is alone, also by the moves of a round."""
    benches = [bench_in(form, potentials, monkeypatch) for form in FORMS]
    moved = [bench.copy() for bench in benches] if len(potentials) == 1 else []
    entropies = [g for g, (q, _, _) in enumerate(potentials) if q == 0.0]
    for index, (g, coordinates, amounts) in enumerate(rounds(potentials, amount, signs, 5 * scale, seed=1)):
        for bench in benches:
            bench.add(g, coordinates, amounts)
            bench.solve()
        for bench in moved:
            bench.move(coordinates, amounts)
        for bench in benches + moved:
            for entropy in entropies:
                assert_weights_in_order(bench, entropy)
            assert_allclose(point(bench), point(benches[0]), rtol=0, atol=1e-12)
        if index % 20 == 4:
            for bench in benches:
                groups = [(q, rate, bench.sums(g)) for g, (q, rate, _) in enumerate(potentials)]
                _, exact = exact_point(groups)
                assert_allclose(
                    point(bench), [float(x) for group in exact for x in group], rtol=0, atol=1e-12
                )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", [1.0, -1.0])
def test_the_base_moves_only_when_the_total_has_become_small_or_large(form, step, monkeypatch):
    """Every sum grows or falls by 1 a round, so the total falls or grows by e until it is beyond 2^∓40."""
    n = 50
    bench = bench_in(form, [(0.0, 1.0, n)], monkeypatch)
    bench.add(0, np.arange(n), np.linspace(0.0, 3.0, n))
    bench.solve()
    start, moved = bench.values(), []
    total = math.fsum(np.exp(-np.linspace(0.0, 3.0, n)))
    for t in range(1, 100):
        base = bench.scalar(0, "base")
        bench.add(0, np.arange(n), step)
        bench.solve()
        assert_allclose(bench.values(), start, rtol=1e-12)
        if bench.scalar(0, "base") != base:
            moved.append(t)
            assert bench.scalar(0, "base") == bench.sums().min()
            assert bench.store.weight.max() == 1.0
            assert_allclose(bench.scalar(0, "total"), total, rtol=1e-12)
    period = math.floor(math.log(total / LEAST_TOTAL if step > 0 else MOST_TOTAL / total)) + 1
    assert moved == list(range(period, 100, period))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [5, 16, 17, 65, 300])
@pytest.mark.parametrize("falls", [False, True])
def test_coordinates_of_weight_zero_are_never_drawn(form, n, falls, monkeypatch):
    """Long lists are scanned in strides: whole strides of zeros, at either end and in between."""
    draws = 500 if INTERPRETED else 20_000
    bench = bench_in(form, [(0.0, 1.0, n)], monkeypatch)
    alive = np.array(sorted({1, n // 2, n - 2}))
    dead = np.setdiff1d(np.arange(n), alive)
    bench.add(0, *((alive, -5000.0) if falls else (dead, 5000.0)))
    bench.solve()
    counts = bench.draws(draws, seed=n)
    assert_array_equal(counts[dead], 0)
    assert (np.abs(counts[alive] - draws / alive.size) < 5.0 * math.sqrt(draws)).all()
