"""Rules that keep a distribution and change their rate every round: Exp3-IX and Tsallis-INF.

Every arm reveals itself. A round costs O(n), and O(n + edges) for Exp3-IX.
"""

import math

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules.state import IMPLICIT, ROUND, TOTAL, TSALLIS, seen

MOST_STEPS = 100
"""Newton steps; about five are used."""


@internal()
def draw(desk):
    """An arm from desk.shares."""
    left = next_unit(desk.words)
    last = 0
    for i in range(desk.shares.size):
        if desk.shares[i] > 0.0:
            last = i
            left -= desk.shares[i]
            if left < 0.0:
                break
    return last


@inlined()
def implicit_rate(desk):
    """η_t = γ_t = √(log N/(N + Σ_{s<t} Q_s))."""
    n = float(desk.shares.size)
    return math.sqrt(math.log(n) / (n + desk.numbers[TOTAL]))


@internal()
def estimate(desk, count):
    """Add the estimates of the arms in desk.targets, ℓ/P or ℓ/(P + γ), to the sums."""
    bias = implicit_rate(desk) if desk.rule == IMPLICIT else 0.0
    for index in range(count):
        arm = desk.targets[index]
        desk.sums[arm] += desk.told[index] / (seen(desk, arm) + bias)
    if desk.rule == IMPLICIT:
        spread = 0.0
        for i in range(desk.shares.size):
            spread += desk.shares[i] / (seen(desk, i) + bias)
        desk.numbers[TOTAL] += spread


@internal()
def weigh(desk):
    """The distribution of the round after desk.numbers[ROUND] completed ones."""
    n = desk.shares.size
    least = math.inf
    for i in range(n):
        least = min(least, desk.sums[i])
    total = 0.0
    if desk.rule == TSALLIS:
        rate = 2.0 / math.sqrt(desk.numbers[ROUND] + 1.0)
        z = multiplier(desk.sums, least, rate)
        for i in range(n):
            root = 2.0 / (rate * (desk.sums[i] - least + z))
            desk.shares[i] = root * root
            total += desk.shares[i]
    else:
        rate = implicit_rate(desk)
        for i in range(n):
            desk.shares[i] = math.exp(-rate * (desk.sums[i] - least))
            total += desk.shares[i]
    for i in range(n):
        desk.shares[i] /= total


@internal()
def multiplier(sums, least, rate):
    """z with Σ 4/(rate·(sums − least + z))² = 1.

    (Σ …)^{−1/2} is concave and increasing in z (Minkowski, reversed) and at most 1 at z = 2/rate: Newton's method
    rises from there to the root and cannot pass it.
    """
    z = 2.0 / rate
    for _ in range(MOST_STEPS):
        squares, cubes = 0.0, 0.0
        for i in range(sums.size):
            inverse = 2.0 / (rate * (sums[i] - least + z))
            squares += inverse * inverse
            cubes += inverse * inverse * inverse
        root = math.sqrt(squares)
        move = (root - 1.0) * squares / (0.5 * rate * cubes)
        z += move
        if not move > 1e-15 * z:
            break
    return z
