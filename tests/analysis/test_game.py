"""The exact value of the game: closed forms, laws, and two twins that share nothing with the solver."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import sidelight as sl
from sidelight.analysis import minimax
from sidelight.analysis.game import best_response, reveals_of, size_of, worst_regret
from sidelight.graph import FeedbackGraph, families

TWO_ARMS = [np.array(bits, dtype=bool).reshape(2, 2) for bits in itertools.product((0, 1), repeat=4)]


def graph(adjacency):
    return FeedbackGraph.from_adjacency(np.asarray(adjacency))


def value(adjacency, horizon):
    found = minimax(graph(adjacency), horizon)
    assert found.exact
    return found.value


def random_digraphs(n, count, seed):
    rng = np.random.default_rng(seed)
    return [rng.random((n, n)) < rng.uniform(0.2, 0.9) for _ in range(count)]


# -- twins ------------------------------------------------------------------------------------------------


def normal_form(adjacency, horizon, levels=(0, 1)):
    """The value from the list of all deterministic players, with losses among `levels`."""
    n = len(adjacency)
    losses = np.array(list(itertools.product(levels, repeat=n * horizon)), dtype=float).reshape(
        -1, horizon, n
    )

    def players(t, alive):
        """Total loss on every matrix of `alive`, 0 elsewhere, for every way to play from round t."""
        if t == horizon:
            return [np.zeros(len(losses))]
        ways = []
        for arm in range(n):
            now = np.where(alive, losses[:, t, arm], 0.0)
            seen = losses[:, t][:, adjacency[arm]]
            answers = [
                players(t + 1, alive & (seen == row).all(axis=1)) for row in np.unique(seen[alive], axis=0)
            ]
            ways += [now + sum(each) for each in itertools.product(*answers)]
        return ways

    ways = np.array(players(0, np.ones(len(losses), dtype=bool)))
    regret = ways.T - losses.sum(axis=1).min(axis=1)[:, None]
    k = len(ways)
    found = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.column_stack([regret, -np.ones(len(losses))]),
        b_ub=np.zeros(len(losses)),
        A_eq=np.append(np.ones(k), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    return found.fun


def full_feedback(n, horizon):
    """The value with full feedback by induction on cumulative losses: there nothing else matters."""
    rounds = np.array(list(itertools.product((0, 1), repeat=n)))
    known = {}

    def ahead(totals, left):
        if left == 0:
            return -float(min(totals))
        key = tuple(sorted(np.subtract(totals, min(totals)))), left
        if key not in known:
            after = [ahead(tuple(np.add(key[0], losses)), left - 1) for losses in rounds]
            found = linprog(
                np.append(np.zeros(n), 1.0),
                A_ub=np.column_stack([rounds, -np.ones(len(rounds))]),
                b_ub=-np.array(after),
                A_eq=np.append(np.ones(n), 0.0)[None, :],
                b_eq=[1.0],
                bounds=[(0, None)] * n + [(None, None)],
            )
            known[key] = found.fun
        return known[key] - min(totals)

    return ahead((0,) * n, horizon)


THREE_ARMS = [np.eye(3), np.roll(np.eye(3), 1, axis=1), [[0, 0, 1]] * 3]


@pytest.mark.parametrize("adjacency", [*TWO_ARMS, *THREE_ARMS], ids=str)
def test_all_deterministic_players_with_losses_of_zero_half_and_one(adjacency):
    """Losses between 0 and 1 add nothing, the argument of the docstring."""
    adjacency = np.asarray(adjacency, dtype=bool)
    for horizon in (1, 2) if len(adjacency) == 2 else (2,):
        for levels in ((0, 1), (0, 0.5, 1)):
            expected = normal_form(adjacency, horizon, levels)
            assert value(adjacency, horizon) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("adjacency", [np.eye(2), 1 - np.eye(2), [[1, 0], [1, 0]], [[0, 1], [0, 0]]], ids=str)
def test_three_rounds_against_all_deterministic_players(adjacency):
    adjacency = np.asarray(adjacency, dtype=bool)
    assert value(adjacency, 3) == pytest.approx(normal_form(adjacency, 3), abs=1e-9)


@pytest.mark.parametrize(("n", "longest"), [(2, 6), (3, 4), (4, 3), (5, 2)])
def test_full_feedback_against_induction(n, longest):
    for horizon in range(1, longest + 1):
        assert minimax(families.full(n), horizon).value == pytest.approx(full_feedback(n, horizon), abs=1e-9)


# -- closed forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", range(1, 8))
def test_two_experts_are_a_random_walk(horizon):
    """½ E|S_T|: one arm of two is right each round, at random; the better one is wrong (T − |S_T|)/2 times."""
    heads = np.arange(horizon + 1)
    chances = np.array([math.comb(horizon, k) for k in heads]) / 2**horizon
    assert minimax(families.full(2), horizon).value == pytest.approx(
        0.5 * chances @ np.abs(2 * heads - horizon), abs=1e-9
    )


@pytest.mark.parametrize("n", range(1, 9))
def test_one_round_is_a_guess(n):
    for g in (families.full(n), families.mab(n), graph(np.triu(np.ones((n, n))))):
        assert minimax(g, 1).value == pytest.approx(1 - 1 / n, abs=1e-9)


@pytest.mark.parametrize(("n", "horizon"), [(2, 6), (3, 5), (4, 4), (5, 3)])
def test_blind_play_is_linear(n, horizon):
    assert value(np.zeros((n, n)), horizon) == pytest.approx(horizon * (1 - 1 / n), abs=1e-9)


def test_an_arm_that_nothing_reveals_is_linear():
    """Losses ½ everywhere else, by coin: the hidden arm is always better or always worse, and nobody can tell."""
    values = [value([[1, 0], [0, 0]], horizon) for horizon in range(1, 7)]
    assert all(later >= horizon * 0.25 - 1e-9 for horizon, later in enumerate(values, 1))


def test_two_armed_bandit():
    """T = 4 is what `normal_form` finds with its 32,768 players, too slowly to repeat here."""
    expected = {1: 1 / 2, 2: 1 / 2, 3: 3 / 4, 4: 33 / 40}
    for horizon, fraction in expected.items():
        assert value(np.eye(2), horizon) == pytest.approx(fraction, abs=1e-9)


# -- laws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", [*TWO_ARMS, *random_digraphs(3, 8, seed=1)], ids=str)
def test_removing_an_edge_never_lowers_the_value(adjacency):
    for horizon in (2, 3, 4) if len(adjacency) == 2 else (3,):
        whole = value(adjacency, horizon)
        for edge in zip(*np.nonzero(adjacency), strict=True):
            fewer = adjacency.copy()
            fewer[edge] = False
            assert value(fewer, horizon) >= whole - 1e-9


@pytest.mark.parametrize("adjacency", [*TWO_ARMS[::3], *random_digraphs(3, 4, seed=2)], ids=str)
def test_value_grows_with_the_horizon_and_stays_below_guessing(adjacency):
    n = len(adjacency)
    before = 0.0
    for horizon in range(1, 6 if n == 2 else 4):
        now = value(adjacency, horizon)
        assert before - 1e-9 <= now <= min(before + 1, horizon * (1 - 1 / n)) + 1e-9
        assert now >= full_feedback(n, horizon) - 1e-9
        before = now


@pytest.mark.parametrize("adjacency", random_digraphs(3, 6, seed=3), ids=str)
def test_names_of_arms_do_not_matter(adjacency):
    order = np.random.default_rng(0).permutation(3)
    assert value(adjacency[np.ix_(order, order)], 3) == pytest.approx(value(adjacency, 3), abs=1e-9)


@pytest.mark.parametrize("family", ["full:2", "mab:2", "full:3", "mab:3"])
def test_certified_bounds_hold(family):
    g = families.parse(family)
    for horizon in range(1, 5):
        bound = sl.plan(g, horizon).bound
        assert bound.certified
        assert minimax(g, horizon).value <= bound.value


def test_hedge_holds():
    for n, horizon in ((2, 6), (3, 4), (4, 3)):
        assert minimax(families.full(n), horizon).value <= math.sqrt(horizon * math.log(n) / 2)


# -- the result -------------------------------------------------------------------------------------------

SOLVED = [
    ([[1, 0], [0, 1]], 5),
    ([[1, 1, 1]] * 3, 4),
    ([[0, 1, 0, 1], [1, 0, 1, 0]] * 2, 3),
    ([[1, 1], [0, 0]], 4),
    ([[1, 1, 1], [1, 1, 0], [0, 1, 1]], 3),
    ([[0, 1, 0], [0, 1, 0], [1, 0, 0]], 4),
    (np.eye(6), 2),
    ([[1, 1], [0, 1]], 5),
]


@pytest.mark.parametrize(("adjacency", "horizon"), SOLVED, ids=str)
def test_both_sides_are_worth_what_they_claim(adjacency, horizon):
    g = graph(adjacency)
    found = minimax(g, horizon)
    assert found.verify()
    assert found.gap <= 1e-9
    assert found.adversary.losses.shape == (len(found.adversary), horizon, g.n_arms)
    assert_allclose(found.adversary.probabilities.sum(), 1.0, rtol=0, atol=1e-12)
    assert repr(found).startswith("Minimax(value=")


@pytest.mark.full
@pytest.mark.parametrize(
    ("adjacency", "horizon"), [([[1, 1], [0, 1]], 6), ([[1, 1, 1], [1, 1, 0], [0, 1, 1]], 4)], ids=str
)
def test_the_largest_programs_that_must_fit(adjacency, horizon):
    """No other graph of two or three arms needs more histories."""
    found = minimax(graph(adjacency), horizon)
    assert found.exact
    assert found.verify()


def test_every_promised_size_fits():
    for n, horizon in ((2, 6), (3, 4)):
        for bits in itertools.product((0, 1), repeat=n * n):
            size = size_of(np.array(bits, dtype=bool).reshape(n, n), horizon)
            assert size.nonzeros <= 300_000
            assert size.columns <= 20_000


@pytest.mark.parametrize(("adjacency", "horizon"), SOLVED, ids=str)
def test_the_size_is_known_beforehand(adjacency, horizon, monkeypatch):
    solved = scipy.optimize.linprog
    sizes = []

    def measured(c, A_ub, A_eq, **options):
        sizes.append((A_ub.shape[0] + A_eq.shape[0], len(c), A_ub.nnz + A_eq.nnz))
        return solved(c, A_ub=A_ub, A_eq=A_eq, **options)

    monkeypatch.setattr(scipy.optimize, "linprog", measured)
    assert minimax(graph(adjacency), horizon).size == size_of(reveals_of(graph(adjacency)), horizon)
    assert sizes[0] == size_of(reveals_of(graph(adjacency)), horizon)


def test_verify_refuses_false_claims():
    found = minimax(families.mab(2), 3)
    table = dict.fromkeys(found.strategy, np.array([0.9, 0.1]))
    mixture = replace(found.adversary, probabilities=np.eye(len(found.adversary))[0])
    for claim, words in (
        (replace(found, value=found.value - 0.01), "the strategy has regret"),
        (replace(found, lower=found.lower + 0.01), "the adversary forces regret"),
        (replace(found, strategy=table), "the strategy has regret"),
        (replace(found, adversary=mixture), "the adversary forces regret"),
        (
            replace(found, adversary=replace(found.adversary, losses=found.adversary.losses * 2)),
            "must be bits",
        ),
    ):
        with pytest.raises(sl.errors.SolverError, match=words):
            claim.verify()


def test_checker_knows_simple_players():
    g = families.mab(2)

    def always(*chances):
        return dict.fromkeys(minimax(g, 3).strategy, np.array(chances))

    assert worst_regret(g, 3, always(0.5, 0.5)) == pytest.approx(1.5)
    assert worst_regret(g, 3, always(1.0, 0.0)) == pytest.approx(3.0)
    with pytest.raises(sl.errors.SolverError, match="not probabilities"):
        worst_regret(g, 3, always(0.7, 0.7))
    constant = np.array([[[0, 1]] * 3, [[1, 0]] * 3], dtype=np.int8)  # one look tells which arm is free
    assert best_response(g, constant, np.array([0.5, 0.5])) == pytest.approx(0.5)
    assert best_response(graph(np.zeros((2, 2))), constant, np.array([0.5, 0.5])) == pytest.approx(1.5)


def test_a_strategy_is_a_distribution_after_every_history():
    g = families.apple_tasting()
    strategy = minimax(g, 3).strategy
    teacher = int(np.argmax(g.out_degree))
    assert {len(history) for history in strategy} == {0, 1, 2}
    assert {shown for history in strategy for arm, shown in history if arm == teacher} == {
        (0, 0), (0, 1), (1, 0), (1, 1),
    }  # fmt: skip
    for chances in strategy.values():
        assert_allclose(chances.sum(), 1.0, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        strategy[()][:] = 7.0


def test_a_strategy_forgets_which_twin_was_played():
    strategy = minimax(families.full(3), 3).strategy
    assert {arm for history in strategy for arm, _ in history} == {0}
    assert strategy[(0, (0, 1, 1)),].argmax() == 0


# -- refusals ---------------------------------------------------------------------------------------------


def test_sizes_that_do_not_fit_are_refused_with_the_size():
    with pytest.raises(sl.InfeasibleRequest, match=r"87,381 rows × 43,691 columns, 16,842,750 non-zeros"):
        minimax(families.mab(2), 8)
    with pytest.raises(sl.InfeasibleRequest, match=r"2\^3000000 loss matrices"):
        minimax(families.full(100_000), 30)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, "3", None, True])
def test_horizons_that_are_none(horizon):
    with pytest.raises(sl.InvalidOption, match="horizon must be"):
        minimax(families.mab(2), horizon)
