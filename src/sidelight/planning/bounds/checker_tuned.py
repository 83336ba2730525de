"""An independent check of self-tuning plans, from the graph and the numbers that are played.

Cover, prices of rounds, diameters, what a change of potential costs, and the right-hand side of Theorem 2 or the
budget of Theorem 3 are derived anew; like the checker of other plans it uses nothing of the planner. Which recipes
are played at which temperature is read off the rule. The proofs are in docs/theory/self-tuning.md and signed.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from math import ceil, expm1, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.engine.constants import GROWTH, LARGEST_LIST, LARGEST_REACH, ROOM, SLACK
from sidelight.engine.self_tuning.prices import COST, FLOOR, NEAR, SHIFT, STRENGTH
from sidelight.errors import InvalidOption
from sidelight.graph.altered import loop_probability
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.checker_facts import (
    ACCURACY,
    Facts,
    at_most,
    is_even,
    leaning_price,
    looped,
    sides_of,
    strong,
)
from sidelight.planning.bounds.checker_rounds import Recipes, Sides, climbs
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning

if TYPE_CHECKING:
    from sidelight.planning.plan import Plan


def self_tuning_conditions(plan: Plan, rule: SelfTuning, facts: Facts) -> Iterator[Condition]:
    """What the bound of a self-tuning plan rests on."""
    g, tuning = plan.graph, plan.tuning
    n, s = g.n_arms, rule.order
    size = log(n) if s == 1 else expm1((1 - s) * log(n)) / (s * (1 - s))
    temperature = float(tuning.temperatures[1][0])
    yield at_most("D, the largest entropy, computed ≤ claimed", size, rule.diameter)
    yield Condition("first temperature, played/claimed − 1", abs(temperature / rule.first - 1), ACCURACY)
    yield at_most("c/D ≤ β₁", rule.share / rule.diameter, rule.first)
    strength = min(1 / sqrt(2 * rule.first * rule.weak), 1 / (2 * rule.weak))
    if s == 1:
        covered, most = (
            facts.fixed >= strength * (1 - ACCURACY),
            float(tuning.global_exploration.sum()) / strength,
        )
    else:
        lazy = (1 - LARGEST_REACH) ** -2 if n > LARGEST_LIST else 1.0
        covered, most = tuning.load > 0, lazy * float(tuning.cover.sum()) ** s
    yield at_most("exploration: computed ≤ weak", most, rule.weak)
    yield Condition(
        "arms that neither the cover nor a self-loop shows", float((~covered & ~g.has_loop).sum()), 0.0
    )
    if rule.signed:
        beside = ~covered & ((tuning.lifted == 0) | (loop_probability(g) < 1))
        yield Condition(
            "arms without certain self-loop where estimates are shifted", float(beside.sum()), 0.0
        )
    if rule.strong < inf:
        computed = strong(plan, s, rule.lean, most, covered)
        yield at_most("cost on strongly observable graphs", computed, rule.strong)
    rows = rule.table.rows
    with np.errstate(divide="ignore"):
        recipe = rows[:, STRENGTH], 1 / rows[:, FLOOR], rows[:, SHIFT]
    play = Recipes(rule.table.beta(np.arange(len(rows))), 1.0, *recipe)
    proved = [np.full(len(rows), inf)]
    for mask, sides in _free_sides(plan, s, covered, most):
        proved += [sides.price(play), leaning_price(plan, mask, sides, play, rule.lean)]
    yield _prices("price of a round, proved/charged", rows, proved)
    yield Condition("prices that rise with the temperature", float((np.diff(rows[:, COST]) > 0).sum()), 0.0)
    if plan.horizon is not None:
        yield from _budget(plan, rule)
        return
    yield Condition("budgets without a horizon", float(rule.horizon), 0.0)
    # Samples cannot show that a curve holds between them, where true ones have half a round to spare: so it must
    # be the function of the numbers that are played, which rise with what they allow, and samples check its code.
    claimed = plan.curve.to_dict().get("self_tuning", {})
    if {name: inf if x is None else x for name, x in claimed.items()} != asdict(rule):
        yield Condition("bound in every round: numbers of its curve that are not played", 1.0, 0.0)
    else:
        yield _every_round(rule, plan.curve.value_at)


def _free_sides(plan: Plan, s: float, covered: Bools, weak: float) -> Iterator[tuple[Bools, Sides]]:
    """Arms may be taken as covered or not: as the cover says, and where all are lifted also as not covered."""
    g, tuning = plan.graph, plan.tuning
    lifted = tuning.lifted > 0
    certain = bool((loop_probability(g)[lifted] == 1).all())
    even = is_even(g, tuning.global_exploration)
    masks = {
        mask.tobytes(): mask for mask in (covered, np.zeros_like(covered)) if mask is covered or lifted.all()
    }
    for mask in masks.values():
        seen = looped(plan, s, ~mask) ** (1 / s) if not mask.all() else 0.0
        alone = certain and np.array_equal(lifted, ~mask)
        counts = int(mask.sum()), int((~mask).sum())
        yield mask, Sides(*counts, s, s, weak if mask.any() else 0.0, seen, alone, even)


def _prices(name: str, rows: Floats, proved: Sequence[Floats]) -> Condition:
    """Is every row proved? With the recipe of the row before a round costs no more: the temperature is higher."""
    value, costs = np.min(proved, axis=0), rows[:, COST]
    same = np.append(False, (np.diff(rows[:, STRENGTH:], axis=0) == 0).all(axis=1))
    for k in np.flatnonzero(same).tolist():
        value[k] = min(value[k], value[k - 1])
    worst = float(np.max(value / costs)) if (costs > 0).all() else inf
    return at_most(name, worst, 1.0)


# -- inside a budget ----------------------------------------------------------------------------------------


def _budget(plan: Plan, rule: SelfTuning) -> Iterator[Condition]:
    """Theorem 3: free play, and where that cannot keep to the budget the potential behind it, by its table."""
    T, table, base = float(rule.horizon), rule.table, plan.tuning.base
    assert plan.horizon is not None
    yield Condition("rounds of another horizon", float(abs(rule.horizon - plan.horizon)), 0.0)
    yield at_most("budget ≤ claimed bound", rule.budget, plan.curve.value_at(plan.horizon))
    beta = np.maximum(table.beta(np.arange(len(table.rows))), rule.first)
    rounds = float(np.min((beta - rule.first) * rule.diameter + T * table.rows[:, COST]))
    if (base is None) != (rule.base_table is None):
        yield Condition("potentials behind the budget without prices, or the other way round", 1.0, 0.0)
    elif base is not None:
        elsewhere, conditions = _behind(plan, rule, base)
        yield from conditions
        rounds = min(rounds, elsewhere)
    yield at_most("β₁·D + cost to go ≤ budget", rule.first * rule.diameter + rounds, rule.budget - ROOM)
    yield at_most("what the machine finds that it needs ≤ budget", rule.needed, rule.budget)


def _behind(plan: Plan, rule: SelfTuning, base: Tuning) -> tuple[float, list[Condition]]:
    """What all rounds cost with the potential behind the budget at most, and whether its tables say so.

    A row is the base with all temperatures multiplied by one number and all it explores by another, with its own
    floor and shift. These are read off every row; that there is nothing else is compared at three of them.
    """
    table, facts = rule.base_table, Facts(plan.graph, base)
    assert table is not None
    rows, best = table.prices.rows, table.best
    beta = table.prices.beta(np.arange(len(rows)))
    try:
        played = [plan.tuning.with_base(row) for row in range(len(rows))]
    except InvalidOption as error:
        return inf, [Condition(f"behind the budget: rows that nobody can play, {error}", 1.0, 0.0)]
    first = played[best]
    warmer = np.array([first.inner_rate[0] / each.inner_rate[0] for each in played])
    more = np.array([_explored(each) for each in played]) / max(_explored(first), 1e-300)
    floor, shift = (np.array([getattr(each, name) for each in played]) for name in ("floor", "shift"))
    wrong = sum(_differences(first, played[k], 1 / warmer[k], more[k]) for k in {0, len(rows) - 1})
    wrong += _differences(base, first, 1.0, 1.0) + int(not base.corners)
    wrong += int((np.abs(warmer * beta[best] / beta - 1) > ACCURACY).sum())
    proved = [np.full(len(rows), inf)]
    for covered, sides, play in sides_of(plan, facts):
        beta_S = play.beta * play.ratio * warmer
        with np.errstate(divide="ignore"):
            row = Recipes(play.beta * warmer, play.ratio, play.strength * more, 1 / (floor * beta_S), shift)
        proved += [sides.price(row), leaning_price(plan, covered, sides, row, rule.base_lean)]
    order, temperature = base.temperatures
    kinds, counts = np.unique(np.stack([order, temperature / beta[best]]), axis=1, return_counts=True)
    groups = [(int(n), float(s), float(tau)) for n, (s, tau) in zip(counts, kinds.T, strict=True)]
    ratios = np.exp(rule.table.step * (table.climb_at + np.arange(table.climbs.size)))
    short = float(np.max(climbs(ratios, rule.order, groups) - table.climbs * (1 + ACCURACY)))
    grid = rule.table.beta(table.at + np.arange(len(rows)))
    listed = [
        *facts.conditions(),
        Condition("numbers of rows that are not in proportion to the base", float(wrong), 0.0),
        Condition("rows that are not on the grid of free play", float(np.abs(grid / beta - 1).max()), NEAR),
        _prices("price of a round, proved/charged", rows, proved),
        at_most("change of potential, computed − charged", short, 0.0),
    ]
    elsewhere = rule.first * climbs(beta / rule.first, rule.order, groups) + rule.horizon * rows[:, COST]
    return float(elsewhere.min()), [replace(each, name=f"behind the budget: {each.name}") for each in listed]


def _explored(tuning: Tuning) -> float:
    """What the exploration of a row is in proportion to."""
    return float(tuning.spread.sum() + tuning.global_exploration.sum())


def _differences(base: Tuning, played: Tuning, faster: float, more: float) -> int:
    """How many numbers of what is played are not the base's, rates and exploration multiplied by these."""
    factors = {"inner_rate": faster, "spread": more, "global_exploration": more}
    kept = ("inner_power", "cover", "load", "lifted", "local_exploration", "adaptive", "block_arms")
    pairs = [
        (getattr(played, name), getattr(base, name) * factors.get(name, 1)) for name in (*factors, *kept)
    ]
    return sum(int((~np.isclose(mine, theirs, rtol=ACCURACY, atol=0.0)).sum()) for mine, theirs in pairs)


# -- any number of rounds -----------------------------------------------------------------------------------


def _every_round(rule: SelfTuning, curve: Callable[[int], float]) -> Condition:
    """Theorem 2 against the claim, in rounds 1/64 apart.

    As prices are steps, so is r, and V is a line until another row begins. Between two rounds that are looked at the
    claim is at least that at the first, and must not fall.
    """
    rows, beta = rule.table.rows, rule.table.beta(np.arange(len(rule.table.rows))) * (1 - NEAR)
    r = (1 + SLACK) * np.append(1.0, rows[:, COST])
    begins = 1 + (beta * (1 + rule.patience) - rule.first) * rule.diameter / rule.share
    rounds, reached = [0.0], [0.0]
    for step, end in zip(r[:-1].tolist(), begins.tolist(), strict=True):
        waits = max(ceil((end - reached[-1]) / step), 0)
        rounds.append(rounds[-1] + waits)
        reached.append(reached[-1] + waits * step)

    def bound(t: int) -> float:
        v = float(np.interp(t, rounds, reached)) + max(t - rounds[-1], 0.0) * float(r[-1])
        spent = min((1 + GROWTH) * v + ROOM + 1 + SLACK, float(t))
        return rule.first * rule.diameter + (1 + rule.share) * spent

    worst, where, highest, t = 0.0, 1, 0.0, 1
    while t < 2**63:
        claim = curve(t)
        if claim < highest * (1 - ACCURACY):
            worst, where = inf, t
        highest, needed = max(highest, claim), bound(t)
        if needed > worst * claim:
            worst, where = needed / claim if claim > 0 else inf, t
        t += max(t // 64, 1)
    return at_most(f"bound in every round, here after {where:,} rounds: computed/claimed", worst, 1.0)
