"""What a round of self-tuning play costs at most: plain functions of β, which planning calls and kernels compile.

β is the temperature, one over the learning rate, and `order` that of the entropy. `weak` is κδ^s, more than which no
exploration g adds up to; `beside`, `strong` and `lean` say what self-loops and strong observability are worth
(`planning.self_tuning.rule`). Proofs: docs/theory/self-tuning.md.
"""

from math import inf, pow, sqrt

GOLDEN = (sqrt(5.0) - 1.0) / 2.0


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
    candidate: float,
) -> tuple[float, float]:
    """(value, target): a small D(β′ − β) + rounds·price(β′), β′ ≥ β, and its β′; `candidate` is tried as well.

    Whatever β′, that many rounds from β cost no more: how near to the minimum it is decides only how tight.
    """
    # Staying at β is always possible; other β are tried where one of the two costs is least.
    target = beta
    value = rounds * price(beta, order, weak, beside, strong, lean)
    per_round = rounds / diameter
    explored = (per_round * sqrt(weak / 2.0) / 2.0) ** (2.0 / 3.0)
    if explored < 2.0 * weak:
        explored = min(sqrt(per_round * weak), 2.0 * weak)
    # Between the minimum without arms beside the cover and one that pays for them in full.
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
    for other in (explored, low, learnt, candidate):
        if other > beta:
            total = diameter * (other - beta) + rounds * price(other, order, weak, beside, strong, lean)
            if total < value:
                value, target = total, other
    return value, target
