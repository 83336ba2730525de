"""What a round of self-tuning play costs at most: plain functions of β, which planning calls and kernels compile.

β is the temperature, one over the learning rate, and `order` that of the entropy. `weak` is κδ^s, more than which no
exploration g adds up to; `beside`, `strong` and `lean` say what self-loops and strong observability are worth
(`planning.self_tuning.rule`). Proofs: docs/theory/self-tuning.md.
"""

from collections.abc import Sequence
from math import exp, expm1, inf, log, log2, pow, sqrt

GOLDEN = (sqrt(5.0) - 1.0) / 2.0
LEAST, LARGER = 1e-9, 4
"""Temperatures of the base: from here on, and how many above the one that is best from there are tried."""
PER_OCTAVE, OCTAVES_BELOW, N_FALLING = 4, 4, 56
"""What falling back on fixed rates costs is tabulated: at β = 0, then from so many octaves below the start on."""


def weak_price(beta: float, order: float, weak: float, beside: float) -> float:
    """With `weak_strength`: p = √(weak/2β), weak/β below β = 2·weak, and what arms beside the cover add to it."""
    p = sqrt(weak / (2.0 * beta)) if beta >= 2.0 * weak else weak / beta
    if beside == 0.0:
        return p
    alone = beside / (beta * (1.0 - min(p, 0.5)))
    share = (1.0 - order) * alone / p  # max over the mass z of those arms of p(1 − z) + alone·z^{1−s}
    if share >= 1.0:
        return alone
    return p + order * alone * pow(share, (1.0 - order) / order)


def weak_strength(beta: float, weak: float) -> float:
    """Lemma 2's strength of exploration."""
    return min(1.0 / sqrt(2.0 * beta * weak), 0.5 / weak)


def strong_price(beta: float, weak: float, strong: float, lean: float) -> float:
    """Exploration of strength lean/β, none where every arm has a self-loop: strong/(β − lean·weak)."""
    room = beta - lean * weak
    return strong / room if room > 0.0 else inf


def price(beta: float, order: float, weak: float, beside: float, strong: float, lean: float) -> float:
    """What a round at β costs at most, whatever the point X, with `safe_strength`; never more than 1."""
    return min(1.0, weak_price(beta, order, weak, beside), strong_price(beta, weak, strong, lean))


def safe_strength(beta: float, order: float, weak: float, beside: float, strong: float, lean: float) -> float:
    """The strength b of exploration, uncapped, that keeps a round at β below its price; b·weak ≤ ½."""
    if strong_price(beta, weak, strong, lean) <= weak_price(beta, order, weak, beside):
        return min(lean / beta, 0.5 / weak)
    return weak_strength(beta, weak)


def cost_to_go(
    beta: float,
    rounds: float,
    diameter: float,
    order: float,
    weak: float,
    beside: float,
    strong: float,
    lean: float,
    known: float,
) -> tuple[float, float]:
    """(value, target): a small D(β′ − β) + rounds·price(β′), β′ ≥ β, and its β′; `known` is tried as well.

    Whatever β′, that many rounds from β cost no more: how near to the minimum it is decides only how tight.
    """
    target = beta
    value = rounds * price(beta, order, weak, beside, strong, lean)
    per_round = rounds / diameter
    explored = (per_round * sqrt(weak / 2.0) / 2.0) ** (2.0 / 3.0)
    if explored < 2.0 * weak:
        explored = min(sqrt(per_round * weak), 2.0 * weak)
    low, high = explored, explored + 2.0 * sqrt(2.0 * per_round * beside)
    for _ in range(40 if beside > 0.0 else 0):  # golden sections
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        below = left + per_round * weak_price(left, order, weak, beside)
        above = right + per_round * weak_price(right, order, weak, beside)
        if below <= above:
            high = right
        else:
            low = left
    learnt = lean * weak + sqrt(per_round * strong) if strong < inf else beta
    for other in (explored, low, learnt, known):
        if other > beta:
            found = diameter * (other - beta) + rounds * price(other, order, weak, beside, strong, lean)
            if found < value:
                value, target = found, other
    return value, target


def crossing(
    base: float,
    base_order: float,
    base_diameter: float,
    beta: float,
    order: float,
    diameter: float,
    arms: float,
) -> float:
    """No less than max_x base·H'(x) − β·H(x) over distributions of so many arms, H' of the larger order: Lemma 5.

    An arm adds φ(x) = base·h'(x) − β·h(x), convex from 0 on and concave beyond. Under its concave hull all arms are
    alike, or have what maximises φ(x)/x.
    """
    x = exp(log(beta * base_order / (base * order)) / (base_order - order))
    if x <= 1.0 / arms:
        return base * base_diameter - beta * diameter
    if x >= 1.0:
        return 0.0
    lost = -log(x)
    height = (
        lost if base_order == 1.0 else expm1((1.0 - base_order) * lost) / (base_order * (1.0 - base_order))
    )
    return max(base * height - beta * expm1((1.0 - order) * lost) / (order * (1.0 - order)), 0.0)


def cost_to_fall(
    beta: float,
    rounds: float,
    order: float,
    diameter: float,
    arms: float,
    base_order: float,
    base_diameter: float,
    base_weak: float,
    base_beside: float,
    base_strong: float,
    base_lean: float,
    known: float,
) -> tuple[float, float]:
    """(value, target): what so many rounds cost at most that go on with the base, at temperature `target`.

    `known`, unless 0, is tried as well: with the last target a round less costs less by its price.
    """
    _, first = cost_to_go(
        LEAST, rounds, base_diameter, base_order, base_weak, base_beside, base_strong, base_lean, known
    )
    first = max(first, 0.5 * base_weak)  # below, a round may cost all it can
    value, target = inf, first
    for k in range(LARGER + (1 if known > 0.0 else 0)):
        base = known if k == LARGER else first * (1.0 + 0.25 * k)
        found = crossing(base, base_order, base_diameter, beta, order, diameter, arms)
        found += rounds * price(base, base_order, base_weak, base_beside, base_strong, base_lean)
        if found < value:
            value, target = found, base
    return value, target


def tabulated_at(start: float, k: int) -> float:
    """The k-th temperature of the table, k = 0, …, N_FALLING − 1."""
    return 0.0 if k == 0 else start * pow(2.0, (k - 1.0) / PER_OCTAVE - OCTAVES_BELOW)


def fallen_from(beta: float, start: float, table: Sequence[float], first: int) -> float:
    """What going on with fixed rates costs at most beside their rounds, K(β), from `table` behind `first`.

    K is a maximum of functions that are linear in β and fall: chords lie above it, and it falls behind the table.
    """
    k = 0
    if beta > tabulated_at(start, 1):
        k = 1 + int(PER_OCTAVE * (log2(beta / start) + OCTAVES_BELOW))
    if k >= N_FALLING - 1:
        return table[first + N_FALLING - 1]
    low, high = tabulated_at(start, k), tabulated_at(start, k + 1)
    share = min(max((beta - low) / (high - low), 0.0), 1.0)
    return (1.0 - share) * table[first + k] + share * table[first + k + 1]
