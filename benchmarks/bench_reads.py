"""What memory delivers on this machine: python -m benchmarks.bench_reads.

At 10⁵ arms and more a round of the engine is a few reads at random places, and this is what bounds it. Nanoseconds
per read of a line, the least of several repetitions: reads that do not wait for each other, as where the engine asks
ahead, and reads each of which tells where the next one is.
"""

from functools import partial

import numpy as np
from benchmarks.engine.timing import timed
from numba import njit, uint64

MEGABYTES = (1, 4, 16, 64)
REPETITIONS = 7
READS = 1_000_000


@njit
def spread_reads(cells, n):
    """Reads at places that a generator gives (xorshift): none waits for another."""
    word, total = uint64(88172645463325252), 0
    last = uint64(cells.size - 1)
    for _ in range(n):
        word ^= word << uint64(13)
        word ^= word >> uint64(7)
        word ^= word << uint64(17)
        total += cells[(word >> uint64(11)) & last]
    return total


@njit
def chained_reads(cells, n):
    """Every cell tells which is read next."""
    at = 0
    for _ in range(n):
        at = cells[at]
    return at


def one_cycle(size):
    """A permutation of one cycle, in random order."""
    order = np.random.default_rng(0).permutation(size)
    following = np.empty(size, dtype=np.int64)
    following[order] = np.roll(order, -1)
    return following


def main():
    print("ns per read        independent   each tells the next")
    for megabytes in MEGABYTES:
        cells = one_cycle(megabytes * 2**20 // 8)
        found = []
        for reads in (spread_reads, chained_reads):
            run = partial(reads, cells)
            run(1)
            found.append(min(timed(run, READS) for _ in range(REPETITIONS)))
        independent, chained = (seconds / READS * 1e9 for seconds in found)
        print(f"{megabytes:6} MB        {independent:10.1f} {chained:18.1f}")


if __name__ == "__main__":
    main()
