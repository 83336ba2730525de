"""Self-tuning plans: what `plan` makes of options, and what it promises beside other plans."""

from math import inf

import numpy as np
import pytest

import sidelight as sl
from sidelight.engine.constants import ROOM
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.planning import check_certificate
from sidelight.planning.self_tuning.plans import ORDERS, SLACK, WEIGHED, WORTH

F = sl.families

GRAPHS = {
    "cycle": F.cycle(20),
    "teams": F.cliques([4] * 5),
    "revealing": F.revealing_action(20),
    "bandit": F.mab(20),
    "one corrupted": F.corrupted_mab(20, 1),
    "full": F.full(20),
    "no loops": F.loopless_clique(20),
    "star": F.loopy_star(20),
    "pair": F.cliques([2]),
    "lazy spread": F.cycle(30),
}


def tuned(g, T=None, **options):
    return sl.plan(g, T, realization="self-tuning", **options)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    "options", [{}, {"order": "bound"}, {"order": 0.7, "share": 0.25}, {"order": 1.0, "share": 1.0}]
)
def test_plans_for_any_number_of_rounds_pass_their_independent_check(name, options):
    made = tuned(GRAPHS[name], **options)
    rule = made.tuning.self_tuning
    assert made.horizon is None
    assert made.realization == "self-tuning"
    assert (rule.horizon, rule.budget) == (0, inf)
    assert rule.share == options.get("share", 0.5)
    if isinstance(options.get("order"), float):
        assert rule.order == options["order"]
    assert all(condition.holds for condition in check_certificate(made))
    assert "t^" in made.summary()


def test_the_usual_order_is_a_half_where_its_bound_is_near_the_smallest():
    for g in GRAPHS.values():
        usual, best = tuned(g), tuned(g, order="bound")
        worst = max(usual.curve.value_at(t) / best.curve.value_at(t) for t in WEIGHED)
        assert worst <= WORTH * 1.1
        nearer = [s for s in ORDERS if s < usual.parameters["order"]]
        if g.universal.size == g.n_arms:
            assert usual.parameters["order"] == 1
        elif nearer:
            half = tuned(g, order=nearer[-1])
            assert max(half.curve.value_at(t) / best.curve.value_at(t) for t in WEIGHED) > WORTH * 0.9
    assert tuned(GRAPHS["cycle"]).parameters["order"] == 0.5
    assert tuned(GRAPHS["full"]).parameters["order"] > 0.5


def test_the_cover_is_chosen_by_the_whole_curve():
    """A hub with many loops: covering the one loop-less arm alone is better at every t."""
    g = F.corrupted_mab(200, 1)
    made = tuned(g)
    assert made.parameters["cover"] == "loop-less arms"
    assert made.tuning.self_tuning.loops > 0
    known = {t: sl.plan(g, t, realization="fixed").bound.value for t in (10**4, 10**6)}
    # With a horizon orders may differ between the two kinds of arms.
    assert all(made.bound_at(t).value < 2.6 * value for t, value in known.items())


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("horizon", [20, 3_000, 10**6])
def test_budgets_are_the_smallest_bound_and_pass_the_check(name, horizon):
    g = GRAPHS[name]
    made, fixed = tuned(g, horizon, slack=0), sl.plan(g, horizon, realization="fixed")
    rule = made.tuning.self_tuning
    assert rule.horizon == horizon
    assert made.bound.value == pytest.approx(rule.budget, rel=1e-12)
    assert made.bound.certified
    assert all(condition.holds for condition in check_certificate(made))
    if fixed.bound.value >= 30 and "for this order" not in made.bound.terms:
        assert made.bound.value <= fixed.bound.value * (1 + 1e-9) + 2 * ROOM
    assert made.bound.informative == (made.bound.value < horizon)


def test_slack_and_room_are_all_that_the_bound_has_above_the_smallest():
    g = F.revealing_action(20)
    smallest = min(
        row.value for row in sl.compare_bounds(g, 30_000).upper if row.certified and row.name != "auto"
    )
    assert tuned(g, 30_000, slack=SLACK).bound.to_dict() == sl.plan(g, 30_000).bound.to_dict()
    for slack in (SLACK, 0.1, 0.8):
        made = tuned(g, 30_000, slack=slack)
        assert made.bound.terms == pytest.approx(
            {"smallest bound": smallest, "slack": slack * smallest, "room": ROOM}, rel=1e-9
        )
        assert made.parameters["order"] == 0.5


def test_every_order_is_played_inside_the_same_budget():
    usual = tuned(GRAPHS["cycle"], 30_000)
    behind = usual.tuning.base.temperatures[0][0]
    assert usual.parameters["order"] == 0.5 < behind
    for order, played in ((0.7, 0.7), ("bound", behind)):
        made = tuned(GRAPHS["cycle"], 30_000, order=order)
        assert made.parameters["order"] == played
        assert made.bound.value == usual.bound.value
        assert (made.tuning.base is None) == (order == "bound")  # it needs no other potential


def test_fixed_rates_play_where_no_order_keeps_to_the_budget():
    g = GRAPHS["bandit"]
    made, fixed = sl.plan(g, 30_000, slack=0), sl.plan(g, 30_000, realization="fixed")
    assert made.realization == fixed.realization != "self-tuning"
    assert made.bound.to_dict() == fixed.bound.to_dict()
    enough = float(made.details.note.split("slack=")[1].split()[0])
    assert "fixed rates" in made.details.note
    assert sl.plan(g, 30_000, slack=enough).realization == "self-tuning"
    assert sl.plan(g, 30_000, slack=enough - 0.001).realization == fixed.realization


@pytest.mark.parametrize("T", [2, 5, 100])
def test_slack_that_a_note_asks_for_is_enough_in_short_games_too(T):
    g = F.mab(3)
    note = sl.plan(g, T).details.note
    enough = float(note.split("slack=")[1].split()[0]) if "slack=" in note else 1.0
    made = sl.plan(g, T, slack=enough)
    assert made.realization == "self-tuning"
    assert all(condition.holds for condition in check_certificate(made))
    much = sl.plan(g, T, slack=1e6)
    assert not much.bound.informative
    assert much.bound.informative_from > 10**18


def test_relabelling_changes_no_bound():
    rng = np.random.default_rng(3)
    for g in (GRAPHS["one corrupted"], GRAPHS["revealing"], F.cliques([3, 5])):
        order = rng.permutation(g.n_arms)
        edges = [(order[i], order[j]) for i in range(g.n_arms) for j in g.out_neighbors(i)]
        other = sl.FeedbackGraph.from_edges(g.n_arms, edges)
        assert tuned(other).bound_at(10**5).value == pytest.approx(tuned(g).bound_at(10**5).value, rel=1e-9)
        assert tuned(other, 10**5).bound.value == pytest.approx(tuned(g, 10**5).bound.value, rel=1e-9)


def test_one_arm_needs_no_tuning():
    g = sl.FeedbackGraph.from_edges(1, [(0, 0)])
    made = sl.plan(g)
    assert made.realization == "self-tuning"
    assert all(condition.holds for condition in check_certificate(made))
    for t in (1, 100, 10**18):
        assert (made.bound_at(t).value, made.bound_at(t).certified) == (0, True)
    assert tuned(g, 100).bound.value == 0
    run = sl.simulate(made, sl.environments.bernoulli([0.5]), horizon=50)
    assert (run.bound.value, run.regret.max()) == (0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 1.5}, "order=1.5"), ({"order": "best"}, "best"), ({"order": True}, "True"),
        ({"share": 0}, "share=0"), ({"share": 2}, "share=2"), ({"share": "half"}, "half"),
        ({"horizon": 10, "slack": -0.1}, "-0.1"),
        ({"slack": 0.2}, "none"),
        ({"realization": "flat", "order": 0.5}, "self-tuning"),
        ({"realization": "flat", "horizon": 9, "slack": 1}, "self-tuning"),
    ],
)  # fmt: skip
def test_options_are_checked(options, message):
    with pytest.raises(InvalidOption, match=message):
        sl.plan(**{"graph": GRAPHS["cycle"], "realization": "self-tuning"} | options)


def test_realizations_go_with_a_horizon_or_without():
    g = GRAPHS["cycle"]
    for realization in ("fixed", "flat"):
        with pytest.raises(InfeasibleRequest, match=f"self-tuning.*for '{realization}' give a horizon"):
            sl.plan(g, realization=realization)
    with pytest.raises(InvalidOption, match="'anytime'; choose from auto, self-tuning"):
        sl.plan(g, realization="anytime")
    with pytest.raises(InvalidOption, match="one block"):
        tuned(GRAPHS["teams"], partition=sl.partitions.components(GRAPHS["teams"]))


def test_old_spellings_are_understood_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"plan\(s=…\) is plan\(order=…\) now"):
        made = sl.plan(GRAPHS["cycle"], s=0.7)
    assert made.parameters["order"] == 0.7
    with pytest.warns(DeprecationWarning, match="slack"), pytest.warns(DeprecationWarning, match="graph"):
        made = sl.plan(g=GRAPHS["cycle"], horizon=1000, premium=0.3)
    assert made.bound.to_dict() == sl.plan(GRAPHS["cycle"], 1000, slack=0.3).bound.to_dict()
    with (
        pytest.warns(DeprecationWarning, match="share"),
        pytest.raises(TypeError, match="both c= and share="),
    ):
        sl.plan(GRAPHS["cycle"], c=0.5, share=0.5)
    assert sl.plan(GRAPHS["cycle"], realization="self_tuning").realization == "self-tuning"
