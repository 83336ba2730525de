"""What the prototypes share: how they are compiled, and where random numbers come from."""

import numpy as np
from numba import njit, uint64

from sidelight.engine.random import mix, seeded_words
from sidelight.environment.base import environment_key

compiled = njit(error_model="numpy", _nrt=False)
summing = njit(error_model="numpy", _nrt=False, fastmath={"contract", "reassoc", "nsz"})

GOLDEN = 0x9E3779B97F4A7C15
HALF = 0xFFFFFFFF
FAR = 1 << 14
"""From so many arms on, memory is asked for ahead of its use."""
AHEAD = 4
"""So many rounds ahead."""


class Prototype:
    """What all have in common: a player's stream and a stream of losses."""

    def __init__(self, plan, means, seed):
        self.means = np.ascontiguousarray(means)
        self.words = seeded_words(seed)
        self.key = environment_key(seed)
        self.round = 0

    def stream(self, rounds):
        """The arguments that end every `*_play`."""
        begin, self.round = self.round, self.round + rounds
        return self.means, self.key, self.words[0], self.words[1], begin, self.round


@compiled
def unit(words):
    """The player's own numbers: SplitMix64."""
    words[0] = uint64(words[0] + uint64(GOLDEN))
    return float(mix(words[0]) >> uint64(11)) * 2.0**-53


def player(seed):
    """The state of `unit`."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)


def high_half(means):
    """What the upper 32 bits of a coin's hash must be below; the same is undecided."""
    return np.minimum(np.ceil(means * 2.0**52) // 2.0**20, HALF).astype(np.uint32)
