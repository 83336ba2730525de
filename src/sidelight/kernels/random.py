"""Random numbers of our own, so that a stream is the same in every process and can be saved as four words.

The player draws from xoshiro256++ (Blackman & Vigna), losses come from a counter-based hash of
(key, round, arm): any loss can be recomputed in any order without storing it.
"""

import numpy as np
from numba import int64, njit, uint64

from sidelight.kernels.bits import bits_float

_TO_UNIT = 2.0**-53


@njit(cache=True, error_model="numpy")
def following(s0, s1, s2, s3):
    """64 random bits from a state of xoshiro256++, and the state after it."""
    total = uint64(s0 + s3)
    result = uint64(uint64((total << uint64(23)) | (total >> uint64(41))) + s0)
    t = uint64(s1 << uint64(17))
    s2 = uint64(s2 ^ s0)
    s3 = uint64(s3 ^ s1)
    s1 = uint64(s1 ^ s2)
    s0 = uint64(s0 ^ s3)
    return result, s0, s1, uint64(s2 ^ t), uint64((s3 << uint64(45)) | (s3 >> uint64(19)))


@njit(cache=True, error_model="numpy")
def next_word(words):
    """Advance xoshiro256++ in place and return 64 random bits."""
    result, s0, s1, s2, s3 = following(words[0], words[1], words[2], words[3])
    words[0] = s0
    words[1] = s1
    words[2] = s2
    words[3] = s3
    return result


@njit(cache=True, error_model="numpy")
def coming_units(words, skipped):
    """The two uniforms that come after `skipped` others, without advancing."""
    word, s0, s1, s2, s3 = following(words[0], words[1], words[2], words[3])
    for _ in range(skipped):
        word, s0, s1, s2, s3 = following(s0, s1, s2, s3)
    second = following(s0, s1, s2, s3)[0]
    return float(word >> uint64(11)) * _TO_UNIT, float(second >> uint64(11)) * _TO_UNIT


@njit(cache=True, error_model="numpy")
def next_unit(words):
    """Uniform on [0, 1) with 53 bits."""
    return float(next_word(words) >> uint64(11)) * _TO_UNIT


@njit(cache=True, error_model="numpy")
def mix(word):
    """The splitmix64 finaliser: a bijection of 64-bit words that looks random."""
    z = uint64(word)
    z = uint64((z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    z = uint64((z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB))
    return uint64(z ^ (z >> uint64(31)))


@njit(cache=True, error_model="numpy")
def round_word(key, round_):
    """What the losses of one round have in common."""
    return mix(uint64(key) + uint64(0x9E3779B97F4A7C15) * uint64(round_ + 1))


@njit(cache=True, error_model="numpy")
def arm_unit(word, arm):
    """Uniform on [0, 1) with 52 bits, determined by the word of the round and the arm.

    The bits become the fraction of a double in [1, 2), which vectorises better than a conversion.
    """
    bits = mix(word + uint64(0xD1B54A32D192ED03) * uint64(arm + 1)) >> uint64(12)
    return bits_float(int64(bits | uint64(0x3FF0000000000000))) - 1.0


@njit(cache=True, error_model="numpy")
def hashed_unit(key, round_, arm):
    """Uniform on [0, 1) determined by (key, round, arm) alone."""
    return arm_unit(round_word(key, round_), arm)


@njit(cache=True, error_model="numpy")
def fill_hashed_units(key, round_, arms, out):
    """`hashed_unit` for every arm of a list."""
    word = round_word(key, round_)
    for i in range(arms.size):
        out[i] = arm_unit(word, arms[i])


def seeded_words(seed: int | np.random.SeedSequence) -> np.ndarray:
    """Four words of generator state from a seed; distinct seeds give independent streams."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    words = sequence.generate_state(4, np.uint64)
    if not words.any():  # the all-zero state is the one fixed point of xoshiro
        words[0] = np.uint64(1)
    return words
