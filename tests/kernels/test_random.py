import numpy as np
import pytest
from scipy import stats

from sidelight.kernels.random import coming_units, hashed_unit, mix, next_unit, next_word, seeded_words

MASK = 2**64 - 1


def rotate_left(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


class NaiveXoshiro:
    """xoshiro256++ as published, on Python integers."""

    def __init__(self, words):
        self.s = [int(w) for w in words]

    def next(self):
        s = self.s
        result = (rotate_left((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate_left(s[3], 45)
        return result


def naive_mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@pytest.mark.parametrize("seed", [0, 1, 7, 2**40])
def test_words_follow_the_published_generator(seed):
    words = seeded_words(seed)
    twin = NaiveXoshiro(words)
    assert [int(next_word(words)) for _ in range(200)] == [twin.next() for _ in range(200)]


def test_first_words_of_the_reference_state():
    words = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert int(next_word(words)) == 41943041  # rotl(1 + 4, 23) + 1
    assert int(next_word(words)) == 58720359


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


def test_seeds_give_distinct_streams_and_never_the_zero_state():
    states = {tuple(seeded_words(seed).tolist()) for seed in range(100)}
    assert len(states) == 100
    assert all(any(state) for state in states)


@pytest.mark.parametrize("skipped", [0, 1, 2, 5])
def test_coming_units_are_those_that_come(skipped):
    words = seeded_words(6)
    before = words.copy()
    coming = coming_units(words, skipped)
    np.testing.assert_array_equal(words, before)
    units = [next_unit(words) for _ in range(skipped + 2)]
    assert list(coming) == units[-2:]
