"""Random numbers of our own, so that a stream is the same in every process and can be saved as four words.

Both the player and the losses are counter-based: a number is a hash of where it is used. The player's stream is
SplitMix64 (Steele, Lea & Flood) with a start and a step of its own per seed: draw i of round t is number
t + i·2⁴² of it. So what a later round will draw first is known now, however many draws this one takes. Losses are
a hash of (key, round, arm): any loss can be recomputed in any order without storing it.
"""

import numpy as np
from numba import int64, uint64

from sidelight.engine._numba.jit import inlined, kernel
from sidelight.engine._numba.pointers import bits_float

_TO_UNIT = 2.0**-53
NEXT_DRAW = 1 << 42  # 2²² draws in each of 2⁴² rounds, then another stream

# The words of a player's stream: two from the seed, then the round and the draws made in it (times 2⁴²)
START, STEP, TURN, DRAWS = range(4)


@inlined()
def next_turn(words):
    """Go on to the numbers of the next round."""
    words[TURN] = uint64(words[TURN] + uint64(1))
    # A round starts at the same number however many draws the last one took, as rejection sampling varies.
    words[DRAWS] = uint64(0)


@inlined()
def next_word(words):
    """64 random bits."""
    # Adding round and draw is safe: rounds stay below 2⁴², so each pair is another number.
    word = mix(words[START] + words[STEP] * (words[TURN] + words[DRAWS]))
    words[DRAWS] = uint64(words[DRAWS] + uint64(NEXT_DRAW))
    if words[DRAWS] == uint64(0):  # this round has used up its numbers: go on with another stream
        words[START] = mix(words[START] + words[STEP])
    return word


@inlined()
def coming_unit(words, ahead, skipped):
    """What `next_unit` will give `ahead` rounds from now, after `skipped` other draws of that round."""
    # Counter-based: a later round's numbers are known without drawing those between.
    at = words[TURN] + uint64(ahead) + uint64(skipped) * uint64(NEXT_DRAW)
    return float(mix(words[START] + words[STEP] * at) >> uint64(11)) * _TO_UNIT


@inlined()
def next_unit(words):
    """Uniform on [0, 1) with 53 bits."""
    # 53 bits are what a double holds exactly; more would round some numbers up to 1.
    return float(next_word(words) >> uint64(11)) * _TO_UNIT


@inlined()
def mix(word):
    """The splitmix64 finaliser: a bijection of 64-bit words that looks random."""
    z = uint64(word)
    z = uint64((z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    z = uint64((z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB))
    return uint64(z ^ (z >> uint64(31)))


@inlined()
def round_word(key, round_):
    """What the losses of one round have in common."""
    # 2⁶⁴ divided by the golden ratio, the increment of SplitMix64; round + 1, so that key 0 does not give 0
    # in round 0.
    return mix(uint64(key) + uint64(0x9E3779B97F4A7C15) * uint64(round_ + 1))


@inlined()
def edge_word(word, arm):
    """What the reveals of one arm in a round have in common, from the word of that round."""
    # Another odd constant than that of rounds, so that no arm's reveals are another round's losses.
    return mix(word + uint64(0xD1B54A32D192ED03) * uint64(arm + 1))


@inlined()
def multiplied(left, right):
    """The product of two masked 32-bit halves, one step of a hash: processors multiply four such pairs at once."""
    return uint64((left ^ uint64(0x53C5CA59)) * (right ^ uint64(0x74743C1B)))


@inlined()
def hashed_twice(word, arm):
    """Two steps of the hash of an arm (below 2³²).

    The arm is masked although it is small: what is known to have 32 bits takes one multiplication, not three.
    """
    # Twice is enough for a rough number; the third step of `arm_unit` supplies the lower bits.
    half, low = uint64(32), uint64(0xFFFFFFFF)
    z = multiplied((word ^ uint64(arm)) & low, word >> half)
    return multiplied(z & low, z >> half)


@inlined()
def fraction(bits):
    """The upper 52 of 64 bits as a number in [0, 1).

    They become the fraction of a double in [1, 2), which vectorises better than a conversion.
    """
    return bits_float(int64((bits >> uint64(12)) | uint64(0x3FF0000000000000))) - 1.0


@inlined()
def arm_unit(word, arm):
    """Uniform on [0, 1) with 52 bits, determined by the word of the round and the arm (below 2³²).

    Three multiplications of halves in the manner of wyhash32.
    """
    half, low = uint64(32), uint64(0xFFFFFFFF)
    z = hashed_twice(word, arm)
    # The upper half is the same as that of `rough_unit`, which is why the two differ by less than 2⁻³².
    head = uint64(z ^ (z << half)) & uint64(0xFFFFFFFF00000000)
    z = multiplied(z & low, z >> half)
    return fraction(uint64(head | ((z ^ (z >> half)) & low)))


ROUGH = 2.0**-32
"""`rough_unit` is less than this away from `arm_unit`."""


@inlined()
def rough_unit(word, arm):
    """The first 32 bits of `arm_unit`, followed by others, for less work."""
    z = hashed_twice(word, arm)
    return fraction(uint64(z ^ (z << uint64(32))))


@inlined()
def hashed_unit(key, round_, arm):
    """Uniform on [0, 1) determined by (key, round, arm) alone."""
    return arm_unit(round_word(key, round_), arm)


@kernel()
def fill_hashed_units(key, round_, arms, out):
    """`hashed_unit` for every arm of a list."""
    word = round_word(key, round_)
    for i in range(arms.size):
        out[i] = arm_unit(word, arms[i])


def seeded_words(seed: int | np.random.SeedSequence) -> np.ndarray:
    """A player's stream from a seed; distinct seeds give independent streams.

    A step whose bits rarely alternate would mix slowly: such a step gets every other bit flipped, as in SplitMix.
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    start, step = (int(word) for word in sequence.generate_state(2, np.uint64))
    # An odd step visits all 2⁶⁴ numbers before it repeats.
    step |= 1
    if (step ^ (step >> 1)).bit_count() < 24:
        step ^= 0xAAAAAAAAAAAAAAAA
    return np.array([start, step, 0, 0], dtype=np.uint64)
