import numpy as np
import pytest
from kernel_entries import door
from scipy import stats

from sidelight.engine import random
from sidelight.engine.random import ROUGH, seeded_words

arm_unit, coming_unit, hashed_unit, mix, next_turn, next_unit, next_word, rough_unit, round_word = map(
    door,
    (
        random.arm_unit,
        random.coming_unit,
        random.hashed_unit,
        random.mix,
        random.next_turn,
        random.next_unit,
        random.next_word,
        random.rough_unit,
        random.round_word,
    ),
)

MASK = 2**64 - 1


def naive_mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@pytest.mark.parametrize("seed", [0, 1, 7, 2**40])
def test_words_are_numbers_of_the_seed_s_own_splitmix(seed):
    """Draw i of round t is number t + i·2⁴² of the sequence mix(start + step·k)."""
    words = seeded_words(seed)
    start, step = int(words[0]), int(words[1])
    for turn in range(5):
        for draw in range(4):
            number = turn + (draw << 42)
            assert int(next_word(words)) == naive_mix((start + step * number) & MASK)
        next_turn(words)


def test_a_round_never_runs_out_of_numbers():
    """After 2²² draws the stream goes on elsewhere instead of repeating itself."""
    words, fresh = seeded_words(3), seeded_words(3)
    first = [int(next_word(fresh)) for _ in range(50)]
    words[3] = np.uint64(2**64 - 2**42)
    next_word(words)
    later = [int(next_word(words)) for _ in range(50)]
    assert not set(first) & set(later)


def test_steps_are_odd_and_alternate_often():
    for seed in range(2000):
        step = int(seeded_words(seed)[1])
        assert step % 2 == 1
        assert (step ^ (step >> 1)).bit_count() >= 24


def test_rounds_do_not_resemble_each_other(scale):
    """First draws of rounds, later draws of the same rounds, first draws under another seed: all unrelated."""
    n = 500 * scale
    table = np.empty((3, n))
    words, others = seeded_words(4), seeded_words(5)
    for t in range(n):
        table[:, t] = next_unit(words), next_unit(words), next_unit(others)
        next_turn(words)
        next_turn(others)
    for draws in table:
        assert stats.kstest(draws, "uniform").pvalue > 0.01
    lagged = np.vstack([table[:, :-1], table[:, 1:]])
    correlations = np.corrcoef(lagged)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(n)


def test_units_are_uniform(scale):
    words = seeded_words(3)
    draws = np.array([next_unit(words) for _ in range(2000 * scale)])
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    assert stats.kstest(draws, "uniform").pvalue > 0.01


@pytest.mark.parametrize("word", [0, 1, 2**63, MASK, 123456789])
def test_mix_is_splitmix64(word):
    assert int(mix(np.uint64(word))) == naive_mix(word)


def test_hashed_units_depend_on_key_round_and_arm():
    base = hashed_unit(1, 2, 3)
    assert base == hashed_unit(1, 2, 3)
    assert len({base, hashed_unit(2, 2, 3), hashed_unit(1, 3, 3), hashed_unit(1, 2, 4)}) == 4


def test_hashed_units_are_uniform_along_rounds_and_along_arms(scale):
    along_rounds = np.array([hashed_unit(5, t, 0) for t in range(1000 * scale)])
    along_arms = np.array([hashed_unit(5, 0, v) for v in range(1000 * scale)])
    for draws in (along_rounds, along_arms):
        assert stats.kstest(draws, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(along_rounds, along_arms)[0, 1]) < 4 / np.sqrt(along_arms.size)


def test_hashed_coins_of_neighbouring_arms_are_independent(scale):
    """Parities of coins over pairs and fours of arms that differ in one bit, and the spread of totals of a round."""
    rounds, arms = 20 * scale, 64
    units = np.array([[hashed_unit(9, t, v) for v in range(arms)] for t in range(rounds)])
    coins = units < 0.5
    for bit in (1, 2, 4, 8, 16, 32):
        pairs = coins ^ coins[:, np.arange(arms) ^ bit]
        assert abs(pairs.mean() - 0.5) < 4.5 / np.sqrt(2 * coins.size)  # each pair is counted twice
    fours = coins[:, 0::4] ^ coins[:, 1::4] ^ coins[:, 2::4] ^ coins[:, 3::4]
    assert abs(fours.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(fours.size)
    assert stats.kstest(units.ravel(), "uniform").pvalue > 0.01
    ratio = coins.sum(axis=1).var() / (arms / 4)
    assert abs(ratio - 1) < 4.5 * np.sqrt(2 / rounds)


def test_hashed_units_are_the_published_ones():
    """Three steps of 32 × 32 bits on Python's numbers; results of earlier versions stay what they were."""
    for key, t, arm in [(0, 0, 0), (7, 3, 1), (2**62 + 5, 10**9, 2**31), (12, 5, 2**32 - 1)]:
        word = int(round_word(key, t))
        left, right, bits = (word & 0xFFFFFFFF) ^ arm, word >> 32, []
        for _ in range(3):
            z = ((left ^ 0x53C5CA59) * (right ^ 0x74743C1B)) & MASK
            left, right = z & 0xFFFFFFFF, z >> 32
            bits.append(left ^ right)
        assert hashed_unit(key, t, arm) == ((bits[1] << 32 | bits[2]) >> 12) / 2**52


def test_rough_units_begin_as_the_exact_ones():
    words = [np.uint64(round_word(3, t)) for t in range(20)]  # compiled, it comes back as a Python int
    units = np.array([[(arm_unit(w, v), rough_unit(w, v)) for v in range(50)] for w in words])
    exact, rough = units[..., 0], units[..., 1]
    assert (np.abs(exact - rough) < ROUGH).all()
    assert (exact != rough).all()
    np.testing.assert_array_equal(np.floor(exact / ROUGH), np.floor(rough / ROUGH))


def test_seeds_give_distinct_streams():
    assert len({tuple(seeded_words(seed).tolist()) for seed in range(100)}) == 100


@pytest.mark.parametrize("ahead", [0, 1, 2, 7])
@pytest.mark.parametrize("skipped", [0, 1, 5])
def test_coming_units_are_those_that_come(ahead, skipped):
    words = seeded_words(6)
    next_word(words)  # however many draws this round takes
    before = words.copy()
    coming = coming_unit(words, ahead, skipped)
    np.testing.assert_array_equal(words, before)
    words[3] = 0
    for _ in range(ahead):
        next_word(words)
        next_turn(words)
    assert [next_unit(words) for _ in range(skipped + 1)][-1] == coming
