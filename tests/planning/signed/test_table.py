"""Tables: every row is proved by its own recipe, and few could be much better."""

import numpy as np
import pytest

from sidelight.planning.signed.arms import Arms, Recipe
from sidelight.planning.signed.prices import explored, price
from sidelight.planning.signed.table import LEAST, RANGE, STEP, Table


def arms(covered, looped, weak=1.0, seen=None, **more):
    return Arms(covered, looped, lambda o: weak**o, lambda o: float(looped if seen is None else seen), **more)


KINDS = {
    "cycle:20": (arms(20, 0, 10.0), 0.5, 0.5, 1.0),
    "cycle:20, order 1": (arms(20, 0, 10.0), 1.0, 1.0, 1.0),
    "mab:20": (arms(0, 20), 0.5, 0.5, 1.0),
    "mab:100": (arms(0, 100), 0.6, 0.6, 1.0),
    "cliques": (arms(0, 20, seen=4.0), 0.7, 0.7, 1.0),
    "corrupted": (arms(1, 19), 0.5, 0.5, 1.0),
    "corrupted, base": (arms(1, 19), 1.0, 0.45, 0.06),
    "without shift": (arms(1, 19, signed=False), 0.5, 0.5, 1.0),
    "full": (arms(0, 20, seen=1.0, strong=lambda o: (0.125, 0.0) if o == 1 else (0.5, 0.0)), 1.0, 1.0, 1.0),
    "loop-less": (arms(20, 0, 20 / 19, strong=lambda o: (0.8, 0.8), universal=True), 1.0, 1.0, 1.0),
    "loops that fail": (arms(2, 9, seen=14.0, loop=0.6), 0.5, 0.5, 1.0),
}


def recipes(table):
    return Recipe(table.strength, table.lift, table.shift)


@pytest.mark.parametrize("name", KINDS)
def test_rows_fall_and_are_proved_by_their_own_recipes(name):
    of, h, s, ratio = KINDS[name]
    table = Table.on(of, h, s, ratio, 2.0 * STEP ** np.arange(900.0))
    assert (np.diff(table.w) <= 0).all()
    assert table.w[-1] < 1e-3
    assert ((table.shift > 0) | np.isinf(table.lift)).all()
    costs = of.costs([h], [s])
    assert (explored(costs, ratio * table.beta, recipes(table)) <= 0.5).all()
    found = price(costs, table.beta, ratio, recipes(table))
    own = np.append(True, np.diff(table.w) < 0)  # others have the recipe of an earlier row
    assert found[own] == pytest.approx(table.w[own], rel=1e-12)
    assert (found[table.w < 1] <= table.w[table.w < 1] * (1 + 1e-6)).all() or of.strong(h)[1] > 0
    if not of.signed or name == "full":
        assert (table.shift == 0).all()
    elif name != "full":
        assert (table.shift[table.w < 0.1] > 0.2).all()


@pytest.mark.parametrize("name", KINDS)
def test_few_other_recipes_are_cheaper_and_by_little(name):
    """Recipes of other rows and recipes near them: no row has missed a much better kind of recipe."""
    of, h, s, ratio = KINDS[name]
    table, costs = Table.on(of, h, s, ratio, 2.0 * STEP ** np.arange(900.0)), of.costs([h], [s])
    rng, best = np.random.default_rng(1), np.ones(900)
    for size in (1.0, 0.3, 0.1, 0.03) * (2 if of.universal else 10):
        row = np.clip(np.arange(900) + rng.integers(-40, 41, 900), 0, 899)
        b, K, c = (each[row] for each in recipes(table))
        b, K = b * np.exp(0.3 * size * rng.normal(size=900)), K * np.exp(size * rng.normal(size=900))
        c = np.clip(c + 0.1 * size * rng.normal(size=900), 0, 1) if of.signed else c
        best = np.fmin(best, price(costs, table.beta, ratio, Recipe(b, K, c)) / table.w)
    assert best.min() > 0.97
    assert np.quantile(best, 0.05) > 0.997


def test_free_play_has_rows_as_far_as_anybody_plays():
    table = Table.of(arms(0, 20), 0.5, 0.5, 1.5)
    assert table.beta[0] == 1.5
    assert np.diff(np.log(table.beta)) == pytest.approx(np.log(STEP))
    assert table.beta[-1] >= 1.5 * RANGE or table.w[-2] > LEAST >= table.w[-1]
    assert table.w[0] <= 1
    full = Table.of(KINDS["full"][0], 1.0, 1.0, 1.0)
    assert full.w == pytest.approx(1 / (8 * full.beta))
    loopless = Table.of(KINDS["loop-less"][0], 1.0, 1.0, 1.0)
    assert 0.23 < float((loopless.w * loopless.beta)[-1]) < 0.245


def test_a_known_recipe_counts_from_its_row_on():
    of, h, s, ratio = KINDS["cycle:20"]
    beta, best = 50.0 * STEP ** np.arange(30.0), Recipe(0.03, np.inf, 0.29)
    table = Table.on(of, h, s, ratio, beta, {10: best})
    assert table.w[10] <= float(price(of.costs([h], [s]), beta[10], ratio, best)[0])
