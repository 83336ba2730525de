"""Statistics of few seeds, against data whose answer is known exactly."""

import numpy as np
import pytest
from finished_cells import cell
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sidelight.errors import InvalidOption
from sidelight.experiment.statistics import (
    BEND,
    LEAST_SEEDS,
    compare_cells,
    growth_exponent,
    mean_band,
    paired_difference,
)

ROUNDS = np.geomspace(1, 10**6, 80)


def noisy(exponent, seeds, noise, seed=0):
    """Curves c_s·t^exponent with independent positive factors c_s of mean one."""
    factors = np.random.default_rng(seed).lognormal(-(noise**2) / 2, noise, (seeds, ROUNDS.size))
    return factors * ROUNDS**exponent


# -- bands ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_band_is_the_interval_of_the_t_distribution(level):
    values = np.random.default_rng(1).normal(size=(7, 3))
    band = mean_band(values, level)
    low, high = stats.t.interval(level, 6, loc=values.mean(axis=0), scale=stats.sem(values, axis=0))
    assert_allclose(band.mean, values.mean(axis=0))
    assert_allclose(band.low, low)
    assert_allclose(band.high, high)


def test_band_covers_as_often_as_it_says():
    samples = np.random.default_rng(2).normal(size=(5, 20_000))  # each column: five seeds of mean zero
    band = mean_band(samples, 0.9)
    covered = ((band.low <= 0) & (band.high >= 0)).mean()
    assert covered == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 20_000))


def test_one_seed_has_a_mean_and_no_band():
    band = mean_band([[4.0, 5.0]])
    assert_array_equal(band.mean, [4, 5])
    assert np.isnan(band.low).all()
    assert np.isnan(band.high).all()


# -- growth -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0.0, 0.5, 2 / 3, 1.0])
@pytest.mark.parametrize("decades", [1, 2, 5])
def test_powers_are_found_exactly(exponent, decades):
    curves = np.outer([1.0, 2.0, 7.0, 4.0] * 2, ROUNDS**exponent)
    found = growth_exponent(ROUNDS, curves, decades=decades)
    assert_allclose([found.value, found.low, found.high], exponent, atol=1e-12)
    assert found.last == 10**6
    assert found.first >= 10 ** (6 - decades) - 1


def test_only_the_last_decades_count():
    curve = np.where(ROUNDS < 10**4, ROUNDS, 10**4 * (ROUNDS / 10**4) ** 0.5)  # linear first, then a root
    assert growth_exponent(ROUNDS, [curve], decades=2).value == pytest.approx(0.5, abs=1e-9)
    assert growth_exponent(ROUNDS, [curve], decades=6).value > 0.6


def test_denser_checkpoints_do_not_pull_the_line():
    """Doubling the checkpoints of one decade only leaves the slope of a bent curve where it was."""
    even = np.geomspace(10**4, 10**6, 41)
    dense = np.unique(np.concatenate([even, np.geomspace(10**5, 10**6, 401)]))
    bent = [growth_exponent(t, [np.exp(0.02 * np.log(t) ** 2)]).value for t in (even, dense)]
    assert bent[0] == pytest.approx(bent[1], abs=2e-3)
    unweighted = np.polyfit(np.log(dense), 0.02 * np.log(dense) ** 2, 1)[0]
    assert abs(unweighted - bent[0]) > 0.02


def test_the_interval_covers_the_exponent_about_as_often_as_it_says():
    found = [growth_exponent(ROUNDS, noisy(0.6, 20, 0.3, seed), resamples=400) for seed in range(200)]
    covered = np.mean([fit.low <= 0.6 <= fit.high for fit in found])
    assert 0.87 <= covered <= 0.99
    assert all(fit.low <= fit.value <= fit.high for fit in found)


def test_more_seeds_narrow_the_interval():
    few, many = (growth_exponent(ROUNDS, noisy(0.5, n, 0.4)) for n in (8, 80))
    assert many.high - many.low < 0.5 * (few.high - few.low)


def test_the_same_call_gives_the_same_interval():
    curves = noisy(0.5, 9, 0.4)
    assert growth_exponent(ROUNDS, curves) == growth_exponent(ROUNDS, curves)
    assert growth_exponent(ROUNDS, curves, seed=1).low != growth_exponent(ROUNDS, curves).low


@pytest.mark.parametrize("seeds", [1, 2, LEAST_SEEDS - 1])
def test_few_seeds_have_an_exponent_and_no_interval(seeds):
    found = growth_exponent(ROUNDS, [ROUNDS**0.5] * seeds)
    assert np.isnan([found.low, found.high]).all()
    assert found.of("t") == "t^0.50"


def test_enough_seeds_have_an_interval():
    assert growth_exponent(ROUNDS, [ROUNDS**0.5] * LEAST_SEEDS).of("T") == "T^0.50 [0.50, 0.50]"


def bent(seeds, noise=0.0):
    """Linear up to 10⁵, a root from there on."""
    return noisy(0, seeds, noise) * np.where(ROUNDS < 10**5, ROUNDS, 10**5 * (ROUNDS / 10**5) ** 0.5)


@pytest.mark.parametrize("seeds", [2, LEAST_SEEDS])
def test_a_curve_that_bends_is_no_power(seeds):
    found = growth_exponent(ROUNDS, bent(seeds))
    assert found.bends
    assert_allclose([found.early, found.late], [1, 0.5], atol=0.02)
    assert found.of("t").startswith("bends 1.00→0.5")


def test_logarithms_and_sums_of_near_powers_do_not_bend():
    for curve in (np.log(ROUNDS + 1), ROUNDS**0.6 + ROUNDS**0.7):
        assert not growth_exponent(ROUNDS, [curve] * LEAST_SEEDS).bends


def test_noise_is_not_taken_for_a_bend():
    """Independent factors e^{±0.5} at every checkpoint bend every curve; the mean of few seeds seems to bend too."""
    found = [growth_exponent(ROUNDS, noisy(0.6, 10, 0.5, seed), resamples=400) for seed in range(100)]
    apart = np.mean([abs(fit.late - fit.early) > BEND for fit in found])
    assert apart > 0.1
    assert np.mean([fit.bends for fit in found]) <= min(0.1, apart)
    assert growth_exponent(ROUNDS, bent(10, 0.5)).bends


def test_a_curve_that_comes_from_below_zero_bends():
    found = growth_exponent(ROUNDS, [np.where(ROUNDS < 10**5, -1.0, ROUNDS**0.5)])
    assert found.bends
    assert np.isnan(found.early)
    assert found.of("t") == "bends ≤ 0→0.50"


@pytest.mark.parametrize(
    "curve", [np.zeros(80), -ROUNDS, np.append(ROUNDS[:-1], 0.0), np.append(np.full(78, -1.0), [1, 1])]
)
def test_nothing_is_fitted_where_nothing_grows(curve):
    assert growth_exponent(ROUNDS, [curve, curve]) is None


def test_samples_of_seeds_without_growth_leave_no_interval():
    found = growth_exponent(ROUNDS, [*[ROUNDS] * 6, *[-2 * ROUNDS] * 2])
    assert found.value == pytest.approx(1)
    assert np.isnan(found.low)  # a third of all samples has three of the last two seeds, or more


def test_a_dip_below_zero_is_left_out():
    curve = ROUNDS**0.5
    curve[-10] = -1.0
    assert growth_exponent(ROUNDS, [curve]).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rounds", "regret", "options"),
    [
        ([1, 2, 3], [[1.0, 2.0]], {}),
        ([1, 3, 2], [[1.0, 2.0, 3.0]], {}),
        ([0, 1, 2], [[1.0, 2.0, 3.0]], {}),
        ([1, 2, 3], [[1.0, np.nan, 3.0]], {}),
        ([1, 2, 3], [1.0, 2.0, 3.0], {}),
        ([1, 2, 3], [[1.0, 2.0, 3.0]], {"decades": 0}),
        ([1, 2, 3], [[1.0, 2.0, 3.0]], {"level": 1.0}),
    ],
)
def test_growth_refuses_what_is_no_curve(rounds, regret, options):
    with pytest.raises(InvalidOption):
        growth_exponent(rounds, regret, **options)


# -- pairs ------------------------------------------------------------------------------------------------


def test_pairs_are_the_paired_t_test():
    a, b = np.random.default_rng(3).normal(size=(2, 9))
    found, expected = paired_difference(a, b), stats.ttest_rel(a, b).confidence_interval(0.95)
    assert_allclose([found.mean, found.low, found.high], [(a - b).mean(), *expected])
    assert found.wins == (a < b).sum()
    assert found.decided == (stats.ttest_rel(a, b).pvalue < 0.05)


def test_shared_luck_cancels():
    luck = np.random.default_rng(4).normal(0, 100, 10)
    first, second = luck + np.linspace(0, 0.1, 10), luck + 1
    assert paired_difference(first, second).decided
    assert not paired_difference(first, second[::-1]).decided


def test_constant_difference_is_decided_and_one_seed_is_not():
    found = paired_difference([1.0, 2.0], [3.0, 4.0])
    assert (found.low, found.mean, found.high, found.decided, found.wins) == (-2, -2, -2, True, 2)
    assert not paired_difference([1.0], [100.0]).decided
    assert not paired_difference([1.0, 2.0], [1.0, 2.0]).decided


def test_cells_are_paired_by_seed_not_by_position():
    first = cell(final=[1.0, 2.0, 3.0], seeds=[5, 6, 7])
    second = cell("flat", final=[13.0, 12.0, 99.0], seeds=[7, 6, 1])
    found = compare_cells(first, second)
    assert (found.mean, found.n_seeds) == (-10.0, 2)


@pytest.mark.parametrize("changed", [{"graph": "mab:4"}, {"environment": "other"}, {"horizon": 7}])
def test_cells_that_met_other_losses_are_refused(changed):
    with pytest.raises(InvalidOption, match=next(iter(changed))):
        compare_cells(cell(), cell("flat", **changed))


def test_cells_without_a_shared_seed_are_refused():
    with pytest.raises(InvalidOption, match="no seed in common"):
        compare_cells(cell(), cell("flat", seeds=[7, 8, 9]))


def test_rows_that_do_not_pair_are_refused():
    for first, second in (([1.0], [1.0, 2.0]), ([], []), ([[1.0]], [[1.0]])):
        with pytest.raises(InvalidOption):
            paired_difference(first, second)
